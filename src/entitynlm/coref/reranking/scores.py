"""log P(R, E, L, X) of every candidate of a document, in its four parts, for the price of a few scoring passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from entitynlm.coref.candidates.kbest_lists import Clusters
from entitynlm.coref.reranking.kernel import count_listed_copies, walk_views
from entitynlm.coref.reranking.views import Views, view_candidates
from entitynlm.errors import ModelError
from entitynlm.inference.word_tables import WordTables, make_tables
from entitynlm.model.batch.pieces import log_prob_chosen_words
from entitynlm.model.batch.scan import SMALLEST_NORM
from entitynlm.model.batch.scores import score_documents
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.variables import Analysis
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.features import find_mention_positions
from entitynlm.model.noise import Noise
from entitynlm.text.document import Document

PARTS = ("r", "e", "l", "x")
CHUNK = 8192  # words scored at once


@dataclass(frozen=True, eq=False)
class CandidateScores:
    """What a network thinks of each candidate.

    :param parts: (candidates, 4) log-probabilities of R, E, L and X; X is zero for a proposal.
    :param view_of: (candidates,) which candidates are one to the network.
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
    network: EntityNetwork,
    encoder: Encoder,
    document: Document,
    candidates: Sequence[Clusters],
    *,
    noise: Noise | None = None,
) -> CandidateScores:
    """Score the analyses of one document.

    :param noise: the birth noise, which must be fixed by position; None leaves it out (σ = 0).
    """
    views = view_candidates(encoder, document, candidates)
    parts = score_views(network, views, noise=noise)[views.view_of]
    return CandidateScores(parts, views.view_of)


@torch.no_grad()
def score_views(network: EntityNetwork, views: Views, *, noise: Noise | None = None) -> np.ndarray:
    """(V, 4) log-probabilities of R, E, L and X of each analysis."""
    words = views.words
    if not len(words):
        return np.zeros((len(views), 4))
    config = network.config
    if network.words_ahead is not None:
        return _score_one_by_one(network, views, noise)
    reading = network.backbone.read([words.words])
    tables = make_tables(network, reading)
    generative = config.mode == "generative"
    features = network.feature_set
    weights = tables.distance_weights.astype(np.float64)
    scores, states, lineage, listed, word_of = walk_views(
        views.mention_type, views.entity, views.remaining, _find_places(network, views), words.sentence,
        tables.log_types, tables.queries, tables.length_scores, tables.length_weights, tables.gates, tables.states,
        _create_entities(network, len(words), noise), np.exp(weights), weights,
        np.flatnonzero(features.offsets >= 0), features.lookup, generative, SMALLEST_NORM,
    )  # fmt: skip
    parts = np.zeros((len(views), 4))
    parts[:, :3] = scores
    if generative:
        log_probs = _score_words(network, tables, states, lineage, listed)
        parts[:, 3] = log_probs[word_of].sum(axis=1)
    if not np.isfinite(parts).all():
        raise ModelError("the model gives a candidate no finite probability; its weights are out of bounds")
    return parts


def _score_one_by_one(network: EntityNetwork, views: Views, noise: Noise | None) -> np.ndarray:
    """The same by a pass for each analysis, for proposals that compare a mention's words with every candidate's."""
    scores = np.zeros((len(views), 4))
    for view, choices in enumerate(zip(views.mention_type, views.entity, views.remaining, strict=True)):
        analysis = Analysis(*(values.astype(np.int64) for values in choices))
        found = score_documents(network, [views.words.with_analysis(analysis)], noise=noise)
        scores[view] = [float(getattr(found, part).double().sum()) for part in PARTS]
    return scores


def _find_places(network: EntityNetwork, views: Views) -> np.ndarray:
    """(V, T) the place of each word in its mention, where the network looks at it."""
    if not network.config.mention_positions:
        return np.zeros_like(views.entity)
    first = np.ones(views.entity.shape, dtype=bool)
    first[:, 1:] = views.remaining[:, :-1] == 1
    return find_mention_positions(network.config, views.mention_type, views.remaining, first).astype(np.int32)


def _create_entities(network: EntityNetwork, size: int, noise: Noise | None) -> np.ndarray:
    """(T, D) the vector of an entity born at each word."""
    positions = np.arange(size)
    drawn = None if noise is None else noise.draw(positions, network.config.entity_dim)
    new_entities: np.ndarray = network.create_entity(torch.ones(size, dtype=torch.long), drawn).numpy()
    return new_entities


def _score_words(
    network: EntityNetwork, tables: WordTables, states: np.ndarray, lineage: np.ndarray, listed: np.ndarray
) -> np.ndarray:
    """(N,) log p of the listed (word, state, place)."""
    projected = network.project_entity(torch.from_numpy(states))
    hidden, piece_states = torch.from_numpy(tables.contexts), torch.from_numpy(tables.piece_states)
    counts = count_listed_copies(listed, lineage, tables.words.x) if network.config.copying else ()
    found = []
    for start in range(0, len(listed), CHUNK):
        some = slice(start, start + CHUNK)
        t, row, place = (torch.from_numpy(column.copy()) for column in listed[some].T)
        chosen = listed[some, 0].astype(np.int64)
        log_x = log_prob_chosen_words(network, piece_states, tables.words, chosen, projected[row], place)
        if counts:
            copy_candidates, copies, opens = (torch.from_numpy(column[some]) for column in counts)
            log_x = network.mix_copies(
                log_x, network.score_copying(hidden[t]), opens, copy_candidates, copies
            )
        found.append(log_x)
    return torch.cat(found).double().numpy()
