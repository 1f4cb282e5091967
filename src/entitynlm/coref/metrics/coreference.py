"""All coreference metrics in one table: counts per document, scores per corpus, the CoNLL average, tests between two systems."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from entitynlm.coref.metrics import chain_metrics
from entitynlm.coref.metrics.alignment import Alignment, align_documents
from entitynlm.coref.metrics.chain_metrics import Floats, summarise_counts, to_percent, truncate_percent
from entitynlm.errors import ConfigError, DataError
from entitynlm.statistics import TRIALS, Bools, randomise
from entitynlm.text.document import Document


@dataclass(frozen=True)
class Metric:
    """A metric: the function that counts in one document, and the function from summed counts to (recall, precision, F1)."""

    name: str
    title: str
    count: Callable[[Alignment], tuple[float, ...]]
    summarise: Callable[[Floats], Floats] = summarise_counts
    width: int = 4  # how many numbers it counts


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("mentions", "Mentions", chain_metrics.count_mentions),
        Metric("muc", "MUC", chain_metrics.count_muc),
        Metric("b3", "B³", chain_metrics.count_b_cubed),
        Metric("ceafm", "CEAF_m", chain_metrics.count_ceaf_mentions),
        Metric("ceafe", "CEAF_e", chain_metrics.count_ceaf_entities),
        Metric("blanc", "BLANC", chain_metrics.count_blanc, chain_metrics.summarise_blanc, width=8),
        Metric("lea", "LEA", chain_metrics.count_lea),
    )
}
CONLL_METRICS = ("muc", "b3", "ceafe")
CONLL = "conll"


@dataclass(frozen=True)
class Score:
    """Recall, precision and F1 in percent, not rounded; ``printed`` has them as the official scorer shows them."""

    recall: float
    precision: float
    f1: float
    printed: tuple[float, ...] = ()

    def to_json(self) -> dict[str, float]:
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True)
class CorpusCounts:
    """Counts of every metric in every document; ``by_metric[name]`` has shape (documents, counts)."""

    doc_ids: tuple[str, ...]
    by_metric: Mapping[str, Floats]

    def __len__(self) -> int:
        return len(self.doc_ids)

    def score(self, name: str) -> Score:
        summary = METRICS[name].summarise(add_documents(self.by_metric[name]))
        recall, precision, f1 = (to_percent(float(value)) for value in summary)
        return Score(recall, precision, f1, tuple(truncate_percent(float(value)) for value in summary))

    @property
    def has_conll(self) -> bool:
        return all(name in self.by_metric for name in CONLL_METRICS)

    @property
    def conll(self) -> float:
        """The CoNLL average: the mean F1 of MUC, B³ and CEAF_e, in percent."""
        return sum(self.score(name).f1 for name in CONLL_METRICS) / len(CONLL_METRICS)

    @property
    def conll_documents(self) -> list[float]:
        scores = [METRICS[name].summarise(self.by_metric[name])[:, 2] for name in CONLL_METRICS]
        return [to_percent(float(value)) for value in np.mean(scores, axis=0)]

    def take(self, rows: Sequence[int]) -> "CorpusCounts":
        """Take the counts of some documents (or candidates), in the order of ``rows``."""
        chosen = {name: counts[list(rows)] for name, counts in self.by_metric.items()}
        return CorpusCounts(tuple(self.doc_ids[row] for row in rows), chosen)

    def to_json(self) -> dict[str, object]:
        figures: dict[str, object] = {name: self.score(name).to_json() for name in self.by_metric}
        if self.has_conll:
            figures[CONLL] = self.conll
        return figures


def join_counts(parts: Sequence[CorpusCounts]) -> CorpusCounts:
    """Join the counts of several corpora (or documents), one after the other."""
    names = list(parts[0].by_metric) if parts else []
    by_metric = {name: np.concatenate([part.by_metric[name] for part in parts]) for name in names}
    return CorpusCounts(tuple(doc_id for part in parts for doc_id in part.doc_ids), by_metric)


def add_documents(counts: Floats) -> Floats:
    """Sum over documents one by one, as the official scorer does (``np.sum`` adds in pairs and rounds otherwise)."""
    return np.cumsum(counts, axis=0)[-1] if len(counts) else np.zeros(counts.shape[1:])


def choose_metrics(names: Iterable[str] | None) -> tuple[Metric, ...]:
    """Return the metrics called ``names`` (None: all), or raise an error that lists the known names."""
    if names is None:
        return tuple(METRICS.values())
    groups = {CONLL: CONLL_METRICS, "all": tuple(METRICS)}
    wanted = list(dict.fromkeys(part for name in names for part in groups.get(name, (name,))))
    unknown = [name for name in wanted if name not in METRICS]
    if unknown:
        known = ", ".join((*METRICS, CONLL))
        raise ConfigError(f"there is no metric {unknown[0]!r}; choose from {known}")
    return tuple(METRICS[name] for name in wanted)


def count_alignments(
    doc_ids: Iterable[str], alignments: Iterable[Alignment], metrics: Iterable[str] | None = None
) -> CorpusCounts:
    chosen = choose_metrics(metrics)
    rows: dict[str, list[tuple[float, ...]]] = {metric.name: [] for metric in chosen}
    for alignment in alignments:
        for metric in chosen:
            rows[metric.name].append(metric.count(alignment))
    by_metric = {
        metric.name: np.array(rows[metric.name], dtype=np.float64).reshape(-1, metric.width)
        for metric in chosen
    }
    return CorpusCounts(tuple(doc_ids), by_metric)


def score_documents(
    key: Sequence[Document], response: Sequence[Document], metrics: Iterable[str] | None = None
) -> CorpusCounts:
    """Score documents against their keys; both sequences are in the same order (see ``pair_documents``)."""
    if len(key) != len(response):
        raise DataError(f"{len(response)} documents can't be scored against {len(key)}")
    alignments = [align_documents(*pair) for pair in zip(key, response, strict=True)]
    return count_alignments([document.id for document in key], alignments, metrics)


@dataclass(frozen=True)
class Comparison:
    """Two systems on one figure: their F1 in percent, the difference (second - first), the p-value."""

    first: float
    second: float
    p_value: float

    @property
    def difference(self) -> float:
        return self.second - self.first


def compare_systems(
    first: CorpusCounts, second: CorpusCounts, *, trials: int = TRIALS, seed: int = 0
) -> dict[str, Comparison]:
    """Test each metric that both systems have counts for, and the CoNLL average if its three metrics are among them.

    The test is approximate randomisation: scores are ratios of sums over documents, so whole documents' counts change sides, and
    every score is computed anew. The same swaps serve all metrics.
    """
    if first.doc_ids != second.doc_ids:
        raise DataError("two systems can only be compared on the same documents in the same order")
    observed = _score_swapped(first, second, np.zeros((1, len(first)), dtype=np.bool_))

    def compare(swaps: Bools) -> Floats:
        return np.stack([side[1] - side[0] for side in _score_swapped(first, second, swaps).values()], axis=1)

    p_values = randomise(compare, len(first), trials=trials, seed=seed).tolist()
    return {
        name: Comparison(to_percent(float(one)), to_percent(float(other)), p_value)
        for (name, ((one,), (other,))), p_value in zip(observed.items(), p_values, strict=True)
    }


def _score_swapped(first: CorpusCounts, second: CorpusCounts, swaps: Bools) -> dict[str, Floats]:
    """Compute (2, trials) F1 of both sides after the swaps, by metric; ``swaps`` has shape (trials, documents)."""
    weights = swaps.astype(np.float64)
    scores = {}
    for name, counts in first.by_metric.items():
        if name in second.by_metric:
            others = second.by_metric[name]
            moved = weights @ (others - counts)  # (trials, counts)
            totals = np.stack([counts.sum(axis=0) + moved, others.sum(axis=0) - moved])
            scores[name] = METRICS[name].summarise(totals)[..., 2]
    if all(name in scores for name in CONLL_METRICS):
        scores[CONLL] = np.mean([scores[name] for name in CONLL_METRICS], axis=0)
    return scores
