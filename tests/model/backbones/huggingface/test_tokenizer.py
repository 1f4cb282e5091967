"""Words spelled by a language model's pieces: nothing is lost, and probabilities with word boundaries sum to one."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entitynlm.errors import ModelError
from entitynlm.model.encoding.encoder import Encoder, find_spaces
from entitynlm.model.encoding.preprocessing import SENTENCE_END, SUBWORD_RECIPE, escape_word, unescape_word
from entitynlm.model.encoding.tokenizer import load_tokenizer
from entitynlm.text.detokenization import write_plainly
from entitynlm.text.document import Document
from support.small_tokenizers import BYTE_LEVEL, KINDS, SPECIAL, make_subwords, train_tokenizer

OPEN, INSIDE, CONTINUE = range(3)
ALPHANUMERIC = 0

known = "Anna lost her key did can not n't 's cannot café 1999 1,250 well-known . , \" ( ) ? `` '' “ ” ’s -LRB-".split()
words_of_text = st.one_of(st.sampled_from(known), st.text("ane1.,'\"-é日’ß_", min_size=1, max_size=5))
texts = st.lists(st.tuples(words_of_text, st.booleans()), min_size=1, max_size=9)


def split_text(text: list[tuple[str, bool]]) -> tuple[list[str], np.ndarray]:
    words = [escape_word(word) for word, _ in text]
    return words, np.array([space and number > 0 for number, (_, space) in enumerate(text)])


def write_text(words: list[str], spaces: np.ndarray) -> str:
    parts = zip(words, spaces.tolist(), strict=True)
    return "".join(" " * space + write_plainly(unescape_word(word)) for word, space in parts)


# -- spelling ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@given(texts)
@settings(max_examples=60)
def test_that_pieces_give_the_words_back(kind: str, text: list[tuple[str, bool]]) -> None:
    tokenizer = make_subwords(kind)
    words, spaces = split_text(text)
    pieces, bounds, places = tokenizer.encode_pieces(words, spaces)
    assert len(bounds) == len(words) + 1 and bounds[-1] == len(pieces) == len(places)
    if spaces[1:].all():  # else a piece may lie in two words
        spelled = [tokenizer.join(own) for own in np.split(pieces, bounds[1:-1])]
        assert spelled == [escape_word(write_plainly(unescape_word(word))) for word in words]
    assert tokenizer.join(pieces) == escape_word(write_text(words, spaces))


@pytest.mark.parametrize("kind", KINDS)
@given(texts)
@settings(max_examples=60)
def test_that_a_text_up_to_white_space_has_the_first_pieces(kind: str, text: list[tuple[str, bool]]) -> None:
    tokenizer = make_subwords(kind)
    words, spaces = split_text(text)
    whole = tokenizer.encode_pieces(words, spaces)
    for cut in np.flatnonzero(spaces):
        pieces, bounds, places = tokenizer.encode_pieces(words[:cut], spaces[:cut])
        assert bounds.tolist() == whole[1][: cut + 1].tolist()
        assert pieces.tolist() == whole[0][: len(pieces)].tolist()
        assert places.tolist() == whole[2][: len(pieces)].tolist()


@pytest.mark.parametrize("kind", KINDS)
@given(texts)
@settings(max_examples=60)
def test_that_words_spelled_together_are_as_the_tokenizer_has_them(
    kind: str, text: list[tuple[str, bool]]
) -> None:
    tokenizer = make_subwords(kind)
    words, spaces = split_text(text)
    pieces, _, _ = tokenizer.encode_pieces(words, spaces)
    whole = train_tokenizer(kind).encode(write_text(words, spaces), add_special_tokens=False)
    assert pieces[pieces != tokenizer.end].tolist() == whole.ids


def test_that_a_piece_belongs_to_the_word_in_which_it_begins() -> None:
    tokenizer = make_subwords("gpt2")
    words, spaces = ["I", "can", "not", ",", '"', "she"], np.array([0, 1, 0, 0, 0, 1], dtype=bool)
    pieces, bounds, places = tokenizer.encode_pieces(words, spaces)
    own = [part.tolist() for part in np.split(pieces, bounds[1:-1])]
    assert [tokenizer.join(part) for part in own] == ["I", "cannot", "", ',"', "", "she"]
    assert own[1][-1] != tokenizer.end and own[2] == [tokenizer.end] and own[4] == []
    assert places[bounds[3]] == OPEN and places[bounds[5]] == INSIDE  # after a word's end, after a mark


@pytest.mark.parametrize("kind", KINDS)
def test_that_contractions_and_penn_tokens_are_written_as_people_write_them(kind: str) -> None:
    tokenizer = make_subwords(kind)
    words = ["``", "Bob", "did", "n’t", "''", "-LRB-", "WO", "N'T", "-rrb-", "`"]
    spaces = np.array([0, 0, 1, 0, 0, 1, 0, 0, 0, 1], dtype=bool)
    pieces, _, _ = tokenizer.encode_pieces(words, spaces)
    assert tokenizer.join(pieces) == "\"Bob didn't\" (WON'T) '"
    assert tokenizer.encode(["``", "“", '"']).tolist() == [tokenizer.encode(['"'])[0]] * 3
    apart = tokenizer.encode_pieces(["did", "n't"], np.array([False, True]))
    assert tokenizer.join(apart[0]) == "did n't"


@pytest.mark.parametrize("kind", BYTE_LEVEL)
def test_that_a_text_can_not_name_special_pieces(kind: str) -> None:
    tokenizer = make_subwords(kind)
    special = train_tokenizer(kind).token_to_id(SPECIAL)
    pieces, _, _ = tokenizer.encode_pieces(["a", SPECIAL, escape_word(SENTENCE_END)])
    assert special not in pieces.tolist() and tokenizer.join(pieces) == f"a {SPECIAL} {SENTENCE_END}"


# -- word boundaries -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@given(texts)
@settings(max_examples=60)
def test_ends_and_places(kind: str, text: list[tuple[str, bool]]) -> None:
    """The rule, read off the text: an END where a letter or digit stands before a space or a mark, or at the end."""
    tokenizer = make_subwords(kind)
    words, spaces = split_text(text)
    pieces, bounds, places = tokenizer.encode_pieces(words, spaces)
    plain = make_subwords(kind, boundaries=False).encode_pieces(words, spaces)
    assert pieces[pieces != tokenizer.end].tolist() == plain[0].tolist() and set(plain[2].tolist()) <= {
        INSIDE
    }
    for at, piece in enumerate(pieces.tolist()):
        after_end = at > 0 and pieces[at - 1] == tokenizer.end
        assert places[at] == (OPEN if after_end else CONTINUE if piece == tokenizer.end else INSIDE)
        if piece == tokenizer.end:
            assert at + 1 in bounds and not after_end
            assert tokenizer.endings[pieces[at - 1]] == ALPHANUMERIC
            assert at + 1 == len(pieces) or tokenizer.openers[pieces[at + 1]]
    for end in bounds[1:].tolist():
        last, following = pieces[end - 1], pieces[end : end + 1]
        if last == tokenizer.end or tokenizer.endings[last] != ALPHANUMERIC:
            continue
        # No END here: the word after it goes on with a letter, or its only piece began in this one.
        assert len(following) and (following[0] == tokenizer.end or not tokenizer.openers[following[0]])


Distribution = Callable[[tuple[int, ...]], np.ndarray]


def make_distribution(size: int, pieces: list[int], seed: int) -> Distribution:
    """Any distribution over some pieces, another one after each history."""

    def predict(history: tuple[int, ...]) -> np.ndarray:
        draw = np.random.default_rng([seed, len(history), *history])
        probs = np.zeros(size)
        probs[pieces] = draw.dirichlet(np.full(len(pieces), 0.6))
        return probs

    return predict


def list_probs(tokenizer: Any, predict: Distribution, history: tuple[int, ...], place: int) -> np.ndarray:
    """(V + 1,) the definition: the probability of each piece, and of END, at a place."""
    probs = predict(history)
    opening = probs[tokenizer.openers].sum()
    if place == OPEN:
        return np.append(np.where(tokenizer.openers, probs, 0) / opening, 0)
    if place == CONTINUE:
        return np.append(np.where(tokenizer.openers, 0, probs), opening)
    return np.append(probs, opening)  # INSIDE: no distribution, but all that a text's pieces may be


def score_text(tokenizer: Any, predict: Distribution, pieces: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(P,) log-probabilities of a text's pieces."""
    found, history = [], ()
    for piece, place in zip(pieces.tolist(), places.tolist(), strict=True):
        found.append(list_probs(tokenizer, predict, history, place)[piece])
        history = (*history, piece) if piece != tokenizer.end else history
    return np.log(found)


