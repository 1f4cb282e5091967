"""Candidates of a coreference system, as antecedent scores or as k-best lists: JSON lines, one line a document.

Antecedent scores are a mention-ranking system's scores of each (mention, antecedent) pair::

    {"doc_id": "tale", "mentions": [[0, 1], [2, 4], [5, 6]],
     "candidates": [[[-1, 0.0]], [[0, -3.2], [-1, 0.0]], [[1, 0.3], [0, 2.5], [-1, 0.0]]],
     "best": [-1, -1, 0]}

``mentions`` are half-open spans over the document's tokens in text order; ``candidates`` has for each mention its possible
antecedents as ``[index of an earlier mention, score]``, with -1 for "no antecedent"; ``best`` is the system's own choice and may
be left out (then: the candidate with the highest score, the first of several). A k-best list has whole analyses, the best first::

    {"doc_id": "tale", "candidates": [{"clusters": [[[0, 1], [5, 6]]], "score": 2.5}, {"clusters": [], "score": 0.0}]}

The text of a line is the corpus's document of that id, or is in the line: ``"tokens": ["Anna", "sleeps"]``, and
``"sentences": [[0, 2]]`` where known. Types and ranges of values are checked by msgspec, what they refer to is checked here, and
every complaint names the line.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from entitynlm.errors import DataError
from entitynlm.files import decode_lines, open_binary
from entitynlm.text.document import Document, Span

NO_ANTECEDENT = -1
LONGEST_LINE = 256 << 20  # bytes: a hundred candidates of a long novel

Clusters = tuple[tuple[Span, ...], ...]


@dataclass(frozen=True)
class AntecedentScores:
    """Antecedents (index of an earlier mention, -1: none) and scores of mention m at offsets[m]:offsets[m + 1]; each best one."""

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
        """(pairs,) the mention of each (mention, antecedent) pair."""
        return np.repeat(np.arange(len(self.mentions)), np.diff(self.offsets))

    @property
    def best_scores(self) -> NDArray[np.float64]:
        return self.scores[self.antecedents == self.best[self.anaphors]]


@dataclass(frozen=True, slots=True)
class ScoredClustering:
    clusters: Clusters
    score: float


@dataclass(frozen=True, slots=True)
class KBestList:
    """The candidates of one document, the system's own choice first; ``mentions`` are all that the system found, if known."""

    doc_id: str
    candidates: tuple[ScoredClustering, ...]
    mentions: tuple[Span, ...] = ()

    def __len__(self) -> int:
        return len(self.candidates)


Ranked = AntecedentScores | KBestList


def make_antecedent_scores(
    doc_id: str,
    mentions: Iterable[Span],
    candidates: Iterable[Iterable[tuple[int, float]]],
    best: Iterable[int] | None = None,
) -> AntecedentScores:
    """Join nested lists to arrays; the best antecedent is the first with the highest score unless it is given."""
    rows = [list(row) for row in candidates]
    offsets = np.cumsum([0, *map(len, rows)])
    antecedents = np.array([index for row in rows for index, _ in row], dtype=np.int64)
    scores = np.array([score for row in rows for _, score in row], dtype=np.float64)
    if best is None:
        best = [max(row, key=lambda pair: pair[1])[0] for row in rows]
    chosen = np.array(list(best), dtype=np.int64)
    return AntecedentScores(doc_id, tuple(mentions), offsets, antecedents, scores, chosen)


# -- reading -----------------------------------------------------------------------------------------------------------


class _Line(msgspec.Struct):
    doc_id: Annotated[str, msgspec.Meta(min_length=1)]
    tokens: tuple[Annotated[str, msgspec.Meta(min_length=1)], ...] | None = None
    sentences: tuple[Span, ...] = ()


class _ScoresLine(_Line, kw_only=True):
    mentions: tuple[Span, ...]
    candidates: list[Annotated[list[tuple[int, float]], msgspec.Meta(min_length=1)]]
    best: list[int] | None = None


class _ListLine(_Line, kw_only=True):
    candidates: Annotated[tuple[ScoredClustering, ...], msgspec.Meta(min_length=1)]


Fail = Callable[..., DataError]
"""Makes an error about a line of a file."""


def read_candidates(
    path: str | Path, documents: Mapping[str, Document] | None = None
) -> Iterator[tuple[Document, Ranked]]:
    """Stream (text, scores or list) of a file; without ``documents`` (texts by id) every line must carry its own tokens."""
    for fail, line in _read_lines(path):
        document = _find_text(fail, line, documents)
        yield document, _check_line(fail, line, len(document))


def find_split_file(place: Path, split: str) -> Path:
    """Find the file of a split in a folder: the one whose name starts with the split's (dev.antecedents.jsonl, test.jsonl)."""
    files = [place] if place.is_file() else sorted(place.glob(f"{split}*.jsonl*"))
    if len(files) != 1:
        message = f"there are {len(files) or 'no'} files {split}*.jsonl"
        raise DataError(message, path=place, expected="one for each split")
    return files[0]


