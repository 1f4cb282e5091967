"""Files of antecedent scores and of k-best lists: what is written is read again, what is wrong is named
with its line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from entitynlm.coref.candidates.candidate_files import (
    KBestList,
    ScoredClustering,
    make_antecedent_scores,
    read_antecedent_scores,
    read_candidates,
    write_antecedent_scores,
    write_kbest_lists,
)
from entitynlm.errors import DataError
from entitynlm.text.document import Document

DOCUMENTS = {"tale": Document("tale", tuple("abcdefgh"))}


def make_row(**changes: Any) -> dict[str, Any]:
    row = {
        "doc_id": "tale",
        "mentions": [[0, 1], [2, 4], [5, 6]],
        "candidates": [[[-1, 0.0]], [[0, -3.25], [-1, 0.0]], [[1, 0.5], [0, 2.5], [-1, 0.0]]],
        "best": [-1, -1, 0],
    }
    return {**row, **changes}


def write_rows(path: Path, *rows: Any) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_scores_are_read_as_they_were_written(tmp_path: Path) -> None:
    [scores] = read_antecedent_scores(write_rows(tmp_path / "a.jsonl", make_row()), DOCUMENTS)
    assert scores.mentions == ((0, 1), (2, 4), (5, 6))
    assert scores.offsets.tolist() == [0, 1, 3, 6]
    assert scores.antecedents.tolist() == [-1, 0, -1, 1, 0, -1]
    assert scores.best_scores.tolist() == [0.0, 0.0, 2.5]
    write_antecedent_scores([scores], tmp_path / "b.jsonl")
    [again] = read_antecedent_scores(tmp_path / "b.jsonl")
    assert again.mentions == scores.mentions
    for name in ("offsets", "antecedents", "scores", "best"):
        assert np.array_equal(getattr(again, name), getattr(scores, name))


def test_without_best_the_first_highest_score_wins(tmp_path: Path) -> None:
    row = make_row(candidates=[[[-1, 0]], [[0, 1.0], [-1, 1.0]], [[1, 0], [0, 3], [-1, 3]]])
    del row["best"]
    [scores] = read_antecedent_scores(write_rows(tmp_path / "a.jsonl", row))
    assert scores.best.tolist() == [-1, 0, 0]


BAD_SCORES = {
    "no JSON": ("{nonsense", "not JSON"),
    "no object": ("[1, 2]", "not a JSON object"),
    "a field is missing": (json.dumps({"doc_id": "tale", "mentions": []}), "field 'candidates' is missing"),
    "wrong document": (make_row(doc_id="other"), "'other' is not one of the 1 documents"),
    "no document name": (make_row(doc_id=7), "doc_id is not a name"),
    "mention outside": (make_row(mentions=[[0, 1], [2, 4], [5, 9]]), "within the 8 tokens of 'tale'"),
    "empty mention": (make_row(mentions=[[0, 1], [4, 4], [5, 6]]), "mention 1 is impossible"),
    "no span": (make_row(mentions=[[0, 1], [2.0, 4], [5, 6]]), "mention 1 is not a span"),
    "mentions out of order": (make_row(mentions=[[2, 4], [0, 1], [5, 6]]), "mention 1 comes before mention 0"),
    "mention twice": (make_row(mentions=[[0, 1], [0, 1], [5, 6]]), "mention 1 repeats"),
    "too few lists": (make_row(candidates=[[[-1, 0.0]]]), "1 lists of candidates for 3 mentions"),
    "no candidates": (make_row(candidates=[[[-1, 0]], [], [[-1, 0]]]), "mention 1 has no candidates"),
    "itself": (make_row(candidates=[[[-1, 0]], [[1, 0]], [[-1, 0]]]), "does not come before it"),
    "forward": (make_row(candidates=[[[-1, 0]], [[2, 0]], [[-1, 0]]]), "run in a circle"),
    "unknown mention": (make_row(candidates=[[[-1, 0]], [[-2, 0]], [[-1, 0]]]), "unknown mention as antecedent"),
    "candidate twice": (make_row(candidates=[[[-1, 0]], [[0, 1], [0, 2]], [[-1, 0]]]), "antecedent 0 twice"),
    "NaN": (json.dumps(make_row(candidates=[[[-1, 0]], [[0, float("nan")]], [[-1, 0]]])), "not a finite number"),
    "infinite": (json.dumps(make_row(candidates=[[[-1, 0]], [[0, float("inf")]], [[-1, 0]]])), "not a finite number"),
    "score of text": (make_row(candidates=[[[-1, 0]], [[0, "high"]], [[-1, 0]]]), "not a finite number"),
    "no pair": (make_row(candidates=[[[-1, 0]], [0], [[-1, 0]]]), "is no pair"),
    "best is short": (make_row(best=[-1]), "one antecedent for each mention"),
    "best is no candidate": (make_row(candidates=[[[-1, 0]], [[0, 1]], [[-1, 0]]]), "none of its candidates"),
    "best runs forward": (make_row(best=[-1, 2, 0]), "does not come before it"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_SCORES)
def test_bad_score_files_are_named_with_their_line(name: str, tmp_path: Path) -> None:
    row, words = BAD_SCORES[name]
    good = make_row(doc_id="fine")
    path = write_rows(tmp_path / "bad.jsonl", good, "", row)
    documents = {**DOCUMENTS, "fine": DOCUMENTS["tale"]}
    if name == "wrong document":
        words = words.replace("1 documents", "2 documents")
    with pytest.raises(DataError, match=words) as caught:
        list(read_antecedent_scores(path, documents))
    assert caught.value.line == 3
    assert "bad.jsonl:3" in str(caught.value)


def test_a_document_may_come_once(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'tale' was already in line 1"):
        list(read_antecedent_scores(write_rows(tmp_path / "a.jsonl", make_row(), make_row())))
    kbest = {"doc_id": "tale", "candidates": [{"clusters": [], "score": 0}]}
    with pytest.raises(DataError, match="'tale' was already in line 1"):
        list(read_candidates(write_rows(tmp_path / "k.jsonl", kbest, kbest), DOCUMENTS))


def test_kbest_lists_are_read_as_they_were_written(tmp_path: Path) -> None:
    lists = [
        KBestList("tale", (ScoredClustering((((0, 1), (5, 6)),), 2.5), ScoredClustering((), -1.0))),
        KBestList("other", (ScoredClustering((((0, 2), (3, 4)), ((5, 6), (7, 8))), 0.125),)),
    ]
    write_kbest_lists(lists, tmp_path / "k.jsonl")
    documents = {**DOCUMENTS, "other": DOCUMENTS["tale"]}
    assert [item for _, item in read_candidates(tmp_path / "k.jsonl", documents)] == lists


BAD_LISTS = {
    "no candidates": ([], "there are no candidates"),
    "no score": ([{"clusters": []}], "candidate 0 has no clusters and score"),
    "NaN": ([{"clusters": [], "score": float("nan")}], "score of candidate 0 is not a finite number"),
    "unknown mention": (
        [{"clusters": [], "score": 1}, {"clusters": [[[0, 1], [7, 9]]], "score": 0}],
        "8 tokens of",
    ),
    "no span": ([{"clusters": [[0, 1]], "score": 0}], "a mention of candidate 0 is not a span"),
    "no lists": ([{"clusters": {}, "score": 0}], "not lists of spans"),
    "twice": ([{"clusters": [[[0, 1], [2, 3]], [[0, 1]]], "score": 0}], "has a mention twice"),
}


@pytest.mark.parametrize("name", BAD_LISTS)
def test_bad_lists_are_named_with_their_line(name: str, tmp_path: Path) -> None:
    candidates, words = BAD_LISTS[name]
    path = write_rows(tmp_path / "bad.jsonl", {"doc_id": "tale", "candidates": candidates})
    with pytest.raises(DataError, match=words) as caught:
        list(read_candidates(path, DOCUMENTS))
    assert caught.value.line == 1


def test_nested_lists_make_flat_arrays() -> None:
    scores = make_antecedent_scores("x", [(0, 1), (2, 3)], [[(-1, 0.0)], [(0, 1.0), (-1, 0.0)]])
    assert scores.best.tolist() == [-1, 0]
    assert scores.anaphors.tolist() == [0, 1, 1]
