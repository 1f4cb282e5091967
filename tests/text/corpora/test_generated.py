"""The generated corpus as a folder: splits, card, counts and difficulty, the same bytes for the same seed."""

from __future__ import annotations

import json
from pathlib import Path

from entitynlm.text.corpora.generated import make_stories
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import read_documents
from entitynlm.text.stories import split_stories


def test_the_folder_holds_the_splits_and_says_that_it_is_generated(tmp_path: Path) -> None:
    seen: list[Document] = []
    report = make_stories(20, seed=3, target=tmp_path, on_document=seen.append)
    for split, stories in split_stories(20, seed=3).items():
        assert list(read_documents(tmp_path / f"{split}.jsonl")) == stories
        assert report.statistics[split].documents == len(stories)
    card = json.loads((tmp_path / "corpus.json").read_text(encoding="utf-8"))
    assert card == {"corpus": "stories (generated)", "generated": True, "documents": 20, "seed": 3}
    assert len(seen) == 20
    assert report.as_json()["difficulty"]["documents"] == 2


def test_the_same_seed_gives_the_same_bytes_and_no_folder_is_needed(tmp_path: Path) -> None:
    first = make_stories(10, seed=5, target=tmp_path / "a")
    second = make_stories(10, seed=5, target=tmp_path / "b")
    assert first.as_json() == second.as_json() == make_stories(10, seed=5).as_json()
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
