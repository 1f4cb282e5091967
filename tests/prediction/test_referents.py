"""Reading along an analysis: expectations of referents and words against the model's own joint distribution."""

import numpy as np
import pytest

from entitynlm.inference.readings import Readings
from entitynlm.inference.scoring import score_document
from entitynlm.inference.story_state import read_along
from entitynlm.inference.weights import log_sum_exp
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.prediction import referents
from entitynlm.prediction.referents import NEW_REFERENT, trace_referents
from support.small_models import make_network

WORDS = 12


def make_document(network: EntityNetwork) -> EncodedDocument:
    """Two people, one place; kinds 1 and 2 where the network has them; a mention of three words."""
    other = min(2, network.config.mention_types)
    x = np.array([4, 3, 5, 6, 2, 7, 4, 3, 1, 5, 6, 2])
    r = np.array([1, 0, other, other, 0, 1, 0, 1, 1, 1, other, 0])
    e = np.array([1, 0, 2, 2, 0, 3, 0, 1, 1, 1, 2, 0])
    l = np.array([1, 1, 2, 1, 1, 1, 1, 3, 2, 1, 1, 1])
    sentence = np.array([0] * 5 + [1] * 7)
    return EncodedDocument("d", x, r, e, l, sentence, np.arange(WORDS))


def score(network: EntityNetwork, document: EncodedDocument) -> dict[str, np.ndarray]:
    found = score_document(network, document, ("",) * len(document))
    return {name: getattr(found, name) for name in "relx"}


def sum_over_ways(network: EntityNetwork, document: EncodedDocument, at: int) -> float:
    """log p(x_t | everything before), by scoring the text once for every way in which it may go on at t."""
    terms = []
    known = int(document.e[:at].max(initial=0))
    kind_of = {int(e): int(r) for e, r in zip(document.e[:at], document.r[:at], strict=True) if e}
    ways = [(0, 0)] + [(kind_of[n], n) for n in range(1, known + 1)]
    ways += [(kind, known + 1) for kind in range(1, network.config.mention_types + 1)]
    for kind, entity in ways:
        longest = network.config.max_length if kind else 1
        found = []
        for length in range(1, longest + 1):
            arrays = [a[: at + 1].copy() for a in (document.x, document.r, document.e, document.l)]
            arrays[1][at], arrays[2][at], arrays[3][at] = kind, entity, length
            ends = document.sentence[: at + 1], document.origin[: at + 1]
            found.append(score(network, EncodedDocument("way", *arrays, *ends)))
        for number, way in enumerate(found):
            # The text ends here, so its last mention is scored as "at least this long": take differences.
            log_length = way["l"][at]
            if kind and number + 1 < longest:
                log_length = np.log(np.exp(way["l"][at]) - np.exp(found[number + 1]["l"][at]))
            terms.append(way["r"][at] + way["e"][at] + log_length + way["x"][at])
    return float(log_sum_exp(np.array(terms)))


OPTIONS = [
    {},
    {"mention_types": 2, "features": "rich"},
    {"mention_positions": 2, "max_length": 4},
    {"mention_types": 2, "mention_positions": 3, "softmax": "full", "max_length": 3},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_words_are_expected_as_the_joint_distribution_says(
    options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(referents, "NEGLECTED", 0.0)
    network = make_network(mode="generative", **options)
    document = make_document(network)
    trace = trace_referents(network, document)
    inside = np.append(False, document.l[:-1] > 1)
    for at in range(WORDS):
        if inside[at]:
            expected = score(network, document)["x"][at]
        else:
            expected = sum_over_ways(network, document, at)
        assert trace.log_words[at] == pytest.approx(expected, abs=1e-4), at


@pytest.mark.parametrize("options", OPTIONS)
def test_referents_have_the_probability_of_the_joint_distribution(options: dict[str, object]) -> None:
    network = make_network(mode="generative", **options)
    document = make_document(network)
    trace, scores = trace_referents(network, document), score(network, document)
    assert [(found.start, found.end, found.entity) for found in trace.referents] == [
        (0, 1, 1), (2, 4, 2), (5, 6, 3), (7, 10, 1), (10, 11, 2),
    ]  # fmt: skip
    for found in trace.referents:
        joint = scores["r"][found.start] + scores["e"][found.start]
        if found.is_new and network.config.mention_types > 1:  # all newborns are one choice
            assert np.log(found.expected * found.probability) >= joint
        else:
            assert np.log(found.expected * found.probability) == pytest.approx(joint, abs=1e-4)
        assert sum(p for _, p in found.ranked) == pytest.approx(1.0)  # there are fewer than are kept
        assert 0 <= found.entropy <= np.log(found.candidates) + 1e-9
    assert [found.is_new for found in trace.referents] == [True, True, True, False, False]
    assert trace.referents[0].ranked == ((NEW_REFERENT, pytest.approx(1.0)),)
    assert trace.referents[3].since == (7, 1, 3)  # words, sentences, mentions


def test_the_last_word_of_a_mention_leaves_the_vector_that_scoring_leaves() -> None:
    network = make_network(mode="generative", sigma=0.0)
    document = make_document(network)
    trace = trace_referents(network, document)
    *_, last = read_along(network, document, Readings(document).read(network))
    vectors = last.after.vectors
    assert np.isnan(trace.gates[document.r == 0]).all()
    inside = document.r > 0
    assert ((trace.gates[inside] > 0) & (trace.gates[inside] < 1)).all()
    assert (trace.away[inside] >= -1e-6).all()
    assert np.array_equal(trace.after[[2, 3, 4]], vectors[[2, 0, 1]])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)


@pytest.mark.parametrize("chunk", [1, 5])
def test_chunks_change_nothing(chunk: int) -> None:
    network = make_network(mode="generative", mention_positions=2)
    document = make_document(network)
    whole, cut = (
        trace_referents(network, document),
        trace_referents(network, document, readings=Readings(document, size=chunk)),
    )
    assert np.allclose(whole.log_words, cut.log_words, atol=1e-5)
    assert [a.since for a in whole.referents] == [a.since for a in cut.referents]


def test_words_can_be_left_out() -> None:
    network = make_network(mode="generative")
    trace = trace_referents(network, make_document(network), with_words=False)
    assert np.isnan(trace.log_words).all()
    assert len(trace.referents) == 5


def test_who_comes_next_in_a_model_with_types() -> None:
    """The type of who comes next is summed over: the answer is the same whatever the text says after that place."""
    from dataclasses import replace

    from entitynlm.config import ModelConfig
    from entitynlm.model.encoding.encoder import Encoder
    from entitynlm.model.encoding.preprocessing import Recipe
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.prediction.network_choice import NetworkChooser
    from support.small_bundles import make_documents

    types = {"ann": "person", "bo": "person", "thing": "thing"}
    documents = [replace(document, entity_types=types) for document in make_documents()]
    encoder = Encoder.fit(documents, recipe=Recipe(), singletons="keep", typed=True, max_length=4)
    pretrained = Pretrained(encoder, None)
    pretrained.add(
        ModelConfig(hidden_size=5, embedding_size=4, max_length=4, mention_types=3, softmax="full")
    )
    chooser = NetworkChooser(pretrained.get("generative"), encoder)
    story = documents[0]
    known, cut = (
        chooser.choose(story, [4])[0],
        chooser.choose(replace(story, mentions=story.mentions[:2]), [4])[0],
    )
    assert known.entities == ("ann", "bo", "")
    assert sum(known.probabilities) == pytest.approx(1.0)
    assert known.probabilities == pytest.approx(cut.probabilities, abs=1e-6)
