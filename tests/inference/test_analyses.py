"""Sampled analyses: what the sampler claims about them is what the model says, and their posterior is the true one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from entitynlm.inference.marginal import METHODS, Method
from entitynlm.inference.posterior import (
    WeightedAnalyses,
    decode_greedy,
    find_best_sample,
    sample_analyses,
)
from entitynlm.inference.weights import normalise_weights
from entitynlm.model.encoding.variables import Analysis
from entitynlm.model.reference import SlowTwin
from support.enumeration import list_analyses, score_analyses
from support.small_networks import make_network, make_words

HARD: dict[str, Any] = {"check_every": 2, "resample_threshold": 1.0, "prior_share": 0.0}


def list_distinct(samples: WeightedAnalyses) -> list[tuple[Analysis, float]]:
    """The different ones among the analyses with their weights together, heaviest first."""
    rows = np.concatenate([samples.entity, samples.remaining, samples.mention_type]).T
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    totals = np.bincount(group.reshape(-1), weights=samples.weights)
    return [(samples[int(first[g])], float(totals[g])) for g in np.argsort(-totals, kind="stable")]


def find_current(samples: WeightedAnalyses, word: int) -> np.ndarray:
    """(N,) whose vector e_current is after the word, by the entity's first mention; -1 for none so far."""
    mentioned = samples.new_entities[: word + 1] >= 0
    last = word - np.argmax(mentioned[::-1], axis=0)
    return np.asarray(samples.new_entities[last, np.arange(len(samples))])


