"""Realisation, reference and discourse: articles, agreement, pronouns and possessives in generated stories."""

from collections import defaultdict
from itertools import pairwise

import pytest

from entitynlm.stories import generate_stories
from entitynlm.stories.reference import choose_article
from entitynlm.text.document import Document

GENDERS = {
    **dict.fromkeys(("he", "him", "his"), "m"),
    **dict.fromkeys(("she", "her"), "f"),
    **dict.fromkeys(("it", "its"), "n"),
    **dict.fromkeys(("they", "them", "their"), "p"),
}


@pytest.fixture(scope="module")
def stories() -> list[Document]:
    return list(generate_stories(300, seed=11))


def test_sentences_begin_with_a_capital_and_end_with_a_mark(stories: list[Document]) -> None:
    for document in stories:
        for start, end in document.sentences:
            first = document.tokens[start + 1 if document.tokens[start] == '"' else start]
            assert first[0].isupper(), document.words(start, end)
            assert document.tokens[end - 1] in (".", "!", "?")


@pytest.mark.parametrize(
    ("following", "article"), [("apple", "an"), ("bike", "a"), ("uniform", "a"), ("Italian", "an")]
)
def test_articles_go_by_sound(following: str, article: str) -> None:
    assert choose_article(following) == article


def test_articles_fit_the_word_after_them(stories: list[Document]) -> None:
    for document in stories:
        for token, following in pairwise(document.tokens):
            if token.lower() in ("a", "an"):
                assert token.lower() == choose_article(following), f"{token} {following}"


def test_an_entity_has_pronouns_of_one_gender_and_number(stories: list[Document]) -> None:
    for document in stories:
        found: dict[str, set[str]] = defaultdict(set)
        for mention in document.mentions:
            form = document.tokens[mention.start].lower()
            if len(mention) == 1 and form in GENDERS:
                found[mention.entity].add(GENDERS[form])
        assert all(len(genders) == 1 for genders in found.values())


def test_verbs_agree_with_their_subjects(stories: list[Document]) -> None:
    forms = {
        **dict.fromkeys(("we", "they", "you"), ("were", "are", "do")),
        **dict.fromkeys(("he", "she", "it"), ("was", "is", "does")),
        **dict.fromkeys(("him", "her", "them", "me", "us"), ()),
        "i": ("was", "am", "do"),
    }
    agreeing = set().union(*forms.values())
    checked = 0
    for document in stories:
        words = document.tokens
        for subject, verb in pairwise(words):
            if subject.lower() in forms and verb in agreeing:
                assert verb in forms[subject.lower()], document.text
                checked += 1
    assert checked > 50


def test_possessors_are_mentions_within_the_mention(stories: list[Document]) -> None:
    for document in stories:
        spans = {mention.span for mention in document.mentions}
        ends = {mention.end for mention in document.mentions}
        for index, token in enumerate(document.tokens):
            if token in ("my", "his", "its", "our", "their"):
                assert (index, index + 1) in spans
            if token == "'s":
                assert index + 1 in ends
