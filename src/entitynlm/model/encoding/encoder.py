"""Documents as numbers, by an encoder that is stored with its model."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from entitynlm.config import Positive, from_dict, to_dict
from entitynlm.errors import ConfigError, ModelError
from entitynlm.model.encoding.preprocessing import UNK, IntArray, Recipe, WordSequence, prepare_words
from entitynlm.model.encoding.tokenizer import BoolArray, EncodedWords, Tokenizer, Vocabulary, load_tokenizer
from entitynlm.model.encoding.variables import (
    MAX_LENGTH,
    OTHER,
    Analysis,
    FilterCounts,
    Singletons,
    analyse,
    select_mentions,
)
from entitynlm.text.detokenization import join_tokens
from entitynlm.text.document import Document, Mention


@dataclass(frozen=True, eq=False)
class EncodedDocument:
    """X, R, E, L of one document as vectors of length T.

    :param x: keys of words, equal for equal words; with a vocabulary their ids.
    :param r: mention types, 0 outside of mentions.
    :param e: entities, 0 outside of mentions, else 1, … in order of first mention.
    :param l: words left in the mention, this one included; 1 outside.
    :param sentence: sentence of the document that a word belongs to.
    :param origin: token that a word comes from, -1 for ``</s>``.
    :param pieces: with :param piece_bounds: and :param piece_places: as in :class:`EncodedWords`; None where ``x`` are ids of a
        vocabulary.
    """

    id: str
    x: IntArray
    r: IntArray
    e: IntArray
    l: IntArray
    sentence: IntArray
    origin: IntArray
    pieces: IntArray | None = None
    piece_bounds: IntArray | None = None
    piece_places: IntArray | None = None

    def __len__(self) -> int:
        return len(self.x)

    @property
    def words(self) -> EncodedWords:
        """The words alone, as a backbone reads them."""
        return EncodedWords(self.x, self.sentence, self.pieces, self.piece_bounds, self.piece_places)

    def cut(self, length: int) -> "EncodedDocument":
        """Keep the first words."""
        words = self.words[:length]
        names = ("x", "sentence", "pieces", "piece_bounds", "piece_places")
        of_words = {name: getattr(words, name) for name in names}
        rest = {name: getattr(self, name)[:length] for name in ("r", "e", "l", "origin")}
        return replace(self, **of_words, **rest)


class StoredEncoder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An encoder in ``model.json``; the tokenizer has a format of its own."""

    recipe: Recipe
    tokenizer: dict[str, Any]
    types: tuple[str, ...]
    singletons: Singletons
    max_length: Positive


