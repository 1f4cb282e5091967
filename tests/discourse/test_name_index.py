"""People by their names over a whole text, and the rules of the second pass that hold names to them."""

import pytest

from entitynlm.coref.people_rules import Participants, PeopleRules, find_participants
from entitynlm.discourse.discourse import NARRATION, read_discourse
from entitynlm.discourse.name_index import NameIndex, read_people
from entitynlm.text.document import Document, Mention, Quotation


def make_index(document: Document) -> NameIndex:
    """Index the people of a document whose mentions are in clusters."""
    discourse = read_discourse(document)
    spans = [mention.span for mention in document.mentions]
    return NameIndex(
        read_people(discourse, spans, [None] * len(spans)),
        [ord(mention.entity) for mention in document.mentions],
        [discourse.quotation_of[start] != NARRATION for start, _ in spans],
        [document.sentence_of[start] for start, _ in spans],
    )


@pytest.mark.parametrize(
    ("text", "mentions", "joined"),
    [
        ("Ida Vale came . Ida Vale left . Vale slept .", [(0, 2, "a"), (4, 6, "b"), (8, 9, "c")], "aaa"),
        (
            "Sir Henry came . Sir Henry Vale sat . Vale left .",
            [(0, 2, "a"), (4, 7, "b"), (9, 10, "b")],
            "aaa",
        ),
        ("Ida Vale saw Tom Vale . Miss Vale slept .", [(0, 2, "a"), (3, 5, "b"), (6, 8, "c")], "aba"),
        (
            "Ida Vale saw Tom Vale . Tom Vale sat . Vale slept .",
            [(0, 2, "a"), (3, 5, "b"), (6, 8, "b"), (10, 11, "c")],
            "abbb",
        ),
        ("Mr. Vale saw Mrs. Vale .", [(0, 2, "a"), (3, 5, "b")], "ab"),
        ("Thomas Vale came . Tom left .", [(0, 2, "a"), (4, 5, "b")], "aa"),
        (
            "Vale slept ; he and he and he . Ida Vale woke .",
            [(0, 1, "a"), (3, 4, "a"), (5, 6, "a"), (7, 8, "a"), (9, 11, "b")],
            "aaaab",
        ),
        (
            "Mrs. Vale slept . Mr. Vale woke . Vale and she and she and she left .",
            [(0, 2, "a"), (4, 6, "b"), (8, 9, "c"), (10, 11, "c"), (12, 13, "c"), (14, 15, "c")],
            "abbbbb",
        ),
        (
            "John Vale met Sir John Moss . Sir John and John Vale sat .",
            [(0, 2, "a"), (3, 6, "b"), (7, 9, "c"), (10, 12, "a")],
            "abba",
        ),
        (
            "Mrs. Moss sat . Moss and Moss and Moss rose . Mr. Moss left .",
            [(0, 2, "a"), (4, 5, "b"), (6, 7, "b"), (8, 9, "b"), (11, 13, "c")],
            "abbbb",
        ),
        (
            "Orlun Vale and Orlun Vale and Orlun Vale . Orlun and she and she and she , and he .",
            [
                (0, 2, "a"),
                (3, 5, "a"),
                (6, 8, "a"),
                (9, 10, "b"),
                (11, 12, "b"),
                (13, 14, "b"),
                (15, 16, "b"),
            ],
            "aaaaaaa",
        ),
        (
            "Evelyn Moss and Miss Moss and Miss Moss sat . Evie left .",
            [(0, 2, "a"), (3, 5, "a"), (6, 8, "a"), (10, 11, "b")],
            "aaaa",
        ),
        (
            "Tom Vale was Mr. T. Vale or Mr. Tom .",
            [(0, 2, "a"), (3, 6, "a"), (7, 9, "b")],
            "aaa",
        ),
    ],
    ids=[
        "same name",
        "parts of a full name",
        "title and gender",
        "bare surname",
        "other titles",
        "nickname",
        "pronouns",
        "bare surname with a woman's pronouns",
        "the title in a full name",
        "bare surname before its title",
        "a full name against pronouns",
        "a short form beside a surname",
        "an initial",
    ],
)
def test_clusters_of_one_person_are_joined(
    text: str, mentions: list[tuple[int, int, str]], joined: str
) -> None:
    document = Document("x", tuple(text.split()), mentions=tuple(Mention(*each) for each in mentions))
    clusters = [ord(mention.entity) for mention in document.mentions]
    assert make_index(document).join(clusters) == list(map(ord, joined))


