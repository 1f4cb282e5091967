"""What is said: between marks of every kind, after dashes, over paragraphs, and not what merely stands in marks."""

import pytest

from entitynlm.api import as_document
from entitynlm.discourse.discourse import find_paragraphs, read_discourse
from entitynlm.discourse.quotation_marks import pair_marks
from entitynlm.discourse.quotations import strip_marks
from entitynlm.text.document import Document


def quote(text: str) -> list[str]:
    document = as_document(text)
    return [document.words(*span) for span in read_discourse(document).quotations]


@pytest.mark.parametrize(
    ("opening", "closing"), [("“", "”"), ('"', '"'), ("‘", "’"), ("'", "'"), ("«", "»")], ids=str
)
def test_marks_of_every_kind(opening: str, closing: str) -> None:
    first, second = f"{opening}Come in,{closing}", f"{opening}and close the sailors' door!{closing}"
    assert quote(f"{first} said Nora, {second} She didn't smile.") == [first, second]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (  # a forgotten mark spoils its own paragraph only
            '"I never closed this.\n\nHe sat down.\n\n"But this," said he, "is closed."',
            ['"I never closed this.', '"But this,"', '"is closed."'],
        ),
        (  # a speech of several paragraphs has a quotation for each
            "“It was long ago.\n\n“Nobody lived there.\n\n“Then you came,” said the keeper.\n\nIt rained.",
            ["“It was long ago.", "“Nobody lived there.", "“Then you came,”"],
        ),
        ('They called it "the house," and the "Red Swan" lay there.', []),
        ('"What a day!" thought Nora. "Lovely!" said Ida.', ['"What a day!"', '"Lovely!"']),
        (  # what stands in the next paragraph tells nothing, and a paragraph in marks is said whatever it ends with
            '"Nor anyone else?"\n\nIda reflected.\n\n"I went along the hall yesterday   "\n\n"When?" he asked.',
            ['"Nor anyone else?"', '"I went along the hall yesterday   "', '"When?"'],
        ),
        ("Under the arms stood the motto, “Never asleep,” in gold.", []),
        ("“To Ida from her sisters,” was engraved upon the ring.", []),
        ("She looked up as much as to say, “Must I go?”", []),
        ("He did not say “Perhaps never,” and they were glad.", []),
        ("She was, as the saying is, a “dragon”, and proud of it.", []),
        ("They went “courting,” and came home late.", []),
        ("A “front hall” led to the “back hall” and to a “parlour.” All were cold.", []),
        ("“Sit up, Tom;” and “Be still, Tom;” she said all day.", ["“Sit up, Tom;”", "“Be still, Tom;”"]),
        (
            "“The trouble,” said Ida, who speaks (and how!) as from a pulpit, “is that he never rows a boat.”",
            ["“The trouble,”", "“is that he never rows a boat.”"],
        ),
        (
            "‘I’ll look,’ she said, ‘and see whether it’s the “Swan” or not’; for the ‘Swan,’ she knew, was shut.",
            ["‘I’ll look,’", "‘and see whether it’s the “Swan” or not’"],
        ),
        ("“She read the ‘Daily Mail,’ and slept,” said Ida.", ["“She read the ‘Daily Mail,’ and slept,”"]),
        ("There came a shrill “Wait for me!” from the yard.", ["“Wait for me!”"]),
        ("“I only wanted to ” She broke off. “The Red Swan” was shut.", ["“I only wanted to ”"]),
        ("“_Oh_,” said Ida. “_A third ship has come!_”", ["“_Oh_,”", "“_A third ship has come!_”"]),
        (
            "— Where were you? he asked.\n\n— At the mill, Ida said. It was late.\n\nThey walked on.\n\n"
            "— And the boy?\n\n— Asleep, she answered.",
            ["— Where were you?", "— At the mill,", "It was late.", "— And the boy?", "— Asleep,"],
        ),
        (
            "— Where were you? he asked.\n\nThe sign said: “Closed.”\n\n— At the mill, Ida said.\n\n— And the boy? he asked.",
            ["— Where were you?", "“Closed.”", "— At the mill,", "— And the boy?"],
        ),
        (
            "Uncle Tom said:\n\n— The boat is late.\n\nHis wife answered:\n\n— It was late yesterday.",
            ["— The boat is late.", "— It was late yesterday."],
        ),
        ("— One thing.\n\n— Another thing.\n\n— A third thing.", []),  # no dialogue
    ],
)
def test_quotations_of_raw_text(text: str, said: list[str]) -> None:
    assert quote(text) == said


def test_marks_in_tokenised_text_without_spacing() -> None:
    tokens = 'He said , " Go . " She left . " Why ? " he asked .'.split()
    document = Document("x", tuple(tokens), ((0, 7), (7, 10), (10, 17)))
    assert [" ".join(tokens[a:b]) for a, b in read_discourse(document).quotations] == [
        '" Go . "',
        '" Why ? "',
    ]


def test_an_expression_in_single_marks_does_not_run_on_to_the_next_one() -> None:
    text = (
        "' Hallow ' is an old word for it .| Nobody knows it now .|"
        "' Come in , ' said Ida .| All the sailors ' wives said ' Poor child ! '"
    )
    assert quote_sentences(text) == ["' Come in , '", "' Poor child ! '"]


