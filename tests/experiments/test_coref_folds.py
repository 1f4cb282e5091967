"""Weights from other folds: searched on them and on nothing else, the same from a file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from entitynlm.coref.candidates.candidate_files import KBestList, ScoredClustering
from entitynlm.coref.candidates.kbest import count_candidates
from entitynlm.coref.reranking.combination import ScoredList
from entitynlm.errors import DataError
from entitynlm.experiments.coref_blocks import Block, CountedList, pool_folds
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
    return ScoredList(np.array([1.0, 0.5]), {"P": parts}), count_candidates(key, kbest.candidates, None)


def make_fold(method: str, *lists: CountedList) -> Block:
    return Block("fold", {}, lists={method: lists})


def test_weights_come_from_the_other_folds() -> None:
    folds = [make_fold("swaps", *(make_list(f"{number}{letter}") for letter in "ab")) for number in range(3)]
    counts = pool_folds(folds)["swaps: P + baseline, pooled"]
    assert counts.doc_ids == ("0a", "0b", "1a", "1b", "2a", "2b")
    assert counts.conll == pytest.approx(100)
    # The first fold's model misleads: its own lists would say so, but only the others are asked.
    folds[0] = make_fold("swaps", make_list("0a", helpful=False))
    counts = pool_folds(folds[:2])["swaps: P + baseline, pooled"]
    assert counts.doc_ids == ("0a", "1a", "1b")
    assert counts.score_documents("muc")[0].f1 == 0


def test_parts_have_a_row() -> None:
    folds = [make_fold("swaps", make_list(str(number))) for number in range(3)]
    names = list(pool_folds(folds))
    assert names == ["swaps: P + baseline, pooled", "swaps: parts of P + baseline, pooled"]


def test_stored_lists_are_the_same_lists(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    folds = [make_fold("samples", make_list(str(number))) for number in range(3)]

    def run(number: int) -> Block:
        make = folds[number]
        return runner.step(f"{number}", {}, lambda: make, encode=asdict, decode=Block.from_dict)

    for number in range(3):
        assert run(number) is folds[number]
    again = [run(number) for number in range(3)]
    assert again[0] is not folds[0]
    before, after = pool_folds(folds), pool_folds(again)
    assert {name: counts.to_json() for name, counts in before.items()} == {
        name: counts.to_json() for name, counts in after.items()
    }
    (tmp_path / "0.json").write_text(
        '{"settings": {}, "output": {"title": "fold", "rows": {}, "weights": {}, "lists": {"samples": [{}]}}}'
    )
    with pytest.raises(DataError, match="measured again"):
        run(0)
