"""Training on k-best lists: scores are those of the scoring pass, better candidates rise, and P's words stay as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from coref.reranking.test_scores import make_encoder, make_network
from entitynlm.coref.candidates.candidate_files import KBestList, ScoredClustering
from entitynlm.coref.reranking.list_training import (
    ListTraining,
    compare_list,
    measure_list_loss,
    score_views,
    train_on_lists,
)
from entitynlm.coref.reranking.scores import score_candidates
from entitynlm.text.document import Document

STORY = Document("d", ("Anna", "saw", "Berta", ".", "she", "laughed", ".", "her", "friend", "and", "Berta"))
KEY = STORY.with_clusters((((0, 1), (4, 5), (7, 8)), ((2, 3), (10, 11))))
CANDIDATES = [
    ((((0, 1), (4, 5)), ((2, 3), (10, 11))), 3.0),  # what the baseline has chosen
    ((((0, 1), (4, 5), (7, 8)), ((2, 3), (10, 11))), 2.0),  # better
    ((((0, 1), (4, 5), (10, 11)),), 2.5),  # worse
    ((((0, 1), (4, 5)), ((2, 3), (10, 11))), 1.0),  # the same once more
    ((((0, 1), (10, 11)), ((2, 3), (4, 5))), 1.0),  # worse
]
KBEST = KBestList("d", tuple(ScoredClustering(clusters, score) for clusters, score in CANDIDATES))


@pytest.mark.parametrize("options", [{}, {"mode": "causal"}, {"mode": "lookahead"}, {"features": "rich"}])
def test_analyses_are_scored_as_by_the_scoring_pass(options: dict[str, Any]) -> None:
    encoder = make_encoder("drop")
    network = make_network(encoder, 1, **options)
    compared = compare_list(encoder, STORY, KEY, KBEST)
    with torch.no_grad():
        found = score_views(network, compared.analyses)[torch.from_numpy(compared.view_of)]
    expected = score_candidates(network, encoder, STORY, [clusters for clusters, _ in CANDIDATES])
    np.testing.assert_allclose(found[:, :3].numpy(), expected[:, :3], atol=1e-9)
    assert not found[:, 3].any()


def test_what_is_compared() -> None:
    found = compare_list(make_encoder("drop"), STORY, KEY, KBEST)
    assert found.losses.tolist() == [0.0, 1.0, 0.5, 2.0, 2.0]
    assert found.gains[1] > 0 > found.gains[2] and found.gains[[0, 3]].tolist() == [0.0, 0.0]
    assert found.useful.tolist() == [1, 2, 4]


@pytest.mark.parametrize("mode", ["generative", "causal", "lookahead"])
def test_training_tells_better_from_worse_and_leaves_words_alone(mode: str) -> None:
    encoder = make_encoder("drop")
    network = make_network(encoder, 3, mode=mode).float()
    compared = compare_list(encoder, STORY, KEY, KBEST)
    trained = train_on_lists(network, [compared], settings=ListTraining(epochs=60, learning_rate=0.03))
    weights = torch.tensor([1.0, 0.2])
    with torch.no_grad():
        before, after = (
            float(measure_list_loss(n, compared, compared.useful, weights)) for n in (network, trained)
        )
    assert after < 0.5 * before
    old, new = (score_candidates(n, encoder, STORY, [c for c, _ in CANDIDATES]) for n in (network, trained))
    assert new[1, :3].sum() - new[0, :3].sum() > old[1, :3].sum() - old[0, :3].sum()
    np.testing.assert_array_equal(new[:, 3], old[:, 3])
