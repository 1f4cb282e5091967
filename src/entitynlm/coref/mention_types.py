"""What kind of thing a mention is of (a person, a place, …): read off the proposal's states at its first and last words.

The model itself is not typed: R says that there is a mention and no more, so that its predictions of who comes next and its
scores of other people's analyses need no types. A linear layer on top of states that have read the whole text is enough to tell
the types of the training documents apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from entitynlm.errors import ModelError
from entitynlm.inference.chunks import CHUNK, ChunkReader, cut
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork

Place = tuple[int, int]
"""First word and end of a mention, in the model's words."""


class TypeGuesser:
    """A linear layer: ``weights`` (types, 2 D + 1) over the states at both ends and a one."""

    def __init__(self, names: Sequence[str], weights: np.ndarray) -> None:
        self.names = tuple(names)
        self.weights = weights

    def guess(self, proposal: EntityNetwork, document: EncodedDocument, places: Sequence[Place]) -> list[str]:
        """The likeliest type of each mention."""
        if not places:
            return []
        ends = read_ends(proposal, document, places)
        return [self.names[number] for number in (ends @ self.weights.T).argmax(axis=1).tolist()]

    def to_dict(self) -> dict[str, Any]:
        return {"names": list(self.names), "weights": np.round(self.weights.astype(float), 4).tolist()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TypeGuesser:
        try:
            weights = np.array(values["weights"], dtype=np.float32)
            if weights.ndim != 2 or len(weights) != len(values["names"]):
                raise ValueError("there is a row of weights for each type")
            return cls(values["names"], weights)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the mention types of this model can't be used ({error})") from error


def read_ends(proposal: EntityNetwork, document: EncodedDocument, places: Sequence[Place]) -> np.ndarray:
    """(M, 2 D + 1) the states at the first and the last word of each mention, and a one."""
    size = proposal.config.hidden_size
    table = np.ones((len(places), 2 * size + 1), dtype=np.float32)
    firsts = np.array([start for start, _ in places], dtype=np.int64)
    lasts = np.array([end - 1 for _, end in places], dtype=np.int64)
    reader = ChunkReader(proposal)
    for start, stop in cut(document.sentence, CHUNK, aligned=proposal.config.restart_sentences):
        states = reader.read(document.x, document.sentence, start, stop).states
        for column, words in ((0, firsts), (size, lasts)):
            here = np.flatnonzero((words >= start) & (words < stop))
            table[here, column : column + size] = states[words[here] - start]
    return table


def train_types(
    ends: np.ndarray, types: Sequence[str], *, decay: float = 1e-3, steps: int = 60
) -> TypeGuesser:
    """Logistic regression on the ends of typed mentions."""
    names = sorted(set(types))
    target = torch.tensor([names.index(name) for name in types])
    features = torch.from_numpy(ends)
    weights = torch.zeros(len(names), features.shape[1], requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=steps, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(features @ weights.t(), target)
        loss = loss + decay * weights[:, :-1].square().sum() / 2
        loss.backward()
        return loss

    optimizer.step(closure)
    return TypeGuesser(names, weights.detach().numpy())