@pytest.mark.parametrize("mode", ["causal", "lookahead"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "options",
    [
        {"mention_types": 2, "features": "rich", "max_length": 5},
        {"softmax": "full", "new_entity": "zero"},
        {"features": "none"},
    ],
)
def test_paths_have_the_probability_that_the_model_gives_them(
    mode: str, method: Method, options: dict[str, Any]
) -> None:
    """After many resamplings too: the paths are followed back through their ancestors."""
    model = make_network("generative", **options)
    shared = {key: value for key, value in options.items() if key in ("mention_types", "max_length")}
    proposal = make_network(mode, seed=1, features="paper", **shared)
    document = make_words(60, sentence_length=7)
    samples = sample_analyses(model, proposal, document, particles=20, method=method, **HARD)
    analyses = [samples[i] for i in range(len(samples))]  # each one is checked against the story's grammar
    assert all(analysis.complete for analysis in analyses)
    np.testing.assert_allclose(samples.log_p, score_analyses(model, document, analyses), atol=1e-8)
    np.testing.assert_allclose(samples.log_q, score_analyses(proposal, document, analyses), atol=1e-8)
    assert len(list_distinct(samples)) > 1
    assert sum(weight for _, weight in list_distinct(samples)) == pytest.approx(1)


def test_filtered_paths_share_their_past() -> None:
    model, proposal = make_network("generative"), make_network("causal", seed=1)
    samples = sample_analyses(model, proposal, make_words(60), particles=20, **HARD)
    different = [len(np.unique(samples.new_entities[:t], axis=1).T) for t in (5, 60)]
    assert different[0] < different[1]


def test_the_best_sample_is_one_of_the_proposals_own() -> None:
    model, proposal = make_network("generative"), make_network("lookahead", seed=1)
    document = make_words(30)
    drawn = sample_analyses(
        model, proposal, document, particles=12, method="importance", seed=5, prior_share=0.0
    )
    best = find_best_sample(model, proposal, document, samples=12, seed=5)
    (log_p,) = score_analyses(model, document, [best])
    assert log_p == pytest.approx(drawn.log_p.max()) and drawn.log_p.max() > drawn.log_p.min()
    paths = np.concatenate([drawn.mention_type, drawn.entity, drawn.remaining]).T
    assert len(np.unique(paths, axis=0)) == 12  # nothing was resampled


@pytest.fixture(scope="module")
def short() -> tuple[WeightedAnalyses, list[Analysis], np.ndarray]:
    """Many samples of a short text, and all of its analyses with their true posterior."""
    model, proposal = make_network("generative"), make_network("causal", seed=1, std=0.3)
    document = make_words(4)
    analyses = list_analyses(model, document)
    samples = sample_analyses(model, proposal, document, particles=20_000, check_every=1)
    return samples, analyses, normalise_weights(score_analyses(model, document, analyses))


def test_posterior_of_analyses(short: tuple[WeightedAnalyses, list[Analysis], np.ndarray]) -> None:
    samples, analyses, truth = short
    found = list_distinct(samples)
    assert [weight for _, weight in found] == sorted((weight for _, weight in found), reverse=True)
    for analysis, weight in found:
        assert weight == pytest.approx(truth[analyses.index(analysis)], abs=0.02)
    best = analyses[int(np.argmax(truth))]
    assert samples.best() == best == found[0][0]


def test_posteriors_of_words(short: tuple[WeightedAnalyses, list[Analysis], np.ndarray]) -> None:
    samples, analyses, truth = short
    mention_types = np.array([analysis.mention_type for analysis in analyses])
    found = (samples.mention_type == 1) @ samples.weights
    np.testing.assert_allclose(found, truth @ (mention_types == 1), atol=0.02)

    def born(analysis: Analysis, t: int) -> int:
        entity = analysis.entity[t]
        return int(np.argmax(analysis.entity == entity)) if entity else -1

    def current(analysis: Analysis, t: int) -> int:
        mentioned = np.flatnonzero(analysis.entity[: t + 1])
        return born(analysis, int(mentioned[-1])) if len(mentioned) else -1

    for t in range(4):
        for place in range(-1, 4):
            share = truth @ [born(analysis, t) == place for analysis in analyses]
            weight = samples.weights[samples.new_entities[t] == place].sum()
            assert weight == pytest.approx(share, abs=0.02)
            share = truth @ [current(analysis, t) == place for analysis in analyses]
            weight = samples.weights[find_current(samples, t) == place].sum()
            assert weight == pytest.approx(share, abs=0.02)
        linked = truth @ [a.entity[0] > 0 and a.entity[0] == a.entity[t] for a in analyses]
        assert samples.link_posterior(0, t) == pytest.approx(linked, abs=0.02)


def test_posterior_of_spans(short: tuple[WeightedAnalyses, list[Analysis], np.ndarray]) -> None:
    samples, analyses, truth = short
    expected: dict[tuple[int, int], float] = {}
    for analysis, probability in zip(analyses, truth, strict=True):
        for start, end, _, _ in analysis.spans():
            expected[start, end] = expected.get((start, end), 0) + probability
    found = samples.span_posterior()
    assert set(found) <= set(expected)
    for span, probability in expected.items():
        assert found.get(span, 0) == pytest.approx(probability, abs=0.02)


def test_greedy_decoding_takes_the_best_choice_every_time() -> None:
    """Against the slow twin, which is asked for all its options at each step."""
    proposal, document = make_network("causal", seed=2, std=1.0, mention_types=2), make_words(40)
    analysis, log_q = decode_greedy(proposal, document)
    twin = SlowTwin(proposal)
    with torch.no_grad():
        scores = twin.score(document.with_analysis(analysis))
        assert log_q == pytest.approx(sum(float(s.r + s.e + s.l + s.x) for s in scores), abs=1e-8)
        best = float("-inf")
        story = twin.begin()
        for t in range(len(document)):
            word = document.words[t : t + 1]
            r, e, l = (int(a[t]) for a in (analysis.mention_type, analysis.entity, analysis.remaining))
            starts = story.remaining == 0
            known = len(story.entities)
            options = []
            for mention_type in range(3) if starts else ():
                for entity in range(1, known + 2) if mention_type else (0,):
                    if (
                        mention_type
                        and entity <= known
                        and story.entities[entity - 1].mention_type != mention_type
                    ):
                        continue
                    for length in range(1, min(3, len(document) - t) + 1) if mention_type else (1,):
                        outcome = (mention_type, entity, length)
                        sentence = int(document.sentence[t])
                        score = twin.step(story.copy(), t, (*outcome, word), sentence, t_end=40)
                        options.append((float(score.r), float(score.e), float(score.l), *outcome))
            if starts:  # the best R, then the best E given it, then the best L
                best = max(option[0] for option in options)
                options = [option for option in options if option[0] == best]
                options = [o for o in options if o[1] == max(other[1] for other in options)]
                assert (r, e, l) == max(options, key=lambda o: o[2])[3:]
            twin.step(story, t, (r, e, l, word), int(document.sentence[t]), t_end=40)
    assert len(analysis.spans()) > 3


def test_greedy_decoding_that_looks_ahead() -> None:
    proposal, document = make_network("lookahead", seed=2, std=1.0), make_words(40)
    analysis, log_q = decode_greedy(proposal, document)
    assert log_q == pytest.approx(score_analyses(proposal, document, [analysis])[0], abs=1e-8)
