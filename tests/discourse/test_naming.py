"""What an entity is called."""

from __future__ import annotations

import pytest

from entitynlm.discourse.naming import LONGEST_SHOWN_NAME, choose_names, show_name
from entitynlm.text.document import Document, Mention


@pytest.mark.parametrize(
    ("text", "spans", "called"),
    [
        ("My father saw Tom . The old man saw him . He slept .", [(0, 2), (5, 8), (11, 12)], "My father"),
        ("The captain left . Captain Reed met the captain .", [(0, 2), (4, 6), (7, 9)], "Captain Reed"),
        (
            "Father ! cried Ann to my father , the smith , the smith .",
            [(0, 1), (8, 10), (11, 13)],
            "the smith",
        ),
        ("He is late . She saw him .", [(0, 1), (6, 7)], "He"),
    ],
)
def test_names_come_before_nouns_and_nouns_before_pronouns(
    text: str, spans: list[tuple[int, int]], called: str
) -> None:
    tokens = tuple(text.split())
    document = Document("d", tokens, mentions=tuple(Mention(*span, "e") for span in spans))
    assert show_name(document, choose_names(document)["e"]) == called


def test_long_names_are_cut() -> None:
    document = Document("d", ("The",) + ("very",) * 40, mentions=(Mention(0, 41, "e"),))
    shown = show_name(document, choose_names(document)["e"])
    assert len(shown) == LONGEST_SHOWN_NAME and shown.endswith("…")
