"""Candidates of a coreference system, as antecedent scores or as k-best lists: JSON lines, one line a document.

Antecedent scores are a mention-ranking system's scores of each (mention, antecedent) pair::

    {"doc_id": "tale", "mentions": [[0, 1], [2, 4], [5, 6]],
     "candidates": [[[-1, 0.0]], [[0, -3.2], [-1, 0.0]], [[1, 0.3], [0, 2.5], [-1, 0.0]]],
     "best": [-1, -1, 0]}

``mentions`` are half-open spans over the document's tokens in text order; ``candidates`` has for each mention its possible
antecedents as ``[index of an earlier mention, score]``, with -1 for "no antecedent"; ``best`` is the system's own choice and may
be left out (then: the candidate with the highest score, the first of several). A k-best list has whole analyses, the best first::

    {"doc_id": "tale", "candidates": [{"clusters": [[[0, 1], [5, 6]]], "score": 2.5}, {"clusters": [], "score": 0.0}]}

A reranker reads either; the fields of a line say which it is (``docs/formats.md``). Its text is the corpus's document of that id,
or is in the line: ``"tokens": ["Anna", "sleeps"]``, and ``"sentences": [[0, 2]]`` where known. Every complaint names the line.
"""

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from entitynlm.errors import DataError
from entitynlm.files import decode_lines, open_binary, write_atomically
from entitynlm.text.document import Document, Span

SHOWN = 60  # characters of a faulty value


@dataclass(frozen=True)
class Line:
    """One parsed line; ``document`` is the text of its ``doc_id`` where texts were given."""

    path: str
    number: int
    row: Mapping[str, Any]
    document: Document | None = None

    @property
    def doc_id(self) -> str:
        return str(self.row["doc_id"])

    def fail(
        self, message: str, found: Any = None, expected: str | None = None, hint: str | None = None
    ) -> DataError:
        """The error to raise about this line; ``found`` is shown as JSON."""
        shown = None if found is None else json.dumps(found, ensure_ascii=False)[:SHOWN]
        return DataError(message, path=self.path, line=self.number, found=shown, expected=expected, hint=hint)

    def check_span(self, value: Any, name: str) -> Span:
        if not (isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value)):
            raise self.fail(f"{name} is not a span", value, "[start, end]")
        start, end = value
        size = math.inf if self.document is None else len(self.document)
        if not 0 <= start < end <= size:
            within = f" within the {size} tokens of {self.doc_id!r}" if self.document is not None else ""
            raise self.fail(f"{name} is impossible", value, f"a half-open range [start, end]{within}")
        return start, end

    def check_score(self, value: Any, name: str) -> float:
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
            raise self.fail(f"the score of {name} is not a finite number", value)
        return float(value)


def read_lines(
    path: str | Path, documents: Mapping[str, Document] | None, fields: Sequence[str]
) -> Iterator[Line]:
    """Stream the objects of a file, with these fields and each a ``doc_id`` of its own, one of ``documents`` (texts by id)."""
    name = str(path)
    seen: dict[str, int] = {}
    with open_binary(path) as stream:
        for number, text in decode_lines(stream, name):
            if not text.strip():
                continue
            line = _parse_line(text, name, number, ("doc_id", *fields))
            if line.doc_id in seen:
                raise line.fail(f"document {line.doc_id!r} was already in line {seen[line.doc_id]}")
            seen[line.doc_id] = number
            if documents is None:
                yield line
            elif line.doc_id in documents:
                yield replace(line, document=documents[line.doc_id])
            else:
                known = ", ".join(list(documents)[:5]) + (", …" if len(documents) > 5 else "")
                place = f"one of the {len(documents)} documents of the corpus"
                raise line.fail(f"document {line.doc_id!r} is not {place}", expected=known)


