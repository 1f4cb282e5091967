"""Corpus statistics, counted on the documents as annotated, before the model's preprocessing."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from entitynlm.text.document import Document

COUNTS = ("documents", "sentences", "tokens", "mentions", "entities", "singletons")


@dataclass
class SplitStatistics:
    """The counts of one split, added up document by document; only the set of word forms is kept.

    Tokens are the file's own (punctuation counts), nested and repeated mentions count each, a singleton is an entity with one
    mention in its document, a mention's length is its number of words, and the vocabulary is the number of distinct forms.
    """

    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    mentions: int = 0
    entities: int = 0
    singletons: int = 0
    longest_mention: int = 0
    words_in_mentions: int = 0
    forms: set[str] = field(default_factory=set, repr=False)

    @property
    def mean_mention_length(self) -> float | None:
        return self.words_in_mentions / self.mentions if self.mentions else None

    @property
    def vocabulary(self) -> int:
        return len(self.forms)

    def add(self, document: Document) -> None:
        self.documents += 1
        self.sentences += len(document.sentences)
        self.tokens += len(document.tokens)
        self.mentions += len(document.mentions)
        self.entities += len(document.entities)
        self.singletons += sum(len(entity.mentions) == 1 for entity in document.entities)
        lengths = [len(mention) for mention in document.mentions]
        self.words_in_mentions += sum(lengths)
        self.longest_mention = max(self.longest_mention, *lengths, 0)
        self.forms.update(document.tokens)

    def as_json(self) -> dict[str, Any]:
        names = (*COUNTS, "mean_mention_length", "longest_mention", "vocabulary")
        return {name: getattr(self, name) for name in names}


def measure_documents(documents: Iterable[Document]) -> SplitStatistics:
    """Count in one pass."""
    statistics = SplitStatistics()
    for document in documents:
        statistics.add(document)
    return statistics
