"""Words spelled by the pieces of a pretrained language model, with word boundaries.

Words without a space between them are spelled together, with the space before the first of them, as the language model's own
tokenizer does; a piece belongs to the word in which it begins (`."` to the full stop), so a word may have none. As an option, a
text is spelled as it stands: paragraph breaks and double spaces are pieces too, which belong to the word after them.

Let B be the pieces that open a word (white space or a mark first), and p the language model's distribution at a piece. Where a
word ends with a letter or digit, the pseudo-piece END follows, with the probability that a piece of B is next; the first piece of
the word after it is then drawn from B alone::

    p(word) = Π p(piece) · P(B | after it) / P(B | before it)

So a word's probability includes that it ends, what may stand between two ends sums to one, and over a text all that was put in
cancels, but for the end of its last word. A word that is glued to the letters before it ("can" and "not") has no such boundary.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from copy import copy, deepcopy
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from entitynlm.errors import ConfigError, ModelError, require
from entitynlm.model.encoding.preprocessing import SENTENCE_END, IntArray, Recipe, escape_word, unescape_word
from entitynlm.model.encoding.tokenizer import BoolArray, SpelledWords, Tokenizer, register_tokenizer
from entitynlm.model.language_models import TOKENIZER_FILE
from entitynlm.text.detokenization import is_attached, write_plainly
from entitynlm.text.document import Span

ALPHANUMERIC, MARK_ENDING, BLANK = range(3)
"""How a piece ends: with a letter or digit, after which the word may go on or end; with another character, after which it surely
ends; or the piece is nothing but white space, after which a word is still to come."""

ANCHOR = "a"
"""Read before a piece to be decoded: decoders cut off a space at the start of a text."""


UNUSED = "\U0010fffd"
"""A character that stands in no text, which can be spelled by bytes alone."""


class PieceTable:
    """A fast tokenizer of `tokenizers` that leaves spaces as they are: it adds none, and treats no text as a special piece.

    A leading space belongs to the piece that follows it, so a word's pieces do not say that the word is over: the next piece
    does, if it opens a new word. Hence a word's probability needs that factor (Pimentel & Meister 2024, Oh & Schuler 2024).

    :ivar adds_space: whether the original tokenizer puts a space before the first word of a text.
    :ivar special: pieces that stand for no text.  :ivar unknown: the piece for text that can't be spelled; None if all can.
    """

    def __init__(self, tokenizer: Any) -> None:
        """``tokenizer`` is taken over and changed."""
        as_it_was = tokenizer.encode(ANCHOR, add_special_tokens=False).ids
        _drop_prefix(tokenizer)
        self._tokenizer = tokenizer
        self._anchor = self.encode(ANCHOR)[0]
        self.adds_space = as_it_was != self._anchor
        self.special = frozenset(
            number for number, piece in tokenizer.get_added_tokens_decoder().items() if piece.special
        )
        strange = self.encode(UNUSED)[0]
        self.unknown = None if not strange or self.decode(strange) == UNUSED else strange[-1]
        probe = " Anna's word, 12."
        if self.decode(self.encode(probe)[0]) != probe:
            raise ModelError(
                "the language model's tokenizer does not keep the spaces between words, so that words can't be spelled by it; "
                "take a model whose pieces have a leading space, as those of GPT-2, Llama or Qwen"
            )

    def encode(self, text: str) -> tuple[list[int], list[int]]:
        """Spell a text as it stands, with a leading space or without: its pieces, and where each begins."""
        found = self._tokenizer.encode(text, add_special_tokens=False)
        return found.ids, [start for start, _ in found.offsets]

    def name_piece(self, piece: int) -> str:
        """Return a piece as the vocabulary writes it, special pieces included."""
        return str(self._tokenizer.id_to_token(piece))

    def decode(self, pieces: Sequence[int]) -> str:
        """Return the text of consecutive pieces, with its leading space."""
        return self.decode_batch([pieces])[0]

    def decode_batch(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Return the texts of several rows of pieces; incomplete characters are U+FFFD."""
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
    """Change the settings of a text normaliser so that it leaves the beginning of a text unchanged."""
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
    """Tell whether words continue with a character: letters, digits, accents, and bytes of incomplete characters."""
    return character.isalnum() or character == "\ufffd" or unicodedata.category(character)[0] == "M"


def _find_ending(text: str) -> int:
    if text.isspace():
        return BLANK
    return ALPHANUMERIC if text and _is_letter(text[-1]) else MARK_ENDING


