"""Templates, their parser and the lexicon: wordings become tagged words, slots and dependency trees."""

from __future__ import annotations

import pytest

from entitynlm.errors import DataError
from entitynlm.text.stories.lexicon import Word, look_up, look_up_noun, look_up_verb
from entitynlm.text.stories.script import StoryEvent
from entitynlm.text.stories.templates import compile_event, compile_wording, expand


def test_alternatives_expand_to_all_wordings() -> None:
    assert expand("{x} (ran|went) home (now|) .") == [
        "{x} ran home now .",
        "{x} ran home .",
        "{x} went home now .",
        "{x} went home .",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "{a} gave {b} {c} .",
            ["{a} nsubj gave", "gave root", "{b} iobj gave", "{c} obj gave", ". punct gave"],
        ),
        (
            "When {a} turned around , {b} was gone .",
            [
                "When advmod turned",
                "{a} nsubj turned",
                "turned advcl gone",
                "around compound:prt turned",
                ", punct gone",
                "{b} nsubj gone",
                "was cop gone",
                "gone root",
                ". punct gone",
            ],
        ),
        (
            "{a} wanted to put on {b} and ran home .",
            [
                "{a} nsubj wanted",
                "wanted root",
                "to mark put",
                "put xcomp wanted",
                "on compound:prt put",
                "{b} obj put",
                "and cc ran",
                "ran conj wanted",
                "home advmod ran",
                ". punct wanted",
            ],
        ),
        (
            "In {a} lay {b} .",
            ["In case {a}", "{a} obl lay", "lay root", "{b} nsubj lay", ". punct lay"],
        ),
        (
            '" Can {b} help {a} ? " {a} asked .',
            [
                '" punct help',
                "Can aux help",
                "{b} nsubj help",
                "help ccomp asked",
                "{a} obj help",
                "? punct help",
                '" punct help',
                "{a} nsubj asked",
                "asked root",
                ". punct asked",
            ],
        ),
        (
            "{a} was hidden in {b's} hand .",
            [
                "{a} nsubj:pass hidden",
                "was aux:pass hidden",
                "hidden root",
                "in case hand",
                "{b} nmod:poss hand",
                "hand obl hidden",
                ". punct hidden",
            ],
        ),
    ],
)
def test_controlled_english_is_parsed(text: str, expected: list[str]) -> None:
    template = compile_wording(text)
    names = [item.form if isinstance(item, Word) else f"{{{item.role}}}" for item in template.items]
    found = [
        f"{name} {relation}" + (f" {names[head]}" if head >= 0 else "")
        for name, relation, head in zip(names, template.tree.relations, template.tree.heads, strict=True)
    ]
    assert found == expected


def test_words_are_tagged_by_what_comes_before() -> None:
    template = compile_wording("{a} had broken {b} , so {c} wanted to rest .")
    tags = dict(zip([getattr(item, "form", "") for item in template.items], template.tree.tags, strict=True))
    assert tags["had"] == "VBD"
    assert tags["broken"] == "VBN"
    assert tags["rest"] == "VB"


def test_a_word_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="'flummoxed' is not in the lexicon"):
        compile_wording("{a} flummoxed {b} .")
    with pytest.raises(KeyError, match="flummoxed"):
        look_up("flummoxed")


@pytest.mark.parametrize(
    ("form", "tag", "lemma", "mass"),
    [
        ("eggs", "NNS", "egg", False),
        ("waitress", "NN", "waitress", False),
        ("leaves", "NNS", "leaf", False),
        ("flour", "NN", "flour", True),
        ("news", "NN", "news", True),
    ],
)
def test_nouns_know_their_number(form: str, tag: str, lemma: str, mass: bool) -> None:
    assert look_up_noun(form) == Word(form, tag, lemma, mass)


def test_a_word_with_a_tag_needs_no_entry() -> None:
    template = compile_wording("{a} flummoxed/VBD {b} .")
    assert template.items[1] == Word("flummoxed", "VBD", "flummoxed")
    assert template.tree.relations == ["nsubj", "root", "obj", "punct"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{a} ran and .", "a conjunction joins nothing"),
        ("{a} saw {b} and again {c} .", "no head for word 5"),
        ('" Hello', "not in the lexicon"),
        ('" {a} ran .', "one opening and one closing quotation mark"),
        ("{a} and {b} ran .", "there is no predicate"),
    ],
)
def test_english_that_the_parser_does_not_know_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        compile_wording(text)


def test_an_event_says_where_its_wrong_wording_stands() -> None:
    event = StoryEvent(("{a} ran .", "{a} (ran|flummoxed) ."), path="own.txt", lines=(3, 4))
    with pytest.raises(DataError, match=r"own\.txt:4: the word 'flummoxed' is not in the lexicon"):
        compile_event(event)


@pytest.mark.parametrize(
    ("form", "tags"),
    [
        ("begged", {"VBD": "beg", "VBN": "beg"}),
        ("lying", {"VBG": "lie"}),
        ("carried", {"VBD": "carry", "VBN": "carry"}),
        ("left", {"VBD": "leave", "VBN": "leave"}),
        ("goes", {"VBZ": "go"}),
        ("pedaling", {"VBG": "pedal"}),
    ],
)
def test_verbs_know_their_forms(form: str, tags: dict[str, str]) -> None:
    assert look_up_verb(form) == tags
