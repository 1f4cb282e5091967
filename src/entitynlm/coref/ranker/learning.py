"""Training a ranker: examples from annotated documents, weights by softmax-margin with latent antecedents."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from entitynlm.coref.mention_table import guess_head
from entitynlm.coref.metrics.documents import drop_repetitions
from entitynlm.coref.ranker import kernels
from entitynlm.coref.ranker.mentions import LIKELY, find_mentions, has_syntax
from entitynlm.coref.ranker.model import Ranker, RankerExample, RankerSettings, make_example
from entitynlm.coref.ranker.spans import SpanFinder, train_span_finder
from entitynlm.coref.ranker.templates import NEW_TEMPLATES, PAIR_TEMPLATES, compile_templates
from entitynlm.errors import DataError
from entitynlm.text.document import Document

THRESHOLDS = (-2.5, -2.0, -1.5, -1.25, -1.0, -0.75, -0.5, 0.0)
SINGLETONS_ANNOTATED = 0.2  # share of entities with one mention from which a corpus is taken to annotate them


def train_ranker(
    documents: Iterable[Document],
    settings: RankerSettings | None = None,
    *,
    types: Mapping[str, str] | None = None,
    on_epoch: Callable[[int, float], None] = lambda epoch, loss: None,
) -> Ranker:
    """Learn from annotated documents (and types by lemma); the weights are averaged over all epochs but the first."""
    settings = settings or RankerSettings()
    keys = [drop_repetitions(document) for document in documents]
    if not any(document.mentions for document in keys):
        raise DataError("a ranker can't be trained: the documents have no mentions")
    types = dict(types or {})
    singletons = annotates_singletons(keys) if settings.singletons is None else settings.singletons
    source = settings.mentions or ("syntax" if all(map(has_syntax, keys)) else "learned")
    finder, threshold = None, LIKELY
    if source == "learned":
        finder = train_span_finder(keys, seed=settings.seed)
        wanted = None if singletons else LIKELY
        examples, threshold = _make_learned_examples(keys, settings.seed, wanted, types)
    else:
        examples = [make_example(key, find_mentions(key, source), types) for key in keys]
    weights = _learn(examples, settings, on_epoch)
    return Ranker(settings, source, singletons, weights, types, finder, threshold)


def _make_learned_examples(
    keys: Sequence[Document], seed: int, threshold: float | None, types: Mapping[str, str]
) -> tuple[list[RankerExample], float]:
    """Examples and threshold (None: the best F1); two finders find for each other's half, which they have not seen."""
    found: list[tuple[Document, SpanFinder]] = []
    for half, other in ((keys[0::2], keys[1::2]), (keys[1::2], keys[0::2])):
        finder = train_span_finder(other or half, seed=seed)
        found += [(key, finder) for key in half]
    if threshold is None:
        threshold = _choose_threshold(found)
    examples = [make_example(key, finder.find(key, threshold=threshold), types) for key, finder in found]
    return examples, threshold


def _choose_threshold(found: Sequence[tuple[Document, SpanFinder]]) -> float:
    """The threshold with the best F1 of mentions in documents that their finder has not seen."""
    scores: list[tuple[float, bool]] = []
    gold_total = 0
    for key, finder in found:
        gold = {mention.span for mention in key.mentions}
        gold_total += len(gold)
        likely = finder.find_scored(key, threshold=THRESHOLDS[0])
        scores += [(score, mention.span in gold) for mention, score in likely]

    def measure(threshold: float) -> float:
        hits = [hit for score, hit in scores if score > threshold]
        return 2 * sum(hits) / max(1, gold_total + len(hits))

    return max(THRESHOLDS, key=measure)


def _learn(
    examples: Sequence[RankerExample], settings: RankerSettings, on_epoch: Callable[[int, float], None]
) -> NDArray[np.float32]:
    size, averaged = 1 << settings.bits, 0
    weights, squares, average = np.zeros(size), np.ones(size), np.zeros(size)
    tables, costs = (
        (compile_templates(NEW_TEMPLATES), compile_templates(PAIR_TEMPLATES)),
        np.array(settings.costs),
    )
    order, shuffler = list(examples), random.Random(settings.seed)
    interval = max(1, len(order) // 8)  # eight weights of an epoch are averaged
    for epoch in range(settings.epochs):
        shuffler.shuffle(order)
        loss = 0.0
        for index, item in enumerate(order):
            loss += kernels.learn_pairs(
                weights, squares, item.attributes, item.pairs, item.entities, *tables, costs, settings.rate
            )
            if (epoch > 0 or settings.epochs == 1) and index % interval == 0:
                average += weights
                averaged += 1
        on_epoch(epoch + 1, loss)
    return (average / averaged).astype(np.float32)


def annotates_singletons(keys: Sequence[Document]) -> bool:
    """Whether these documents look like those of a corpus that annotates mentions which corefer with nothing."""
    sizes = [len(entity.mentions) for key in keys for entity in key.entities]
    return sum(size == 1 for size in sizes) > SINGLETONS_ANNOTATED * len(sizes)


def learn_types(documents: Iterable[Document]) -> dict[str, str]:
    """An entity type for each head lemma: its commonest in documents whose entities have types (GUM, LitBank's brat)."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for document in documents:
        lemmas = document.column("lemma")
        for mention in document.mentions:
            kind = document.entity_types.get(mention.entity)
            if kind:
                head = guess_head(document, mention.start, mention.end)
                counts[(lemmas[head] or document.tokens[head]).lower()][kind] += 1
    return {lemma: found.most_common(1)[0][0] for lemma, found in sorted(counts.items())}
