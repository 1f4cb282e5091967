"""Long texts in pieces: the same numbers, with rows of the state tables dropped on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from entitynlm.inference import particles
from entitynlm.inference.marginal import estimate_log_prob
from entitynlm.inference.particle_filter import FilterConfig, ParticleFilter
from entitynlm.inference.readings import CHUNK, Readings, cut
from entitynlm.inference.weights import log_sum_exp
from entitynlm.model.entitynlm import EntityNetwork
from support.enumeration import list_analyses
from support.small_networks import make_network, make_words


def walk_in_chunks(
    model: EntityNetwork, proposal: EntityNetwork, length: int, size: int, **options: Any
) -> tuple[ParticleFilter, np.ndarray]:
    document = make_words(length, sentence_length=7)
    filter_config = FilterConfig(4, 0.5)
    particle_filter = ParticleFilter(
        model, proposal, particles=10, seed=np.random.SeedSequence(1), filter_config=filter_config, **options
    )
    found = []
    for chunk in Readings(document).read_both(model, proposal, size=size):
        found.append(particle_filter.advance(chunk, end=length))
    return particle_filter, np.concatenate(found, axis=-1)


@pytest.mark.parametrize("options", [{}, {"tied": True}])
def test_chunks_change_nothing_for_networks_that_read_forward(options: dict[str, Any]) -> None:
    model = make_network("generative", sigma=0.2, **options)
    proposal = make_network("causal", seed=1, **options)
    _, whole = walk_in_chunks(model, proposal, 112, CHUNK)
    _, pieces = walk_in_chunks(model, proposal, 112, 28)  # segments of 4 words in both
    np.testing.assert_allclose(pieces, whole, atol=1e-9)


def test_looking_ahead_in_chunks_is_still_a_distribution() -> None:
    model, proposal = make_network("generative"), make_network("lookahead", seed=1)
    document = make_words(5)
    analyses = list_analyses(proposal, document)
    forced = np.stack([np.stack([a.mention_type, a.entity, a.remaining], axis=-1) for a in analyses], axis=1)
    seed = np.random.SeedSequence(0)
    particle_filter = ParticleFilter(
        model, proposal, particles=len(analyses), seed=seed, filter_config=FilterConfig(4)
    )
    for chunk in Readings(document).read_both(model, proposal, size=2):
        part = slice(chunk.start, chunk.stop)
        particle_filter.advance(chunk, end=5, forced=forced[part])
    assert float(log_sum_exp(particle_filter.log_q)) == pytest.approx(0, abs=1e-10)


def test_margins_reach_over_the_edge_of_a_chunk() -> None:
    """With margins that cover the text, tables read in chunks are those of the whole."""
    model, proposal = make_network("generative"), make_network("lookahead", seed=1)
    _, whole = walk_in_chunks(model, proposal, 60, CHUNK)
    _, pieces = walk_in_chunks(model, proposal, 60, 20)
    np.testing.assert_allclose(pieces, whole, atol=1e-9)


def test_dropping_rows_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, proposal = (
        make_network("generative", sigma=0.2, mention_types=2),
        make_network("causal", seed=1, mention_types=2),
    )
    untouched, expected = walk_in_chunks(model, proposal, 200, CHUNK)
    monkeypatch.setattr(particles, "COMPACT_ABOVE", 50)
    tidied, found = walk_in_chunks(model, proposal, 200, CHUNK)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    counts = [f._population.model_states.used for f in (tidied, untouched) if f._population]
    assert counts[0] < counts[1] / 2


@pytest.mark.slow
def test_memory_does_not_grow_with_the_text() -> None:
    model, proposal = make_network("generative", sigma=0.1), make_network("causal", seed=1)
    document = make_words(30_000, sentence_length=20)
    assert len(list(Readings(document).read_both(model, proposal))) > 1
    estimate = estimate_log_prob(model, proposal, document, particles=4, repeats=1, check_every=50)
    assert np.isfinite(estimate.log_prob)


def test_where_texts_are_cut() -> None:
    sentence = np.repeat(np.arange(5), [3, 4, 9, 2, 2])
    assert cut(sentence, 100, aligned=True) == [(0, 20)]
    assert cut(sentence, 8, aligned=False) == [(0, 8), (8, 16), (16, 20)]
    assert cut(sentence, 8, aligned=True) == [(0, 7), (7, 16), (16, 20)]
    assert cut(sentence[:0], 8, aligned=False) == []
    assert cut(np.zeros(20, dtype=np.int64), 8, aligned=True) == [(0, 20)]
