"""log P(R, E, L, X) of every candidate of a document, in its four parts, for the price of a few scoring passes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from entitynlm.coref.candidates.kbest_lists import Clusters
from entitynlm.coref.reranking.views import view_candidates
from entitynlm.errors import ModelError
from entitynlm.inference.scoring import score_together
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.text.document import Document

PARTS = ("r", "e", "l", "x")


def score_candidates(
    network: EntityNetwork, encoder: Encoder, document: Document, candidates: Sequence[Clusters]
) -> np.ndarray:
    """(candidates, 4) log-probabilities of R, E, L and X, which is zero for a proposal.

    Each different analysis is a particle of one population (docs/decisions/060).
    """
    views = view_candidates(encoder, document, candidates)
    parts = np.zeros((len(views), len(PARTS)))
    if len(views) and len(views.words):
        parts = score_together(network, views.words, views.analyses)
    if not np.isfinite(parts).all():
        raise ModelError("the model gives a candidate no finite probability; its weights are out of bounds")
    found: np.ndarray = parts[views.view_of]
    return found
