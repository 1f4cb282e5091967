"""k-best lists: the analyses that a coreference system considers best for a document, with its scores.

One JSON object a line, one line a document, the best candidate first::

    {"doc_id": "tale", "candidates": [{"clusters": [[[0, 1], [5, 6]]], "score": 2.5}, {"clusters": [], "score": 0.0}]}

``clusters`` are lists of half-open spans over the document's tokens. Any system can write this by itself; the lists that this
package writes come from antecedent scores.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entitynlm.coref.candidates.json_lines import Line, write_lines
from entitynlm.text.document import Span

Clusters = tuple[tuple[Span, ...], ...]


@dataclass(frozen=True, slots=True)
class ScoredClustering:
    """One analysis of a document and the system's score for it."""

    clusters: Clusters
    score: float


@dataclass(frozen=True, slots=True)
class KBestList:
    """The candidates of one document, the system's own choice first.

    :param mentions: what the system took for mentions, where that is known; a candidate leaves out those that corefer with
        nothing where singletons are no part of the answer.
    """

    doc_id: str
    candidates: tuple[ScoredClustering, ...]
    mentions: tuple[Span, ...] = ()

    def __len__(self) -> int:
        return len(self.candidates)


def write_kbest_lists(lists: Iterable[KBestList], path: str | Path) -> None:
    """Write a file of k-best lists."""
    rows = (
        {
            "doc_id": item.doc_id,
            "candidates": [{"clusters": c.clusters, "score": round(c.score, 6)} for c in item.candidates],
        }
        for item in lists
    )
    write_lines(rows, path)


def parse_kbest_list(line: Line) -> KBestList:
    """The checked k-best list of one line."""
    value = line.row["candidates"]
    if not isinstance(value, list) or not value:
        raise line.fail("there are no candidates", expected='[{"clusters": …, "score": …}, …]')
    parsed = []
    for index, item in enumerate(value):
        name = f"candidate {index}"
        if not isinstance(item, dict) or "clusters" not in item or "score" not in item:
            raise line.fail(f"{name} has no clusters and score", item)
        score = line.check_score(item["score"], name)
        parsed.append(ScoredClustering(_parse_clusters(line, item["clusters"], name), score))
    return KBestList(line.doc_id, tuple(parsed))


def _parse_clusters(line: Line, value: Any, name: str) -> Clusters:
    if not isinstance(value, list) or not all(isinstance(cluster, list) for cluster in value):
        raise line.fail(f"the clusters of {name} are not lists of spans")
    clusters = tuple(
        tuple(line.check_span(span, f"a mention of {name}") for span in cluster) for cluster in value
    )
    spans = [span for cluster in clusters for span in cluster]
    if len(set(spans)) < len(spans):
        repeated = next(span for span in spans if spans.count(span) > 1)
        raise line.fail(f"{name} has a mention twice", repeated, "each span once")
    return clusters
