"""Files for the reranker: both kinds of lines, texts from a corpus or from the line, and every fault with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from entitynlm.coref.candidates.candidate_files import AntecedentScores, KBestList, read_candidates
from entitynlm.errors import DataError
from entitynlm.text.document import Document

DOCUMENTS = {name: Document(name, tuple("abcdefgh")) for name in ("tale", "poem")}
LISTED = {"doc_id": "tale", "candidates": [{"clusters": [[[0, 1], [5, 6]]], "score": 2.5}]}
SCORED = {"doc_id": "poem", "mentions": [[0, 1], [2, 4]], "candidates": [[[-1, 0.0]], [[0, 1.5], [-1, 0.0]]]}


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_both_kinds_of_lines(tmp_path: Path) -> None:
    (tale, listed), (poem, scored) = read_candidates(write(tmp_path / "a.jsonl", LISTED, SCORED), DOCUMENTS)
    assert (tale.id, poem.id) == ("tale", "poem")
    assert isinstance(listed, KBestList)
    assert listed.candidates[0].clusters == (((0, 1), (5, 6)),)
    assert isinstance(scored, AntecedentScores)
    assert scored.best.tolist() == [-1, 0]


def test_a_line_may_bring_its_text(tmp_path: Path) -> None:
    row = {**LISTED, "tokens": list("abcdefgh"), "sentences": [[0, 3], [3, 8]]}
    [(document, _)] = read_candidates(write(tmp_path / "a.jsonl", row))
    assert document == Document("tale", tuple("abcdefgh"), ((0, 3), (3, 8)))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**LISTED, "doc_id": "novel"}, "'novel' is not one of the 2 documents"),
        ({**LISTED, "candidates": [{"clusters": [[[0, 1], [7, 9]]], "score": 1}]}, "impossible"),
        ({**LISTED, "candidates": [{"clusters": [[[0, 1], [2, 3]]], "score": float("nan")}]}, "finite"),
        ({**SCORED, "doc_id": "tale", "candidates": [[[-1, 0]], [[1, 0.5]]]}, "circle"),
        ({**SCORED, "doc_id": "tale", "candidates": [[[-1, 0]], [[7, 0.5]]]}, "does not come before"),
        ({**SCORED, "doc_id": "tale", "candidates": [[[-1, 0]], [[0, float("nan")]]]}, "finite"),
        (SCORED, "already in line 1"),
        ("{", "not JSON"),
    ],
)
def test_faults_are_named_with_their_line(tmp_path: Path, row: Any, message: str) -> None:
    path = write(tmp_path / "a.jsonl", SCORED, row)
    with pytest.raises(DataError, match=message) as caught:
        list(read_candidates(path, DOCUMENTS))
    assert f"{path}:2" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ({}, "no corpus was given"),
        ({"tokens": ["a", ""]}, "not a list of words"),
        ({"tokens": list("abcdefgh"), "sentences": [[0, 3], [4, 8]]}, "don't cover the 8 tokens"),
        ({"tokens": list("abcdefgh"), "sentences": [[0, 3], [3, 7]]}, "don't cover"),
        ({"tokens": list("abcdefgh"), "sentences": [0, 8]}, "don't cover"),
        ({"tokens": list("abcde")}, "impossible"),
    ],
)
def test_texts_of_lines_are_checked(tmp_path: Path, text: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        list(read_candidates(write(tmp_path / "a.jsonl", {**LISTED, **text})))
    assert "a.jsonl:1" in str(caught.value)
