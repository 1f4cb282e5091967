from collections.abc import Sequence
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


class Counted(int):
    """A number that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return int(self) == other

    def __lt__(self, other: int) -> bool:
        Counted.compared += 1
        return int(self) < other

    __hash__ = int.__hash__


def count_comparisons(spans: Sequence[tuple[int, int]]) -> int:
    Counted.compared = 0
    assert list(find_crossings([(Counted(start), Counted(end)) for start, end in spans])) == []
    return Counted.compared


def test_nested_and_repeated_spans_are_not_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    nested, more = ([(start, 2 * n - start) for start in range(n)] for n in (500, 2_000))
    assert count_comparisons(more) < 8 * count_comparisons(nested)  # 16 times as many pairs
    seen: list[object] = []
    monkeypatch.setattr(checks, "find_crossings", lambda spans: seen.extend(spans) or ())
    repeated = tuple(Mention(0, 2, str(number)) for number in range(2_000))
    (told,) = find_oddities(Document("d", ("a",) * 2, mentions=repeated))
    assert seen == [(0, 2)] and len(told) < 200


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
