"""The proposal's scores of entities along a path of links."""

from __future__ import annotations

import pytest
import torch

from entitynlm.coref.linking.entity_memory import NEW_ENTITY
from entitynlm.coref.linking.linker import ProposalScorer
from support.small_bundles import make_bundle


def test_the_proposals_scores_along_its_path_are_its_own() -> None:
    """Told the links of an analysis one by one, the scorer gives the network's own log-probabilities of them."""
    from entitynlm.model.batch.scores import score_documents

    pretrained, encoded = make_bundle()
    proposal, document = pretrained.get("causal"), encoded[0]
    spans = document.analysis.spans()
    proposal_scorer = ProposalScorer(
        proposal, document, [(start, end, kind) for start, end, _, kind in spans]
    )
    known: list[int] = []
    for number, (start, _, entity, _) in enumerate(spans):
        candidates = [*known, NEW_ENTITY]
        chosen = entity if entity in known else NEW_ENTITY
        advice = proposal_scorer.score_entities(number, candidates)[candidates.index(chosen)]
        with torch.no_grad():
            expected = float(score_documents(proposal, [document], noise=None).e[start])
        assert advice == pytest.approx(expected, abs=1e-5)
        proposal_scorer.add_mention(number, entity)
        known += [entity] if chosen == NEW_ENTITY else []
