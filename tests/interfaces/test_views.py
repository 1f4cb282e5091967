import io

import pytest
from rich.color import Color, ColorSystem
from rich.console import Console

from entitynlm.interfaces.views import (
    COLOURS,
    colour_of,
    list_entities,
    render_document,
    tabulate_statistics,
)
from entitynlm.text.corpora.statistics import measure_documents
from entitynlm.text.document import Document, Mention
from support.running_example import RUNNING_EXAMPLE


def printed(thing: object, *, colour: bool = False) -> str:
    console = Console(
        file=io.StringIO(),
        width=200,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
    )
    console.print(thing)
    return console.file.getvalue()


def test_the_running_example_is_bracketed_with_numbers() -> None:
    assert render_document(RUNNING_EXAMPLE).plain == (
        "[John]₁ wanted to go to [the coffee shop]₂ in [downtown Copenhagen]₃ .\n"
        "[He]₁ was told that [it]₂ sold [the best beans]₄ ."
    )


def test_mentions_have_the_colour_of_their_entity() -> None:
    text = render_document(RUNNING_EXAMPLE)
    styles = {text.plain[span.start : span.end]: str(span.style) for span in text.spans}
    assert styles["John"] == styles["He"] == f"bold {colour_of(1)}"
    assert styles["it"] == styles["shop"] == f"bold {colour_of(2)}"
    assert "wanted" not in styles
    assert "\x1b[" in printed(text, colour=True)


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        ((Mention(0, 4, "a"), Mention(0, 1, "b")), "[[Anna]₂ 's old cat]₁ sleeps"),
        ((Mention(0, 4, "a"), Mention(2, 4, "b")), "[Anna 's [old cat]₂]₁ sleeps"),
        ((Mention(0, 3, "a"), Mention(2, 5, "b")), "[Anna 's [old]₁ cat sleeps]₂"),
        ((), "Anna 's old cat sleeps"),
    ],
)
def test_nested_and_crossing_mentions(mentions: tuple[Mention, ...], expected: str) -> None:
    document = Document("d", ("Anna", "'s", "old", "cat", "sleeps"), mentions=mentions)
    assert render_document(document).plain == expected


def test_the_raw_text_decides_about_spaces() -> None:
    document = Document(
        "d", ("Anna", "'s", "cat", "."), text="Anna's  cat.", offsets=((0, 4), (4, 6), (8, 11), (11, 12))
    )
    assert render_document(document).plain == "Anna's cat."


def test_colours_come_round() -> None:
    first = [colour_of(number) for number in range(1, len(COLOURS) + 1)]
    assert first == list(COLOURS)
    assert colour_of(len(COLOURS) + 1) == colour_of(1)
    codes = {Color.parse(name).downgrade(ColorSystem.STANDARD).number for name in COLOURS}
    assert len(codes) == len(COLOURS)


def test_the_cast_is_listed() -> None:
    lines = printed(list_entities(RUNNING_EXAMPLE)).splitlines()
    assert [line.split() for line in lines[1:3]] == [
        ["₁", "2", "person", "John"],
        ["₂", "2", "place", "the", "coffee", "shop"],
    ]
    many = Document("many", ("who",) * 32).with_clusters([[(n, n + 1)] for n in range(32)])
    assert "2 more entities, the last with 1 mention" in printed(list_entities(many))


def test_statistics_are_a_table() -> None:
    counts = {"one": measure_documents([RUNNING_EXAMPLE]), "none": measure_documents([])}
    rows = [line.rsplit(maxsplit=2) for line in printed(tabulate_statistics(counts)).splitlines()]
    assert rows == [
        ["one", "none"],
        ["documents", "1", "0"],
        ["sentences", "2", "0"],
        ["tokens", "22", "0"],
        ["mentions", "6", "0"],
        ["entities", "4", "0"],
        ["singletons", "2", "0"],
        ["words per mention", "1.83", "–"],
        ["longest mention", "3", "–"],
        ["word forms", "19", "0"],
    ]
