"""Surprisal with a pretrained language model: its own while entities are untrained, prefix-stable, with an open vocabulary."""

import bisect
import copy
import functools
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import entitynlm
from entitynlm.lm.items import Item, measure_items
from entitynlm.text.document import Document, Mention
from support.bare_language_models import (
    list_openers,
    measure_words,
    needs_extra,
    needs_smollm2,
    read_directly,
)
from support.surprisal_rows import assert_same_rows
from support.tiny_language_models import FAMILIES, save_model

TEXT = "The old captain looked at the sea and his daughter waited by the fire"
STORY = (
    "Anna lost her key in the garden. She called Bob, and he didn't come. The old man knew who had it; "
    "nobody else did. Again she asked for the key (it was Bob's), and he gave it to her."
)


@pytest.fixture(scope="module", params=FAMILIES)
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> entitynlm.EntityNLM:
    folder = tmp_path_factory.mktemp("language-model")
    return entitynlm.EntityNLM.from_backbone(str(save_model(folder, request.param, context=512)))


@pytest.fixture(scope="module")
def smollm2() -> entitynlm.EntityNLM:
    return entitynlm.EntityNLM.from_backbone("smollm2")


def find_runtime(model: entitynlm.EntityNLM) -> Any:
    return model.pretrained.get("generative").backbone.runtime


def bits(model: entitynlm.EntityNLM, text: str | Document, **options: Any) -> np.ndarray:
    return np.array([row.surprisal for row in model.surprisal(text, **options).tokens])


def find_bounds(model: entitynlm.EntityNLM, text: str) -> list[int]:
    """Where the pieces of each word begin and end, by the lengths of the words as the tokenizer spells them in the text."""
    tokenizer = find_runtime(model).tokenizer
    words = [f" {word}" if number else word for number, word in enumerate(text.split(" "))]
    counts = [len(tokenizer(word, add_special_tokens=False)["input_ids"]) for word in words]
    return np.concatenate([[0], np.cumsum(counts)]).tolist()


def check_against_transformers(model: entitynlm.EntityNLM, text: str) -> None:
    runtime, bounds = find_runtime(model), find_bounds(model, text)
    pieces, log_probs = read_directly(runtime, text)
    assert len(pieces) == bounds[-1] and len(bounds) > 5
    plain = measure_words(pieces, log_probs, bounds)
    assert bits(model, text, word_boundaries=False) == pytest.approx(plain, abs=1e-4)
    bounded = measure_words(pieces, log_probs, bounds, list_openers(runtime))
    assert bits(model, text) == pytest.approx(bounded, abs=1e-4)
    # Over the text all boundaries cancel but the last.
    last = -np.logaddexp.reduce(log_probs[-1, list_openers(runtime)]) / np.log(2)
    assert bounded.sum() == pytest.approx(plain.sum() + last, abs=1e-4)


@needs_extra
def test_words_are_those_of_transformers(tiny: entitynlm.EntityNLM) -> None:
    check_against_transformers(tiny, TEXT)


@needs_smollm2
def test_words_are_those_of_transformers_on_smollm2(smollm2: entitynlm.EntityNLM) -> None:
    check_against_transformers(smollm2, TEXT)


RAW = "  The old captain\n\n\tlooked  at the sea.\n\n“Who’s there?”  she asked.\nNobody knew\r\n\r\nand so on"


def check_raw_text(model: entitynlm.EntityNLM, text: str = RAW) -> None:
    """Words of a raw text with paragraphs and double spaces, whose white space belongs to the word after it."""
    runtime, document = find_runtime(model), entitynlm.api.as_document(text)
    pieces, log_probs = read_directly(runtime, text)
    encoded = runtime.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ends = [end for _, end in document.offsets][:-1]
    owners = [bisect.bisect_right(ends, start) for start, _ in encoded["offset_mapping"]]
    bounds = [0, *np.cumsum(np.bincount(owners, minlength=len(document))).tolist()]
    assert bits(model, text, word_boundaries=False) == pytest.approx(
        measure_words(pieces, log_probs, bounds), abs=1e-4
    )
    collapsed = bits(model, text, word_boundaries=False, white_space="collapsed")
    alike = bits(model, " ".join(text.split()), word_boundaries=False, white_space="collapsed")
    assert collapsed == pytest.approx(alike, abs=1e-4)
    assert np.abs(collapsed - bits(model, text, word_boundaries=False)).max() > 0.1