def read_all_candidates(path: Path, documents: Sequence[Document]) -> list[Ranked]:
    """Read the scores or lists of all these documents, in their order."""
    texts = {document.id: document for document in documents}
    found = {item.doc_id: item for _, item in read_candidates(path, texts)}
    if missing := [doc_id for doc_id in texts if doc_id not in found]:
        share = f"{len(missing)} of the {len(texts)} documents"
        raise DataError(f"{share} have no scores ({missing[0]}, …)", path=path)
    return [found[doc_id] for doc_id in texts]


def _read_lines(path: str | Path) -> Iterator[tuple[Fail, _ScoresLine | _ListLine]]:
    """Read the lines of a file one by one, each with a unique ``doc_id``; a line with mentions holds antecedent scores."""
    seen: dict[str, int] = {}
    with open_binary(path) as stream:
        for number, text in decode_lines(stream, str(path), longest=LONGEST_LINE):
            if not text.strip():
                continue
            fail = partial(DataError, path=path, line=number)
            try:
                fields = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
                kind: type[_ScoresLine | _ListLine] = _ScoresLine if "mentions" in fields else _ListLine
                line = msgspec.json.decode(text, type=kind)
            except msgspec.ValidationError as error:
                raise fail(f"this is no line of candidates ({error})", found=text[:80]) from error
            except (msgspec.DecodeError, RecursionError) as error:
                raise fail(f"this is not JSON ({error})", found=text[:80]) from error
            if line.doc_id in seen:
                raise fail(f"document {line.doc_id!r} was already in line {seen[line.doc_id]}")
            seen[line.doc_id] = number
            yield fail, line


def _find_text(fail: Fail, line: _Line, documents: Mapping[str, Document] | None) -> Document:
    if documents is not None:
        if line.doc_id not in documents:
            known = ", ".join(list(documents)[:5]) + (", …" if len(documents) > 5 else "")
            where = f"one of the {len(documents)} documents of the corpus"
            raise fail(f"document {line.doc_id!r} is not {where}", expected=known)
        return documents[line.doc_id]
    if line.tokens is None:
        hint = "Name the corpus with --corpus, or give each line its tokens"
        raise fail("this line has no tokens, and no corpus was given to take them from", hint=hint)
    try:
        return Document(line.doc_id, line.tokens, line.sentences)
    except DataError as error:
        message = f"the sentences don't cover the {len(line.tokens)} tokens one after the other"
        raise fail(message, found=str(line.sentences), expected="[[0, end], [end, …], …]") from error


def _check_line(fail: Fail, line: _ScoresLine | _ListLine, size: int) -> Ranked:
    """Check that spans lie within ``size`` tokens, and antecedents before their mentions."""
    if isinstance(line, _ScoresLine):
        _check_spans(fail, line.mentions, "the mentions", size)
        for index, (before, span) in enumerate(pairwise(line.mentions)):
            if span <= before:
                order = "repeats" if span == before else "comes before"
                told = f"mention {index + 1} {order} mention {index}"
                raise fail(told, found=str(span), expected="mentions in text order")
        _check_antecedents(fail, line)
        return make_antecedent_scores(line.doc_id, line.mentions, line.candidates, line.best)
    for index, candidate in enumerate(line.candidates):
        spans = [span for cluster in candidate.clusters for span in cluster]
        _check_spans(fail, spans, f"candidate {index}", size)
        if len(set(spans)) < len(spans):
            raise fail(f"candidate {index} has a mention twice", expected="each span once")
    return KBestList(line.doc_id, line.candidates)


def _check_spans(fail: Fail, spans: Iterable[Span], name: str, size: int) -> None:
    for start, end in spans:
        if not 0 <= start < end <= size:
            expected = f"a half-open range [start, end] within the {size} tokens of the document"
            raise fail(f"a span of {name} is impossible", found=str([start, end]), expected=expected)


def _check_antecedents(fail: Fail, line: _ScoresLine) -> None:
    """Check that each mention's antecedents come before it, each once, and that the best is one of them."""
    if len(line.candidates) != len(line.mentions):
        raise fail(f"{len(line.candidates)} lists of candidates for {len(line.mentions)} mentions")
    if line.best is not None and len(line.best) != len(line.mentions):
        raise fail("the field 'best' does not have one antecedent for each mention")
    for mention, pairs in enumerate(line.candidates):
        antecedents = [antecedent for antecedent, _ in pairs]
        if max(antecedents) >= mention or min(antecedents) < NO_ANTECEDENT:
            told = f"mention {mention} has an antecedent that does not come before it"
            raise fail(told, found=str(pairs), expected=f"indices below {mention}, or -1 for none")
        if len(set(antecedents)) < len(antecedents):
            raise fail(f"mention {mention} has an antecedent twice", found=str(pairs))
        if line.best is not None and line.best[mention] not in antecedents:
            told = f"the best antecedent of mention {mention} is none of its candidates"
            raise fail(told, found=str(line.best[mention]))
