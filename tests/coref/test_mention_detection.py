"""Mention detection: the bias of greedy decoding, and the types of mentions."""

from __future__ import annotations

from entitynlm.coref.mention_detection import (
    MentionBias,
    TypeClassifier,
    detect_mentions,
    read_boundary_states,
    train_types,
)
from entitynlm.inference.posterior import decode_greedy
from entitynlm.inference.readings import Readings
from support.small_bundles import make_bundle


def test_types_are_told_from_states() -> None:
    pretrained, encoded = make_bundle()
    proposal = pretrained.get("lookahead")
    places = [(start, end) for start, end, _, _ in encoded[0].analysis.spans()]
    readings = Readings(encoded[0])
    states = read_boundary_states(proposal, readings, places)
    names = [f"type {number}" for number in range(len(places))]
    classifier = train_types(states, names, decay=1e-6)
    assert classifier.predict(proposal, readings, places) == names
    again = TypeClassifier.from_stored(*classifier.to_stored())
    assert again.predict(proposal, readings, places) == names
    assert again.predict(proposal, readings, []) == []


def test_a_mention_bias_finds_more_mentions() -> None:
    pretrained, encoded = make_bundle()
    proposal = pretrained.get("lookahead")
    counts = [
        sum(
            len(decode_greedy(proposal, document, mention_bias=mention_bias)[0].spans())
            for document in encoded
        )
        for mention_bias in (-20.0, 0.0, 20.0)
    ]
    assert 0 == counts[0] < counts[1] <= counts[2]
    plain, log_q = decode_greedy(proposal, encoded[0])
    assert (plain, log_q) == decode_greedy(proposal, encoded[0], mention_bias=0.0)
    for value in (-20.0, 20.0):
        pretrained.set_component(MentionBias(value))
        expected = decode_greedy(proposal, encoded[0], mention_bias=value)[0]
        assert detect_mentions(pretrained, encoded[0]) == detect_mentions(pretrained, encoded[0], expected)
