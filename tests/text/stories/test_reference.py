"""Realisation, reference and discourse: articles, agreement, pronouns, possessives and trees in generated stories."""

from __future__ import annotations

from collections import defaultdict

import pytest

from entitynlm.text.document import Document
from entitynlm.text.stories import generate_stories
from entitynlm.text.stories.generator import detokenise
from entitynlm.text.stories.reference import Token, choose_article

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
    ("following", "article"),
    [("apple", "an"), ("bike", "a"), ("hour", "an"), ("uniform", "a"), ("Italian", "an"), ("20-dollar", "a")],
)
def test_articles_go_by_sound(following: str, article: str) -> None:
    assert choose_article(following) == article


def test_articles_fit_the_word_after_them(stories: list[Document]) -> None:
    for document in stories:
        for token, following in zip(document.tokens, document.tokens[1:], strict=False):
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


def test_some_pronouns_would_fit_two_people(stories: list[Document]) -> None:
    """Ambiguity that only the script resolves: someone else of that gender was mentioned in the sentence before."""
    ambiguous = unambiguous = 0
    for document in stories:
        genders = {
            mention.entity: GENDERS[document.tokens[mention.start].lower()]
            for mention in document.mentions
            if len(mention) == 1 and document.tokens[mention.start].lower() in GENDERS
        }
        people = [m for m in document.mentions if genders.get(m.entity) in ("m", "f")]
        for mention in people:
            if document.tokens[mention.start].lower() not in ("he", "she"):
                continue
            sentence = document.sentence_of[mention.start]
            rivals = [
                other
                for other in people
                if other.entity != mention.entity
                and genders[other.entity] == genders[mention.entity]
                and document.sentence_of[other.start] == sentence - 1
            ]
            ambiguous += bool(rivals)
            unambiguous += not rivals
    assert 0.03 < ambiguous / (ambiguous + unambiguous) < 0.3


def test_pronouns_have_the_case_of_their_place(stories: list[Document]) -> None:
    subjects = {"i", "he", "she", "we", "they"}
    objects = {"me", "him", "us", "them"}
    seen = 0
    for document in stories:
        relations = document.column("deprel")
        for token, relation in zip(document.tokens, relations, strict=True):
            assert relation is not None
            if token.lower() in objects:
                assert not relation.startswith("nsubj"), document.text
                seen += 1
            if token.lower() in subjects:
                assert relation.startswith("nsubj") or relation == "conj", (token, relation, document.text)
                seen += 1
    assert seen > 1000


def test_was_and_were_agree_with_their_subjects(stories: list[Document]) -> None:
    plural = {"we", "they", "you"}
    checked = 0
    for document in stories:
        assert document.heads is not None
        relations, lemmas = document.column("deprel"), document.column("lemma")
        for index, form in enumerate(document.tokens):
            if lemmas[index] != "be" or form.lower() not in ("was", "were", "is", "are", "am"):
                continue
            clause = document.heads[index] if relations[index] in ("aux", "aux:pass", "cop") else index
            for child, head in enumerate(document.heads):
                subject = document.tokens[child].lower()
                if head != clause or not str(relations[child]).startswith("nsubj"):
                    continue
                if subject in plural:
                    assert form.lower() in ("were", "are")
                    checked += 1
                elif subject in ("he", "she", "it", "i"):
                    assert form.lower() in ("was", "is", "am")
                    checked += 1
    assert checked > 50


def test_possessives_of_names_in_s_take_an_apostrophe_and_s(stories: list[Document]) -> None:
    found = [
        (document.tokens[i], document.tokens[i + 1], document.column("pos")[i])
        for document in stories
        for i in range(len(document) - 1)
        if document.column("pos")[i + 1] == "POS"
    ]
    assert any(name.endswith("s") and clitic == "'s" for name, clitic, pos in found if pos == "NNP")
    assert all(clitic == "'s" for _, clitic, pos in found if pos == "NNP")
    assert all(clitic == "'" for noun, clitic, pos in found if pos == "NNS")


def test_possessors_are_mentions_within_the_mention(stories: list[Document]) -> None:
    for document in stories:
        spans = {mention.span for mention in document.mentions}
        for index, pos in enumerate(document.column("pos")):
            if pos == "PRP$":
                assert (index, index + 1) in spans


def test_every_sentence_is_one_projective_tree(stories: list[Document]) -> None:
    for document in stories:
        assert document.heads is not None
        for start, end in document.sentences:
            heads = document.heads[start:end]
            assert sum(head == -1 for head in heads) == 1
            assert all(head == -1 or start <= head < end for head in heads)
            for index in range(start, end):
                assert _climb(document.heads, index)[-1] == start + heads.index(-1)
                low, high = sorted((index, document.heads[index])) if document.heads[index] >= 0 else (0, 0)
                for between in range(low + 1, high):
                    path = _climb(document.heads, between)
                    assert index in path or document.heads[index] in path


def test_the_head_of_a_mention_is_what_hangs_outside_of_it(stories: list[Document]) -> None:
    for document in stories:
        assert document.heads is not None
        for mention in document.mentions:
            outside = [
                index
                for index in range(mention.start, mention.end)
                if not mention.start <= document.heads[index] < mention.end
            ]
            assert outside == [mention.head]


def test_text_is_put_together_as_people_write_it() -> None:
    marks = {'"': "``", ",": ",", ".": ".", "'s": "POS", "''": "''"}
    words = ["``", "I", "did", "n't", "see", "Anna", "'s", "bike", ",", "''", "he", "said", "."]
    tokens = [
        Token(
            '"' if word in ("``", "''") else word,
            word if word == "``" else marks.get(word, "NN"),
            word,
            0,
            "",
        )
        for word in words
    ]
    text, offsets = detokenise(tokens)
    assert text == "\"I didn't see Anna's bike,\" he said."
    assert [text[start:end] for start, end in offsets] == [token.form for token in tokens]


def _climb(heads: tuple[int, ...], index: int) -> list[int]:
    """The way from a token up to the root; a cycle would end the test by its length."""
    path = [index]
    while heads[path[-1]] >= 0:
        path.append(heads[path[-1]])
        assert len(path) <= len(heads)
    return path
