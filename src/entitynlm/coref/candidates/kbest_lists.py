"""k-best lists: the analyses that a coreference system considers best for a document, with its scores.

One JSON object a line, one line a document, the best candidate first; clusters are lists of half-open spans of tokens::

    {"doc_id": "tale", "candidates": [{"clusters": [[[0, 1], [5, 6]]], "score": 2.5}, {"clusters": [], "score": 0.0}]}

A reranker reads such lists or antecedent scores; the fields of a line say which it is (``docs/formats.md``). Its text is the
corpus's document of that id, or is in the line: ``"tokens": ["Anna", "sleeps"]``, and ``"sentences": [[0, 2]]`` where known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from entitynlm.coref.candidates.antecedents import AntecedentScores, parse_scores
from entitynlm.coref.candidates.json_lines import Line, read_lines, write_lines
from entitynlm.text.document import Document, Span

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


Ranked = AntecedentScores | KBestList


def read_candidates(
    path: str | Path, documents: Mapping[str, Document] | None = None
) -> Iterator[tuple[Document, Ranked]]:
    """Stream (text, scores or list) of a file.

    :param documents: the texts by id; without them every line must carry its own tokens.
    """
    for line in read_lines(path, documents, ("candidates",)):
        document = _parse_text(line) if line.document is None else line.document
        line = dataclasses.replace(line, document=document)
        yield document, parse_scores(line) if "mentions" in line.row else parse_kbest_list(line)


def _parse_text(line: Line) -> Document:
    """The text that a line brings along."""
    tokens, sentences = line.row.get("tokens"), line.row.get("sentences", [])
    if tokens is None:
        hint = "Name the corpus with --corpus, or give each line its tokens"
        message = "this line has no tokens, and no corpus was given to take them from"
        raise line.fail(message, list(line.row), hint=hint)
    if not isinstance(tokens, list) or not all(isinstance(token, str) and token for token in tokens):
        raise line.fail("the tokens are not a list of words")
    if not _cover(sentences, len(tokens)):
        message = f"the sentences don't cover the {len(tokens)} tokens one after the other"
        raise line.fail(message, sentences, "[[0, end], [end, …], …]")
    return Document(line.doc_id, tuple(tokens), tuple((start, end) for start, end in sentences))


def _cover(sentences: Any, size: int) -> bool:
    """Whether these are ranges that follow each other from 0 to ``size`` (none at all means: not known)."""
    if sentences == []:
        return True
    if not isinstance(sentences, list) or not all(isinstance(p, list) and len(p) == 2 for p in sentences):
        return False
    bounds = [bound for pair in sentences for bound in pair]
    if not all(type(bound) is int for bound in bounds) or (bounds[0], bounds[-1]) != (0, size):
        return False
    follows = all(end == start for (_, end), (start, _) in pairwise(sentences))
    return follows and all(start < end for start, end in sentences)


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