def load_fast_tokenizer(folder: Path) -> Any:
    """Load the tokenizer of a language model's folder, without importing `transformers`."""
    path = folder / TOKENIZER_FILE
    tokenizers = require("tokenizers", extra="pretrained", purpose="a pretrained language model")
    try:
        return tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library has no class of its own for it
        raise ModelError(f"{path}: this tokenizer can't be read ({error}). Get the file again") from error


OPEN, INSIDE, CONTINUE = range(3)
"""Places: after an END a piece is drawn from B alone; INSIDE it has the language model's own probability; and where a word may
end (CONTINUE) a piece of B stands for END."""

NO_KEY = -2
"""The key of ``</s>``, which is never read: that of no word."""

MOST_REMEMBERED = 1 << 18


@register_tokenizer
class SubwordTokenizer(Tokenizer):
    """A language model's own tokenizer, word by word.

    :ivar size: V, the pieces of the language model.  :ivar end: V, the number of END.
    :ivar openers: (V,) which pieces are in B.  :ivar endings: (V,) how each ends (:data:`ALPHANUMERIC` …).
    :ivar exact: spell a text as it stands; if not, with one space for any white space and with plain quotation marks.
    """

    tokenizer_name: ClassVar[str] = "subword"

    def __init__(
        self, tokenizer: Any, *, model: str, digest: str, size: int, start: int, boundaries: bool = True
    ) -> None:
        """
        :param tokenizer: a fast one, of the library `tokenizers`, which is taken over and changed.
        :param model: the language model's name and :param digest: its hash, by which it is found again.
        :param size: how many pieces the language model has an output for.
        :param start: the piece that is read before a text.
        :param boundaries: whether words have ENDs; if not, a word's probability is the product over its pieces.
        """
        self.model, self.digest, self.size, self.start = model, digest, size, start
        self.boundaries, self.end, self.sentence_end = boundaries, size, NO_KEY
        self.exact = False
        self._table = PieceTable(tokenizer)
        self.openers, self.endings, special = self._table.classify(size)
        self.never_generated = np.flatnonzero(special).tolist()
        self._nothing = start if self._table.unknown is None else self._table.unknown
        self._keys: dict[str, int] = {}

    @classmethod
    def of_runtime(
        cls, runtime: Any, *, boundaries: bool = True, start_piece: str | None = None
    ) -> "SubwordTokenizer":
        """Make the tokenizer of a loaded language model.

        :param start_piece: piece read before a text, as the tokenizer writes it; None: the language model's own.
        """
        inner = deepcopy(runtime.tokenizer.backend_tokenizer)
        start = runtime.start if start_piece is None else inner.token_to_id(start_piece)
        if start is None:
            raise ConfigError(
                f"the language model {runtime.name} has no piece {start_piece!r} to start a text with"
            )
        sizes = {"size": runtime.pieces, "start": start}
        return cls(inner, model=runtime.name, digest=runtime.digest, boundaries=boundaries, **sizes)

    @property
    def start_piece(self) -> str:
        """The piece that is read before a text, as the tokenizer writes it."""
        return self._table.name_piece(self.start)

    def respell(self, boundaries: bool | None, exact: bool) -> "SubwordTokenizer":
        """Copy this tokenizer with or without ENDs (None: unchanged), for texts as they stand or with collapsed white space."""
        other = copy(self)
        other.boundaries, other.exact = self.boundaries if boundaries is None else boundaries, exact
        return other

    # -- words to pieces ---------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.size + self.boundaries

    def encode(self, words: Iterable[str]) -> IntArray:
        words = list(words)
        if len(self._keys) > MOST_REMEMBERED:
            self._keys.clear()
        for word in set(words) - self._keys.keys():
            self._keys[word] = NO_KEY if word == SENTENCE_END else _hash(self._write_word(word))
        return np.array([self._keys[word] for word in words], dtype=np.int64)

    def encode_pieces(self, words: Sequence[str], spaces: BoolArray | None = None) -> SpelledWords:
        if not len(words):
            return np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64)
        after_space = [False] + [True] * (len(words) - 1) if spaces is None else spaces.tolist()
        leading = [after_space[0] or self._table.adds_space, *after_space[1:]]
        written = [" " * space + self._write_word(word) for space, word in zip(leading, words, strict=True)]
        return self._spell("".join(written), np.cumsum([len(word) for word in written]))

    def encode_text(self, text: str, offsets: Sequence[Span]) -> SpelledWords:
        """Spell a whole text as it stands; white space belongs to the word after it."""
        lead = " " * self._table.adds_space
        ends = np.array([end for _, end in offsets]) + len(lead)
        return self._spell(lead + text[: offsets[-1][1]], ends)

    def _spell(self, text: str, ends: IntArray) -> SpelledWords:
        """Spell a text whose words end at these characters; a piece belongs to the word in which it begins."""
        pieces, starts = self._table.encode(text)
        owners = np.searchsorted(ends[:-1], np.maximum.accumulate([0, *starts[1:]]), "right")
        counts = np.bincount(owners, minlength=len(ends))
        return self._add_ends(np.array(pieces or [self._nothing], dtype=np.int64), counts)

    def _add_ends(self, plain: IntArray, counts: IntArray) -> SpelledWords:
        """Insert the ENDs of words between the pieces of a text, given the number of pieces of each word."""
        ended = np.zeros(len(counts), dtype=np.int64)
        if self.boundaries:
            stops = np.cumsum(counts)
            opens = np.append(self.openers[plain], True)[stops]  # what comes after each word
            opens[:-1] &= counts[1:] > 0  # a word without pieces ends where the word before it does
            ended = (opens & (self.endings[plain[stops - 1]] == ALPHANUMERIC)).astype(np.int64)
        bounds = np.concatenate([[0], np.cumsum(counts + ended)])
        pieces = np.full(bounds[-1], self.end)
        pieces[np.arange(len(plain)) + np.repeat(np.cumsum(ended) - ended, counts)] = plain
        places = np.where(pieces == self.end, CONTINUE, INSIDE)
        places[bounds[1:-1][ended[:-1] > 0]] = OPEN
        return pieces, bounds, places

    @staticmethod
    def _write_word(word: str) -> str:
        return write_plainly(unescape_word(word))

    def pieces(self, word: str) -> tuple[int, ...]:
        """Spell a word with its END, after a space unless its kind of word usually has none before it."""
        if word == SENTENCE_END:
            return ()
        found, _ = self._table.encode(" " * (not is_attached(word)) + self._write_word(word))
        own = tuple(found) or (self._nothing,)
        ends = self.boundaries and self.endings[own[-1]] == ALPHANUMERIC
        return (*own, self.end) if ends else own

    # -- pieces to words ---------------------------------------------------------------------------------------------

    def place(self, before: Sequence[int], last: int | None) -> int:
        self._need_boundaries()
        if not before:
            return OPEN if last == self.end else INSIDE
        return CONTINUE if self.endings[before[-1]] == ALPHANUMERIC else INSIDE

    def ends_word(self, piece: int) -> bool:
        self._need_boundaries()
        return piece == self.end or self.endings[piece] == MARK_ENDING

    def _need_boundaries(self) -> None:
        if not self.boundaries:
            raise ConfigError(
                "without word boundaries the model can't say where a word ends: no text can be generated with it"
            )

    def write(self, pieces: Sequence[int]) -> str:
        return self._table.decode([int(piece) for piece in pieces if piece != self.end])

    def join(self, pieces: Sequence[int]) -> str:
        text = self.write(pieces)
        return escape_word(text.strip() or text.removeprefix(" "))

    # -- of words ----------------------------------------------------------------------------------------------------

    def is_unknown(self, word: str) -> bool:
        """Return false for every word, unless the tokenizer can't spell some characters."""
        return self._table.unknown is not None and self._table.unknown in self.pieces(word)

    # -- storing -----------------------------------------------------------------------------------------------------

    def check_recipe(self, recipe: Recipe) -> None:
        if recipe.sentence_ends or recipe.numbers:
            what = "sentence_ends" if recipe.sentence_ends else "numbers"
            raise ConfigError(
                f"a pretrained language model reads the words as they stand, so the recipe can't have {what} = true: "
                "set sentence_ends = false, numbers = false"
            )

    def to_dict(self) -> dict[str, Any]:
        names = ("model", "digest", "size", "start", "boundaries")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "SubwordTokenizer":
        """Load the tokenizer alone, without the language model's weights, and check that the model was trained with it."""
        from entitynlm.model.backbones.huggingface.weights import find_language_model

        name, digest = values["model"], values["digest"]
        try:
            files = find_language_model(name)
        except ModelError as error:
            raise ModelError(
                f"this model is built on the language model {name} (digest {digest}), which can't be read here: {error}"
            ) from error
        if files.digest != digest:
            raise ModelError(
                f"the language model that is called {name} here is not the one that this model was trained with: "
                f"its digest is {files.digest}, expected {digest}"
            )
        return cls(load_fast_tokenizer(files.folder), **values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SubwordTokenizer) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.digest, self.boundaries))


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
