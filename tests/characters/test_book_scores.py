"""Scores of a novel: B³ and one-to-one accuracy by hand, and the figures of an annotation of the invented novel."""

from pathlib import Path

import pytest

from entitynlm.api import as_document
from entitynlm.characters.book_scores import (
    map_one_to_one,
    measure_baselines,
    measure_book,
    measure_cast,
    score_b_cubed,
)
from entitynlm.characters.character import list_characters
from entitynlm.errors import DataError
from entitynlm.text.corpora.pdnc import read_novel
from entitynlm.text.document import Document, Mention, Quotation
from support.novels import write_novel


def test_b_cubed_and_one_to_one() -> None:
    """Two clusters of three characters; an item that was not found is a cluster of its own."""
    pairs = [("1", "Nora"), ("1", "Nora"), ("1", "Ida"), ("2", "Ida"), (None, "Ida")]
    precision = (2 / 3 + 2 / 3 + 1 / 3 + 1 + 1) / 5
    recall = (1 + 1 + 1 / 3 + 1 / 3 + 1 / 3) / 5
    assert score_b_cubed(pairs) == pytest.approx(2 * precision * recall / (precision + recall))
    assert map_one_to_one(pairs) == {("1", "Nora"), ("2", "Ida")}


def annotate(text: str) -> Document:
    """The novel with five mentions (Nora's second name belongs to Ida's entity) and two quotations."""
    document = as_document(text)
    words = [("Nora", 0, "n"), ("you", 0, "i"), ("Nora", 1, "i"), ("she", 0, "i"), ("all", 0, "a")]
    mentions = []
    for word, which, entity in words:
        place = [number for number, token in enumerate(document.tokens) if token == word][which]
        mentions.append(Mention(place, place + 1, entity))
    tokens = document.tokens
    opened = [number for number, token in enumerate(tokens) if token == "“"]
    closed = [number + 1 for number, token in enumerate(tokens) if token == "”"]
    quotations = [Quotation(opened[0], closed[0], "n"), Quotation(opened[2], closed[2], "n")]
    return document.with_mentions(mentions, {}).with_quotations(quotations)


def test_figures_of_a_novel(tmp_path: Path) -> None:
    novel = read_novel(write_novel(tmp_path / "TheMill"))
    found = measure_book(novel, annotate(novel.text))
    assert {name: round(value, 2) for name, value in found.items() if value is not None} == {
        "mentions found": 100.0,  # you and Nora, one cluster and two characters
        "mentions B³": 66.67,
        "mentions one to one": 50.0,
        "names found": 66.67,  # not "Ida"
        "names B³": 80.0,
        "names one to one": 33.33,
        "quotations found": 66.67,
        "speakers": 33.33,
    }
    with pytest.raises(DataError, match="not an annotation"):
        measure_book(novel, as_document("Another text."))


def test_rows_of_the_cast(tmp_path: Path) -> None:
    """Two rows, each with its own name; or one row for both sisters."""
    novel = read_novel(write_novel(tmp_path / "TheMill"))
    document = annotate(novel.text)
    place = document.tokens.index("Ida")
    others = [m for m in document.mentions if document.tokens[m.start] not in ("Nora", "Ida")]
    nora = [Mention(m.start, m.end, "n") for m in document.mentions if document.tokens[m.start] == "Nora"]

    def measure(entity: str) -> dict[str, int]:
        mentions = [*others, *nora, Mention(place, place + 1, entity)]
        return measure_cast(novel, list_characters(document.with_mentions(mentions, {}), least=1))

    assert measure("i") == {"characters": 2, "own rows": 2, "right rows": 2}
    assert measure("n") == {"characters": 2, "own rows": 0, "right rows": 0}


def test_baselines_find_speakers_for_the_same_quotations(tmp_path: Path) -> None:
    novel = read_novel(write_novel(tmp_path / "TheMill"))
    found = measure_baselines(novel, annotate(novel.text))
    assert found["nearest name"] == pytest.approx(100 / 3) and set(found) == {
        "nearest name",
        "nearest mention",
        "alternation",
    }
