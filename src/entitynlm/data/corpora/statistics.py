"""What is in a corpus, counted on the documents as they are annotated, before the model's preprocessing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from entitynlm.data.corpora.corpus import Corpus
from entitynlm.data.document import Document, Mention
from entitynlm.data.formats.base import Report, ignore


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


def measure_documents(documents: Iterable[Document]) -> SplitStatistics:
    """Count in one pass; nothing but the set of word forms is kept."""
    total = dict.fromkeys(("documents", "sentences", "tokens", "mentions", "entities", "singletons"), 0)
    words_in_mentions = longest = 0
    forms: set[str] = set()
    for document in documents:
        total["documents"] += 1
        total["sentences"] += len(document.sentences)
        total["tokens"] += len(document.tokens)
        total["mentions"] += len(document.mentions)
        total["entities"] += len(document.entities)
        total["singletons"] += sum(len(entity.mentions) == 1 for entity in document.entities)
        lengths = [count_words(mention) for mention in document.mentions]
        words_in_mentions += sum(lengths)
        longest = max(longest, *lengths, 0)
        forms.update(document.tokens)
    mean = words_in_mentions / total["mentions"] if total["mentions"] else None
    return SplitStatistics(**total, mean_mention_length=mean, longest_mention=longest, vocabulary=len(forms))


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
