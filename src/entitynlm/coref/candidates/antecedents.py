"""Antecedent scores: what a mention-ranking coreference system thinks of each (mention, antecedent) pair.

One JSON object a line, one line a document::

    {"doc_id": "tale", "mentions": [[0, 1], [2, 4], [5, 6]],
     "candidates": [[[-1, 0.0]], [[0, -3.2], [-1, 0.0]], [[1, 0.3], [0, 2.5], [-1, 0.0]]],
     "best": [-1, -1, 0]}

``mentions`` are half-open spans over the document's tokens in text order; ``candidates`` has for each
mention its possible antecedents as ``[index of an earlier mention, score]``, with -1 for "no antecedent";
``best`` is the system's own choice and may be left out (then: the candidate with the highest score, the
first of several). Reading is strict: a file that says something else in line 17 is an error that names line
17.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from entitynlm.errors import DataError
from entitynlm.files import decode_lines, open_binary, write_atomically
from entitynlm.text.document import Document, Span

NO_ANTECEDENT = -1


@dataclass(frozen=True)
class AntecedentScores:
    """The scored antecedents of one document's mentions, flat: candidates of mention m are
    offsets[m]:offsets[m + 1].

    :param antecedents: shape (pairs,); the index of an earlier mention, or -1 for none.
    :param scores: shape (pairs,).
    :param best: shape (mentions,); the chosen antecedent of each mention.
    """

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
        """The mention that each pair belongs to; shape (pairs,)."""
        return np.repeat(np.arange(len(self.mentions)), np.diff(self.offsets))

    @property
    def best_scores(self) -> NDArray[np.float64]:
        """The score of each mention's chosen antecedent; shape (mentions,)."""
        chosen = np.zeros(len(self.mentions))
        anaphors = self.anaphors
        hits = self.antecedents == self.best[anaphors]
        chosen[anaphors[hits]] = self.scores[hits]
        return chosen


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
    """Stream the documents of a file of antecedent scores.

    :param documents: the texts by id; if given, every document of the file must be one of them and its
        mentions must lie within it.
    """
    name = str(path)
    seen: dict[str, int] = {}
    with open_binary(path) as stream:
        for number, line in decode_lines(stream, name):
            if not line.strip():
                continue
            row = parse_object(line, name, number, ("doc_id", "mentions", "candidates"))
            scores = parse_scores(row, find_document(row["doc_id"], documents, name, number), name, number)
            if scores.doc_id in seen:
                raise DataError(
                    f"document {scores.doc_id!r} was already in line {seen[scores.doc_id]}",
                    path=name,
                    line=number,
                )
            seen[scores.doc_id] = number
            yield scores


def write_antecedent_scores(items: Iterable[AntecedentScores], path: str | Path, *, digits: int = 4) -> None:
    """Write a file of antecedent scores, all of it or nothing; scores are rounded to ``digits`` decimals."""
    with write_atomically(path) as stream:
        for item in items:
            rounded = np.round(item.scores, digits).tolist()
            pairs = list(zip(item.antecedents.tolist(), rounded, strict=True))
            bounds = item.offsets.tolist()
            row = {
                "doc_id": item.doc_id,
                "mentions": item.mentions,
                "candidates": [pairs[a:b] for a, b in pairwise(bounds)],
                "best": item.best.tolist(),
            }
            stream.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def parse_scores(
    row: Mapping[str, Any], document: Document | None, path: str, number: int
) -> AntecedentScores:
    """The scores of one line of the file, checked; mentions must lie within the document if there is one."""
    return _Line(path, number).parse(row, document)


