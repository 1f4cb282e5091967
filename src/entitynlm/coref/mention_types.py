"""The entity type of a mention (person, place, …), read off the proposal's states at its first and last words.

The model itself is not typed: R says that there is a mention and no more, so that its predictions of the next entity and its
scores of other systems' analyses need no types. A linear layer on top of states that have read the whole text is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch

from entitynlm.inference.readings import Readings
from entitynlm.model.components import StoredComponent
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.text.document import Span


class TypeClassifier:
    """A linear layer: ``weights`` (types, 2 D + 1) over the states at both ends and a one. Spans are of the model's words."""

    component_name: ClassVar[str] = "mention_types"

    def __init__(self, names: Sequence[str], weights: np.ndarray) -> None:
        if weights.ndim != 2 or len(weights) != len(names):
            raise ValueError("each mention type needs a row of weights")
        self.names = tuple(names)
        self.weights = weights

    def predict(
        self,
        proposal: EntityNetwork,
        document: EncodedDocument,
        spans: Sequence[Span],
        readings: Readings | None = None,
    ) -> list[str]:
        """The likeliest type of each mention."""
        if not spans:
            return []
        states = read_boundary_states(proposal, document, spans, readings)
        return [self.names[number] for number in (states @ self.weights.T).argmax(axis=1).tolist()]

    def to_stored(self) -> StoredComponent:
        return {"weights": torch.from_numpy(self.weights)}, {"names": list(self.names)}

    @classmethod
    def from_stored(cls, tensors: Mapping[str, torch.Tensor], settings: Mapping[str, Any]) -> TypeClassifier:
        return cls(settings["names"], tensors["weights"].float().numpy())

    @classmethod
    def from_old_notes(cls, notes: Mapping[str, Any]) -> TypeClassifier | None:
        stored = notes.get("types")
        return cls(stored["names"], np.array(stored["weights"], dtype=np.float32)) if stored else None


def read_boundary_states(
    proposal: EntityNetwork,
    document: EncodedDocument,
    spans: Sequence[Span],
    readings: Readings | None = None,
) -> np.ndarray:
    """(M, 2 D + 1) the states at the first and the last word of each mention, and a one."""
    size = proposal.config.entity_dim
    table = np.ones((len(spans), 2 * size + 1), dtype=np.float32)
    firsts = np.array([start for start, _ in spans], dtype=np.int64)
    lasts = np.array([end - 1 for _, end in spans], dtype=np.int64)
    for start, stop, tables in (readings or Readings(document)).read(proposal):
        for column, words in ((0, firsts), (size, lasts)):
            here = np.flatnonzero((words >= start) & (words < stop))
            table[here, column : column + size] = tables.states[words[here] - start]
    return table


def train_types(
    states: np.ndarray, types: Sequence[str], *, decay: float = 1e-3, steps: int = 60
) -> TypeClassifier:
    """Logistic regression on the boundary states of typed mentions."""
    names = sorted(set(types))
    target = torch.tensor([names.index(name) for name in types])
    features = torch.from_numpy(states)
    weights = torch.zeros(len(names), features.shape[1], requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=steps, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(features @ weights.t(), target)
        loss = loss + decay * weights[:, :-1].square().sum() / 2
        loss.backward()
        return loss

    optimizer.step(closure)
    return TypeClassifier(names, weights.detach().numpy())
