"""Weights from other folds: searched on them and on nothing else, the same from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from entitynlm.coref.candidates.kbest_lists import KBestList, ScoredClustering
from entitynlm.coref.reranking.combination import ScoredList
from entitynlm.errors import DataError
from entitynlm.experiments.coref_blocks import Block
from entitynlm.experiments.coref_folds import CountedList, FoldResult, count_list, pool_folds
from entitynlm.experiments.runner import Runner
from entitynlm.text.document import Document, Mention

TOKENS = tuple("Anna met Berta . She laughed .".split())
RIGHT = (((0, 1), (4, 5)),)
WRONG = (((2, 3), (4, 5)),)


def make_list(name: str, *, helpful: bool = True) -> CountedList:
    """The baseline prefers the wrong candidate; the model tells the right one if it is helpful, and the wrong one if not."""
    key = Document(name, TOKENS, ((0, 4), (4, 7)), (Mention(0, 1, "a"), Mention(4, 5, "a")))
    kbest = KBestList(name, (ScoredClustering(WRONG, 1.0), ScoredClustering(RIGHT, 0.5)))
    gain = 1.0 if helpful else -1.0
    parts = np.array([[0.0, 0.0, 0.0, -5.0], [0.0, gain, 0.0, -5.0]])
    return count_list(key, ScoredList(kbest, {"P": parts}))


def test_weights_come_from_the_other_folds() -> None:
    folds = [{"swaps": [make_list(f"{number}{letter}") for letter in "ab"]} for number in range(3)]
    rows = pool_folds(folds, extra=False)
    assert [row.name for row in rows] == ["swaps: P + baseline, pooled"]
    assert rows[0].counts.doc_ids == ("0a", "0b", "1a", "1b", "2a", "2b")
    assert rows[0].conll == pytest.approx(100)
    # The first fold's model misleads: its own lists would say so, but only the others are asked.
    folds[0] = {"swaps": [make_list("0a", helpful=False)]}
    counts = pool_folds(folds[:2], extra=False)[0].counts
    assert counts.doc_ids == ("0a", "1a", "1b")
    assert counts.score_documents("muc")[0].f1 == 0


def test_parts_have_a_row_where_they_are_wanted() -> None:
    folds = [{"swaps": [make_list(str(number))]} for number in range(3)]
    names = [row.name for row in pool_folds(folds, extra=True)]
    assert names == ["swaps: P + baseline, pooled", "swaps: parts of P + baseline, pooled"]


def test_stored_lists_are_the_same_lists(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    folds = [{"samples": [make_list(str(number))]} for number in range(3)]

    def run(number: int) -> FoldResult:
        result = FoldResult(Block("fold", {}), folds[number])
        return runner.step(
            f"{number}", {}, lambda: result, encode=FoldResult.to_dict, decode=FoldResult.from_dict
        )

    for number in range(3):
        assert run(number).lists is folds[number]
    again = [run(number).lists for number in range(3)]
    assert again[0] is not folds[0]
    before, after = pool_folds(folds, extra=True), pool_folds(again, extra=True)
    assert [(row.name, row.counts.to_json()) for row in before] == [
        (row.name, row.counts.to_json()) for row in after
    ]
    (tmp_path / "0.json").write_text('{"settings": {}, "output": {"block": {}, "lists": {"samples": [{}]}}}')
    with pytest.raises(DataError, match="measured again"):
        run(0)
