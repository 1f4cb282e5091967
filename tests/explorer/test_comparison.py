"""Where two analyses differ."""

from __future__ import annotations

from entitynlm.api import measure_agreement
from entitynlm.explorer.comparison import list_differences
from entitynlm.text.document import Document, Mention


def make(*mentions: tuple[int, int, str]) -> Document:
    return Document("d", tuple("a b c d e f".split()), mentions=tuple(Mention(*one) for one in mentions))


def kinds(first: Document, second: Document) -> list[tuple[int, str]]:
    return [(span[0], kind) for span, kind, _, _ in list_differences(first, second)]


def test_names_of_entities_make_no_difference() -> None:
    first, second = make((0, 1, "x"), (2, 3, "x")), make((0, 1, "y"), (2, 3, "y"))
    assert kinds(first, second) == [] and measure_agreement(first, second) == 100


def test_spans_and_links_make_one() -> None:
    first, second = (
        make((0, 1, "x"), (2, 3, "x"), (4, 5, "z")),
        make((0, 1, "x"), (1, 2, "y"), (2, 3, "y"), (4, 5, "z")),
    )
    assert kinds(first, second) == [(1, "only in the second"), (2, "another entity")]
    assert kinds(second, first) == [(1, "only in the first"), (2, "another entity")]
    assert measure_agreement(make(), make()) is None
