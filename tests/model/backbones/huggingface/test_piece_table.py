"""What the pieces of a tokenizer say about words."""

from copy import deepcopy

import pytest

from entitynlm.errors import ModelError
from entitynlm.model.backbones.huggingface.tokenizer import ALPHANUMERIC, BLANK, MARK_ENDING, PieceTable
from support.small_tokenizers import BYTE_LEVEL, KINDS, SPECIAL, make_subwords, train_tokenizer


@pytest.mark.parametrize("kind", KINDS)
def test_classes_of_pieces(kind: str) -> None:
    tokenizer, trained = make_subwords(kind), train_tokenizer(kind)
    assert tokenizer.openers.shape == tokenizer.endings.shape == (tokenizer.size,)
    assert (
        len(tokenizer) == tokenizer.size + 1 and len(make_subwords(kind, boundaries=False)) == tokenizer.size
    )

    def describe(text: str) -> tuple[bool, int]:
        (piece,) = tokenizer._table.encode(text)[0]
        return bool(tokenizer.openers[piece]), int(tokenizer.endings[piece])

    assert describe(" key") == describe(" and") == (True, ALPHANUMERIC)
    assert describe("a") == describe("1") == (False, ALPHANUMERIC)
    assert describe(",") == describe('"') == (True, MARK_ENDING)
    assert describe(" ") == (True, BLANK)
    special = trained.token_to_id("</s>" if kind not in BYTE_LEVEL else SPECIAL)
    for piece in (special, tokenizer.size - 1):  # the end of a text, and a number that is no piece
        assert tokenizer.openers[piece] and tokenizer.endings[piece] == MARK_ENDING
    broken = tokenizer._table.encode("日")[0]  # three bytes, of which each is no character
    assert len(broken) == 3 and not tokenizer.openers[broken].any()
    assert (tokenizer.endings[broken] == ALPHANUMERIC).all()


@pytest.mark.parametrize("kind", KINDS)
def test_that_texts_are_spelled_as_they_stand(kind: str) -> None:
    trained = train_tokenizer(kind)
    table = PieceTable(deepcopy(trained))
    assert table.adds_space == (kind not in BYTE_LEVEL) and table.unknown is None
    for text in ("Anna", " Anna", "  a", "日本", f" {SPECIAL}", ""):
        (pieces, starts) = table.encode(text)
        assert table.decode(pieces) == text and len(starts) == len(pieces)
        assert not table.special & set(pieces)


def test_that_tokenizers_without_spaces_are_refused() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    trained = Tokenizer(models.WordLevel({"[UNK]": 0, "Anna": 1, "a": 2}, unk_token="[UNK]"))
    trained.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    with pytest.raises(ModelError, match="does not keep the spaces"):
        PieceTable(trained)


def test_that_what_can_not_be_spelled_is_one_piece() -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = [(letter, -2.0) for letter in "▁Ana'sword,12."]
    trained = Tokenizer(models.Unigram([("<unk>", 0.0), *letters], unk_id=0))
    trained.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    trained.decoder = decoders.Metaspace(prepend_scheme="first")
    table = PieceTable(trained)
    assert table.unknown == 0 and table.encode(" aß")[0][-1] == 0 and table.adds_space
