"""k-best lists: the analyses that a coreference system considers best for a document, with its scores.

One JSON object a line, one line a document, the best candidate first::

{"doc_id": "tale", "candidates": [{"clusters": [[[0, 1], [5, 6]]], "score": 2.5}, {"clusters": [], "score":
0.0}]}

``clusters`` are lists of half-open spans over the document's tokens. Any system can write this by itself;
the lists that this package writes come from antecedent scores.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entitynlm.coref.candidates.antecedents import check_span, find_document, parse_object
from entitynlm.errors import DataError
from entitynlm.files import decode_lines, open_binary, write_atomically
from entitynlm.text.document import Document, Span

Clusters = tuple[tuple[Span, ...], ...]


@dataclass(frozen=True, slots=True)
class Candidate:
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
    candidates: tuple[Candidate, ...]
    mentions: tuple[Span, ...] = ()

    def __len__(self) -> int:
        return len(self.candidates)


def read_kbest_lists(
    path: str | Path, documents: Mapping[str, Document] | None = None
) -> Iterator[KBestList]:
    """Stream the lists of a file; with ``documents`` (texts by id), spans must lie within their text."""
    name = str(path)
    seen: dict[str, int] = {}
    with open_binary(path) as stream:
        for number, line in decode_lines(stream, name):
            if not line.strip():
                continue
            row = parse_object(line, name, number, ("doc_id", "candidates"))
            doc_id = row["doc_id"]
            if doc_id in seen:
                raise DataError(
                    f"document {doc_id!r} was already in line {seen[doc_id]}", path=name, line=number
                )
            seen[doc_id] = number
            document = find_document(doc_id, documents, name, number)
            yield KBestList(doc_id, parse_candidates(row["candidates"], document, name, number))


def write_kbest_lists(lists: Iterable[KBestList], path: str | Path) -> None:
    """Write a file of k-best lists, all of it or nothing."""
    with write_atomically(path) as stream:
        for item in lists:
            row = {
                "doc_id": item.doc_id,
                "candidates": [{"clusters": c.clusters, "score": round(c.score, 6)} for c in item.candidates],
            }
            stream.write(json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n")


def parse_candidates(value: Any, document: Document | None, path: str, number: int) -> tuple[Candidate, ...]:
    """The field ``candidates`` of a line, checked."""
    if not isinstance(value, list) or not value:
        raise DataError(
            "there are no candidates", path=path, line=number, expected='[{"clusters": …, "score": …}, …]'
        )
    parsed = []
    for index, item in enumerate(value):
        where = f"candidate {index}"
        if not isinstance(item, dict) or "clusters" not in item or "score" not in item:
            raise DataError(
                f"{where} has no clusters and score", path=path, line=number, found=json.dumps(item)[:60]
            )
        score = item["score"]
        if not isinstance(score, (int, float)) or isinstance(score, bool) or not math.isfinite(score):
            raise DataError(
                f"the score of {where} is not a finite number",
                path=path,
                line=number,
                found=json.dumps(score),
            )
        clusters = _parse_clusters(item["clusters"], document, path, number, where)
        parsed.append(Candidate(clusters, float(score)))
    return tuple(parsed)


def _parse_clusters(value: Any, document: Document | None, path: str, number: int, where: str) -> Clusters:
    if not isinstance(value, list) or not all(isinstance(cluster, list) for cluster in value):
        raise DataError(f"the clusters of {where} are not lists of spans", path=path, line=number)
    clusters = tuple(
        tuple(check_span(span, document, path, number, f"a mention of {where}") for span in cluster)
        for cluster in value
    )
    spans = [span for cluster in clusters for span in cluster]
    if len(set(spans)) < len(spans):
        repeated = next(span for span in spans if spans.count(span) > 1)
        raise DataError(
            f"{where} has a mention twice",
            path=path,
            line=number,
            found=str(list(repeated)),
            expected="each span once",
        )
    return clusters
