"""What is in a corpus, counted on the documents as they are annotated, before the model's preprocessing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from entitynlm.text.corpora.corpus import Corpus
from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.base import Report, ignore


@dataclass(frozen=True)
class SplitStatistics:
    """The counts of one split.

    Tokens are the file's own (punctuation counts), a mention that is annotated twice counts twice, nested
    mentions count each, a singleton is an entity with one mention in its document, a mention's length is
    the number of its words (a discontinuous one: of its parts), and the vocabulary is the number of
    distinct surface forms, as spelt.
    """

    documents: int
    sentences: int
    tokens: int
    mentions: int
    entities: int
    singletons: int
    mean_mention_length: float | None
    longest_mention: int
    vocabulary: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def count_words(mention: Mention) -> int:
    """The number of words in a mention, without the gaps of a discontinuous one."""
    return sum(end - start for start, end in mention.parts) if mention.parts else len(mention)


class Tally:
    """Counts documents as they go by and keeps none of them, only the set of word forms."""

    def __init__(self) -> None:
        self._total = dict.fromkeys(
            ("documents", "sentences", "tokens", "mentions", "entities", "singletons"), 0
        )
        self._words_in_mentions = self._longest = 0
        self._forms: set[str] = set()

    def add(self, document: Document) -> None:
        total = self._total
        total["documents"] += 1
        total["sentences"] += len(document.sentences)
        total["tokens"] += len(document.tokens)
        total["mentions"] += len(document.mentions)
        total["entities"] += len(document.entities)
        total["singletons"] += sum(len(entity.mentions) == 1 for entity in document.entities)
        lengths = [count_words(mention) for mention in document.mentions]
        self._words_in_mentions += sum(lengths)
        self._longest = max(self._longest, max(lengths, default=0))
        self._forms.update(document.tokens)

    def result(self) -> SplitStatistics:
        mentions = self._total["mentions"]
        return SplitStatistics(
            **self._total,
            mean_mention_length=self._words_in_mentions / mentions if mentions else None,
            longest_mention=self._longest,
            vocabulary=len(self._forms),
        )


def measure_documents(documents: Iterable[Document]) -> SplitStatistics:
    """Count in one pass."""
    tally = Tally()
    for document in documents:
        tally.add(document)
    return tally.result()


def measure_corpus(
    corpus: Corpus,
    *,
    on_oddity: Report = ignore,
    on_document: Callable[[Document], None] = lambda document: None,
) -> dict[str, SplitStatistics]:
    """The counts of each split; ``on_document`` is told of every document that goes by (for progress)."""

    def watch(split: str) -> Iterable[Document]:
        for document in corpus.documents(split, on_oddity=on_oddity):
            on_document(document)
            yield document

    return {split: measure_documents(watch(split)) for split in corpus.splits}
