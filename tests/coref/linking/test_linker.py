"""The linker and what it reads off the page: agreement, names, speakers, similar nouns; and what it learns from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from entitynlm.coref.annotation import take_given
from entitynlm.coref.linking.entity_memory import NOBODY, EntityMemory, Lexicon, view_spans
from entitynlm.coref.linking.features import FEATURES, Described, describe
from entitynlm.coref.linking.gender_prior import GenderPrior, count_pronouns, learn_gender_prior
from entitynlm.coref.linking.head_vectors import HeadVectors
from entitynlm.coref.linking.linker import Linker, follow_mentions, join_linkers, link_mentions, make_example
from entitynlm.coref.linking.speakers import find_speakers
from entitynlm.coref.linking.training_examples import (
    hide_words,
    make_found_example,
    make_given_example,
    name_entities,
)
from entitynlm.errors import ModelError
from entitynlm.text.document import Document, Mention
from support.small_bundles import make_bundle


def split(text: str) -> Document:
    """Sentences by full stops; tokens by blanks."""
    tokens = tuple(text.split())
    ends = sorted({*(i + 1 for i, token in enumerate(tokens) if token == "."), len(tokens)})
    return Document("made", tokens, tuple(zip([0, *ends[:-1]], ends, strict=True)))


def find(document: Document, *phrases: str) -> list[tuple[int, int]]:
    """The spans of phrases, each searched for after the one before."""
    spans, place = [], 0
    for phrase in phrases:
        words = tuple(phrase.split())
        while document.tokens[place : place + len(words)] != words:
            place += 1
        spans.append((place, place + len(words)))
        place += 1
    return spans


class Watcher:
    """Decides as told and remembers every description."""

    def __init__(self, entities: list[int]) -> None:
        self.entities = entities
        self.seen: dict[int, Described] = {}
        self.early: list[int] = []

    def choose(self, number: int, described: Described, early: bool) -> int:
        if early:
            self.early.append(number)
        else:
            self.seen[number] = described
        known = self.entities[number]
        return known if known in described.candidates else NOBODY

    def look(self, number: int, entity: int, feature: str) -> float:
        described = self.seen[number]
        return float(described.features[described.candidates.index(entity), FEATURES.index(feature)])


def watch(document: Document, spans: list[tuple[int, int]], entities: list[int], **known: Lexicon) -> Watcher:
    watcher = Watcher(entities)
    assert follow_mentions(document, spans, watcher.choose, **known) == entities
    return watcher


@pytest.mark.parametrize(
    ("text", "mentions", "speaker"),
    [
        ("“ I am late , ” said Anne .", ("I", "Anne"), 1),
        ("“ I am late , ” the old man cried .", ("I", "the old man"), 1),
        ("Anne said : “ I am late . ”", ("Anne", "I"), 0),
        ("“ I am late . ” Anne laughed .", ("I", "Anne"), None),
        ("“ I am late , ” and Anne said so .", ("I", "Anne"), None),
        ("“ Am I late ? ” Anne said that she was .", ("I", "Anne", "she"), None),
        ("Anne saw Tom run , and said , “ I go . ”", ("Anne", "Tom", "I"), None),
    ],
)
def test_speakers_stand_beside_their_words(text: str, mentions: tuple[str, ...], speaker: int | None) -> None:
    document = split(text)
    found = find_speakers(document, view_spans(document, find(document, *mentions)))
    assert found.get(1) == speaker and set(found) <= {1}


def test_who_says_i_is_looked_up_ahead() -> None:
    document = split("Anne met Tom . “ I am late , ” said Anne .")
    watcher = watch(document, find(document, "Anne", "Tom", "I", "Anne"), [0, 1, 0, 0])
    assert watcher.early == [3]
    assert watcher.look(2, 0, "speaks here") == 1 and watcher.look(2, 1, "speaks here") == 0
    assert watcher.look(2, NOBODY, "new: speaker new") == 0


def test_a_speaker_who_is_new_is_told() -> None:
    document = split("Tom slept . “ I am late , ” said Anne .")
    watcher = watch(document, find(document, "Tom", "I"), [0, 1])
    assert watcher.early == []
    watcher = watch(document, find(document, "Tom", "I", "Anne"), [0, 1, 1])
    assert watcher.early == [2]
    assert watcher.look(1, NOBODY, "new: speaker new") == 1


def test_turns_alternate() -> None:
    document = split("“ I go , ” said Anne . “ I stay , ” said Tom . “ You stay ? ” “ I do . ”")
    spans = find(document, "I", "Anne", "I", "Tom", "You", "I")
    watcher = watch(document, spans, [0, 0, 1, 1, 1, 1])
    assert watcher.look(4, 1, "spoke before") == 1 and watcher.look(4, 0, "spoke two before") == 1
    assert watcher.look(0, NOBODY, "new: speaker new") == 1


def test_names_lean_to_pronouns() -> None:
    document = split("Emma met Carlos . She smiled .")
    lexicon = Lexicon(GenderPrior({"emma": -0.9, "carlos": 0.8}))
    watcher = watch(document, find(document, "Emma", "Carlos", "She"), [0, 1, 0], lexicon=lexicon)
    assert watcher.look(2, 0, "leaning agrees") == pytest.approx(0.9)
    assert watcher.look(2, 1, "leaning differs") == pytest.approx(0.8)
    assert watcher.look(2, 0, "agreeing 1st") == 1 and watcher.look(2, 1, "agreeing 1st") == 0


def test_people_of_one_surname_are_told_apart() -> None:
    document = split("Jane Lee met Mr. Tom Lee . Anne Lee and Mrs. Lee came .")
    watcher = watch(document, find(document, "Jane Lee", "Mr. Tom Lee", "Anne Lee", "Mrs. Lee"), [0, 1, 2, 3])
    assert watcher.look(2, 0, "given names differ") == 1 and watcher.look(2, 1, "given names differ") == 1
    assert watcher.look(3, 1, "titles differ") == 1 and watcher.look(3, 0, "titles differ") == 0


def test_appositions_and_predicates_join() -> None:
    document = split("Anne , the maid , was a singer .")
    watcher = watch(document, find(document, "Anne", "the maid", "a singer"), [0, 0, 0])
    assert watcher.look(1, 0, "joined by comma") == 1 and watcher.look(1, NOBODY, "new: joined by comma") == 1
    assert watcher.look(2, 0, "joined by being") == 1 and watcher.look(2, 0, "joined by comma") == 0


def test_similar_heads_are_near() -> None:
    vectors = {"painter": np.array([1.0, 0.0]), "artist": np.array([0.8, 0.6]), "river": np.array([0.0, 1.0])}
    document = split("An artist sat by a river . The painter slept .")
    lexicon = Lexicon(find_vector=vectors.get)
    watcher = watch(
        document, find(document, "An artist", "a river", "The painter"), [0, 1, 0], lexicon=lexicon
    )
    assert watcher.look(2, 0, "similar head") == pytest.approx(0.8)
    assert watcher.look(2, 1, "similar head") == pytest.approx(0.0)
    assert watcher.look(2, 0, "most similar head") == 1 and watcher.look(2, 1, "most similar head") == 0


def test_every_row_is_finite_and_named() -> None:
    document = split("“ I saw her , ” said Mr. Lee . He , the man , was himself again . They left .")
    cast = EntityMemory(document)
    for view in view_spans(
        document, find(document, "I", "her", "Mr. Lee", "He", "the man", "himself", "They")
    ):
        described = describe(cast, view, "person")
        assert described.features.shape == (len(described.candidates), len(FEATURES))
        assert np.isfinite(described.features).all()
        cast.add(view, NOBODY, "person")
    assert len(set(FEATURES)) == len(FEATURES)


def test_leanings_are_learned_from_pronouns_that_follow() -> None:
    texts = [
        ["Yesterday", "Anna", "lost", "her", "hat", ".", "Then", "Otto", "found", "his", "."],
        ["Anna", "saw", "him"],
    ]
    counts = count_pronouns(texts)
    assert counts == {"Anna": (0, 1), "Otto": (1, 0)}
    many = {"Anna": (0, 40), "Otto": (40, 0), "Rare": (1, 0)}
    vectors = np.array([[-1.0, 0.2], [1.0, 0.1], [-0.9, 0.0], [0.0, 0.0]])
    gender_prior = learn_gender_prior(many, ["anna", "otto", "berta", "stone"], vectors)
    assert (
        gender_prior.find("Berta") < -0.4
        and gender_prior.find("otto") > 0.4
        and gender_prior.find("stone") == 0
    )
    assert GenderPrior.from_dict(gender_prior.to_dict()).find("berta") == pytest.approx(
        gender_prior.find("berta"), abs=0.01
    )
    with pytest.raises(ModelError, match="differ in count"):
        GenderPrior.from_dict({"words": "anna otto", "values": [1]})
    with pytest.raises(ModelError, match="no name"):
        learn_gender_prior({}, ["stone"], np.zeros((1, 2)))


def test_joined_linkers_score_the_mean() -> None:
    torch.manual_seed(0)
    linkers = [Linker(3, advice_weight=0.5).eval(), Linker(4, advice_weight=0.5).eval()]
    rows = torch.rand(6, len(FEATURES)).numpy()
    advice = np.linspace(-3, 0, 6)
    mean = np.mean([linker.score(rows, advice) for linker in linkers], axis=0)
    assert np.allclose(join_linkers(linkers).score(rows, advice), mean, atol=1e-5)


def test_advice_counts_by_its_weight_and_no_more_than_unlikely() -> None:
    linker = Linker(3, advice_weight=0.5).eval()
    rows = np.zeros((3, len(FEATURES)), dtype=np.float32)
    plain = linker.score(rows)
    assert np.allclose(linker.score(rows, np.array([0.0, -2.0, -99.0])) - plain, [0.0, -1.0, -3.0])


def test_advice_is_not_asked_for_before_its_turn() -> None:
    document = split("Anne met Tom . “ I am late , ” said Anne .")
    asked: list[int] = []

    def advise(number: int, candidates: Sequence[int]) -> np.ndarray:
        asked.append(number)
        return np.zeros(len(candidates))

    link_mentions(
        Linker(3, advice_weight=1.0).eval(),
        document,
        find(document, "Anne", "Tom", "I", "Anne"),
        advise=advise,
    )
    assert asked == [0, 1, 2, 3]


def test_head_vectors_have_length_one_and_know_the_vocabulary() -> None:
    pretrained, _ = make_bundle()
    vectors = HeadVectors(pretrained.get("causal"), pretrained.encoder.vocabulary)
    word = pretrained.encoder.vocabulary.words[-1]
    found = vectors.find(word)
    assert found is not None and np.linalg.norm(found) == pytest.approx(1, abs=1e-5)
    assert vectors.find("no-such-word") is None


def make_annotated() -> Document:
    document = split("Mary met John . She liked him .")
    spans = find(document, "Mary", "John", "She", "him")
    return document.with_mentions([Mention(*span, name) for span, name in zip(spans, "mjmj", strict=True)])


def test_examples_are_made_of_given_and_of_found_mentions() -> None:
    pretrained, _ = make_bundle()
    document = make_annotated()
    given = make_given_example(pretrained, document, GenderPrior({}))
    spans = [mention.span for mention in document.mentions]
    plain = make_example(document, spans, [mention.entity for mention in document.mentions])
    assert given.chosen.tolist() == plain.chosen.tolist() == [0, 2, 4, 7]
    assert (given.advice <= 0).all() and not (plain.advice != 0).any()
    found = make_found_example(pretrained, document, GenderPrior({}), hidden=0.5, seed=1)
    again = make_found_example(pretrained, document, GenderPrior({}), hidden=0.5, seed=1)
    assert torch.equal(found.features, again.features) and torch.equal(found.advice, again.advice)
    blind = make_found_example(pretrained, document, GenderPrior({}), hidden=0.5, advice_too=True, seed=1)
    assert torch.equal(found.features, blind.features) and not torch.equal(found.advice, blind.advice)
    assert found.features.shape == (len(found.owners), len(FEATURES)) and len(found.advice) == len(
        found.owners
    )


def test_found_mentions_are_named_by_words_then_by_head() -> None:
    pretrained, _ = make_bundle()
    document = make_annotated()
    given = take_given(pretrained, pretrained.get("causal"), document)
    assert name_entities(document, given) == ["of m", "of j", "of m", "of j"]
    longer = document.with_mentions([Mention(1, 3, "x"), Mention(3, 4, "y")])
    found = take_given(pretrained, pretrained.get("causal"), longer)
    assert name_entities(document, found) == ["of j", "mention 1"]


def test_hidden_words_are_unknown_ones() -> None:
    pretrained, _ = make_bundle()
    encoded = pretrained.encoder.encode_words(make_annotated())
    assert np.array_equal(hide_words(pretrained, encoded, 0.0, np.random.default_rng(1)).x, encoded.x)
    hidden = hide_words(pretrained, encoded, 1.0, np.random.default_rng(1))
    specials = pretrained.encoder.vocabulary.specials
    assert (
        (hidden.x < specials)
        & ((encoded.x == hidden.x) | (hidden.x == pretrained.encoder.vocabulary.unknown))
    ).all()
