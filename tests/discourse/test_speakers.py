"""Speakers and addressees: by tags, turns, and names that people are called by; "I", "you" and the narrator follow."""

import pytest

from entitynlm.discourse.discourse import read_discourse
from entitynlm.discourse.participants import settle_entities
from entitynlm.discourse.speaker_features import Dialogue, find_narrator, may_speak
from entitynlm.discourse.speakers import find_speakers
from entitynlm.text.document import Document
from support.marked_text import read_marked


def index(document: Document) -> Dialogue:
    return Dialogue.of_document(read_discourse(document), document)


def settle(text: str) -> Document:
    document = read_marked(text)
    return settle_entities(read_discourse(document), document.mentions, document.entity_types)


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        ("“Stay,” said [Nora|n]. [Ida|i] shook [her|i] head.", ["n"]),
        ("[Ida|i] turned to [Nora|n] and said: “Stay.”", ["i"]),
        ("“Stay,” [she|n] whispered to [Ida|i].", ["n"]),
        (
            "“No,” said [Nora|n], “not today.” [Ida|i] waited.\n\n“When?” [she|i] asked.",
            ["n", "n", "i"],
        ),  # a speech goes on after its tag
        (
            "“Are you cold, Ida?” asked [Nora|n].\n\n“A little,” said [Ida|i].\n\n“Take my coat.”\n\n“And you?”\n\n“I am warm.”",
            ["n", "i", "n", "i", "n"],
        ),  # turns
        (
            "[Nora|n] and [Ida|i] were alone.\n\n“Listen, [Nora|n]!”\n\n“I hear nothing, [Ida|i].”",
            ["i", "n"],
        ),  # the addressee does not speak
        ("“Who is there?”", [None]),
    ],
)
def test_speakers_by_tags_turns_and_names(text: str, speakers: list[str | None]) -> None:
    assert find_speakers(index(read_marked(text))) == speakers


def test_places_do_not_speak() -> None:
    document = read_marked("“Stay,” said [Nora|n] in [Paris|p].")
    typed = document.with_mentions(document.mentions, {"p": "GPE", "n": "PER"})
    assert find_speakers(index(typed)) == ["n"]
    assert may_speak("person") and may_speak(None) and may_speak("PER") and not may_speak("organization")


def test_many_turns_are_followed_with_a_bounded_memory() -> None:
    """The feature of entities that spoke often counts quotations whose speakers are settled, too."""
    turns = "“Yes,” said [Nora|n].\n\n“No,” said [Ida|i].\n\n" * 20 + "“Perhaps.”"
    assert find_speakers(index(read_marked(turns))) == ["n", "i"] * 20 + ["n"]


def test_i_and_you_are_speaker_and_addressee() -> None:
    text = (
        "“[I|1] miss [you|2],” said [Nora|n] to [Ida|i].\n\n“And [I|3] miss [you|4],” said [Ida|i].\n\n"
        "“[You|5] never wrote to [me|6], [Ida|i].”"
    )
    resolved = settle(text)
    who = {resolved.words(*m.span): m.entity for m in resolved.mentions}
    nora, ida = who["Nora"], who["Ida"]
    words = [(resolved.words(*m.span), m.entity) for m in resolved.mentions]
    said = [entity for word, entity in words if word in ("I", "you", "You", "me")]
    assert said == [nora, ida, ida, nora, ida, nora]
    assert [(q.speaker, q.addressee) for q in resolved.quotations] == [(nora, ida), (ida, nora), (nora, ida)]
    assert [entity.id for entity in resolved.entities] == ["1", "2"], "numbered anew in text order"


def test_the_narrator_has_the_name_that_the_narrator_tells() -> None:
    text = "[I|s] met [Nora|n] at the gate. [My|s] name is [Pell|p], and [I|s] was late."
    assert find_narrator(index(read_marked(text))) == "s"
    assert [m.entity for m in settle(text).mentions] == ["1", "2", "1", "1", "1"]


def test_a_name_that_is_told_is_not_the_narrator_s() -> None:
    text = "[Mr. Pell|p] sat by. [I|s] met [Nora|n].\n\n“Good day, [Mr. Pell|p],” said [Nora|n].\n\n“Hello,” [I|s] said."
    assert len(settle(text).entities) == 3


def test_vocatives() -> None:
    dialogue = index(read_marked("“Come, [Ida|i], and bring [Nora|n] along.”"))
    assert dialogue.called == [{"i": True, "n": False}]
