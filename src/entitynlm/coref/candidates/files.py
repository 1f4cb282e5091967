"""Files that a reranker reads: antecedent scores or k-best lists, line by line, each with the text that it speaks of.

The fields of a line say which it is (``docs/formats.md``). Its text is the corpus's document of that id, or is in the line:
``"tokens": ["Anna", "sleeps"]``, and ``"sentences": [[0, 2]]`` where sentences are known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from entitynlm.coref.candidates.antecedents import AntecedentScores, parse_scores
from entitynlm.coref.candidates.json_lines import Line, read_lines
from entitynlm.coref.candidates.kbest_lists import KBestList, parse_kbest_list
from entitynlm.text.document import Document

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
