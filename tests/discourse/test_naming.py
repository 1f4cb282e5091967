"""What an entity is called."""

import pytest

from entitynlm.discourse.naming import LONGEST_SHOWN_NAME, name_entities
from entitynlm.text.document import Document, Mention
from entitynlm.text.segmentation import segment_text


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
    assert name_entities(document)["e"] == called


@pytest.mark.parametrize(
    ("mention", "called"),
    [
        ("Mr. Brandt , who had not opened it", "Mr. Brandt"),
        ("Dear Maggie", "Maggie"),
        ("a tall man named Ferris", "Ferris"),
        ("his friend Leslie Moss", "Leslie Moss"),
        ("poor old Mrs. Prewitt", "Mrs. Prewitt"),
    ],
)
def test_names_are_cut_to_their_core(mention: str, called: str) -> None:
    words = tuple(mention.split())
    document = Document("d", (*words, "slept", "."), mentions=(Mention(0, len(words), "e"),))
    assert name_entities(document)["e"] == called


def test_names_are_short_and_belong_to_one_entity() -> None:
    text = "Old Samuel Hart met Young Samuel Hart . Ida Vale saw Old Samuel , then Young Samuel . Ida left ."
    spans = [(0, 3, "o"), (4, 7, "y"), (8, 10, "i"), (11, 13, "o"), (15, 17, "y"), (18, 19, "i")]
    document = Document("d", tuple(text.split()), mentions=tuple(Mention(*span) for span in spans))
    shown = name_entities(document)
    assert shown == {"o": "Old Samuel", "y": "Young Samuel", "i": "Ida"}


def test_long_names_are_cut() -> None:
    document = Document("d", ("The",) + ("very",) * 40, mentions=(Mention(0, 41, "e"),))
    shown = name_entities(document)["e"]
    assert len(shown) == LONGEST_SHOWN_NAME and shown.endswith("…")


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
