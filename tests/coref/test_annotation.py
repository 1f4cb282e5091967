"""Annotating documents: greedy, the best of samples, given mentions, possessives, confidences, the linker."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from entitynlm.coref.annotation import Options, annotate_document
from entitynlm.coref.linking.entity_memory import NEW_ENTITY, EntityMemory, describe_spans
from entitynlm.coref.linking.features import FEATURES, extract_features
from entitynlm.coref.linking.linker import Linker, UnlinkedMentions, link_mentions
from entitynlm.coref.linking.training import make_example, train_linker
from entitynlm.coref.mention_detection import MentionBias, TypeClassifier, add_possessives
from entitynlm.errors import ConfigError, ModelError
from entitynlm.model.pretrained import Pretrained, load_pretrained, save_pretrained
from entitynlm.text.document import Document, Mention
from support.small_bundles import make_bundle

STORY = "Mary Lee met John at Oxford . She liked him . Mary saw her brother . He greeted Mary Lee .".split()
MENTIONS = (
    (0, 2, "mary"), (3, 4, "john"), (5, 6, "oxford"), (7, 8, "mary"), (9, 10, "john"), (11, 12, "mary"),
    (13, 15, "brother"), (13, 14, "mary"), (16, 17, "brother"), (18, 20, "mary"),
)  # fmt: skip


def make_story() -> Document:
    ends = [i + 1 for i, token in enumerate(STORY) if token == "."]
    sentences = tuple(zip([0, *ends[:-1]], ends, strict=True))
    return Document("story", tuple(STORY), sentences, tuple(Mention(*mention) for mention in MENTIONS))


@pytest.fixture(scope="module")
def linker() -> Linker:
    story = make_story()
    mentions = UnlinkedMentions(story, [mention.span for mention in story.mentions])
    example = make_example(mentions, [mention.entity for mention in story.mentions])
    return train_linker([example], epochs=60, rate=0.02)


@pytest.fixture
def pretrained(linker: Linker) -> Pretrained:
    made, _ = make_bundle()
    made.set_component(linker)
    return made


def test_features_tell_what_is_on_the_page() -> None:
    document = make_story()
    memory = EntityMemory(document)
    mentions = describe_spans(document, [(0, 2), (3, 4), (9, 10), (11, 12)])
    for mention in mentions[:2]:
        memory.add(mention, NEW_ENTITY, "person")
    john = memory.add(mentions[2], 1, "person")

    def look(mention: int, entity: int, name: str) -> float:
        described = extract_features(memory, mentions[mention], "person")
        return float(described.features[described.candidates.index(entity), FEATURES.index(name)])

    assert john == 1
    assert look(3, 0, "shared words") == 1 and look(3, 1, "shared words") == 0
    assert look(3, 1, "other name") == 1
    assert look(2, 1, "gender agrees") == 1 and look(2, 0, "gender agrees") == 0
    assert look(3, NEW_ENTITY, "new: word seen") == 1


def test_a_linker_learns_its_story(linker: Linker) -> None:
    document = make_story()
    entities = link_mentions(
        linker, UnlinkedMentions(document, [mention.span for mention in document.mentions])
    )
    gold = [mention.entity for mention in document.mentions]
    assert len(set(zip(entities, gold, strict=True))) == len(set(gold)) == len(set(entities))


def test_components_are_stored_with_the_model(linker: Linker, pretrained: Pretrained, tmp_path: Path) -> None:
    classifier = TypeClassifier(["person", "place"], np.eye(2, 9, dtype=np.float32))
    for component in (MentionBias(0.25), classifier):
        pretrained.set_component(component)
    save_pretrained(pretrained, tmp_path)
    again = load_pretrained(tmp_path)
    found = again.get_component(Linker)
    assert found is not None and found is again.get_component(Linker)
    rows, nothing = torch.rand(5, len(FEATURES)), torch.zeros(5)
    with torch.no_grad():
        assert torch.equal(found(rows, nothing), linker(rows, nothing))
    assert (found.proposal_weight, found.gender_prior) == (linker.proposal_weight, linker.gender_prior)
    assert again.get_component(MentionBias) == MentionBias(0.25)
    types = again.get_component(TypeClassifier)
    assert types is not None and types.names == classifier.names
    assert np.array_equal(types.weights, classifier.weights)
    tensors, settings = linker.to_stored()
    with pytest.raises(ModelError, match="other features"):
        Linker.from_stored(tensors, {**settings, "features": ["length"]})
    again.stored_components |= {"mention_types": ({"weights": torch.zeros(3, 9)}, {"names": ["person"]})}
    damaged = dataclasses.replace(again)  # has built none of them yet
    with pytest.raises(ModelError, match=r"mention_types of this model can't be used.*row of weights"):
        damaged.get_component(TypeClassifier)


def test_components_of_the_first_format_are_read_from_its_notes(linker: Linker) -> None:
    tensors, settings = linker.to_stored()
    weights = {name: value.tolist() for name, value in tensors.items() if name != "gender_prior"}
    old_prior = {"words": "emma otto", "values": [-90, 80]}
    old_features = [name.replace("gender score", "leaning") for name in settings["features"]]
    old = {"features": old_features, "advice_weight": 0.125, "weights": weights, "leanings": old_prior}
    pretrained, _ = make_bundle()
    assert pretrained.get_component(Linker) is None and pretrained.get_component(MentionBias) is None
    pretrained.notes |= {
        "linker": old,
        "eagerness": 0.3,
        "types": {"names": ["person"], "weights": [[0.5, 1]]},
    }
    found = pretrained.get_component(Linker)
    assert found is not None and found.proposal_weight == 0.125 and found.gender_prior.find("Emma") == -0.9
    assert torch.allclose(found.layers[0].weight, linker.layers[0].weight)
    assert pretrained.get_component(MentionBias) == MentionBias(0.3)
    types = pretrained.get_component(TypeClassifier)
    assert types is not None and types.weights.tolist() == [[0.5, 1.0]]


@pytest.mark.parametrize("options", [Options(), Options(samples=8), Options(links="network")], ids=str)
def test_documents_get_mentions_and_keep_their_words(pretrained: Pretrained, options: Options) -> None:
    document = dataclasses.replace(make_story(), mentions=())
    annotated = annotate_document(pretrained, document, options)
    assert annotated.tokens == document.tokens and annotated.mentions
    assert annotated == annotate_document(pretrained, document, options)
    numbers = [int(entity.id) for entity in annotated.entities]
    assert numbers == list(range(1, len(numbers) + 1))
    ends = [end for _, end in document.sentences]
    assert not any(m.start < end < m.end for m in annotated.mentions for end in ends)


def test_given_mentions_stay_and_are_linked(pretrained: Pretrained) -> None:
    document = make_story()
    annotated = annotate_document(pretrained, document, Options(keep_mentions=True))
    assert [m.span for m in annotated.mentions] == [m.span for m in document.mentions]
    assert len(annotated.entities) > 1
    plain, _ = make_bundle()
    with pytest.raises(ConfigError, match="no linker"):
        annotate_document(plain, document, Options(keep_mentions=True))


def test_confidences_are_probabilities(pretrained: Pretrained) -> None:
    annotated = annotate_document(pretrained, make_story(), Options(scores=True, samples=30))
    values = [float(value) for mention in annotated.mentions for _, value in mention.attributes]
    assert values and all(0 <= value <= 1 for value in values)
    given = annotate_document(pretrained, make_story(), Options(scores=True, keep_mentions=True))
    inner = [mention for mention in given.mentions if mention.span == (13, 14)]
    outer = [mention for mention in given.mentions if mention.span != (13, 14)]
    assert all(dict(mention.attributes).keys() >= {"confidence"} for mention in outer)
    assert inner and not any(mention.attributes for mention in inner)


def test_possessives_inside_of_mentions_are_added(pretrained: Pretrained) -> None:
    document = make_story()
    annotated = annotate_document(pretrained, document, Options())
    inner = [m for m in annotated.mentions if m.span == (13, 14)]
    outer = [m for m in annotated.mentions if m.start <= 13 and m.end > 14]
    assert bool(inner) >= bool(outer)
    assert add_possessives(document, []) == []


def test_nothing_to_read_is_no_error(pretrained: Pretrained) -> None:
    assert annotate_document(pretrained, Document("empty", ())).mentions == ()
    assert annotate_document(pretrained, Document("dots", (".", "."))).tokens == (".", ".")


def test_wrong_options_are_named() -> None:
    with pytest.raises(ConfigError, match="samples"):
        Options(samples=-1)
    with pytest.raises(ConfigError, match="weighed"):
        Options(links="strong")  # type: ignore[arg-type]
