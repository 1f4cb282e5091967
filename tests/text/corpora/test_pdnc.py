"""Novels in PDNC's layout: reading them, their splits, and names that belong to one character alone."""

from pathlib import Path

import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.text.corpora.pdnc import list_novels, read_novel
from support.novels import write_novel


def test_a_novel_is_read(tmp_path: Path) -> None:
    folder = write_novel(tmp_path / "TheMill")
    novel = read_novel(folder)
    assert [(q.speaker, q.kind) for q in novel.quotations] == [
        ("Nora Vale", "explicit"),
        ("Ida", "anaphoric"),
        ("Nora Vale", "implicit"),
        ("_group", "explicit"),
    ]
    assert [quotation.tag for quotation in novel.quotations[1:3]] == ["she said", ""]
    assert [novel.text[start:end] for start, end in novel.quotations[0].parts] == [
        "Are you cold,",
        "or tired?",
    ]
    assert {novel.text[slice(*span)]: who for span, who in novel.mentions.items()} == {
        "you": "Ida Vale",
        "Nora": "Nora Vale",
    }  # "we" means two characters
    names = [(novel.text[slice(*span)], who) for span, who in novel.find_names().items()]
    assert names == [("Nora", "Nora Vale"), ("Nora", "Nora Vale"), ("Ida", "Ida Vale")]  # Miss Vale is either


def test_development_novels_are_known_by_name(tmp_path: Path) -> None:
    for name in ("Emma", "TheMill"):
        write_novel(tmp_path / name)
    assert [path.name for path in list_novels(tmp_path, "dev")] == ["Emma"]
    assert [path.name for path in list_novels(tmp_path, "train")] == ["TheMill"]
    assert [path.name for path in list_novels(tmp_path / "TheMill")] == ["TheMill"]
    with pytest.raises(ConfigError, match="train and dev"):
        list_novels(tmp_path, "test")
    with pytest.raises(DataError, match="no novel"):
        list_novels(tmp_path / "nowhere")
