"""Compute at once all that samplers need of a document and that depends on its words alone.

Particles differ in which entities there are; what a word contributes (the logits of R, the query for E, the words' part of L,
the gate and the state that updates an entity) is the same for all of them. P and both proposals answer in the same shape, so that
one compiled loop serves them all.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from entitynlm.model.backbones.base import HiddenStates
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.entitynlm import EntityNetwork


@dataclass(frozen=True)
class WordTables:
    """Per word t of one document (T words), as numpy arrays of the network's precision.

    :param log_types: (T, 1 + mention types) log p(R_t) where it is free (eq. 3).
    :param queries: (T, D) hᵀ W_entity (eq. 4): the score of an entity is query · vector + w_dist · f.
    :param length_scores: (T, max_length) the words' part of length scores (eq. 5); the entity's: ``length_weights @ vector``.
    :param gates: (T, D) h_tᵀ W_δ, and :param states: (T, D) h_t: what updates an entity (eq. 8).
    :param contexts: (T, D) the h that predictions are made from, in its own size.
    :param words: the words, and :param piece_states: (P, D) the state before each of their pieces; those of P only.
    :param length_weights: (max_length, D).
    :param distance: (4, W) the weight of each distance of each quantity (eq. 4's w_dist · f); larger ones count as the largest.
    :param means: (1 + mention types, D) r of each type (eq. 7) and :param sigma: of the noise around it; zero where new entities
        are.
    """

    log_types: np.ndarray
    queries: np.ndarray
    length_scores: np.ndarray
    gates: np.ndarray
    states: np.ndarray
    contexts: np.ndarray
    length_weights: np.ndarray
    distance: np.ndarray
    means: np.ndarray
    sigma: float
    words: EncodedWords
    piece_states: np.ndarray

    @property
    def tokens(self) -> int:
        return len(self.queries)


@torch.no_grad()
def make_tables(network: EntityNetwork, reading: HiddenStates) -> WordTables:
    """Make the tables of a reading of one document."""
    config = network.config
    after = reading.table[torch.from_numpy(reading.after[0])]
    contexts = after
    if config.mode == "generative":
        contexts = reading.table[torch.from_numpy(reading.before[0])]
    d = config.hidden_size
    updating = network.project_update(after)
    shared = contexts is after and network.projection.shared
    choosing = updating if shared else network.project_state(contexts)
    length_scores = choosing @ network.W_length[:, :d].t()
    output = network.backbone.output_states
    features, noisy = network.feature_set, config.new_entity != "zero"
    distance = np.zeros(features.lookup.shape)
    distance[features.quantities] = _array(network.w_dist)[features.lookup[features.quantities]]
    return WordTables(
        log_types=_array(network.log_prob_types(choosing)),
        queries=_array(network.entity_query(choosing)),
        length_scores=_array(length_scores),
        gates=_array(network.gate_query(updating)),
        states=_array(updating),
        contexts=(whole := _array(output(contexts))),
        length_weights=_array(network.W_length[:, d:]),
        distance=distance,
        means=_array(network.type_embeddings * noisy),
        sigma=float(config.sigma) if noisy else 0.0,
        words=reading.words[0],
        piece_states=whole
        if reading.pieces is None
        else _array(output(reading.table[torch.from_numpy(reading.pieces[0])])),
    )


def make_row(network: EntityNetwork, h: Tensor) -> WordTables:
    """Make one row, of the hidden state (D,) after a word, which updates entities and predicts the next word."""
    row = [np.zeros(1, dtype=np.int64)]
    return make_tables(network, HiddenStates([EncodedWords.of_ids([0])], h[None], row, row))


def _array(tensor: Tensor) -> np.ndarray:
    return np.ascontiguousarray(tensor.detach().cpu().numpy())
