"""What is said: between marks of every kind, after dashes, over paragraphs, and not what merely stands in marks."""

from __future__ import annotations

import pytest

from entitynlm.characters.paragraphs import find_paragraphs
from entitynlm.characters.quotation_marks import pair_marks
from entitynlm.characters.quotations import find_quotations, strip_marks
from entitynlm.interfaces.api import as_document
from entitynlm.text.document import Document


def quote(text: str) -> list[str]:
    document = as_document(text)
    return [document.words(*span) for span in find_quotations(document)]


@pytest.mark.parametrize(
    ("opening", "closing"), [("“", "”"), ('"', '"'), ("‘", "’"), ("'", "'"), ("«", "»")], ids=str
)
def test_marks_of_every_kind(opening: str, closing: str) -> None:
    first, second = f"{opening}Come in,{closing}", f"{opening}and close the sailors' door!{closing}"
    assert quote(f"{first} said Nora, {second} She didn't smile.") == [first, second]


def test_marks_in_tokenised_text_without_spacing() -> None:
    tokens = 'He said , " Go . " She left . " Why ? " he asked .'.split()
    document = Document("x", tuple(tokens), ((0, 7), (7, 10), (10, 17)))
    assert [" ".join(tokens[a:b]) for a, b in find_quotations(document)] == ['" Go . "', '" Why ? "']


def test_a_forgotten_mark_spoils_its_own_paragraph_only() -> None:
    text = '"I never closed this.\n\nHe sat down.\n\n"But this," said he, "is closed."'
    assert quote(text) == ['"I never closed this.', '"But this,"', '"is closed."']


def test_a_speech_of_several_paragraphs_has_a_quotation_for_each() -> None:
    text = "“It was long ago.\n\n“Nobody lived there.\n\n“Then you came,” said the keeper.\n\nIt rained."
    assert quote(text) == ["“It was long ago.", "“Nobody lived there.", "“Then you came,”"]


def test_titles_and_expressions_are_not_said() -> None:
    assert quote('They called it "the house," and the "Red Swan" lay there.') == []
    assert quote('"What a day!" thought Nora. "Lovely!" said Ida.') == ['"Lovely!"']


def test_marks_inside_of_a_quotation_belong_to_it() -> None:
    assert quote("“She read the ‘Daily Mail,’ and slept,” said Ida.") == [
        "“She read the ‘Daily Mail,’ and slept,”"
    ]


def test_dash_dialogue_leaves_out_who_speaks() -> None:
    text = (
        "— Where were you? he asked.\n\n— At the mill, Ida said. It was late.\n\nThey walked on.\n\n"
        "— And the boy?\n\n— Asleep, she answered."
    )
    said = ["— Where were you?", "— At the mill,", "It was late.", "— And the boy?", "— Asleep,"]
    assert quote(text) == said


def test_dash_dialogue_in_sentences_without_lines() -> None:
    """As in corpora that have lost their lines: what is said goes on after "he said", and ends where somebody tells."""
    text = (
        "— Back to the mill !| he said .| The wheel is broken .| Nora 's eyes followed him .|— Is it ? asked Ida .|"
        "He shut the door and cried : — Look at it !| A broken wheel .| She swept the floor .|— I do , said Ida ."
    )
    sentences, tokens = [], []
    for part in text.split("|"):
        sentences.append((len(tokens), len(tokens) + len(part.split())))
        tokens += part.split()
    document = Document("x", tuple(tokens), tuple(sentences))
    assert [" ".join(tokens[a:b]) for a, b in find_quotations(document)] == [
        "— Back to the mill !",
        "The wheel is broken .",
        "— Is it ?",
        "— Look at it ! A broken wheel .",
        "— I do ,",
    ]


def test_a_few_marks_do_not_hide_dash_dialogue() -> None:
    text = (
        "— Where were you? he asked.\n\nThe sign said: “Closed.”\n\n— At the mill, Ida said.\n\n"
        "— And the boy? he asked."
    )
    assert quote(text) == ["— Where were you?", "“Closed.”", "— At the mill,", "— And the boy?"]


def test_a_dash_at_a_line_s_start_is_not_always_dialogue() -> None:
    assert quote("— One thing.\n\n— Another thing.\n\n— A third thing.") == []


@pytest.mark.parametrize("text", ['"', '""', "“”", "' '", "”“", '" " "', "—", "“ … ”", "‘", 'x\n\n"\n\ny'])
def test_odd_marks_do_no_harm(text: str) -> None:
    document = as_document(text)
    for start, end in pair_marks(document, find_paragraphs(document)):
        assert 0 <= start < end <= len(document)
        assert strip_marks(document, (start, end))[0] < end


def test_paragraphs_are_parted_by_blank_lines_or_are_long_lines() -> None:
    assert find_paragraphs(as_document("One.\n\nTwo\nlines.\n\nThree.")) == [0, 2, 5]
    long = "A line that goes on and on. " * 10
    assert len(find_paragraphs(as_document(f"{long}\n{long}\n{long}"))) == 3
    assert find_paragraphs(as_document("Short\nlines\nof a poem.")) == [0]
    assert find_paragraphs(Document("x", ("a", "b"))) == [0] and find_paragraphs(Document("x", ())) == []
