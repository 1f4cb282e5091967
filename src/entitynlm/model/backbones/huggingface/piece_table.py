"""The pieces of a language model's tokenizer: the text that each stands for, and what it says about where words begin and end.

A leading space belongs to the piece that follows it, so that a word's pieces do not say that the word is over: the next piece
does, if it opens a new word. Hence a word's probability must have that factor (Pimentel & Meister 2024, Oh & Schuler 2024).
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from entitynlm.errors import ModelError
from entitynlm.extras import require
from entitynlm.model.encoding.tokenizer import BoolArray
from entitynlm.model.language_models import TOKENIZER_FILE

if TYPE_CHECKING:
    from entitynlm.model.backbones.huggingface.weights import LanguageModelFiles

ALPHANUMERIC, MARK_ENDING, BLANK = range(3)
"""How a piece ends: with a letter or digit, after which the word may go on or end; with another character, after which it surely
ends; or the piece is nothing but white space, after which a word is still to come."""

ANCHOR = "a"
"""Read before a piece to be decoded: decoders cut off a space at the start of a text."""


UNUSED = "\U0010fffd"
"""A character that stands in no text, which can be spelled by bytes alone."""


class PieceTable:
    """A fast tokenizer of `tokenizers` that leaves spaces as they are: it adds none of its own and knows no special pieces.

    :ivar adds_space: whether the tokenizer, as it was, puts a space before the first word of a text.
    :ivar special: pieces that stand for no text.  :ivar unknown: the piece for what can't be spelled; None if all can.
    """

    def __init__(self, tokenizer: Any) -> None:
        """``tokenizer`` is taken over and changed."""
        as_it_was = tokenizer.encode(ANCHOR, add_special_tokens=False).ids
        _drop_prefix(tokenizer)
        self._tokenizer = tokenizer
        self._anchor = self.encode([ANCHOR])[0][0]
        self.adds_space = as_it_was != self._anchor
        self.special = frozenset(
            number for number, piece in tokenizer.get_added_tokens_decoder().items() if piece.special
        )
        strange = self.encode([UNUSED])[0][0]
        self.unknown = None if not strange or self.decode(strange) == UNUSED else strange[-1]
        probe = " Anna's word, 12."
        if self.decode(self.encode([probe])[0][0]) != probe:
            raise ModelError(
                "the language model's tokenizer does not keep the spaces between words, so that words can't be spelled by it; "
                "take a model whose pieces have a leading space, as those of GPT-2, Llama or Qwen"
            )

    def encode(self, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """Spell each text as it stands, with a leading space or without; returns its pieces, and where each begins."""
        found = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [(text.ids, [start for start, _ in text.offsets]) for text in found]

    def name_piece(self, piece: int) -> str:
        """Give a piece as the vocabulary has it, special ones included."""
        return str(self._tokenizer.id_to_token(piece))

    def decode(self, pieces: Sequence[int]) -> str:
        """Give the text of some pieces in a row, with its leading space."""
        return self.decode_batch([pieces])[0]

    def decode_batch(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Give the texts of several rows of pieces; bytes that are no character alone are U+FFFD."""
        anchored = [[*self._anchor, *row] for row in rows]
        texts = self._tokenizer.decode_batch(anchored, skip_special_tokens=False)
        return [text[len(ANCHOR) :] for text in texts]

    def classify(self, size: int) -> tuple[BoolArray, npt.NDArray[np.int8], BoolArray]:
        """Classify all pieces, and numbers up to ``size`` that are no piece, which models have for even sizes: those stand, like
        special pieces, for words of their own.

        :return: (V,) whether a piece begins a new word after a letter or digit; (V,) how each ends (:data:`ALPHANUMERIC`,
            :data:`MARK_ENDING`, :data:`BLANK`); (V,) which stand for no text.
        """
        texts = self.decode_batch([[number] for number in range(size)])
        special = np.array([number in self.special or not text for number, text in enumerate(texts)])
        openers = np.array([not text or not _is_letter(text[0]) for text in texts]) | special
        endings = np.array([_find_ending(text) for text in texts], dtype=np.int8)
        endings[special] = MARK_ENDING
        return openers, endings, special


def _drop_prefix(tokenizer: Any) -> None:
    """Let a tokenizer add no space before a text, as those made by SentencePiece do, cut or fill up no text, and take no part of
    a text for a special piece: a text that has "<|endoftext|>" in it says nothing to the model.
    """
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    tokenizers = require("tokenizers", extra="pretrained", purpose="a pretrained language model")
    steps = tokenizers.Tokenizer(tokenizers.models.BPE())  # the steps alone, since vocabularies are large
    steps.normalizer, steps.pre_tokenizer = tokenizer.normalizer, tokenizer.pre_tokenizer
    before = json.loads(steps.to_str())
    after = {**before, **{name: _without_prefix(before[name]) for name in ("normalizer", "pre_tokenizer")}}
    if after != before:
        steps = tokenizers.Tokenizer.from_str(json.dumps(after))
        tokenizer.normalizer, tokenizer.pre_tokenizer = steps.normalizer, steps.pre_tokenizer


def _without_prefix(step: Any) -> Any:
    """Change the settings of a step that prepares texts, so that it leaves the text's beginning alone."""
    if isinstance(step, list):
        return [_without_prefix(part) for part in step if part.get("type") != "Prepend"]
    if not isinstance(step, dict):
        return step
    if step.get("type") == "Prepend":
        return None
    quiet = {"prepend_scheme": "never", "add_prefix_space": False}
    lists = {key: _without_prefix(value) for key, value in step.items() if isinstance(value, list)}
    return {**step, **lists, **{key: value for key, value in quiet.items() if key in step}}


def _is_letter(character: str) -> bool:
    """Tell whether words go on with a character: letters, digits, accents, and bytes that are no character alone."""
    return character.isalnum() or character == "\ufffd" or unicodedata.category(character)[0] == "M"


def _find_ending(text: str) -> int:
    if text.isspace():
        return BLANK
    return ALPHANUMERIC if text and _is_letter(text[-1]) else MARK_ENDING


def load_fast_tokenizer(files: LanguageModelFiles) -> Any:
    """Load the tokenizer of a language model's folder, without importing `transformers`."""
    path = files.folder / TOKENIZER_FILE
    tokenizers = require("tokenizers", extra="pretrained", purpose="a pretrained language model")
    try:
        return tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library has no class of its own for it
        raise ModelError(f"{path}: this tokenizer can't be read ({error}). Get the file again") from error