def test_a_call_under_a_heading_is_said_and_a_motto_is_not() -> None:
    assert quote_sentences("CHAPTER I “ Tom ! ”|Nobody answered .") == ["“ Tom ! ”"]
    assert quote_sentences("CHAPTER I “ Who sails at night ? ” — Nora Vale|The sea was dark .") == []


def test_dash_dialogue_in_sentences_without_lines() -> None:
    """As in corpora that have lost their lines: what is said goes on after "he said", and ends where somebody tells."""
    text = (
        "— Back to the mill !| he said .| The wheel is broken .| Nora 's eyes followed him .|— Is it ? asked Ida .|"
        "He shut the door and cried : — Look at it !| A broken wheel .| She swept the floor .|— I do , said Ida ."
    )
    assert quote_sentences(text) == [
        "— Back to the mill !",
        "The wheel is broken .",
        "— Is it ?",
        "— Look at it ! A broken wheel .",
        "— I do ,",
    ]


def split_sentences(text: str) -> Document:
    """A document of tokens and sentences, parted by spaces and bars, as in corpora that have lost their lines."""
    sentences, tokens = [], []
    for part in text.split("|"):
        sentences.append((len(tokens), len(tokens) + len(part.split())))
        tokens += part.split()
    return Document("x", tuple(tokens), tuple(sentences))


def quote_sentences(text: str) -> list[str]:
    document = split_sentences(text)
    return [" ".join(document.tokens[start:end]) for start, end in read_discourse(document).quotations]


def test_tags_after_dashes_end_where_somebody_speaks_again() -> None:
    text = (
        "— Sit down , Ida said , turning from the stove , and eat .|— Not yet , the old man said with a sigh .|"
        "— Is it late ?| the ferryman asked .| I cannot see the clock .|— It is , he said , his hand on the gate .|"
        "— Come , said the ferryman ; we are waiting .|— He said he would , she answered ."
    )
    assert quote_sentences(text) == [
        "— Sit down ,",
        "and eat .",
        "— Not yet ,",
        "— Is it late ?",
        "I cannot see the clock .",
        "— It is ,",
        "— Come ,",
        "we are waiting .",
        "— He said he would ,",
    ]


def test_tags_after_a_call_and_with_a_clause() -> None:
    text = (
        "— A fine mill !| Nora Vale said .| Were you there ?|— Once , I answered , with my aunt .|"
        "— Sit , she said , gravely .|— No , said Ida , who had come in from the yard .|— Why ? the miller 's voice asked ."
    )
    assert quote_sentences(text) == [
        "— A fine mill !",
        "Were you there ?",
        "— Once ,",
        "— Sit ,",
        "— No ,",
        "— Why ?",
    ]


def test_tags_have_a_past_tense_and_may_describe_who_speaks() -> None:
    text = (
        "— The boat , they say , is lost .| Nobody must go out .|— I know it , said old Tom , but the nets are wet .|"
        "— Let them be .| Leave the nets , she said .|— They were new ....| Ida wept .|— I say , they 're here , he cried ."
    )
    assert quote_sentences(text) == [
        "— The boat , they say , is lost . Nobody must go out .",
        "— I know it ,",
        "but the nets are wet .",
        "— Let them be . Leave the nets ,",
        "— They were new ....",
        "— I say , they 're here ,",
    ]


def test_a_tag_in_a_sentence_that_tells_something_else_does_not_go_on_with_the_speech() -> None:
    text = "— Come in !| he said .|— Not I !| Turning , she began to sing .| The door fell shut .|— Ida ! he cried ."
    assert quote_sentences(text) == ["— Come in !", "— Not I !", "— Ida !"]


def test_a_full_stop_of_an_abbreviation_may_end_what_is_said() -> None:
    """Else the mark after "P.M." would open a quotation of what is told up to the next mark."""
    text = (
        '" We , Nora Vale and her brother , who own the mill near the old bridge , have made it known to the whole town '
        'that the mill will open again upon Monday the third , at two in the afternoon of that same day , P.M. " '
        'And the miller bowed to the left and to the right .|" It will , " he said .'
    )
    assert quote_sentences(text)[-1] == '" It will , "'
    assert "miller" not in " ".join(quote_sentences(text))


def test_a_dash_in_the_middle_of_a_sentence_may_open_a_line() -> None:
    """Sentence splitters leave "Very good . — Well" together; a sentence that tells ends a speech all the same."""
    text = (
        "Nora had asked him : — Who are you , sir ? — Nobody .|The boy was pale .|— From where ?|"
        "— The mill , he said .|They were silent ."
    )
    assert quote_sentences(text) == ["— Who are you , sir ?", "— Nobody .", "— From where ?", "— The mill ,"]


@pytest.mark.parametrize("dash", ["--", "-", "–", "―"], ids=str)
def test_dashes_that_are_glued_to_their_words(dash: str) -> None:
    text = f"{dash}Where were you? he asked.\n\nIt rained.\n\n{dash}At the mill, Ida said."
    assert quote(text) == [f"{dash}Where were you?", f"{dash}At the mill,"]


def test_after_a_full_stop_narration_is_no_tag() -> None:
    text = (
        "— I am off , he said .| Ida nodded .| She shouted after him .|— Wait !| she cried .| Wait for me !"
    )
    assert quote_sentences(text) == ["— I am off ,", "— Wait !", "Wait for me !"]


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
