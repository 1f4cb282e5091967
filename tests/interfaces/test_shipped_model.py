"""The model that ships: whole, small enough, and of use on a text of our own."""

from __future__ import annotations

import pytest

import entitynlm
from entitynlm.model.packaged import FOLDER, SMALL, check_files, list_models

TEXT = (
    "Anna lost her key on the way home. She called Bob, who lived in London. "
    '"I can\'t get in," said Anna. Bob sighed. He took his coat.'
)


@pytest.fixture(scope="module")
def model() -> entitynlm.EntityNLM:
    return entitynlm.load()


def test_every_byte_is_there_and_they_are_few() -> None:
    assert SMALL in list_models()
    check_files(FOLDER / SMALL)
    assert sum(path.stat().st_size for path in (FOLDER / SMALL).iterdir()) < 25_000_000


def test_it_has_all_parts_and_keeps_words_as_they_stand(model: entitynlm.EntityNLM) -> None:
    assert set(model.pretrained.parts) == {"generative", "causal", "lookahead", "rnnlm"}
    recipe = model.pretrained.encoder.recipe
    assert not recipe.lowercase and not recipe.numbers and recipe.punctuation == "keep"
    assert model.pretrained.encoder.singletons == "keep"


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
    (story,) = model.generate(TEXT, words=12, new_entities=False, seed=1)
    assert story.text and "<unk>" not in story.text
    document = model.annotate(TEXT)
    good = document.clusters
    bad = tuple((span,) for cluster in good for span in cluster)
    assert {candidate.clusters for candidate in model.rerank(document, [good, bad])} == {good, bad}
