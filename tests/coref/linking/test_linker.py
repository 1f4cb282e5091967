"""The linker and what it reads off the page: agreement, names, speakers, similar nouns; and what it learns from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from entitynlm.coref.linking.entity_memory import (
    NEW_ENTITY,
    EntityMemory,
    Lexicon,
    describe_spans,
    find_head_vectors,
)
from entitynlm.coref.linking.features import FEATURES, CandidateFeatures, extract_features
from entitynlm.coref.linking.gender_prior import GenderPrior, count_pronouns, learn_gender_prior
from entitynlm.coref.linking.linker import Linker, UnlinkedMentions, follow_mentions, link_mentions
from entitynlm.coref.linking.speakers import find_speakers
from entitynlm.coref.linking.training import (
    join_linkers,
    make_document_example,
    make_example,
    mask_words,
    match_entities,
)
from entitynlm.coref.mention_detection import list_given
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
        self.seen: dict[int, CandidateFeatures] = {}
        self.ahead: list[int] = []

    def choose(self, number: int, described: CandidateFeatures, log_probs: np.ndarray | None) -> int:
        if log_probs is None:
            self.ahead.append(number)
        else:
            self.seen[number] = described
        known = self.entities[number]
        return known if known in described.candidates else NEW_ENTITY

    def look(self, number: int, entity: int, feature: str) -> float:
        described = self.seen[number]
        return float(described.features[described.candidates.index(entity), FEATURES.index(feature)])


def watch(document: Document, spans: list[tuple[int, int]], entities: list[int], **known: Lexicon) -> Watcher:
    watcher = Watcher(entities)
    assert follow_mentions(UnlinkedMentions(document, spans, **known), watcher.choose) == entities
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
    found = find_speakers(document, describe_spans(document, find(document, *mentions)))
    assert found.get(1) == speaker and set(found) <= {1}


def test_who_says_i_is_looked_up_ahead() -> None:
    document = split("Anne met Tom . “ I am late , ” said Anne .")
    watcher = watch(document, find(document, "Anne", "Tom", "I", "Anne"), [0, 1, 0, 0])
    assert watcher.ahead == [3]
    assert watcher.look(2, 0, "speaks here") == 1 and watcher.look(2, 1, "speaks here") == 0
    assert watcher.look(2, NEW_ENTITY, "new: speaker new") == 0


def test_a_speaker_who_is_new_is_told() -> None:
    document = split("Tom slept . “ I am late , ” said Anne .")
    watcher = watch(document, find(document, "Tom", "I"), [0, 1])
    assert watcher.ahead == []
    watcher = watch(document, find(document, "Tom", "I", "Anne"), [0, 1, 1])
    assert watcher.ahead == [2]
    assert watcher.look(1, NEW_ENTITY, "new: speaker new") == 1


def test_speakers_take_turns() -> None:
    document = split("“ I go , ” said Anne . “ I stay , ” said Tom . “ You stay ? ” “ I do . ”")
    spans = find(document, "I", "Anne", "I", "Tom", "You", "I")
    watcher = watch(document, spans, [0, 0, 1, 1, 1, 1])
    assert watcher.look(4, 1, "spoke before") == 1 and watcher.look(4, 0, "spoke two before") == 1
    assert watcher.look(0, NEW_ENTITY, "new: speaker new") == 1


def test_names_have_a_gender_score() -> None:
    document = split("Emma met Carlos . She smiled .")
    lexicon = Lexicon(GenderPrior({"emma": -0.9, "carlos": 0.8}))
    watcher = watch(document, find(document, "Emma", "Carlos", "She"), [0, 1, 0], lexicon=lexicon)
    assert watcher.look(2, 0, "gender score agrees") == pytest.approx(0.9)
    assert watcher.look(2, 1, "gender score differs") == pytest.approx(0.8)
    assert watcher.look(2, 0, "agreeing 1st") == 1 and watcher.look(2, 1, "agreeing 1st") == 0


def test_people_of_one_surname_are_told_apart() -> None:
    document = split("Jane Lee met Mr. Tom Lee . Anne Lee and Mrs. Lee came .")
    watcher = watch(document, find(document, "Jane Lee", "Mr. Tom Lee", "Anne Lee", "Mrs. Lee"), [0, 1, 2, 3])
    assert watcher.look(2, 0, "given names differ") == 1 and watcher.look(2, 1, "given names differ") == 1
    assert watcher.look(3, 1, "titles differ") == 1 and watcher.look(3, 0, "titles differ") == 0


def test_appositions_and_predicates_join() -> None:
    document = split("Anne , the maid , was a singer .")
    watcher = watch(document, find(document, "Anne", "the maid", "a singer"), [0, 0, 0])
    assert (
        watcher.look(1, 0, "joined by comma") == 1
        and watcher.look(1, NEW_ENTITY, "new: joined by comma") == 1
    )
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
    memory = EntityMemory(document)
    for mention in describe_spans(
        document, find(document, "I", "her", "Mr. Lee", "He", "the man", "himself", "They")
    ):
        described = extract_features(memory, mention, "person")
        assert described.features.shape == (len(described.candidates), len(FEATURES))
        assert np.isfinite(described.features).all()
        memory.add(mention, NEW_ENTITY, "person")
    assert len(set(FEATURES)) == len(FEATURES)


def test_a_gender_prior_is_learned_from_pronouns_that_follow() -> None:
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
    assert GenderPrior.from_stored(*gender_prior.to_stored()).find("berta") == pytest.approx(
        gender_prior.find("berta"), abs=0.01
    )
    with pytest.raises(ValueError):
        GenderPrior.from_stored("anna otto", [1])
    with pytest.raises(ModelError, match="no name"):
        learn_gender_prior({}, ["stone"], np.zeros((1, 2)))


def test_joined_linkers_score_the_mean() -> None:
    torch.manual_seed(0)
    linkers = [Linker(3, proposal_weight=0.5).eval(), Linker(4, proposal_weight=0.5).eval()]
    rows = torch.rand(6, len(FEATURES)).numpy()
    log_probs = np.linspace(-3, 0, 6)
    mean = np.mean([linker.score(rows, log_probs) for linker in linkers], axis=0)
    assert np.allclose(join_linkers(linkers).score(rows, log_probs), mean, atol=1e-5)


def test_log_probabilities_of_the_proposal_count_by_their_weight_down_to_the_lowest() -> None:
    linker = Linker(3, proposal_weight=0.5).eval()
    rows = np.zeros((3, len(FEATURES)), dtype=np.float32)
    plain = linker.score(rows)
    assert np.allclose(linker.score(rows, np.array([0.0, -2.0, -99.0])) - plain, [0.0, -1.0, -3.0])


class ConstantScores:
    """Finds all candidates equally likely, and keeps which mentions it was asked and told about."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.noted: list[int] = []

    def score_entities(self, number: int, candidates: Sequence[int]) -> np.ndarray:
        self.asked.append(number)
        return np.zeros(len(candidates))

    def add_mention(self, number: int, entity: int) -> None:
        self.noted.append(number)


