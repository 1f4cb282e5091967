"""The predictor network on a frozen language model's states.

The context has the states before the slot, a candidate those after its latest and after its first mention. The head word to come
(a side task) is expected as the language model expects it, by its own output vectors of words, and corrected by the network.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from entitynlm.prediction.features import SIZE
from entitynlm.prediction.network.inputs import NOTHING, RECENT
from entitynlm.prediction.network.network import EMBEDDING, PredictorOutput, Sizes, SlotNetwork, as_tensor
from entitynlm.prediction.network.story_states import StateBatch

CONTEXT_STATE, CANDIDATE_STATE, STATE_DROPOUT = 128, 64, 0.3
"""The sizes that states are brought to, and their dropout."""


class StateNetwork(SlotNetwork):
    """:param outputs: (words, W) the language model's output vectors of the words; they are not stored."""

    outputs: Tensor

    def __init__(self, *, outputs: Tensor, types: int, sizes: Sizes) -> None:
        words, width = outputs.shape
        super().__init__(words, types, sizes)
        self.context_state = _read_state(width, CONTEXT_STATE)
        self.context_last = _read_state(width, CONTEXT_STATE)
        self.latest_state = _read_state(width, CANDIDATE_STATE)
        self.first_state = _read_state(width, CANDIDATE_STATE)
        given = RECENT * EMBEDDING + 2 * CONTEXT_STATE
        self._add_layers(given, 2 * EMBEDDING + 2 * CANDIDATE_STATE, SIZE, 3)
        self.trust = nn.Parameter(torch.ones(()))  # in the language model's own expectation of words
        self.register_buffer("outputs", outputs, persistent=False)

    def forward(self, slots: StateBatch) -> PredictorOutput:
        owners, heads = as_tensor(slots.owners), as_tensor(slots.heads)
        states, last = torch.from_numpy(slots.states), as_tensor(slots.last_states)
        candidates, middle = as_tensor(slots.candidate_rows), states[as_tensor(slots.context_rows)]
        vectors = self.embedding(heads)
        rows, exists = self._list_recent(slots)
        recent = (vectors[rows][:, :, 1] * exists).flatten(1)
        h = self.encoder(torch.cat([recent, self.context_state(middle), self.context_last(last)], -1))
        words = F.log_softmax(self.to_words(h) + self.trust * (last @ self.outputs.t()), dim=-1)
        outcomes = F.log_softmax(self.to_outcomes(h), dim=-1)
        is_new = (heads[:, 0] == NOTHING)[:, None]
        any_new = outcomes[:, self.types :].logsumexp(-1, keepdim=True)[owners]
        named = torch.where(is_new, any_new, words[owners[:, None], heads])
        mentioned = self.latest_state(states[candidates[:, 0]]), self.first_state(states[candidates[:, 1]])
        key_inputs = torch.cat([vectors.flatten(1), *mentioned], -1)
        expected = torch.cat([named / 3, any_new], -1)
        return PredictorOutput(self._score(slots, owners, is_new, h, key_inputs, expected), words, outcomes)


def _read_state(width: int, size: int) -> nn.Sequential:
    normalised = nn.LayerNorm(width, elementwise_affine=False)
    return nn.Sequential(normalised, nn.Dropout(STATE_DROPOUT), nn.Linear(width, size))
