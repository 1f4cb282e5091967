"""Files that a reranker reads: antecedent scores or k-best lists, line by line, each with the text that it speaks of.

A line is told by its fields (``docs/formats.md``). Its text is the corpus's document of that id, or comes with the line itself:
``"tokens": ["Anna", "sleeps"]``, and ``"sentences": [[0, 2]]`` where sentences are known.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from entitynlm.coref.candidates.antecedents import AntecedentScores, find_document, parse_object, parse_scores
from entitynlm.coref.candidates.kbest_lists import KBestList, parse_candidates
from entitynlm.errors import DataError
from entitynlm.files import decode_lines, open_binary
from entitynlm.text.document import Document

Ranked = AntecedentScores | KBestList


def read_candidates(
    path: str | Path, documents: Mapping[str, Document] | None = None
) -> Iterator[tuple[Document, Ranked]]:
    """Stream (text, scores or list) of a file.

    :param documents: the texts by id; without them every line must carry its own tokens.
    """
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
            document = find_document(doc_id, documents, name, number) or _parse_text(row, name, number)
            if "mentions" in row:
                yield document, parse_scores(row, document, name, number)
            else:
                candidates = parse_candidates(row["candidates"], document, name, number)
                yield document, KBestList(doc_id, candidates)


def _parse_text(row: Mapping[str, Any], path: str, number: int) -> Document:
    """The text that a line brings along."""
    tokens = row.get("tokens")
    if tokens is None:
        raise DataError(
            "this line has no tokens, and no corpus was given to take them from",
            path=path,
            line=number,
            found=", ".join(row),
            hint="Name the corpus with --corpus, or give each line its tokens",
        )
    if not isinstance(tokens, list) or not all(isinstance(token, str) and token for token in tokens):
        raise DataError("the tokens are not a list of words", path=path, line=number)
    sentences = row.get("sentences", [])
    if not _cover(sentences, len(tokens)):
        raise DataError(
            f"the sentences don't cover the {len(tokens)} tokens one after the other",
            path=path,
            line=number,
            found=json.dumps(sentences)[:60],
            expected="[[0, end], [end, …], …]",
        )
    return Document(row["doc_id"], tuple(tokens), tuple((start, end) for start, end in sentences))


def _cover(sentences: Any, size: int) -> bool:
    """Whether these are ranges that follow each other from 0 to ``size`` (none at all means: not known)."""
    if not isinstance(sentences, list):
        return False
    if not sentences:
        return True
    pairs = [pair for pair in sentences if isinstance(pair, list) and len(pair) == 2]
    if len(pairs) < len(sentences) or not all(type(place) is int for pair in pairs for place in pair):
        return False
    starts, ends = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    follows = all(end == start for end, start in itertools.zip_longest(ends[:-1], starts[1:]))
    return starts[0] == 0 and ends[-1] == size and follows and all(a < b for a, b in pairs)