@needs_extra
def test_white_space_of_a_raw_text_is_that_of_transformers(tiny: entitynlm.EntityNLM) -> None:
    check_raw_text(tiny)


@needs_smollm2
def test_white_space_of_a_raw_text_is_that_of_transformers_on_smollm2(smollm2: entitynlm.EntityNLM) -> None:
    check_raw_text(smollm2)
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    letter = readme.split("`letter.txt`:\n\n```text\n")[1].split("\n```")[0]
    check_raw_text(smollm2, letter)  # where rounding the start piece's keys and values cost 1.3e-4 bits


@needs_extra
def test_the_sum_is_that_of_all_pieces(tiny: entitynlm.EntityNLM) -> None:
    """With punctuation and contractions too; pieces are those of the text where each word is spelled on its own."""
    runtime = find_runtime(tiny)
    encoded = tiny.pretrained.encoder.encode(entitynlm.api.as_document(STORY))
    pieces = [int(piece) for piece in encoded.pieces if piece < runtime.pieces]
    assert runtime.tokenizer.decode(pieces) == STORY
    with torch.no_grad():
        logits = runtime.model(torch.tensor([[runtime.start, *pieces]])).logits[0].double()
    total = -torch.log_softmax(logits, -1)[range(len(pieces)), pieces].sum().item() / np.log(2)
    assert bits(tiny, STORY, word_boundaries=False).sum() == pytest.approx(total, abs=1e-4)
    assert bits(tiny, STORY).sum() == pytest.approx(total, abs=1e-4)  # it ends with a mark, which surely ends


@needs_extra
def test_given_mentions_leave_the_words_as_they_are_until_entities_are_trained(
    tiny: entitynlm.EntityNLM,
) -> None:
    tokens = tuple(TEXT.split())
    mentions = (Mention(0, 3, "captain"), Mention(8, 10, "daughter"), Mention(8, 9, "captain"))
    document = Document("text", tokens, ((0, len(tokens)),), mentions, text=TEXT)
    with pytest.warns(UserWarning, match="untrained"):
        found = tiny.surprisal(document)
    plain = bits(tiny, document.with_mentions(()))
    assert [row.surprisal for row in found.tokens] == pytest.approx(plain, abs=1e-4)
    assert [row.without_entities for row in found.tokens] == pytest.approx(plain, abs=1e-4)
    assert found.source == "language model"
    assert all(np.isfinite(row.referent_surprisal) and row.entropy >= 0 for row in found.mentions)


@needs_smollm2
@pytest.mark.filterwarnings("ignore:the entity side")
def test_no_word_has_less_than_no_bits(smollm2: entitynlm.EntityNLM) -> None:
    """The quotation mark after a question mark has no piece of its own, and a probability of 1 but for rounding."""
    document = entitynlm.api.as_document('"Are you coming?" asked Ruth. "I am late," she said.')
    found = bits(smollm2, document.with_mentions((Mention(2, 3, "ruth"),)))
    assert document.tokens[5] == '"' and found[5] == pytest.approx(0) and found.min() >= 0


@needs_extra
def test_the_vocabulary_is_open(tiny: entitynlm.EntityNLM) -> None:
    found = tiny.surprisal("Zyxgorff met 1,234 Ångströms — naïvely – and ☃ .")
    assert all(row.surprisal is not None and np.isfinite(row.surprisal) for row in found.tokens)
    assert {row.oov for row in found.tokens} == {False} and {row.spelling for row in found.tokens} == {None}
    assert found.mentions == () and {row.mention_expected for row in found.tokens} == {None}


def train_words(model: entitynlm.EntityNLM) -> entitynlm.EntityNLM:
    """The same model as if its words had learnt to see entities."""
    network = copy.deepcopy(model.pretrained.get("generative"))
    torch.manual_seed(1)
    torch.nn.init.normal_(network.W_e, std=0.5)
    other = entitynlm.EntityNLM.from_backbone(model.pretrained.encoder.tokenizer.model)
    other.pretrained.networks["generative"] = network.eval()
    del other.pretrained.notes["untrained"]
    return other


