"""What is expected at a word: distributions that sum to one, and those of the networks where these are asked directly."""

from dataclasses import replace

import numpy as np
import pytest

from entitynlm.errors import ConfigError
from entitynlm.inference.readings import Readings
from entitynlm.inference.story_state import read_along
from entitynlm.model.pretrained import Pretrained
from entitynlm.prediction.expectation import LENGTHS, Walk
from support.small_bundles import make_bundle, make_documents

DOCUMENT = make_documents()[0]


@pytest.fixture(scope="module")
def pretrained() -> Pretrained:
    return make_bundle(std=0.7)[0]


@pytest.mark.parametrize("along_mentions", [False, True])
def test_probabilities_are_probabilities(pretrained: Pretrained, along_mentions: bool) -> None:
    walk = Walk(pretrained, DOCUMENT, along_mentions=along_mentions)
    answers = [walk.expect(token) for token in range(len(DOCUMENT))]
    assert any(answer is not None for answer in answers)
    for token, answer in enumerate(answers):
        if answer is None:  # the model does not read it
            continue
        assert 0 <= answer.starts <= 1 and 0 <= answer.inside <= 1
        assert answer.starts + answer.inside <= 1 + 1e-9
        assert sum(weight for *_, weight in answer.open) == pytest.approx(answer.inside, abs=1e-6)
        assert sum(one.probability for one in answer.referents) <= 1 + 1e-9
        firsts = [one.first for one in answer.referents if one.first is not None]
        assert len(set(firsts)) == len(firsts) and all(first < token for first in firsts)
        assert len(answer.lengths) == LENGTHS
        if answer.starts > 0:
            assert sum(answer.lengths) == pytest.approx(1) and None in {one.first for one in answer.referents}
        for words in (answer.words, answer.words_without, *(one.words for one in answer.referents)):
            probs = [probability for _, probability in words]
            assert probs == sorted(probs, reverse=True) and sum(probs) <= 1 + 1e-6


def test_along_mentions_it_is_equation_4(pretrained: Pretrained) -> None:
    walk, network = Walk(pretrained, DOCUMENT, along_mentions=True), pretrained.get("generative")
    encoded = pretrained.encoder.encode(DOCUMENT)
    for step in read_along(network, encoded, Readings(encoded).read(network)):
        word = step.before.history.position
        token = int(encoded.origin[word])
        if token < 0 or step.before.history.remaining:
            continue
        answer, expected = walk.expect(token), step.before.expect(step.tables, step.at)
        assert answer is not None
        assert answer.starts == pytest.approx(float(np.exp(expected.log_probs).sum()))
        new, *known = expected.referents()
        found = {one.first: one.probability for one in answer.referents}
        assert found[None] == pytest.approx(new)
        assert sorted(found.values()) == pytest.approx(sorted([new, *known]), abs=1e-9)


def test_reading_towards_a_word_changes_no_answer(pretrained: Pretrained) -> None:
    plain, prepared = (Walk(pretrained, DOCUMENT, along_mentions=False) for _ in range(2))
    token = len(DOCUMENT) - 2  # the last one is a full stop, which the model does not read
    missing = prepared.count_missing(token)
    prepared.read_towards(token, 2)
    assert prepared.count_missing(token) == missing - 2
    assert plain.expect(token) == prepared.expect(token)
    assert Walk(pretrained, DOCUMENT, along_mentions=True).count_missing(token) == 0


def test_words_alone_need_a_causal_proposal(pretrained: Pretrained) -> None:
    without = replace(pretrained, networks={"generative": pretrained.get("generative")})
    with pytest.raises(ConfigError, match="causal"):
        Walk(without, DOCUMENT, along_mentions=False)
