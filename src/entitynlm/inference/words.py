"""Equation 6 for all particles of a segment at once: log p(x_t | h_{t-1}, e_current).

Particles that share e_current share the word's probability, so the sampler hands over distinct pairs (word, row). The
projection W_e e is made once per row, when the row is new; what is left is the softmax of h + W_e e, which is the
model's own code.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from entitynlm.inference.sampler import Choices
from entitynlm.inference.states import StateTable
from entitynlm.inference.weights import FloatArray
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.features import count_word_states, find_word_states

LARGEST_BATCH = 2**22
"""Scores computed at once: bounds the memory of a softmax, whatever the vocabulary."""


class WordScorer:
    """Scores words under P; keeps the projections of P's state table beside it."""

    def __init__(self, network: EntityNetwork) -> None:
        self.network = network
        weight = network.W_e
        self._projected: Tensor = weight.new_zeros(0, weight.shape[0])
        self._known = 0
        self._width = self._count_scores()

    def _count_scores(self) -> int:
        """How many scores one word needs, about."""
        config = self.network.config
        words = self.network.reader.embedding.weight.shape[0]
        return words if config.softmax == "full" else 4 * config.hidden_size

    @torch.no_grad()
    def score(self, states: StateTable, contexts: np.ndarray, x: np.ndarray, choices: Choices) -> FloatArray:
        """(S, N) log-probabilities of a segment's words, for every particle.

        :param contexts: (S, D) h_{t-1}.  :param x: (S,) words.
        """
        self._project(states)
        device = self._projected.device
        h = torch.from_numpy(contexts).to(device)
        ids = torch.from_numpy(np.ascontiguousarray(x, dtype=np.int64)).to(device)
        pair, places_of, rows_of, states_of = self._tell_states_apart(choices)
        pairs = len(places_of)
        places, rows, word_states = (torch.from_numpy(a).to(device) for a in (places_of, rows_of, states_of))
        scores = np.empty(pairs)
        batch = max(1, LARGEST_BATCH // self._width)
        for start in range(0, pairs, batch):
            some = slice(start, start + batch)
            found = self.network.log_prob_word(
                h[places[some]], self._projected[rows[some]], ids[places[some]], word_states[some]
            )
            scores[some] = found.double().cpu().numpy()
        result: FloatArray = scores[pair]
        return result

    def _tell_states_apart(self, choices: Choices) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Pairs (word, row) split by the word's place in its mention, where the network looks at that.

        Returns which of them each particle is in, (S, N), and the word, the row and the place of each.
        """
        config = self.network.config
        used = int(choices.pairs[0])
        words, rows = (a[:used].astype(np.int64) for a in (choices.pair_words, choices.pair_rows))
        if not config.word_states:
            return choices.pair, words, rows, np.zeros(used, dtype=np.int64)
        states = find_word_states(config, choices.kind, choices.remaining, choices.free)
        several = count_word_states(config)
        keys, pair = np.unique(choices.pair.astype(np.int64) * several + states, return_inverse=True)
        own, place = keys // several, keys % several
        return pair.reshape(states.shape), words[own], rows[own], place

    def keep(self, rows: np.ndarray) -> None:
        """Follow a state table that dropped all other rows."""
        self._projected = self._projected[torch.from_numpy(rows).to(self._projected.device)]
        self._known = len(rows)

    def _project(self, states: StateTable) -> None:
        """W_e e of the rows that are new."""
        if states.used > len(self._projected):
            size = max(2 * len(self._projected), states.used)
            grown = self._projected.new_zeros(size, self._projected.shape[1])
            grown[: self._known] = self._projected[: self._known]
            self._projected = grown
        new = torch.from_numpy(states.vectors[self._known :]).to(self._projected.device)
        self._projected[self._known : states.used] = self.network.project_entity(new)
        self._known = states.used
