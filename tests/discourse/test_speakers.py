"""Who speaks, and to whom: by tags, turns, and names that people are called by."""

from __future__ import annotations

from entitynlm.characters.evaluation import QuotationScores, find_nearest_names, score_document
from entitynlm.discourse.quotations import find_quotations
from entitynlm.discourse.speaker_features import Dialogue, may_speak
from entitynlm.discourse.speakers import find_speakers
from entitynlm.discourse.speech import add_quotations, find_narrator, name_narrator, resolve_participants
from support.marked_text import read_marked


def speakers(text: str) -> list[str | None]:
    document = read_marked(text)
    return find_speakers(document, find_quotations(document))


def test_tags_before_and_after() -> None:
    assert speakers("“Stay,” said [Nora|n]. [Ida|i] shook [her|i] head.") == ["n"]
    assert speakers("[Ida|i] turned to [Nora|n] and said: “Stay.”") == ["i"]
    assert speakers("“Stay,” [she|n] whispered to [Ida|i].") == ["n"]


def test_a_speech_goes_on_after_its_tag() -> None:
    text = "“No,” said [Nora|n], “not today.” [Ida|i] waited.\n\n“When?” [she|i] asked."
    assert speakers(text) == ["n", "n", "i"]


def test_dialogue_without_tags_goes_in_turns() -> None:
    text = "“Are you cold, Ida?” asked [Nora|n].\n\n“A little,” said [Ida|i].\n\n“Take my coat.”\n\n“And you?”\n\n“I am warm.”"
    assert speakers(text) == ["n", "i", "n", "i", "n"]


def test_whoever_is_called_by_name_does_not_speak() -> None:
    text = "[Nora|n] and [Ida|i] were alone.\n\n“Listen, [Nora|n]!”\n\n“I hear nothing, [Ida|i].”"
    assert speakers(text) == ["i", "n"]


def test_places_do_not_speak() -> None:
    document = read_marked("“Stay,” said [Nora|n] in [Paris|p].")
    typed = document.with_mentions(document.mentions, {"p": "GPE", "n": "PER"})
    assert find_speakers(typed, find_quotations(typed)) == ["n"]
    assert may_speak("person") and may_speak(None) and may_speak("PER") and not may_speak("organization")
    assert not may_speak("person-place"[7:])


def test_i_and_you_are_speaker_and_addressee() -> None:
    text = (
        "“[I|1] miss [you|2],” said [Nora|n] to [Ida|i].\n\n“And [I|3] miss [you|4],” said [Ida|i].\n\n"
        "“[You|5] never wrote to [me|6], [Ida|i].”"
    )
    resolved = resolve_participants(add_quotations(read_marked(text)))
    words = [(resolved.words(*m.span), m.entity) for m in resolved.mentions]
    assert [who for word, who in words if word in ("I", "you", "You", "me")] == ["n", "i", "i", "n", "i", "n"]
    assert [(q.speaker, q.addressee) for q in resolved.quotations] == [("n", "i"), ("i", "n"), ("n", "i")]


def test_nobody_near_means_nobody_speaks() -> None:
    assert speakers("“Who is there?”") == [None]


def test_the_narrator_is_called_what_others_call_them() -> None:
    text = (
        "[I|s] met [Nora|n] at the gate.\n\n“You are late, [Mr. Pell|p],” said [Nora|n].\n\n“[I|s] ran,” [I|s] said.\n\n"
        "“Then sit down, [Mr. Pell|p],” said [Nora|n]."
    )
    document = add_quotations(read_marked(text))
    assert find_narrator(document) == "s"
    named = name_narrator(document)
    assert {m.entity for m in named.mentions} == {"s", "n"}
    assert [q.addressee for q in named.quotations] == ["s", "n", "s"]


def test_a_name_that_is_told_is_not_the_narrator_s() -> None:
    text = "[Mr. Pell|p] sat by. [I|s] met [Nora|n].\n\n“Good day, [Mr. Pell|p],” said [Nora|n].\n\n“Hello,” [I|s] said."
    assert "p" in {m.entity for m in name_narrator(add_quotations(read_marked(text))).mentions}


def test_vocatives() -> None:
    document = read_marked("“Come, [Ida|i], and bring [Nora|n] along.”")
    dialogue = Dialogue(document, find_quotations(document))
    assert dialogue.called == [{"i": True, "n": False}]


def test_scores_count_found_quotations_and_right_speakers() -> None:
    key = add_quotations(read_marked("“Stay,” said [Nora|n]. [Ida|i] left.\n\n“Why?” asked [Ida|i]."))
    found = score_document(key)
    assert found == QuotationScores(2, 2, 2, 2, 2, 2) and found.f1 == found.speaker_accuracy == 1.0
    other = key.with_mentions(m for m in key.mentions if m.entity == "n")
    assert score_document(key, other).speakers == 1
    assert find_nearest_names(key, [q.span for q in key.quotations]) == ["n", "i"]
    assert (found + found).annotated == 4 and QuotationScores().f1 == 0.0