def parse_object(line: str, path: str, number: int, fields: Iterable[str]) -> dict[str, Any]:
    """A JSON object with at least these fields, or an error that names the line."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise DataError(f"this is not JSON ({error})", path=path, line=number, found=line[:60]) from error
    if not isinstance(row, dict):
        raise DataError("this is not a JSON object", path=path, line=number, found=line[:60])
    for field in fields:
        if field not in row:
            raise DataError(
                f"the field {field!r} is missing",
                path=path,
                line=number,
                found=", ".join(row) or "no fields",
                expected=", ".join(fields),
            )
    if not isinstance(row["doc_id"], str) or not row["doc_id"]:
        raise DataError("the doc_id is not a name", path=path, line=number, found=str(row["doc_id"]))
    return row


def find_document(
    doc_id: str, documents: Mapping[str, Document] | None, path: str, number: int
) -> Document | None:
    """The text that a line speaks of, if texts were given; an error if it is none of them."""
    if documents is None:
        return None
    if doc_id not in documents:
        known = ", ".join(list(documents)[:5]) + (", …" if len(documents) > 5 else "")
        raise DataError(
            f"document {doc_id!r} is not one of the {len(documents)} documents of the corpus",
            path=path,
            line=number,
            expected=known,
        )
    return documents[doc_id]


def check_span(value: Any, document: Document | None, path: str, number: int, what: str) -> Span:
    """A half-open span within its document, or an error that says what is wrong with it."""
    if not (isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value)):
        raise DataError(
            f"{what} is not a span", path=path, line=number, found=json.dumps(value), expected="[start, end]"
        )
    start, end = value
    size = len(document) if document is not None else None
    if not 0 <= start < end or (size is not None and end > size):
        within = f" within the {size} tokens of {document.id!r}" if document is not None else ""
        raise DataError(
            f"{what} is impossible",
            path=path,
            line=number,
            found=json.dumps(value),
            expected=f"a half-open range [start, end]{within}",
        )
    return start, end


@dataclass(frozen=True)
class _Line:
    """One line of the file on its way into arrays."""

    path: str
    number: int

    def parse(self, row: Mapping[str, Any], document: Document | None) -> AntecedentScores:
        mentions = self._parse_mentions(row["mentions"], document)
        candidates = row["candidates"]
        if not isinstance(candidates, list) or len(candidates) != len(mentions):
            size = len(candidates) if isinstance(candidates, list) else "no"
            raise self._fail(f"{size} lists of candidates for {len(mentions)} mentions")
        for index, pairs in enumerate(candidates):
            self._check_candidates(index, pairs)
        best = row.get("best")
        if best is not None:
            self._check_best(best, candidates)
        return make_antecedent_scores(row["doc_id"], mentions, candidates, best)

    def _fail(self, message: str, found: Any = None, expected: str | None = None) -> DataError:
        shown = None if found is None else json.dumps(found)
        return DataError(message, path=self.path, line=self.number, found=shown, expected=expected)

    def _parse_mentions(self, value: Any, document: Document | None) -> list[Span]:
        if not isinstance(value, list):
            raise self._fail("the mentions are not a list", value)
        spans: list[Span] = []
        for index, item in enumerate(value):
            span = check_span(item, document, self.path, self.number, f"mention {index}")
            if spans and span <= spans[-1]:
                order = "repeats" if span == spans[-1] else "comes before"
                raise self._fail(
                    f"mention {index} {order} mention {index - 1}", item, "mentions in text order"
                )
            spans.append(span)
        return spans

    def _check_candidates(self, index: int, pairs: Any) -> None:
        if not isinstance(pairs, list) or not pairs:
            raise self._fail(f"mention {index} has no candidates", pairs, "[[antecedent, score], …]")
        seen: set[int] = set()
        for pair in pairs:
            if not (isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int):
                raise self._fail(f"a candidate of mention {index} is no pair", pair, "[antecedent, score]")
            antecedent, score = pair
            if not isinstance(score, (int, float)) or isinstance(score, bool) or not math.isfinite(score):
                raise self._fail(
                    f"the score of mention {index} with {antecedent} is not a finite number", score
                )
            if antecedent in seen:
                raise self._fail(f"mention {index} has the antecedent {antecedent} twice", pair)
            self._check_antecedent(index, antecedent)
            seen.add(antecedent)

    def _check_antecedent(self, index: int, antecedent: Any) -> None:
        if type(antecedent) is not int or antecedent < NO_ANTECEDENT:
            raise self._fail(f"mention {index} has an unknown mention as antecedent", antecedent)
        if antecedent >= index:
            raise self._fail(
                f"mention {index} has mention {antecedent} as antecedent, which does not come before it"
                " (antecedents would run in a circle)",
                antecedent,
                f"an index below {index}, or -1 for none",
            )

    def _check_best(self, best: Any, candidates: list[list[list[Any]]]) -> None:
        if not isinstance(best, list) or len(best) != len(candidates):
            raise self._fail("the field 'best' does not have one antecedent for each mention")
        for index, (choice, pairs) in enumerate(zip(best, candidates, strict=True)):
            self._check_antecedent(index, choice)
            if all(choice != antecedent for antecedent, _ in pairs):
                raise self._fail(f"the best antecedent of mention {index} is none of its candidates", choice)
