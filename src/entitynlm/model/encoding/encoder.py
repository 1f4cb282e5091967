"""Documents as numbers: all that a model needs to read a document, in one object that is stored with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from entitynlm.errors import ConfigError, DataError
from entitynlm.model.encoding.preprocessing import IntArray, Recipe, WordSequence, prepare_words
from entitynlm.model.encoding.variables import (
    MAX_LENGTH,
    OTHER,
    Analysis,
    FilterCounts,
    Singletons,
    analyse,
    select_mentions,
    to_mentions,
)
from entitynlm.model.encoding.vocabulary import Vocabulary
from entitynlm.text.document import Document, Mention


@dataclass(frozen=True, eq=False)
class EncodedDocument:
    """X, R, E, L of one document as vectors of one length T.

    :param x: word ids.
    :param r: kinds, 0 outside of mentions.
    :param e: entities, 0 outside of mentions, else 1, … in order of first mention.
    :param l: words left in the mention, this one included; 1 outside.
    :param sentence: the document's sentence that a word belongs to.
    :param origin: the token that a word comes from, -1 for ``</s>``.
    """

    id: str
    x: IntArray
    r: IntArray
    e: IntArray
    l: IntArray
    sentence: IntArray
    origin: IntArray

    def __len__(self) -> int:
        return len(self.x)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EncodedDocument):
            return NotImplemented
        names = ("x", "r", "e", "l", "sentence", "origin")
        return self.id == other.id and all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)

    @property
    def analysis(self) -> Analysis:
        """R, E and L, checked."""
        return Analysis(self.r, self.e, self.l)

    def with_analysis(self, analysis: Analysis) -> EncodedDocument:
        """The same words with other mentions."""
        if len(analysis) != len(self):
            raise DataError(
                f"an analysis of {len(analysis)} words does not fit the {len(self)} of {self.id!r}"
            )
        return EncodedDocument(
            self.id,
            self.x,
            analysis.mention_type,
            analysis.entity,
            analysis.remaining,
            self.sentence,
            self.origin,
        )


@dataclass(frozen=True)
class Encoder:
    """All that turns a :class:`Document` into numbers and back; stored inside the model.

    :param types: empty for a model without types, which has one kind of mention; else kind k is ``types[k -
        1]`` and the last one, :data:`OTHER`, is for entities without a type or with one that training did not
        have.
    :param singletons: whether entities annotated with one mention are seen at all.
    :param max_length: the longest mention, in words.
    """

    recipe: Recipe
    vocabulary: Vocabulary
    types: tuple[str, ...] = ()
    singletons: Singletons = "keep"
    max_length: int = MAX_LENGTH

    def __post_init__(self) -> None:
        if self.singletons not in ("keep", "drop"):
            raise ConfigError(f"singletons are 'keep' or 'drop', not {self.singletons!r}")
        if isinstance(self.max_length, bool) or not isinstance(self.max_length, int) or self.max_length < 1:
            raise ConfigError(f"the longest mention is a whole number from 1 on, not {self.max_length!r}")
        if self.types and (self.types[-1] != OTHER or len(set(self.types)) < len(self.types)):
            raise ConfigError(f"the entity types differ from each other and end with {OTHER!r}: {self.types}")
        if (self.vocabulary.number is None) == self.recipe.numbers:
            raise ConfigError("the vocabulary and the recipe disagree whether numbers are replaced")

    @classmethod
    def fit(
        cls,
        documents: Iterable[Document],
        *,
        recipe: Recipe,
        singletons: Singletons,
        typed: bool = False,
        max_length: int = MAX_LENGTH,
    ) -> Encoder:
        """Take vocabulary and types from the training documents, which are read once, one at a time."""
        counts: Counter[str] = Counter()
        types: set[str] = set()
        for document in documents:
            counts.update(_prepare(document, recipe, singletons).words)
            types.update(document.entity_types.values())
        names = (*sorted(types - {OTHER}), OTHER) if typed else ()
        return cls(recipe, Vocabulary.build(counts, recipe), names, singletons, max_length)

    @property
    def mention_types(self) -> int:
        """K: the number of values of R besides 0."""
        return len(self.types) or 1

    @cached_property
    def _kind_of_type(self) -> dict[str, int] | None:
        return {name: mention_type for mention_type, name in enumerate(self.types, start=1)} or None

    def prepare(self, document: Document) -> WordSequence:
        """The model's words of a document, before they become numbers."""
        return _prepare(document, self.recipe, self.singletons)

    def encode(self, document: Document) -> EncodedDocument:
        """Words and annotated mentions."""
        return self.encode_with_report(document)[0]

    def encode_words(self, document: Document) -> EncodedDocument:
        """Words alone: the same X as :meth:`encode` gives, and no mention."""
        words = self.prepare(document)
        return self._number(document, words, Analysis.empty(len(words)))

    def encode_with_report(
        self, document: Document
    ) -> tuple[EncodedDocument, FilterCounts, tuple[Mention, ...]]:
        """The encoded document, what was taken away, and the document's mention behind each span."""
        mentions, selection = select_mentions(document, singletons=self.singletons)
        words = prepare_words(document, self.recipe, gold_mentions=mentions)
        analysis, originals, laid_out = analyse(
            mentions,
            words,
            max_length=self.max_length,
            types=self._kind_of_type,
            entity_types=document.entity_types,
        )
        return self._number(document, words, analysis), selection.followed_by(laid_out), originals

    def _number(self, document: Document, words: WordSequence, analysis: Analysis) -> EncodedDocument:
        x = self.vocabulary.encode(words.words)
        return EncodedDocument(
            document.id,
            x,
            analysis.mention_type,
            analysis.entity,
            analysis.remaining,
            words.sentence,
            words.origin,
        )

    def decode(self, analysis: EncodedDocument | Analysis, document: Document) -> Document:
        """``document`` with the mentions of an analysis of it, mapped back onto its own tokens.

        In a model with types an entity has the type of its first mention, and none where that is
        :data:`OTHER`.
        """
        if isinstance(analysis, EncodedDocument):
            analysis = analysis.analysis
        mentions = to_mentions(analysis, self.prepare(document))
        types: dict[str, str] = {}
        if self.types:
            for _, _, entity, mention_type in analysis.spans():
                types.setdefault(str(entity), self.types[mention_type - 1])
        known = {entity: name for entity, name in types.items() if name != OTHER}
        return document.with_mentions(mentions, known)

    def to_dict(self) -> dict[str, Any]:
        return {
            "recipe": self.recipe.to_dict(),
            "vocabulary": self.vocabulary.to_list(),
            "types": list(self.types),
            "singletons": self.singletons,
            "max_length": self.max_length,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Encoder:
        expected = {"recipe", "vocabulary", "types", "singletons", "max_length"}
        if set(values) != expected:
            raise ConfigError(f"an encoder has the parts {sorted(expected)}, not {sorted(values)}")
        return cls(
            Recipe.from_dict(values["recipe"]),
            Vocabulary.from_list(values["vocabulary"]),
            tuple(values["types"]),
            values["singletons"],
            values["max_length"],
        )


def _prepare(document: Document, recipe: Recipe, singletons: Singletons) -> WordSequence:
    """Words of a document; only the recipe that replicates the paper's punctuation gets to see its mentions."""
    if recipe.punctuation != "paper":
        return prepare_words(document, recipe)
    gold, _ = select_mentions(document, singletons=singletons)
    return prepare_words(document, recipe, gold_mentions=gold)