def test_the_proposal_is_not_asked_before_a_mention_has_its_turn() -> None:
    document = split("Anne met Tom . “ I am late , ” said Anne .")
    proposal = ConstantScores()
    spans = find(document, "Anne", "Tom", "I", "Anne")
    mentions = UnlinkedMentions(document, spans, proposal=proposal)
    link_mentions(Linker(3, proposal_weight=1.0).eval(), mentions)
    assert proposal.asked == proposal.noted == [0, 1, 2, 3]


def test_head_vectors_have_length_one_and_know_the_vocabulary() -> None:
    pretrained, _ = make_bundle()
    find_vector = find_head_vectors(pretrained.get("causal"), pretrained.encoder.vocabulary)
    word = pretrained.encoder.vocabulary.words[-1]
    found = find_vector(word)
    assert found is not None and np.linalg.norm(found) == pytest.approx(1, abs=1e-5)
    assert find_vector("no-such-word") is None


def make_annotated() -> Document:
    document = split("Mary met John . She liked him .")
    spans = find(document, "Mary", "John", "She", "him")
    return document.with_mentions([Mention(*span, name) for span, name in zip(spans, "mjmj", strict=True)])


def test_examples_are_made_of_given_and_of_found_mentions() -> None:
    pretrained, _ = make_bundle()
    document = make_annotated()
    given = make_document_example(pretrained, document, GenderPrior({}))
    spans = [mention.span for mention in document.mentions]
    plain = make_example(UnlinkedMentions(document, spans), [mention.entity for mention in document.mentions])
    assert given.chosen.tolist() == plain.chosen.tolist() == [0, 2, 4, 7]
    assert (given.log_probs <= 0).all() and not (plain.log_probs != 0).any()
    found = make_document_example(pretrained, document, GenderPrior({}), (0.5, False), seed=1)
    again = make_document_example(pretrained, document, GenderPrior({}), (0.5, False), seed=1)
    assert torch.equal(found.features, again.features) and torch.equal(found.log_probs, again.log_probs)
    blind = make_document_example(pretrained, document, GenderPrior({}), (0.5, True), seed=1)
    assert torch.equal(found.features, blind.features) and not torch.equal(found.log_probs, blind.log_probs)
    assert found.features.shape == (len(found.owners), len(FEATURES)) and len(found.log_probs) == len(
        found.owners
    )


def test_found_mentions_are_named_by_words_then_by_head() -> None:
    pretrained, _ = make_bundle()
    document = make_annotated()
    given = list_given(pretrained, document)
    assert match_entities(document, given) == ["of m", "of j", "of m", "of j"]
    longer = document.with_mentions([Mention(1, 3, "x"), Mention(3, 4, "y")])
    found = list_given(pretrained, longer)
    assert match_entities(document, found) == ["of j", "mention 1"]


def test_hidden_words_are_unknown_ones() -> None:
    pretrained, _ = make_bundle()
    encoded = pretrained.encoder.encode_words(make_annotated())
    assert np.array_equal(mask_words(pretrained, encoded, 0.0, np.random.default_rng(1)).x, encoded.x)
    hidden = mask_words(pretrained, encoded, 1.0, np.random.default_rng(1))
    specials = pretrained.encoder.vocabulary.specials
    assert (
        (hidden.x < specials)
        & ((encoded.x == hidden.x) | (hidden.x == pretrained.encoder.vocabulary.unknown))
    ).all()
