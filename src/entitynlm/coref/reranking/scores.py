"""log P(R, E, L, X) of every candidate of a document, in its four parts, for the price of a few scoring passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from entitynlm.coref.candidates.kbest_lists import Clusters
from entitynlm.coref.reranking.views import view_candidates
from entitynlm.errors import ModelError
from entitynlm.inference.scoring import score_together
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.text.document import Document

PARTS = ("r", "e", "l", "x")


@dataclass(frozen=True, eq=False)
class CandidateScores:
    """What a network thinks of each candidate.

    :param parts: (candidates, 4) log-probabilities of R, E, L and X; X is zero for a proposal.
    :param view_of: (candidates,) which candidates are the same analysis to the network.
    """

    parts: np.ndarray
    view_of: np.ndarray

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def total(self) -> np.ndarray:
        """(candidates,) log P(R, E, L, X)."""
        totals: np.ndarray = self.parts.sum(axis=1)
        return totals


def score_candidates(
    network: EntityNetwork, encoder: Encoder, document: Document, candidates: Sequence[Clusters]
) -> CandidateScores:
    """Score the analyses of one document, each a particle of one population (docs/decisions/060)."""
    views = view_candidates(encoder, document, candidates)
    parts = np.zeros((len(views), len(PARTS)))
    if len(views) and len(views.words):
        analyses = np.stack([views.mention_type, views.entity, views.remaining])
        parts = score_together(network, views.words, analyses)
    if not np.isfinite(parts).all():
        raise ModelError("the model gives a candidate no finite probability; its weights are out of bounds")
    return CandidateScores(parts[views.view_of], views.view_of)