@dataclass(frozen=True)
class Encoder:
    """The tokenizer and the rules that turn a :class:`Document` into numbers; stored in the model.

    :param tokenizer: a vocabulary, or another tokenizer.
    :param types: empty for a model with one mention type; else type k is ``types[k - 1]`` and the last one, :data:`OTHER`, is for
        entities without a type or with an unknown one.
    :param singletons: whether entities annotated with one mention are seen at all.
    :param max_length: longest mention, in words.
    """

    recipe: Recipe
    tokenizer: Tokenizer
    types: tuple[str, ...] = ()
    singletons: Singletons = "keep"
    max_length: int = MAX_LENGTH

    def __post_init__(self) -> None:
        if self.types and (self.types[-1] != OTHER or len(set(self.types)) < len(self.types)):
            raise ConfigError(f"the entity types differ from each other and end with {OTHER!r}: {self.types}")
        self.tokenizer.check_recipe(self.recipe)

    @classmethod
    def fit(
        cls,
        documents: Iterable[Document],
        *,
        recipe: Recipe,
        singletons: Singletons,
        typed: bool = False,
        max_length: int = MAX_LENGTH,
        tokenizer: Tokenizer | None = None,
    ) -> "Encoder":
        """Make vocabulary (unless a tokenizer is given) and types from the training documents, which are read once."""
        counts: Counter[str] = Counter()
        types: set[str] = set()
        for document in documents:
            if tokenizer is None:
                counts.update(prepare_words(document, recipe).words)
            types.update(document.entity_types.values())
        names = (*sorted(types - {OTHER}), OTHER) if typed else ()
        return cls(recipe, tokenizer or Vocabulary.build(counts, recipe), names, singletons, max_length)

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary, or an error if the tokenizer is open."""
        if not isinstance(self.tokenizer, Vocabulary):
            raise ModelError("this model has an open vocabulary, and this needs one that can be listed")
        return self.tokenizer

    @property
    def mention_types(self) -> int:
        """K: the number of values of R besides 0."""
        return len(self.types) or 1

    def prepare(self, document: Document) -> WordSequence:
        """Make the model's words of a document, before they become numbers."""
        return prepare_words(document, self.recipe)

    def show_words(self, document: Document) -> tuple[str, ...]:
        """List the words of a document, with unknown words as the model sees them."""
        unknown = self.tokenizer.is_unknown
        return tuple(UNK if unknown(word) else word for word in self.prepare(document).words)

    def encode(self, document: Document) -> EncodedDocument:
        """Encode words and annotated mentions."""
        return self.encode_with_report(document)[0]

    def encode_words(self, document: Document, words: WordSequence | None = None) -> EncodedDocument:
        """Encode words alone: the same X as :meth:`encode`, and no mention."""
        words = words or self.prepare(document)
        return self._number(document, words, Analysis.empty(len(words)))

    def encode_with_report(
        self, document: Document, words: WordSequence | None = None
    ) -> tuple[EncodedDocument, FilterCounts, tuple[Mention, ...]]:
        """Encode a document; also count what was removed, and return the document's mention behind each span.

        :param words: result of :meth:`prepare`, if it was computed before.
        """
        mentions, selection = select_mentions(document, singletons=self.singletons)
        words = words or self.prepare(document)
        analysis, originals, laid_out = analyse(
            mentions,
            words,
            max_length=self.max_length,
            types={name: number for number, name in enumerate(self.types, start=1)} or None,
            entity_types=document.entity_types,
        )
        return self._number(document, words, analysis), selection + laid_out, originals

    def _number(self, document: Document, words: WordSequence, analysis: Analysis) -> EncodedDocument:
        tokenizer = self.tokenizer
        of_pieces: tuple[IntArray, ...] = ()
        if not isinstance(tokenizer, Vocabulary):
            if (
                tokenizer.exact
                and document.text is not None
                and document.offsets
                and len(words) == len(document)
            ):
                found = tokenizer.encode_text(document.text, document.offsets)
            else:
                found = tokenizer.encode_pieces(words.words, find_spaces(document, words.origin))
            assert found is not None
            of_pieces = found
        x = tokenizer.encode(words.words)
        return EncodedDocument(document.id, x, *analysis, words.sentence, words.origin, *of_pieces)

    def to_dict(self) -> dict[str, Any]:
        tokenizer = {"name": self.tokenizer.tokenizer_name, **self.tokenizer.to_dict()}
        return to_dict(StoredEncoder(self.recipe, tokenizer, self.types, self.singletons, self.max_length))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Encoder":
        stored = from_dict(StoredEncoder, values)
        tokenizer = load_tokenizer(stored.tokenizer)
        return cls(stored.recipe, tokenizer, stored.types, stored.singletons, stored.max_length)


def find_spaces(document: Document, origin: IntArray) -> BoolArray:
    """(T,) whether white space stands before each word, in the raw text or, where that is not known, by the usual rules.

    Words between which tokens were left out are separate, whatever stood there.
    """
    offsets = join_tokens(document.tokens)[1] if document.offsets is None else document.offsets
    starts, ends = np.array(offsets, dtype=np.int64).reshape(-1, 2).T
    spaces = np.zeros(len(origin), dtype=np.bool_)
    words = np.flatnonzero(origin >= 0)  # </s> stands in no text
    tokens = origin[words]
    spaces[words[1:]] = starts[tokens[1:]] > ends[tokens[:-1]]
    return spaces
