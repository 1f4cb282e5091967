"""Letters, diaries, tales and speech within speech: "I" is who writes or tells them, not the narrator."""

import pytest

from entitynlm.api import as_document
from entitynlm.discourse.discourse import read_discourse
from entitynlm.discourse.participants import settle_entities
from support.marked_text import read_marked


def name_mentions(text: str) -> list[tuple[str, str]]:
    """The words of each mention and the first name of its entity, once letters and quotations are resolved."""
    document = read_marked(text)
    settled = settle_entities(read_discourse(document), document.mentions, document.entity_types)
    shown = [(settled.words(*mention.span), mention.entity) for mention in settled.mentions]
    names = {entity: words for words, entity in reversed(shown) if words[0].isupper() and words != "I"}
    return [(words, names.get(entity, "?")) for words, entity in shown]


STORY = "[Tom Reed|t] was late, and it rained all day long over the river and the town.\n\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [("", "\n\n[Tom|t] sighed."), ("“", "”\n\n[Tom|t] sighed.")],
    ids=["bare", "in marks"],
)
def test_a_letter_is_told_by_the_one_who_signs_it(before: str, after: str) -> None:
    letter = (
        f"{before}My dear [Ida|i],\n\n{before}[I|1] hope that [you|2] are well.\n\n"
        f"{before}Yours ever,\n\n{before}[Nora Vale|n]{after}"
    )
    assert name_mentions(STORY + letter)[1:5] == [
        ("Ida", "Ida"),
        ("I", "Nora Vale"),
        ("you", "Ida"),
        ("Nora Vale", "Nora Vale"),
    ]


def test_speech_in_a_letter_is_its_speaker_s() -> None:
    letter = (
        "My dear [Ida|i],--[I|1] met [Tom|t]. “[I|2] am tired,” said [Tom|t].\n\n"
        "Your affectionate friend,\n[Nora|n].\n\nIt was cold."
    )
    assert [who for words, who in name_mentions(STORY + letter) if words == "I"] == ["Nora", "Tom Reed"]


def test_a_diary_goes_on_to_the_next_heading() -> None:
    text = (
        "[Nora Vale|n]'s Journal\n\n3 May. [I|1] slept.\n\n[Tom Reed|t]'s Diary\n\n4 May. [I|2] rowed.\n\n"
        "Chapter II\n\n[I|3] am the one who found both."
    )
    assert [who for words, who in name_mentions(text) if words == "I"] == ["Nora Vale", "Tom Reed", "?"]


@pytest.mark.parametrize(
    "text",
    [
        "“My dear Ida, you are late,” said Nora.\n\n“I am not, Nora.”\n\nThey ate.",
        "My dear Ida,\n\nI am well.\n\nYours ever,\nNora",  # the whole text: its writer is the narrator
        "It was in Nora's diary that he read of it.\n\nHe wept.",
        "Dear me, it was late.\n\nShe gave him all of her love, Tom.\n\nShe slept.",
    ],
)
def test_what_is_no_letter_in_a_text(text: str) -> None:
    assert read_discourse(as_document(text)).letters == []


def test_in_a_tale_over_paragraphs_i_is_the_teller_and_in_speech_within_it_who_says_it() -> None:
    text = (
        "“Listen,” said [Nora|n], “[I|1] was young then. [Tom|t] came. ‘[I|2] am wet,’ said [Tom|t].\n\n"
        "“‘[I|3] see,’ [I|4] said, and [I|5] laughed.”\n\n[Ida|i] smiled."
    )
    assert [who for words, who in name_mentions(text) if words == "I"] == [
        "Nora",
        "Tom",
        "Nora",
        "Nora",
        "Nora",
    ]
