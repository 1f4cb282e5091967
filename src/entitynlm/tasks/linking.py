"""Who is meant, by all that is known: the proposal's choice of an entity (equation 4) weighed with what is on the page.

A small network reads the rows of ``linking_features`` and scores every entity so far and a new one; the proposal's
log-probabilities of the same entities are added with a weight that development documents chose. Mentions are linked from left to
right, each to the best, as the proposal itself does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from entitynlm.data.document import Document, Mention, Span
from entitynlm.errors import ModelError
from entitynlm.tasks.linking_features import FEATURES, NOBODY, Cast, view_spans

HIDDEN = 48
Advice = Callable[[int, Sequence[int]], np.ndarray]
"""Log-probabilities of a mention's candidates from elsewhere, given the mention's number and the entities it may belong to."""


DISAGREEMENTS = ((FEATURES.index("gender differs"), 4.0), (FEATURES.index("number differs"), 2.0))
"""What it costs to call someone "he" who was "she" so far. Annotated chains, which the linker learned from, have their first
mention; where that was not found, a pronoun is better off with a new entity than with the wrong one (CoNLL on LitBank dev: 56.50
without these, 56.69 with them)."""


class Linker(nn.Module):
    """Scores of referents from rows of features."""

    def __init__(self, hidden: int = HIDDEN, advice_weight: float = 0.0) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(len(FEATURES), hidden), nn.Tanh(), nn.Dropout(0.2), nn.Linear(hidden, 1)
        )
        self.advice_weight = advice_weight

    def forward(self, features: Tensor) -> Tensor:
        scores: Tensor = self.layers(features).squeeze(-1)
        return scores

    @torch.no_grad()
    def score(self, features: np.ndarray) -> np.ndarray:
        """(C,) scores of a mention's candidates, less what disagreement costs."""
        result: np.ndarray = self(torch.from_numpy(features)).numpy()
        for column, cost in DISAGREEMENTS:
            result = result - cost * features[:, column]
        return result

    def to_dict(self) -> dict[str, Any]:
        """For the model's card: some thousand numbers."""
        weights = {
            name: np.round(v.numpy().astype(float), 4).tolist() for name, v in self.state_dict().items()
        }
        return {"features": list(FEATURES), "advice_weight": self.advice_weight, "weights": weights}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Linker:
        try:
            if tuple(values["features"]) != FEATURES:
                raise ModelError("the linker of this model was made with other features, by another version")
            weights = {name: torch.tensor(value) for name, value in values["weights"].items()}
            linker = cls(len(weights["layers.0.bias"]), float(values["advice_weight"]))
            linker.load_state_dict(weights)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise ModelError(f"the linker of this model can't be used ({error})") from error
        return linker.eval()


def link_mentions(
    linker: Linker,
    document: Document,
    spans: Sequence[Span],
    *,
    types: Sequence[str | None] | None = None,
    advise: Advice | None = None,
    on_link: Callable[[int, int], None] | None = None,
) -> list[int]:
    """The entity of each span (in text order, outer before inner), numbered from 0 in order of first mention."""
    cast = Cast(document)
    entities = []
    for number, view in enumerate(view_spans(document, spans)):
        kind = types[number] if types else None
        described = cast.describe(view, kind)
        scores = linker.score(described.features)
        if advise is not None and linker.advice_weight:
            scores = scores + linker.advice_weight * advise(number, described.candidates)
        entity = cast.add(view, described.candidates[int(np.argmax(scores))], kind)
        entities.append(entity)
        if on_link:
            on_link(number, entity)
    return entities


# -- learning ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """The mentions of a document: all rows, where each mention's begin, and which row is right."""

    features: Tensor
    owners: Tensor
    chosen: Tensor


def make_example(document: Document) -> Example:
    """A document's own mentions and entities, as they would be met from left to right."""
    cast = Cast(document)
    mentions = order_mentions(document.mentions)
    numbers: dict[str, int] = {}
    rows, owners, chosen = [], [], []
    total = 0
    views = view_spans(document, [mention.span for mention in mentions])
    for mention, view in zip(mentions, views, strict=True):
        kind = document.entity_types.get(mention.entity)
        described = cast.describe(view, kind)
        entity = numbers.get(mention.entity, NOBODY)
        if entity in described.candidates:
            chosen.append(total + described.candidates.index(entity))
            rows.append(described.features)
            owners += [len(chosen) - 1] * len(described.candidates)
            total += len(described.candidates)
        numbers[mention.entity] = cast.add(view, entity, kind)
    features = np.concatenate(rows) if rows else np.zeros((0, len(FEATURES)), dtype=np.float32)
    return Example(torch.from_numpy(features), torch.tensor(owners), torch.tensor(chosen))


def order_mentions(mentions: Iterable[Mention]) -> list[Mention]:
    """Text order, a mention before those inside of it."""
    return sorted(mentions, key=lambda mention: (mention.start, -mention.end))


def train_linker(
    examples: Sequence[Example],
    *,
    epochs: int = 20,
    rate: float = 0.003,
    seed: int = 1,
    on_epoch: Callable[[int, float, Linker], None] = lambda epoch, loss, linker: None,
) -> Linker:
    """Maximum likelihood of the annotated entity among the candidates, document by document."""
    torch.manual_seed(seed)
    linker = Linker()
    optimizer = torch.optim.AdamW(linker.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    useful = [example for example in examples if len(example.chosen)]
    for epoch in range(epochs):
        linker.train()
        total = 0.0
        for number in torch.randperm(len(useful)).tolist():
            optimizer.zero_grad()
            loss = -log_likelihood(linker, useful[number])
            (loss / len(useful[number].chosen)).backward()
            optimizer.step()
            total += loss.item()
        schedule.step()
        linker.eval()
        on_epoch(epoch + 1, total / sum(len(example.chosen) for example in useful), linker)
    return linker.eval()


def log_likelihood(linker: Linker, example: Example) -> Tensor:
    """Σ log p(annotated entity) over the mentions of a document."""
    scores = linker(example.features)
    count = len(example.chosen)
    largest = scores.new_full((count,), -torch.inf).scatter_reduce(0, example.owners, scores.detach(), "amax")
    sums = scores.new_zeros(count).index_add(0, example.owners, (scores - largest[example.owners]).exp())
    result: Tensor = (scores[example.chosen] - largest - sums.log()).sum()
    return result
