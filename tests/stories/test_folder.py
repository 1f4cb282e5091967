"""The generated corpus as a folder: splits, card and counts, the same bytes for the same seed."""

from __future__ import annotations

import json
from pathlib import Path

from entitynlm.stories import split_stories
from entitynlm.stories.folder import write_stories
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import read_documents


def test_the_folder_holds_the_splits_and_says_that_it_is_generated(tmp_path: Path) -> None:
    seen: list[Document] = []
    statistics = write_stories(20, tmp_path, seed=3, on_document=seen.append)
    for split, stories in split_stories(20, seed=3).items():
        assert list(read_documents(tmp_path / f"{split}.jsonl")) == stories
        assert statistics[split].documents == len(stories)
    card = json.loads((tmp_path / "corpus.json").read_text(encoding="utf-8"))
    assert card == {"corpus": "stories (generated)", "generated": True, "documents": 20, "seed": 3}
    assert len(seen) == 20