def _parse_line(text: str, path: str, number: int, fields: Sequence[str]) -> Line:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"this is not JSON ({error})", path=path, line=number, found=text[:SHOWN]) from error
    if not isinstance(row, dict):
        raise DataError("this is not a JSON object", path=path, line=number, found=text[:SHOWN])
    line = Line(path, number, row)
    if missing := [field for field in fields if field not in row]:
        raise line.fail(f"the field {missing[0]!r} is missing", list(row), ", ".join(fields))
    if not isinstance(row["doc_id"], str) or not row["doc_id"]:
        raise line.fail("the doc_id is not a name", row["doc_id"])
    return line


def write_lines(rows: Iterable[Mapping[str, Any]], path: str | Path) -> None:
    """Write one JSON object a line, the whole file or nothing."""
    with write_atomically(path) as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n")


NO_ANTECEDENT = -1


@dataclass(frozen=True)
class AntecedentScores:
    """Antecedents (an earlier mention, or -1: none) and scores, at offsets[m]:offsets[m + 1] for mention m; the best of each."""

    doc_id: str
    mentions: tuple[Span, ...]
    offsets: NDArray[np.int64]
    antecedents: NDArray[np.int64]
    scores: NDArray[np.float64]
    best: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.mentions)

    @property
    def anaphors(self) -> NDArray[np.int64]:
        """(pairs,) the mention that each pair belongs to."""
        return np.repeat(np.arange(len(self.mentions)), np.diff(self.offsets))

    @property
    def best_scores(self) -> NDArray[np.float64]:
        return self.scores[self.antecedents == self.best[self.anaphors]]


def make_antecedent_scores(
    doc_id: str,
    mentions: Iterable[Span],
    candidates: Iterable[Iterable[tuple[int, float]]],
    best: Iterable[int] | None = None,
) -> AntecedentScores:
    """From nested lists; the best antecedent is the first with the highest score unless it is given."""
    rows = [list(row) for row in candidates]
    offsets = np.cumsum([0, *map(len, rows)])
    antecedents = np.array([index for row in rows for index, _ in row], dtype=np.int64)
    scores = np.array([score for row in rows for _, score in row], dtype=np.float64)
    if best is None:
        best = [max(row, key=lambda pair: pair[1])[0] for row in rows]
    chosen = np.array(list(best), dtype=np.int64)
    return AntecedentScores(doc_id, tuple(mentions), offsets, antecedents, scores, chosen)


def read_antecedent_scores(
    path: str | Path, documents: Mapping[str, Document] | None = None
) -> Iterator[AntecedentScores]:
    """Stream a file of antecedent scores; with ``documents`` (texts by id), mentions must lie within their text."""
    for line in read_lines(path, documents, ("mentions", "candidates")):
        yield parse_scores(line)


def write_antecedent_scores(items: Iterable[AntecedentScores], path: str | Path) -> None:
    """Write a file of antecedent scores rounded to four decimals."""

    def to_row(item: AntecedentScores) -> dict[str, Any]:
        pairs = list(zip(item.antecedents.tolist(), np.round(item.scores, 4).tolist(), strict=True))
        candidates = [pairs[start:end] for start, end in pairwise(item.offsets.tolist())]
        mentions, best = item.mentions, item.best.tolist()
        return {"doc_id": item.doc_id, "mentions": mentions, "candidates": candidates, "best": best}

    write_lines(map(to_row, items), path)


def parse_scores(line: Line) -> AntecedentScores:
    mentions = _parse_mentions(line)
    candidates, best = line.row["candidates"], line.row.get("best")
    if not isinstance(candidates, list) or len(candidates) != len(mentions):
        size = len(candidates) if isinstance(candidates, list) else "no"
        raise line.fail(f"{size} lists of candidates for {len(mentions)} mentions")
    for mention, pairs in enumerate(candidates):
        _check_candidates(line, mention, pairs)
    if best is not None and (not isinstance(best, list) or len(best) != len(candidates)):
        raise line.fail("the field 'best' does not have one antecedent for each mention")
    for mention, antecedent in enumerate(best or ()):
        _check_antecedent(line, mention, antecedent)
        if all(antecedent != candidate for candidate, _ in candidates[mention]):
            raise line.fail(f"the best antecedent of mention {mention} is none of its candidates", antecedent)
    return make_antecedent_scores(line.doc_id, mentions, candidates, best)


