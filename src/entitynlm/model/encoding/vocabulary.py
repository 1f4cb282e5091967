"""The words that the model knows, with their numbers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from entitynlm.errors import ConfigError, DataError
from entitynlm.model.encoding.preprocessing import NUM, SENTENCE_END, SPECIALS, START, UNK, IntArray, Recipe
from entitynlm.model.encoding.tokenizer import Tokenizer, register_tokenizer


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
    def build(cls, counts: Mapping[str, int], recipe: Recipe) -> "Vocabulary":
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
        """Find the id of ``word``; that of ``<unk>`` where it is unknown."""
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
    def from_dict(cls, values: Mapping[str, Any]) -> "Vocabulary":
        """Make a vocabulary from JSON; anything but a list of words is an error."""
        words = values.get("words")
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            raise DataError("a vocabulary is a list of words", found=type(words).__name__)
        return cls(words)
