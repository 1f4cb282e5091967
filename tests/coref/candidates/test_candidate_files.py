"""Files of antecedent scores and of k-best lists: what is written is read again, and every fault is named with its line."""

import json
from pathlib import Path
from typing import Any

import pytest

from entitynlm.coref.candidates import candidate_files
from entitynlm.coref.candidates.candidate_files import (
    AntecedentScores,
    KBestList,
    ScoredClustering,
    make_antecedent_scores,
    read_candidates,
)
from entitynlm.errors import DataError
from entitynlm.text.document import Document

DOCUMENTS = {name: Document(name, tuple("abcdefgh")) for name in ("tale", "poem")}
LISTED = {"doc_id": "poem", "candidates": [{"clusters": [[[0, 1], [5, 6]]], "score": 2.5}]}


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


def test_scores_are_read(tmp_path: Path) -> None:
    [(_, scores)] = read_candidates(write_rows(tmp_path / "a.jsonl", make_row()), DOCUMENTS)
    assert isinstance(scores, AntecedentScores)
    assert scores.mentions == ((0, 1), (2, 4), (5, 6))
    assert scores.offsets.tolist() == [0, 1, 3, 6]
    assert scores.antecedents.tolist() == [-1, 0, -1, 1, 0, -1]
    assert scores.best_scores.tolist() == [0.0, 0.0, 2.5]


def test_without_best_the_first_highest_score_wins(tmp_path: Path) -> None:
    row = make_row(candidates=[[[-1, 0]], [[0, 1.0], [-1, 1.0]], [[1, 0], [0, 3], [-1, 3]]])
    del row["best"]
    [(_, scores)] = read_candidates(write_rows(tmp_path / "a.jsonl", row), DOCUMENTS)
    assert isinstance(scores, AntecedentScores)
    assert scores.best.tolist() == [-1, 0, 0]
    assert scores.anaphors.tolist() == [0, 1, 1, 2, 2, 2]
    assert make_antecedent_scores("tale", scores.mentions, row["candidates"]).best.tolist() == [-1, 0, 0]


def test_both_kinds_of_lines_with_texts_of_a_corpus_or_of_the_line(tmp_path: Path) -> None:
    text = {"tokens": list("abcdefgh"), "sentences": [[0, 3], [3, 8]]}
    path = write_rows(tmp_path / "a.jsonl", {**LISTED, **text}, {**make_row(), **text})
    for documents in (DOCUMENTS, None):
        (poem, listed), (tale, scored) = read_candidates(path, documents)
        assert (poem.id, tale.id) == ("poem", "tale")
        assert len(poem.sentences) == (1 if documents else 2)
        assert listed == KBestList("poem", (ScoredClustering((((0, 1), (5, 6)),), 2.5),))
        assert isinstance(scored, AntecedentScores)


FAULTS = {
    "no JSON": ("{nonsense", "not JSON"),
    "no object": ("[1, 2]", "Expected `object`, got `array`"),
    "nested without end": ('{"doc_id": ' + "[" * 100_000, "not JSON"),
    "a field is missing": (json.dumps({"doc_id": "tale", "mentions": []}), "missing required field `candidates`"),
    "wrong document": (make_row(doc_id="other"), "'other' is not one of the 2 documents"),
    "document twice": (LISTED, "'poem' was already in line 1"),
    "no document name": (make_row(doc_id=7), r"Expected `str`, got `int` - at `\$.doc_id`"),
    "mention outside": (make_row(mentions=[[0, 1], [2, 4], [5, 9]]), "within the 8 tokens"),
    "empty mention": (make_row(mentions=[[0, 1], [4, 4], [5, 6]]), "a span of the mentions is impossible"),
    "no span": (make_row(mentions=[[0, 1], [2.5, 4], [5, 6]]), r"at `\$.mentions\[1\]\[0\]`"),
    "mentions out of order": (make_row(mentions=[[2, 4], [0, 1], [5, 6]]), "mention 1 comes before mention 0"),
    "mention twice": (make_row(mentions=[[0, 1], [0, 1], [5, 6]]), "mention 1 repeats"),
    "too few lists": (make_row(candidates=[[[-1, 0.0]]]), "1 lists of candidates for 3 mentions"),
    "no candidates": (make_row(candidates=[[[-1, 0]], [], [[-1, 0]]]), r"length >= 1 - at `\$.candidates\[1\]`"),
    "itself": (make_row(candidates=[[[-1, 0]], [[1, 0]], [[-1, 0]]]), "mention 1 has an antecedent that does not come before"),
    "unknown mention": (make_row(candidates=[[[-1, 0]], [[-2, 0]], [[-1, 0]]]), "does not come before"),
    "candidate twice": (make_row(candidates=[[[-1, 0]], [[0, 1], [0, 2]], [[-1, 0]]]), "an antecedent twice"),
    "NaN": (make_row(candidates=[[[-1, 0]], [[0, float("nan")]], [[-1, 0]]]), "not JSON"),
    "infinite": (json.dumps(make_row()).replace("2.5", "1e999"), "Number out of range"),
    "score of text": (make_row(candidates=[[[-1, 0]], [[0, "high"]], [[-1, 0]]]), "Expected `float`, got `str`"),
    "no pair": (make_row(candidates=[[[-1, 0]], [0], [[-1, 0]]]), "Expected `array`"),
    "best is short": (make_row(best=[-1]), "one antecedent for each mention"),
    "best is no candidate": (make_row(best=[-1, 2, 0]), "none of its candidates"),
    "no analyses": ({"doc_id": "tale", "candidates": []}, "length >= 1"),
    "no score": ({"doc_id": "tale", "candidates": [{"clusters": []}]}, "missing required field `score`"),
    "cluster outside": ({"doc_id": "tale", "candidates": [{"clusters": [[[0, 1], [7, 9]]], "score": 0}]}, "8 tokens"),
    "no clusters": ({"doc_id": "tale", "candidates": [{"clusters": [[0, 1]], "score": 0}]}, "Expected `array`"),
    "twice": ({"doc_id": "tale", "candidates": [{"clusters": [[[0, 1], [2, 3]], [[0, 1]]], "score": 0}]}, "mention twice"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_named_with_their_line(name: str, tmp_path: Path) -> None:
    row, words = FAULTS[name]
    path = write_rows(tmp_path / "bad.jsonl", LISTED, "", row)
    with pytest.raises(DataError, match=words) as caught:
        list(read_candidates(path, DOCUMENTS))
    assert "bad.jsonl:3" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ({}, "no corpus was given"),
        ({"tokens": ["a", ""]}, "length >= 1"),
        ({"tokens": list("abcdefgh"), "sentences": [[0, 3], [4, 8]]}, "don't cover the 8 tokens"),
        ({"tokens": list("abcdefgh"), "sentences": [[0, 3], [3, 7]]}, "don't cover"),
        ({"tokens": list("abcde")}, "impossible"),
    ],
)
def test_texts_of_lines_are_checked(tmp_path: Path, text: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        list(read_candidates(write_rows(tmp_path / "a.jsonl", {**LISTED, **text})))
    assert "a.jsonl:1" in str(caught.value)


def test_long_lines_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate_files, "LONGEST_LINE", 40)
    with pytest.raises(DataError, match="more than 40 bytes"):
        list(read_candidates(write_rows(tmp_path / "a.jsonl", LISTED), DOCUMENTS))
