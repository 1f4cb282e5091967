"""EntityNLM as a chooser of the next entity."""

from dataclasses import replace

import numpy as np
import pytest

from entitynlm.api import EntityNLM
from entitynlm.errors import ConfigError
from entitynlm.inference.scoring import score_document
from entitynlm.prediction.choices import NEW
from entitynlm.prediction.network_choice import NetworkChooser
from support.small_bundles import make_bundle, make_documents


def test_the_network_is_asked_by_its_own_equation() -> None:
    pretrained, encoded = make_bundle(sigma=0.3)
    network = pretrained.get("generative")
    for document, numbers in zip(make_documents(), encoded, strict=True):
        starts = [mention.start for mention in document.mentions]
        choices = NetworkChooser(network, pretrained.encoder).choose(document, starts)
        scores = score_document(network, numbers, ()).e
        words = [t for t in range(len(numbers)) if numbers.origin[t] in set(starts)]
        seen: set[str] = set()
        for word, mention, choice in zip(words, document.mentions, choices, strict=True):
            truth = mention.entity if mention.entity in seen else NEW
            seen.add(mention.entity)
            assert np.log(choice.probability(truth)) == pytest.approx(scores[word], abs=1e-5)


def test_next_entity_at_the_end_equals_the_same_place_inside() -> None:
    pretrained, _ = make_bundle()
    model = EntityNLM(pretrained)
    document = make_documents()[0]
    place = document.mentions[2].start
    cut = replace(
        document,
        tokens=document.tokens[:place],
        sentences=document.sentences[:1],
        mentions=document.mentions[:2],
    )
    np.testing.assert_allclose(
        model.next_entity(cut).probabilities, model.next_entity(document, place).probabilities, atol=1e-6
    )
    with pytest.raises(ConfigError, match="tokens"):
        model.next_entity(cut, 99)


def test_a_typed_or_causal_network_is_not_asked() -> None:
    pretrained, _ = make_bundle()
    with pytest.raises(ConfigError, match="generative"):
        NetworkChooser(pretrained.get("causal"), pretrained.encoder)
