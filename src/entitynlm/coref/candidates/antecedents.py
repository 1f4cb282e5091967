"""Antecedent scores: a mention-ranking coreference system's score of each (mention, antecedent) pair.

One JSON object a line, one line a document::

    {"doc_id": "tale", "mentions": [[0, 1], [2, 4], [5, 6]],
     "candidates": [[[-1, 0.0]], [[0, -3.2], [-1, 0.0]], [[1, 0.3], [0, 2.5], [-1, 0.0]]],
     "best": [-1, -1, 0]}

``mentions`` are half-open spans over the document's tokens in text order; ``candidates`` has for each mention its possible
antecedents as ``[index of an earlier mention, score]``, with -1 for "no antecedent"; ``best`` is the system's own choice and may
be left out (then: the candidate with the highest score, the first of several).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from entitynlm.coref.candidates.json_lines import Line, read_lines, write_lines
from entitynlm.text.document import Document, Span

NO_ANTECEDENT = -1


@dataclass(frozen=True)
class AntecedentScores:
    """The scored antecedents of one document's mentions; those of mention m are the pairs offsets[m]:offsets[m + 1].

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
    """The checked scores of one line."""
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
