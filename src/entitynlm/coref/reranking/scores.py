"""The scores of a document's candidates: log-probabilities in four parts, for the price of a few scoring passes.

The model sees outermost mentions on its own words (``docs/decisions/002``), so different candidates may be one and the same
analysis to it: a view. The rules are those of ``model.encoding.variables``; here they run over a hundred candidates at once,
which share almost all of their spans, without a :class:`Document` for each.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from entitynlm.compilation import njit
from entitynlm.coref.candidates.candidate_files import Clusters, KBestList
from entitynlm.coref.ranker.spans import drop_crossing
from entitynlm.errors import ConfigError, ModelError
from entitynlm.inference.scoring import score_together
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.text.document import Document, Span

PARTS = ("r", "e", "l", "x")


def score_candidates(
    network: EntityNetwork, encoder: Encoder, document: Document, candidates: Sequence[Clusters]
) -> np.ndarray:
    """(candidates, 4) log P of R, E, L and X (zero for a proposal); each view is a particle of one population (decision 060)."""
    views = view_candidates(encoder, document, candidates)
    parts = np.zeros((len(views), len(PARTS)))
    if len(views) and len(views.words):
        parts = score_together(network, views.words, views.analyses)
    if not np.isfinite(parts).all():
        raise ModelError("the model gives a candidate no finite probability; its weights are out of bounds")
    found: np.ndarray = parts[views.view_of]
    return found


Array = Any  # numpy arrays inside compiled loops


@dataclass(frozen=True, eq=False)
class Views:
    """The document's words, (3, V, T) R, E and L of its V different analyses, and (candidates,) the view of each candidate."""

    words: EncodedDocument
    analyses: np.ndarray
    view_of: np.ndarray

    def __len__(self) -> int:
        return self.analyses.shape[1]


def view_candidates(encoder: Encoder, document: Document, candidates: Sequence[Clusters]) -> Views:
    """Lay every candidate's entities on the model's words, and merge those that are one to the model."""
    if encoder.types:
        raise ConfigError(
            "this model tells types of entities apart, and candidates have no types; rerank with a model without types"
        )
    words = encoder.encode_words(document)
    spans = _list_spans(candidates)
    places = place_spans(spans, words, encoder.max_length)
    bounds = np.array(spans, dtype=np.int64).reshape(-1, 2)
    entity = np.zeros((len(candidates), len(words)), dtype=np.int32)
    remaining = np.ones_like(entity)
    _fill_views(
        label_spans(spans, candidates), bounds, places, encoder.singletons == "drop", entity, remaining
    )
    numbers: dict[bytes, int] = {}
    rows = np.concatenate([entity, remaining], axis=1)
    view_of = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], dtype=np.int64)
    _, first = np.unique(view_of, return_index=True)
    analyses = np.stack([entity > 0, entity, remaining])[:, first]
    return Views(words, analyses, view_of)


def _list_spans(candidates: Iterable[Iterable[Iterable[Span]]]) -> list[Span]:
    """Every span of every candidate in text order, enclosing before enclosed."""
    spans = {span for clusters in candidates for cluster in clusters for span in cluster}
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def add_singletons(candidates: Sequence[Clusters], mentions: Sequence[Span] = ()) -> list[Clusters]:
    """Candidates with the mentions that they leave out as entities of their own, as a model with singletons has learned."""
    ordered = _list_spans([[mentions]] if mentions else candidates)

    def complete(clusters: Clusters) -> Clusters:
        taken = {token for cluster in clusters for span in cluster for token in range(*span)}
        added = []
        for span in ordered:
            if taken.isdisjoint(range(*span)):
                taken.update(range(*span))
                added.append((span,))
        return (*clusters, *added)

    completed = {clusters: complete(clusters) for clusters in dict.fromkeys(candidates)}
    return [completed[clusters] for clusters in candidates]


def complete_candidates(encoder: Encoder, kbest: KBestList) -> list[Clusters]:
    """The candidates of a list as a model sees them: with singletons, if it has learned them."""
    clusters = [candidate.clusters for candidate in kbest.candidates]
    return add_singletons(clusters, kbest.mentions) if encoder.singletons == "keep" else clusters


def place_spans(spans: Sequence[Span], words: EncodedDocument, max_length: int) -> np.ndarray:
    """(S, 2) the word range of each token span, as ``data.annotation.analyse`` lays it; empty if no word is left."""
    places = np.flatnonzero(words.origin >= 0)
    tokens = words.origin[places]
    bounds = np.array(spans, dtype=np.int64).reshape(-1, 2)
    low, high = np.searchsorted(tokens, bounds[:, 0]), np.searchsorted(tokens, bounds[:, 1])
    found = np.zeros((len(spans), 2), dtype=np.int64)
    filled = low < high
    start, end = places[low[filled]], places[high[filled] - 1] + 1
    stops = np.append(np.flatnonzero(words.origin < 0), len(words))  # sentence ends
    end = np.minimum(end, stops[np.searchsorted(stops, start)])
    found[filled, 0], found[filled, 1] = start, np.minimum(end, start + max_length)
    return found


def label_spans(spans: Sequence[Span], candidates: Sequence[Clusters]) -> np.ndarray:
    """(candidates, S) the number of each span's cluster, 1 + that of its first span; 0 where a candidate lacks the span."""
    number = {span: index for index, span in enumerate(spans)}
    labels = np.zeros((len(candidates), len(spans)), dtype=np.int32)
    for row, clusters in zip(labels, candidates, strict=True):
        for cluster in clusters:
            indices = [number[span] for span in cluster]
            row[indices] = 1 + min(indices, default=0)
    return labels


@njit()
def _fill_views(
    labels: Array, bounds: Array, places: Array, drop_singletons: bool, entity: Array, remaining: Array
) -> None:
    """E and L of each row of labels; spans are in text order, enclosing before enclosed."""
    size = labels.shape[1]
    sizes = np.zeros(size + 1, dtype=np.int64)
    numbers = np.zeros(size + 1, dtype=np.int64)
    present = np.zeros(size, dtype=np.int64)
    for v in range(len(labels)):
        sizes[:] = 0
        numbers[:] = 0
        for s in range(size):
            sizes[labels[v, s]] += 1
        count = 0
        for s in range(size):
            label = labels[v, s]
            if label > 0 and (sizes[label] > 1 or not drop_singletons):
                present[count] = s
                count += 1
        found = present[:count]
        longest_first = np.argsort(bounds[found, 0] - bounds[found, 1], kind="mergesort")
        kept = np.ones(count, dtype=np.bool_)
        kept[longest_first] = drop_crossing(bounds[found[longest_first], 0], bounds[found[longest_first], 1])
        reached, entities = -1, 0
        for s in found[kept]:
            if bounds[s, 0] < reached:  # enclosed by the last one
                continue
            reached = bounds[s, 1]
            start, end = places[s, 0], places[s, 1]
            if start == end:
                continue
            label = labels[v, s]
            if numbers[label] == 0:
                entities += 1
                numbers[label] = entities
            for t in range(start, end):
                entity[v, t] = numbers[label]
                remaining[v, t] = end - t
