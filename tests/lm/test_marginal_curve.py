"""The curve of perplexity against samples: a point per method, proposal and N, the same from JSON."""

from __future__ import annotations

import json
import math

import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.inference.marginal import METHODS
from entitynlm.lm.evaluation import ModelsCompared, Sampling, measure_split
from entitynlm.lm.marginal_curve import CurvePoint, trace_curve
from support.small_bundles import cut_document, make_bundle


def test_points_are_what_the_table_measures() -> None:
    pretrained, documents = make_bundle()
    documents = [cut_document(document, 5) for document in documents[:2]]
    points = trace_curve(pretrained, documents, particles=(1, 4), sampling=Sampling(repeats=1, seed=3))
    assert [(p.method, p.proposal, p.particles) for p in points] == [
        (method, proposal, count)
        for method in METHODS
        for proposal in ("causal", "lookahead")
        for count in (1, 4)
    ]
    sampling = Sampling(particles=4, repeats=1, seed=3, proposal="lookahead")
    models = ModelsCompared(pretrained)
    (row,) = measure_split("test", models, documents, sampling=sampling, likelihoods=["marginal"]).rows
    wanted = ("particle-filter", "lookahead", 4)
    (point,) = [p for p in points if (p.method, p.proposal, p.particles) == wanted]
    assert point.perplexities == pytest.approx([row.perplexity])
    assert math.isnan(point.standard_deviation)


def test_points_have_a_spread_and_go_to_json() -> None:
    point = CurvePoint("importance", "causal", 4, 10, (3.0, 5.0), 2.5)
    assert point.mean == 4 and point.standard_deviation == pytest.approx(math.sqrt(2))
    assert json.loads(json.dumps(point.to_dict()))["perplexities"] == [3.0, 5.0]


def test_a_curve_needs_words_and_samples() -> None:
    pretrained, documents = make_bundle()
    with pytest.raises(DataError, match="no words"):
        trace_curve(pretrained, [cut_document(documents[0], 0)])
    with pytest.raises(ConfigError, match="from 1 on"):
        trace_curve(pretrained, documents, particles=(0,))