def draw_words(
    tokenizer: Any, predict: Distribution, history: tuple[int, ...], last: int | None, depth: int
) -> Iterator[tuple[tuple[int, ...], float, bool]]:
    """Every word of at most ``depth`` pieces that can be drawn, with its probability, and every beginning of a longer one."""
    waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    while waiting:
        before, prob = waiting.pop()
        place = tokenizer.place(before, last)
        probs = list_probs(tokenizer, predict, (*history, *before), place)
        if place == INSIDE:  # nothing to be ended
            probs[tokenizer.end] = 0
        for piece in np.flatnonzero(probs).tolist():
            word, joint = (*before, piece), prob * probs[piece]
            if tokenizer.ends_word(piece):
                yield word, joint, True
            elif len(word) == depth:
                yield word, joint, False
            else:
                waiting.append((word, joint))


@pytest.mark.parametrize("kind", ["gpt2", "llama3", "llama2"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("before", ["", "a", "("])
def test_that_all_words_sum_to_one(kind: str, seed: int, before: str) -> None:
    """After the start, a word or a mark: all words of up to five pieces, and all that begins and is longer."""
    tokenizer = make_subwords(kind)
    few = [tokenizer._table.encode(text)[0][0] for text in (" key", "a", "1", " ", ".", '"')]
    predict = make_distribution(tokenizer.size, [*few, 0, tokenizer.size - 1], seed)
    history, last = (), None
    if before:
        history = tuple(tokenizer._table.encode(before)[0])
        last = tokenizer.end if before == "a" else history[-1]
    finished, begun = {}, {}
    for depth in (3, 5):
        found = list(draw_words(tokenizer, predict, history, last, depth))
        assert len({word for word, _, _ in found}) == len(found)
        finished[depth] = sum(prob for _, prob, ends in found if ends)
        begun[depth] = sum(prob for _, prob, ends in found if not ends)
        assert finished[depth] + begun[depth] == pytest.approx(1, abs=1e-12)
    assert begun[5] < begun[3] and begun[5] < 0.25  # what is left goes to zero


@pytest.mark.parametrize("kind", KINDS)
@given(texts, st.integers(0, 99))
@settings(max_examples=30)
def test_that_over_a_text_boundaries_add_nothing_but_its_end(
    kind: str, text: list[tuple[str, bool]], seed: int
) -> None:
    tokenizer = make_subwords(kind)
    words, spaces = split_text(text)
    pieces, bounds, places = tokenizer.encode_pieces(words, spaces)
    plain = pieces[pieces != tokenizer.end]
    predict = make_distribution(tokenizer.size, list(range(tokenizer.size)), seed)
    scores = score_text(tokenizer, predict, pieces, places)
    bare = score_text(tokenizer, predict, plain, np.full(len(plain), INSIDE))
    end = scores[-1] if pieces[-1] == tokenizer.end else 0.0
    assert scores.sum() == pytest.approx(bare.sum() + end, abs=1e-9)
    opening = [
        np.log(predict(tuple(plain[:n].tolist()))[tokenizer.openers].sum()) for n in range(len(plain) + 1)
    ]
    at = 0
    for start, stop in zip(
        bounds[:-1].tolist(), bounds[1:].tolist(), strict=True
    ):  # Π p · P(B | after) / P(B | before)
        count = int((pieces[start:stop] != tokenizer.end).sum())
        expected = bare[at : at + count].sum()
        expected -= opening[at] if start < stop and places[start] == OPEN else 0
        at += count
        expected += opening[at] if start < stop and pieces[stop - 1] == tokenizer.end else 0
        assert scores[start:stop].sum() == pytest.approx(expected, abs=1e-9)


# -- words by themselves -------------------------------------------------------------------------------------------------


def test_pieces_of_single_words() -> None:
    tokenizer = make_subwords("gpt2")
    key = tokenizer.pieces("key")
    assert key[-1] == tokenizer.end and tokenizer._table.decode(key[:-1]) == " key"
    assert [tokenizer._table.decode(tokenizer.pieces(mark)) for mark in (",", "(", "?")] == [",", " (", "?"]
    assert (
        tokenizer.pieces(SENTENCE_END) == () and tokenizer.encode([SENTENCE_END])[0] == tokenizer.sentence_end
    )
    keys = tokenizer.encode(["key", "Key", "key"])
    assert keys[0] == keys[2] != keys[1] and (keys >= 0).all() and keys.dtype == np.int64
    assert not tokenizer.is_unknown("日本") and not make_subwords("llama2").is_unknown("日本")


def test_keys_are_remembered_for_so_many_words(monkeypatch: pytest.MonkeyPatch) -> None:
    from entitynlm.model.backbones.huggingface import tokenizer as module

    tokenizer = make_subwords("qwen")
    monkeypatch.setattr(module, "MOST_REMEMBERED", 3)
    words = [f"word{number}" for number in range(9)]
    assert tokenizer.encode(words).tolist() == tokenizer.encode(words).tolist()


# -- documents and files -------------------------------------------------------------------------------------------------


def test_that_spaces_are_those_of_the_text() -> None:
    text = "He did n't say\n “ no”."
    tokens = ("He", "did", "n't", "say", "“", "no", "”", ".")
    offsets, at = [], 0
    for token in tokens:
        at = text.index(token, at)
        offsets.append((at, at + len(token)))
    document = Document("d", tokens, ((0, 8),), text=text, offsets=tuple(offsets))
    everything = np.arange(8)
    assert find_spaces(document, everything).tolist() == [False, True, True, True, True, True, False, False]
    bare = Document("d", tokens, ((0, 8),))
    assert find_spaces(bare, everything).tolist() == [False, True, False, True, True, False, False, False]
    some = np.array(
        [0, 3, -1, 5]
    )  # what is left out parts what stands around it; </s> is no word of the text
    assert find_spaces(bare, some).tolist() == [False, True, False, True]
    assert find_spaces(Document("e", ()), everything[:0]).tolist() == []
    encoder = Encoder(SUBWORD_RECIPE, make_subwords("gpt2"))
    encoded = encoder.encode(bare)
    assert encoder.tokenizer.join(encoded.pieces) == 'He didn\'t say "no".'
    assert encoder.tokenizer.join(encoder.encode(document).pieces) == 'He did n\'t say " no".'
    part = encoded.cut(4)
    np.testing.assert_equal(asdict(part), asdict(encoder.encode(Document("d", tokens[:4]))))
    assert part.words.piece_places is not None
    assert len(encoder.encode(Document("nothing", ()))) == 0


def test_that_a_tokenizer_is_stored_by_name_and_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = make_subwords("llama3")
    train_tokenizer("llama3").save(str(tmp_path / "tokenizer.json"))
    files = SimpleNamespace(name="llama3", folder=tmp_path, digest="0" * 16)
    weights = SimpleNamespace(find_language_model={"llama3": files}.get)
    monkeypatch.setitem(sys.modules, "entitynlm.model.backbones.huggingface.weights", weights)
    encoder = Encoder(SUBWORD_RECIPE, tokenizer)
    again = Encoder.from_dict(encoder.to_dict())
    assert again == encoder and hash(again.tokenizer) == hash(tokenizer)
    text = ["Anna", "did", "n't", "."], np.array([False, True, False, False])
    found = again.tokenizer.encode_pieces(*text)
    assert all(np.array_equal(a, b) for a, b in zip(found, tokenizer.encode_pieces(*text), strict=True))
    with pytest.raises(ModelError, match="not the one that this model was trained with"):
        load_tokenizer({"name": "subword", **tokenizer.to_dict(), "digest": "1" * 16})
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="can't be read"):
        load_tokenizer({"name": "subword", **tokenizer.to_dict()})