def test_brothers_are_two_whose_names_stand_side_by_side() -> None:
    parts = ["Mr. John Vale came .", *["Mr. Vale saw John ."] * 3]
    mentions = [Mention(0, 3, "a")]
    for start in (5, 10, 15):
        mentions += [Mention(start, start + 2, "a"), Mention(start + 3, start + 4, "b")]
    sentences = ((0, 5), (5, 10), (10, 15), (15, 20))
    document = Document("x", tuple(" ".join(parts).split()), sentences, tuple(mentions))
    index = make_index(document)
    owners = [
        index.find_owner(read_discourse(document).reader.read(mention.span).name) for mention in mentions[:3]
    ]
    assert owners[0] is owners[2] is not owners[1]


@pytest.mark.parametrize(("sister", "same"), [("Tom", True), ("Ann", False)])
def test_miss_is_a_first_name_beside_it_if_no_other_woman_has_the_surname(sister: str, same: bool) -> None:
    """Sentences with "Mary" and "Miss Vale" tell two sisters, but an only daughter has both names."""
    parts = [f"Mary Vale met {sister} Vale .", *["Miss Vale rose and Mary sat ."] * 3]
    mentions = [Mention(0, 2, "a"), Mention(3, 5, "b")]
    for start in (6, 13, 20):
        mentions += [Mention(start, start + 2, "c"), Mention(start + 4, start + 5, "a")]
    sentences = ((0, 6), (6, 13), (13, 20), (20, 27))
    document = Document("x", tuple(" ".join(parts).split()), sentences, tuple(mentions))
    index = make_index(document)
    reader = read_discourse(document).reader
    mary, miss = (index.find_owner(reader.read(mentions[number].span).name) for number in (0, 2))
    assert (mary is miss) == same


TEXT = "Tom Vale met Ida Moss . “ I saw him , sir , and you did , ” said Ida . She saw Tom ."
SPANS = [(0, 2), (3, 5), (7, 8), (9, 10), (11, 12), (14, 15), (19, 20), (21, 22), (23, 24)]
ENTITIES = "abbcdebbf"
TOM, IDA, I, HIM, SIR, YOU, SAYS, SHE, AGAIN = range(9)


def make_rules() -> PeopleRules:
    mentions = tuple(Mention(*span, entity) for span, entity in zip(SPANS, ENTITIES, strict=True))
    document = Document("x", tuple(TEXT.split()), mentions=mentions, quotations=(Quotation(6, 18, "b", "a"),))
    discourse = read_discourse(document, [(6, 18)])
    index = make_index(document)
    participants = find_participants(document, discourse, index)
    assert participants == [Participants(index.people[0], index.people[1])]
    return PeopleRules(
        discourse, SPANS, [index.find_owner(discourse.reader.read(span).name) for span in SPANS], participants
    )


def test_a_name_belongs_to_its_person_however_far_back() -> None:
    rules = make_rules()
    rules.note(TOM, 0)
    assert rules.find_entity(IDA) is None and not rules.allows(IDA, 0)
    rules.note(IDA, 1)
    assert rules.find_entity(SAYS) == 1 and rules.find_entity(AGAIN) == 0
    assert rules.allows(SHE, 1) and not rules.allows(SHE, 0), "the lexicon knows the gender of Tom"


def test_speaker_and_addressee_are_i_and_you_and_not_he() -> None:
    rules = make_rules()
    rules.note(TOM, 0)
    rules.note(IDA, 1)
    assert [rules.find_entity(number) for number in (I, YOU)] == [1, 0]
    assert not rules.allows(HIM, 0) and not rules.allows(HIM, 1) and rules.allows(HIM, 2)


def test_the_narrator_has_no_name_that_the_narration_tells() -> None:
    tokens = tuple("I met Tom . “ Tom , come ! ” I left Tom .".split())
    spans = [(0, 1), (2, 3), (5, 6), (10, 11), (12, 13)]
    document = Document("x", tokens, mentions=tuple(Mention(*span, "a") for span in spans))
    index = make_index(document)
    (tom,) = index.people
    rules = PeopleRules(
        read_discourse(document), spans, [None, None, tom, None, tom], [Participants(None, None)]
    )
    rules.note(0, 0)
    assert tom.told == 2 and not rules.allows(2, 0)
