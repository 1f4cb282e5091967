from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.text.corpora import checks
from entitynlm.text.corpora.checks import check_files, find_crossings, find_oddities
from entitynlm.text.document import Document, Mention

GOOD = "# newdoc id = {name}\n1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


def test_a_sound_document_has_no_oddities() -> None:
    document = Document("d", ("a", "b", "c"), mentions=(Mention(0, 3, "x"), Mention(1, 2, "y")))
    assert list(find_oddities(document)) == []


def test_what_only_the_whole_document_shows() -> None:
    document = Document(
        "d",
        ("a", "b", "c", "d"),
        sentences=((0, 2), (2, 4)),
        mentions=(Mention(0, 1, "x"), Mention(0, 1, "y"), Mention(0, 2, "z"), Mention(1, 3, "x")),
    )
    assert list(find_oddities(document)) == [
        "'a' (tokens 0 to 1) is annotated more than once, as x and y",
        "'a b' (tokens 0 to 2) and 'b c' (tokens 1 to 3) cross each other",
        "'b c' (tokens 1 to 3) crosses a sentence end",
    ]
    assert list(find_oddities(Document("d", ()))) == ["it has no words"]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6)), max_size=12))
def test_crossings_are_those_that_the_definition_finds(spans: list[tuple[int, int]]) -> None:
    distinct = sorted(
        {(start, start + length) for start, length in spans}, key=lambda span: (span[0], -span[1])
    )
    found = list(find_crossings(distinct))
    assert len(found) == len(set(found))
    assert set(found) == {(a, b) for a in distinct for b in distinct if a[0] < b[0] < a[1] < b[1]}


def test_spans_that_are_repeated_or_nested_without_end_take_linear_time() -> None:
    """Quadratic time would take minutes."""
    words = ("a",) * 20_000
    repeated = [Mention(0, 2, str(number)) for number in range(20_000)]
    nested = [Mention(start, 20_000 - start, "n") for start in range(9_999)]
    document = Document("d", words, mentions=(*repeated, *nested))
    assert len(list(find_oddities(document))) == 2


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.conllu", "missing.conllu", "b.conllu", "empty.conllu")]
    paths[0].write_text(GOOD.format(name="one"), encoding="utf-8")
    paths[2].write_text(GOOD.format(name="one"), encoding="utf-8")
    paths[3].write_text("", encoding="utf-8")
    reports = list(check_files(paths, format="conllu"))
    assert [report.documents for report in reports] == [1, 0, 1, 0]
    assert "there is no such file" in str(reports[1].error)
    assert [oddity.message for oddity in reports[2].oddities] == [f"document 'one' was in {paths[0]} already"]
    assert "there is no document in this file" in [oddity.message for oddity in reports[3].oddities]


def test_oddities_without_end_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "KEPT_PER_FILE", 3)
    report = checks.FileReport("x")
    for number in range(10):
        report.add(checks.Oddity("x", number, "odd"))
    assert len(report.oddities) == 3
    assert report.oddity_count == 10
    assert report.as_json()["unlisted_oddities"] == 7