def _parse_mentions(line: Line) -> list[Span]:
    value = line.row["mentions"]
    if not isinstance(value, list):
        raise line.fail("the mentions are not a list", value)
    spans = [line.check_span(item, f"mention {index}") for index, item in enumerate(value)]
    for index, (before, span) in enumerate(pairwise(spans)):
        if span <= before:
            order = "repeats" if span == before else "comes before"
            raise line.fail(f"mention {index + 1} {order} mention {index}", span, "mentions in text order")
    return spans


def _check_candidates(line: Line, mention: int, pairs: Any) -> None:
    if not isinstance(pairs, list) or not pairs:
        raise line.fail(f"mention {mention} has no candidates", pairs, "[[antecedent, score], …]")
    seen: set[int] = set()
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int):
            raise line.fail(f"a candidate of mention {mention} is no pair", pair, "[antecedent, score]")
        antecedent, score = pair
        line.check_score(score, f"mention {mention} with {antecedent}")
        if antecedent in seen:
            raise line.fail(f"mention {mention} has the antecedent {antecedent} twice", pair)
        _check_antecedent(line, mention, antecedent)
        seen.add(antecedent)


def _check_antecedent(line: Line, mention: int, antecedent: Any) -> None:
    if type(antecedent) is not int or antecedent < NO_ANTECEDENT:
        raise line.fail(f"mention {mention} has an unknown mention as antecedent", antecedent)
    if antecedent >= mention:
        message = f"mention {mention} has antecedent {antecedent}, which does not come before it (they run in a circle)"
        raise line.fail(message, antecedent, f"an index below {mention}, or -1 for none")


Clusters = tuple[tuple[Span, ...], ...]


@dataclass(frozen=True, slots=True)
class ScoredClustering:
    clusters: Clusters
    score: float


@dataclass(frozen=True, slots=True)
class KBestList:
    """The candidates of one document, the system's own choice first; ``mentions`` are all that the system found, where known."""

    doc_id: str
    candidates: tuple[ScoredClustering, ...]
    mentions: tuple[Span, ...] = ()

    def __len__(self) -> int:
        return len(self.candidates)


Ranked = AntecedentScores | KBestList


def read_candidates(
    path: str | Path, documents: Mapping[str, Document] | None = None
) -> Iterator[tuple[Document, Ranked]]:
    """Stream (text, scores or list) of a file; without ``documents`` (texts by id) every line must carry its own tokens."""
    for line in read_lines(path, documents, ("candidates",)):
        document = _parse_text(line) if line.document is None else line.document
        line = dataclasses.replace(line, document=document)
        yield document, parse_scores(line) if "mentions" in line.row else parse_kbest_list(line)


def _parse_text(line: Line) -> Document:
    tokens, sentences = line.row.get("tokens"), line.row.get("sentences", [])
    if tokens is None:
        hint = "Name the corpus with --corpus, or give each line its tokens"
        message = "this line has no tokens, and no corpus was given to take them from"
        raise line.fail(message, list(line.row), hint=hint)
    if not isinstance(tokens, list) or not all(isinstance(token, str) and token for token in tokens):
        raise line.fail("the tokens are not a list of words")
    try:
        spans = tuple(line.check_span(pair, "a sentence") for pair in sentences)
        return Document(line.doc_id, tuple(tokens), spans)
    except (DataError, TypeError) as error:
        message = f"the sentences don't cover the {len(tokens)} tokens one after the other"
        raise line.fail(message, sentences, "[[0, end], [end, …], …]") from error


def write_kbest_lists(lists: Iterable[KBestList], path: str | Path) -> None:
    rows = (
        {
            "doc_id": item.doc_id,
            "candidates": [{"clusters": c.clusters, "score": round(c.score, 6)} for c in item.candidates],
        }
        for item in lists
    )
    write_lines(rows, path)


def parse_kbest_list(line: Line) -> KBestList:
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
