"""Words and their pieces: tokenizers, and encoded texts as a language model reads them.

R, E and L belong to words; pieces are internal to X. A word has a key (``x``), equal for equal words, and one or more pieces:
p(word) is the product over its pieces. The *place* of a piece says which pieces are possible there; its values are defined by the
tokenizer together with its backbone. In a :class:`~entitynlm.model.encoding.tokenizer.Vocabulary` a word is its own piece.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from entitynlm.errors import ConfigError, DataError, ModelError
from entitynlm.model.encoding.preprocessing import NUM, SENTENCE_END, SPECIALS, START, UNK, IntArray, Recipe
from entitynlm.text.document import Span

BoolArray = npt.NDArray[np.bool_]
SpelledWords = tuple[IntArray, IntArray, IntArray]
"""(P,) the pieces of T words, (T + 1,) where each word's begin, (P,) their places."""


@dataclass(frozen=True, eq=False)
class EncodedWords:
    """A chunk of text as a backbone reads it: T words.

    :param x: (T,) keys of words.  :param sentence: (T,) sentence of each word.
    :param pieces: (P,) and :param piece_bounds: (T + 1,): word t has the pieces ``piece_bounds[t]`` … ``piece_bounds[t + 1]`` -
        1; None where keys are ids of a vocabulary, so that each word is its own piece.
    :param piece_places: (P,) place of each piece, as the tokenizer numbers them; None where each word is its own piece.
    """

    x: IntArray
    sentence: IntArray
    pieces: IntArray | None = None
    piece_bounds: IntArray | None = None
    piece_places: IntArray | None = None

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, part: slice) -> EncodedWords:
        """Take consecutive words."""
        pieces = bounds = places = None
        if self.pieces is not None and self.piece_bounds is not None and self.piece_places is not None:
            start, stop, _ = part.indices(len(self))
            bounds = self.piece_bounds[start : max(start, stop) + 1]
            own = slice(bounds[0], bounds[-1])
            pieces, places, bounds = self.pieces[own], self.piece_places[own], bounds - bounds[0]
        return EncodedWords(self.x[part], self.sentence[part], pieces, bounds, places)

    @property
    def all_pieces(self) -> IntArray:
        """(P,) the pieces, which may be the words themselves."""
        return self.x if self.pieces is None else self.pieces

    def expand(self, words: IntArray) -> tuple[IntArray, IntArray | None]:
        """Expand words (N,), with repetitions, to pieces: the pieces' numbers and (unless each word is a piece) their words."""
        if self.piece_bounds is None:
            return words, None
        first, counts = self.piece_bounds[words], np.diff(self.piece_bounds)[words]
        owners = np.repeat(np.arange(len(words)), counts)
        return np.arange(len(owners)) + (first - (np.cumsum(counts) - counts))[owners], owners

    @classmethod
    def join(cls, texts: Sequence[EncodedWords]) -> EncodedWords:
        """Join several texts, one after the other."""

        def concatenate(name: str) -> IntArray:
            return np.concatenate([getattr(text, name) for text in texts])

        x, sentence = concatenate("x"), concatenate("sentence")
        if any(text.pieces is None for text in texts):
            return cls(x, sentence)
        counts = np.concatenate(
            [np.diff(text.piece_bounds) for text in texts if text.piece_bounds is not None]
        )
        bounds = np.concatenate([[0], np.cumsum(counts)])
        return cls(x, sentence, concatenate("pieces"), bounds, concatenate("piece_places"))


class Tokenizer(Protocol):
    """Turns words into pieces; the default methods are those of a vocabulary, where each word is its own piece."""

    tokenizer_name: ClassVar[str]
    start: int  # the piece that is read before the first word, and never predicted
    sentence_end: int  # the key of </s>; of no word, where the model does not read sentence ends
    exact: bool = False  # whether a text is spelled as it stands, by `encode_text`
    never_generated: Sequence[int] = ()  # pieces that may be read, and that no generated text has

    def __len__(self) -> int:
        """Count the different pieces."""
        ...

    def encode(self, words: Iterable[str]) -> IntArray:
        """(T,) keys of words, equal for equal words."""
        ...

    def encode_pieces(self, words: Sequence[str], spaces: BoolArray | None = None) -> SpelledWords | None:
        """Spell a text's words by pieces; None where each word is its own piece.

        :param spaces: (T,) whether white space stands before each word; None: before all but the first.
        """
        return None

    def encode_text(self, text: str, offsets: Sequence[Span]) -> SpelledWords | None:
        """Spell a text as it stands, with all of its white space."""
        return None

    def pieces(self, word: str) -> tuple[int, ...]:
        """Spell one word inside of a text."""
        ...

    def place(self, before: Sequence[int], last: int | None) -> int:
        """Return the place of the next piece to be drawn, after the pieces ``before`` it in its word.

        :param last: last piece of the previous word; None at the start of a text.
        """
        return 0

    def ends_word(self, piece: int) -> bool:
        """Tell whether a word ends with this piece."""
        return True

    def join(self, pieces: Sequence[int]) -> str:
        """Return the word that pieces spell."""
        ...

    def write(self, pieces: Sequence[int]) -> str | None:
        """Return the text of pieces with its white space; None if the pieces carry no white space."""
        return None

    def is_unknown(self, word: str) -> bool:
        """Tell whether a word is outside of the vocabulary, so that the model can't distinguish it from other such words."""
        ...

    def check_recipe(self, recipe: Recipe) -> None:
        """Raise a ConfigError if the tokenizer can't read words of this recipe."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Describe the tokenizer for JSON."""
        ...