@needs_extra
def test_with_entities_that_words_see(tiny: entitynlm.EntityNLM) -> None:
    model = train_words(tiny)
    found = model.surprisal(STORY, samples=20, repeats=2)
    without = np.array([row.without_entities for row in found.tokens])
    assert without == pytest.approx(bits(tiny, STORY), abs=1e-4)
    assert not np.allclose([row.surprisal for row in found.tokens], without, atol=1e-3)
    assert all(0 <= row.mention_expected <= 1 for row in found.tokens)
    assert "untrained" not in repr(model) and "untrained" in repr(tiny)


WORDS = (
    "Anna met Bob at the door . She thanked him for an extraordinary book , 1,234 Ångströms long .".split()
)
ROADS: dict[str, dict[str, Any]] = {
    "words": {},
    "sampled": {"mentions": "sampled", "samples": 12, "repeats": 2},
    "given": {"mentions": "given"},
}


def make_text(words: Sequence[str], mentions: Sequence[Mention] = ()) -> Document:
    """Sentences end with a full stop."""
    bounds = sorted({0, len(words), *(i + 1 for i, word in enumerate(words) if word == ".")})
    kept = tuple(mention for mention in mentions if mention.end <= len(words))
    return Document("text", tuple(words), tuple(pairwise(bounds)), kept)


def check_beginning(model: entitynlm.EntityNLM, road: str, words: Sequence[str], cut: int) -> None:
    """The table of a text's beginning is the beginning of its table."""
    mentions = [Mention(i, i + 1 + i % 2, "abc"[i % 3]) for i in range(0, len(words) - 2, 3)]
    cut += any(mention.start < cut < mention.end for mention in mentions)  # through no mention
    texts = (make_text(part, mentions if road == "given" else ()) for part in (words, words[:cut]))
    whole, start = (model.surprisal(text, **ROADS[road]) for text in texts)
    assert_same_rows(start.tokens, whole.tokens[:cut])
    assert_same_rows(start.mentions, whole.mentions[: len(start.mentions)])


@needs_extra
@pytest.mark.filterwarnings("ignore:.*untrained")
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=2, max_size=150),
    cut=st.integers(1, 149),
    road=st.sampled_from(sorted(ROADS)),
)
def test_the_table_of_a_beginning_is_the_beginning_of_the_table(
    tiny: entitynlm.EntityNLM, words: list[str], cut: int, road: str
) -> None:
    """With windows of 510 pieces, which long texts leave."""
    model = tiny if road == "words" else find_trained(tiny)
    check_beginning(model, road, words, min(cut, len(words) - 1))


@functools.lru_cache(maxsize=1)
def find_trained(model: entitynlm.EntityNLM) -> entitynlm.EntityNLM:
    return train_words(model)


@needs_smollm2
@pytest.mark.slow
@pytest.mark.parametrize("road", sorted(ROADS))
def test_on_smollm2_too(smollm2: entitynlm.EntityNLM, road: str) -> None:
    words = (STORY.replace(",", " ,").replace(".", " .").split() * 3)[:110]
    model = smollm2 if road == "words" else entitynlm.load("entitynlm-en-smollm2")
    for cut in (1, 42):
        check_beginning(model, road, words, cut)


@needs_extra
def test_a_text_that_is_cut_at_white_space(tiny: entitynlm.EntityNLM) -> None:
    """Words without a space between them are spelled together; others know nothing of each other."""
    whole = tiny.surprisal(STORY).tokens
    spaces = [place for place, character in enumerate(STORY) if character == " "]
    for cut in np.random.default_rng(5).choice(spaces, 8, replace=False).tolist():
        part = tiny.surprisal(STORY[:cut]).tokens
        assert_same_rows(part, whole[: len(part)])


@needs_extra
def test_an_item_does_not_depend_on_what_follows(tiny: entitynlm.EntityNLM) -> None:
    regions = ("Anna met", "Bob at the", "door and thanked him .")
    items = [Item("1", "", "She was old .", regions[:count]) for count in (3, 2, 1)]
    found = [measured.rows for measured in measure_items(find_trained(tiny).pretrained, items, samples=8)]
    assert_same_rows(found[1], found[0][:2])
    assert_same_rows(found[2], found[0][:1])
