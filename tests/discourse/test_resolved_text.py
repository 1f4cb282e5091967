"""Pronouns that are replaced by names: third person and outside of quotations, unless all are asked for."""

import pytest

from entitynlm.text.document import Document, Mention
from entitynlm.text.segmentation import segment_text


def mark(text: str, **entities: str) -> Document:
    """A text whose entities are given by the words of their mentions, each the first that is not taken."""
    cut = segment_text(text)
    mentions: list[Mention] = []
    for entity, words in entities.items():
        start = 0
        for phrase in words.split(", "):
            tokens = tuple(phrase.split())
            start = next(
                at for at in range(start, len(cut.tokens)) if cut.tokens[at : at + len(tokens)] == tokens
            )
            mentions.append(Mention(start, start + len(tokens), entity))
            start += len(tokens)
    return Document("d", cut.tokens, cut.sentences, tuple(mentions), text=text, offsets=cut.offsets)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            mark("Ann lost her key. She called Bo. He helped her.", a="Ann, her, She, her", b="Bo, He"),
            "Ann lost Ann's key. Ann called Bo. Bo helped Ann.",
        ),
        (
            mark("“I'm not that kind of man,” said Frank. He left.", a="I, Frank, He"),
            "“I'm not that kind of man,” said Frank. Frank left.",
        ),
        (
            mark("A tall man came in. They saw him. He sat down.", a="A tall man, him, He"),
            "A tall man came in. They saw the tall man. The tall man sat down.",
        ),
        (mark("Ann hurt herself.  It rained.", a="Ann, herself"), "Ann hurt herself.  It rained."),
        (mark("She left. She ran.", a="She, She"), "She left. She ran."),
    ],
)
def test_third_person_outside_of_quotations(document: Document, expected: str) -> None:
    assert document.resolved_text() == expected


def test_every_person_is_an_option() -> None:
    document = mark("“I like you,” said Frank to Ann. She knew it.", a="I, Frank", b="you, Ann, She")
    assert document.resolved_text() == "“I like you,” said Frank to Ann. Ann knew it."
    assert document.resolved_text(every_person=True) == "“Frank like Ann,” said Frank to Ann. Ann knew it."
    short = mark("“I'm here,” said Frank.", a="I, Frank")
    assert short.resolved_text(every_person=True) == short.text  # no "Frank'm"


def test_a_document_without_raw_text_gets_spaces_by_rule() -> None:
    document = Document("d", ("Ann", "ran", ".", "She", "fell", "."), ((0, 3), (3, 6)))
    found = document.with_mentions([Mention(0, 1, "a"), Mention(3, 4, "a")]).resolved_text()
    assert found == "Ann ran. Ann fell."
