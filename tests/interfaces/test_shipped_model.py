"""The models that ship: whole, small enough, and of use on a text of our own."""

import shutil
from pathlib import Path

import pytest

import entitynlm
from entitynlm.errors import ModelError
from entitynlm.model.packaged import (
    ON_SMOLLM2,
    PACKAGED_MODELS,
    SMALL,
    check_hashes,
    list_models,
    read_language_model,
)
from entitynlm.model.pretrained import load_pretrained
from support.bare_language_models import needs_smollm2

TEXT = (
    "Anna lost her key on the way home. She called Bob, who lived in London. "
    '"I can\'t get in," said Anna. Bob sighed. He took his coat.'
)
BOTH = (SMALL, pytest.param(ON_SMOLLM2, marks=needs_smollm2))


@pytest.fixture(scope="module", params=BOTH)
def model(request: pytest.FixtureRequest) -> entitynlm.EntityNLM:
    return entitynlm.load(request.param)


@pytest.mark.parametrize("name", [SMALL, ON_SMOLLM2])
def test_every_byte_is_there_and_they_are_few(name: str) -> None:
    assert name in list_models()
    check_hashes(PACKAGED_MODELS / name)
    assert sum(path.stat().st_size for path in (PACKAGED_MODELS / name).iterdir()) < 25_000_000


@pytest.mark.parametrize("name", [SMALL, ON_SMOLLM2])
def test_a_copy_with_one_flipped_bit_is_refused(name: str, tmp_path: Path) -> None:
    """Whichever file it is in, the list of hashes included; the file is named, and what to do."""
    copy = tmp_path / "mine"
    shutil.copytree(PACKAGED_MODELS / name, copy)
    for path in sorted(copy.iterdir()):
        whole = path.read_bytes()
        for place in (len(whole) // 3, len(whole) - 2):
            damaged = bytearray(whole)
            damaged[place] ^= 4
            path.write_bytes(damaged)
            with pytest.raises(ModelError, match=r"SHA256SUMS|damaged|missing|can't be read") as told:
                load_pretrained(copy)
            assert path.name == "SHA256SUMS" or str(path) in str(told.value)
        path.write_bytes(whole)
    assert check_hashes(copy)


def test_the_language_model_is_named_by_its_hash() -> None:
    assert read_language_model(PACKAGED_MODELS / SMALL) is None
    assert read_language_model(PACKAGED_MODELS / ON_SMOLLM2) == {
        "model": "smollm2",
        "digest": "b179c9523d0e6a0f",
    }


def test_it_has_all_parts_and_keeps_words_as_they_stand(model: entitynlm.EntityNLM) -> None:
    pretrained, large = model.pretrained, model.name == ON_SMOLLM2
    assert set(pretrained.parts) == {"generative", "causal"} | (set() if large else {"rnnlm"})
    assert set(pretrained.stored_components) == {"resolver"}
    recipe = pretrained.encoder.recipe
    assert not recipe.lowercase and not recipe.numbers and recipe.punctuation == "keep"
    assert pretrained.encoder.singletons == "keep"


def test_it_knows_who_is_who(model: entitynlm.EntityNLM) -> None:
    document = model.annotate(TEXT)
    chains = [{document.words(*m.span) for m in entity.mentions} for entity in document.entities]
    anna = next(chain for chain in chains if "Anna" in chain)
    bob = next(chain for chain in chains if "Bob" in chain)
    assert {"She", "her"} <= anna and "He" in bob and not anna & bob
    types = {entity.mentions[0].start: entity.type for entity in document.entities}
    assert types[0] == "person" and "place" in types.values()


def test_it_answers_every_question(model: entitynlm.EntityNLM) -> None:
    surprisal = model.surprisal(TEXT, samples=10, repeats=1)
    assert 2 < surprisal.total / surprisal.words < 12  # bits per word
    assert sum(model.next_entity(TEXT).probabilities) == pytest.approx(1)
    document = model.annotate(TEXT)
    good = document.clusters()
    bad = tuple((span,) for cluster in good for span in cluster)
    assert {candidate.clusters for candidate in model.rerank(document, [good, bad])} == {good, bad}


def test_every_word_can_be_asked_for_in_turn(model: entitynlm.EntityNLM) -> None:
    """Also a mark that a language model spells with the one before it, and which has no piece of its own."""
    document = model.annotate("“I am late,” said Anna. Bob laughed.")
    walk = model.follow(document)
    assert all(0 <= found.starts <= 1 for found in map(walk.expect, range(len(document))) if found)
    assert walk.expect(document.tokens.index("said"))
