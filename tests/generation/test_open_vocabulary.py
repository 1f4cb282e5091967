"""Words of an open vocabulary in a generated text: spaces before names, ends of sentences, what is never drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from entitynlm.generation.generator import Constraints, Generator
from entitynlm.generation.open_vocabulary import OpenVocabulary
from support.small_tokenizers import BYTE_LEVEL, make_subwords
from support.tiny_language_models import make_model, make_tokenizer


@pytest.fixture(params=BYTE_LEVEL)
def words(request: pytest.FixtureRequest) -> OpenVocabulary:
    return OpenVocabulary(make_subwords(request.param))


def spell(words: OpenVocabulary, word: str, before: str | None) -> str:
    """The text of a word after another text."""
    pieces = None if before is None else tuple(words.tokenizer.encode_pieces([before])[0].tolist())
    if before is not None and before[0] == " ":
        pieces = words.tokenizer.pieces(before.strip())
    return words.tokenizer.write(words.spell(words.learn(word), pieces))


def test_a_name_has_a_space_before_it_unless_something_opens(words: OpenVocabulary) -> None:
    assert spell(words, "Anna", "Bob") == " Anna"
    assert spell(words, "Anna", None) == "Anna"
    assert spell(words, "Anna", "(") == "Anna"
    assert spell(words, "Anna", ' "') == "Anna"
    assert spell(words, ".", "Bob") == "."


def read(words: OpenVocabulary, *text: str) -> tuple[list[int], list[tuple[int, ...]]]:
    return [words.learn(word) for word in text], [words.tokenizer.pieces(word) for word in text]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Bob ran .", True),
        ("Bob ran ! ”", True),
        ('Bob ran ! "', False),  # with a space before it, a quotation begins
        ("Bob ran ? )", True),
        ("Bob ran", False),
        ("Bob ,", False),
        ("saw Mr .", False),
        ("her mother .", True),
        ("J .", False),
        ("and I .", True),
    ],
)
def test_where_sentences_end(words: OpenVocabulary, text: str, ends: bool) -> None:
    keys, pieces = read(words, *text.split())
    assert words.ends_text(keys, pieces) == ends
    assert words.closes_sentence(words.tokenizer.pieces(")")) and not words.closes_sentence(pieces[0])


def test_what_is_never_drawn(words: OpenVocabulary) -> None:
    tokenizer = words.tokenizer
    flat = torch.zeros(len(tokenizer))
    left = words.exclude(flat.clone(), opens_mention_word=False)
    assert torch.isinf(left).sum() == len(tokenizer.never_generated) > 0
    inside = words.exclude(flat.clone(), opens_mention_word=True)
    assert torch.isinf(inside[tokenizer.pieces(".")[0]]) and not torch.isinf(left[tokenizer.pieces(".")[0]])
    assert words.list_first_pieces(["Anna"]) and tokenizer.pieces("Anna")[0] in words.list_first_pieces(
        ["anna", "Anna"]
    )


def test_words_that_can_not_be_shown_are_no_words(words: OpenVocabulary) -> None:
    assert words.is_whole(words.tokenizer.pieces("Anna"), in_mention=False)
    assert not words.is_whole(words.tokenizer.pieces("Anna")[:1], in_mention=False)


@pytest.fixture(scope="module")
def generator(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A generator on a tiny random language model."""
    from entitynlm.model.additions import fit_scaling
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.document import Document
    from entitynlm.training.recipe import fit_encoder, make_network
    from entitynlm.training.settings import load_settings

    folder = tmp_path_factory.mktemp("lm")
    make_model("llama", context=64).save_pretrained(folder)
    make_tokenizer().save_pretrained(folder)
    changes = {"model.hidden_size": 4, "model.mention_positions": 2}
    settings = load_settings(None, changes, language_model=str(folder))
    document = Document("x", ("Anna", "lost", "her", "key", "."))
    pretrained = Pretrained(fit_encoder([document], settings), None)
    network, _ = make_network(pretrained, "generative", settings, seed=1)
    fit_scaling(network, [pretrained.encoder.encode(document).words])
    tokenizer = pretrained.encoder.tokenizer
    draws = torch.Generator().manual_seed(1)
    return Generator(
        network.eval(), sentence_end=tokenizer.sentence_end, generator=draws, tokenizer=tokenizer
    )


def test_words_are_drawn_with_the_pieces_that_are_read_on(generator: Any) -> None:
    """Each word ends once, begins with no END, and the state afterwards is that of having read all pieces."""
    state, tokenizer, pieces = generator.start(), generator.words.tokenizer, []
    for _ in range(30):
        state, word = generator.step(state, Constraints())
        assert word.pieces[0] != tokenizer.end and tokenizer.ends_word(word.pieces[-1])
        assert not any(map(tokenizer.ends_word, word.pieces[:-1]))
        assert not {*word.pieces} & {*tokenizer.never_generated}
        assert generator.words[word.x] == tokenizer.join(word.pieces)
        pieces += word.pieces
    backbone, carry = generator.network.backbone, generator.network.backbone.start()
    for piece in pieces:
        carry = backbone.step(carry, torch.tensor([piece]))
    assert torch.allclose(backbone.state(carry), backbone.state(state.carry), atol=1e-4)


def test_an_expression_is_chosen_where_it_is_probable(generator: Any) -> None:
    words = generator.words
    state = generator.add_entity(generator.start(), [words.learn("Anna")])
    choices = [(words.learn("Anna"),), (words.learn("key"), words.learn("garden"))]
    score, chosen = generator.choose_words(state, 1, choices, Constraints())
    assert chosen in choices and score < 0
    named = Constraints(next_entity=1, mention=True, names={1: chosen})
    after, word = generator.step(state, named)
    assert (word.e, word.x, word.l) == (1, chosen[0], len(chosen))
    assert replace(after, carry=None).previous == chosen[0]