TOKENIZERS: dict[str, Callable[[Mapping[str, Any]], Tokenizer]] = {}
"""Functions that make a tokenizer from what its ``to_dict`` gave, by ``tokenizer_name``."""

TokenizerType = TypeVar("TokenizerType", bound=type)


def register_tokenizer(tokenizer: TokenizerType) -> TokenizerType:
    """Register a tokenizer class (with ``tokenizer_name`` and ``from_dict``), so that models with it can be loaded."""
    TOKENIZERS[tokenizer.tokenizer_name] = tokenizer.from_dict  # type: ignore[attr-defined]
    return tokenizer


def load_tokenizer(values: Mapping[str, Any]) -> Tokenizer:
    """Load the tokenizer that ``{"name": …, **to_dict()}`` describes."""
    name = values.get("name")
    if name not in TOKENIZERS:
        known = ", ".join(sorted(TOKENIZERS))
        raise ModelError(
            f"this model needs the tokenizer {name!r}, which is not installed; there are {known}"
        )
    return TOKENIZERS[name]({key: value for key, value in values.items() if key != "name"})


@register_tokenizer
class Vocabulary(Tokenizer):
    """An ordered list of words; a word's place is its id.

    Ids 0, 1, 2 are always ``<s>`` (read before the first word, never predicted), ``<unk>`` and ``</s>``;
    ``<num>`` is 3 where the recipe replaces numbers. Ordinary words follow, the most frequent first.
    """

    tokenizer_name: ClassVar[str] = "vocabulary"

    def __init__(self, words: Sequence[str]) -> None:
        """``words`` in order; the specials are put in front, so that ``Vocabulary(v.words)`` equals ``v``."""
        given = list(words)
        special = [word for word in SPECIALS if word != NUM or NUM in given]
        ordinary = [word for word in given if word not in SPECIALS]
        self._words = (*special, *ordinary)
        self._ids = {word: number for number, word in enumerate(self._words)}
        if len(self._ids) < len(self._words):
            twice = next(word for word, count in Counter(self._words).items() if count > 1)
            raise DataError("a word stands twice in the vocabulary", found=twice)
        self.start = self._ids[START]
        self.unknown = self._ids[UNK]
        self.sentence_end = self._ids[SENTENCE_END]
        self.number = self._ids.get(NUM)

    @classmethod
    def build(cls, counts: Mapping[str, int], recipe: Recipe) -> Vocabulary:
        """Take the most frequent ``vocabulary_size`` words that occur ``minimum_count`` times or more.

        Ties go in alphabetical order (of code points). The size counts ordinary words: a vocabulary of 1,000
        has 1,000 words of the corpus and, besides them, the specials.
        """
        frequent = [
            (-count, word)
            for word, count in counts.items()
            if count >= recipe.minimum_count and word not in SPECIALS
        ]
        chosen = [word for _, word in sorted(frequent)[: recipe.vocabulary_size]]
        return cls([NUM, *chosen] if recipe.numbers else chosen)

    @property
    def words(self) -> tuple[str, ...]:
        return self._words

    @property
    def specials(self) -> int:
        """The number of specials, which come first."""
        return 3 if self.number is None else 4

    def __len__(self) -> int:
        return len(self._words)

    def __getitem__(self, word: str) -> int:
        """Return the id of ``word``; that of ``<unk>`` if it is unknown."""
        return self._ids.get(word, self.unknown)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Vocabulary) and self._words == other._words)

    def __hash__(self) -> int:
        return hash(self._words)

    def is_unknown(self, word: str) -> bool:
        """Tell whether the model reads ``word`` as ``<unk>``."""
        return self[word] == self.unknown

    def encode(self, words: Iterable[str]) -> IntArray:
        """(T,) ids; unknown words have the id of ``<unk>``."""
        find, unknown = self._ids.get, self.unknown
        return np.array([find(word, unknown) for word in words], dtype=np.int64)

    # -- as a tokenizer: a word is its own piece ---------------------------------------------------------------------

    def pieces(self, word: str) -> tuple[int, ...]:
        return (self[word],)

    def join(self, pieces: Sequence[int]) -> str:
        return self._words[pieces[0]]

    def check_recipe(self, recipe: Recipe) -> None:
        if (self.number is None) == recipe.numbers:
            raise ConfigError("the vocabulary and the recipe disagree whether numbers are replaced")

    def to_dict(self) -> dict[str, Any]:
        return {"words": list(self._words)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Vocabulary:
        """Make a vocabulary from JSON; anything but a list of words is an error."""
        words = values.get("words")
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            raise DataError("a vocabulary is a list of words", found=type(words).__name__)
        return cls(words)
