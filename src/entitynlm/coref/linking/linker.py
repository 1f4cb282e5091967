"""Who is meant, by all that is known: the proposal's choice of an entity (equation 4) weighed with what is on the page.

A small network reads the rows of ``linking_features`` and scores every entity so far and a new one; the proposal's
log-probabilities of the same entities are added with a weight that development documents chose. Mentions are linked from left to
right, each to the best, as the proposal itself does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from entitynlm.coref.linking.entity_memory import NOBODY, EntityMemory, Lexicon, view_spans
from entitynlm.coref.linking.features import FEATURES, Described, describe
from entitynlm.coref.linking.gender_prior import GenderPrior
from entitynlm.coref.linking.speakers import find_speakers
from entitynlm.errors import ModelError
from entitynlm.text.document import Document, Span

HIDDEN = 48
UNLIKELY = -6.0  # the proposal may think less of an entity and gets no more weight for it; of −3 to −12 the best on LitBank dev
Advice = Callable[[int, Sequence[int]], np.ndarray]
"""Log-probabilities of a mention's candidates from elsewhere, given the mention's number and the entities it may belong to."""
Choice = Callable[[int, Described, bool], int]
"""Which entity a mention belongs to; the last argument says that it is not its turn yet, it is only asked who speaks."""


class Linker(nn.Module):
    """Scores of referents from rows of features.

    :param advice_weight: how much the proposal's log-probabilities count.
    :param leanings: of names, as they were when the linker learned.
    """

    def __init__(
        self, hidden: int = HIDDEN, *, advice_weight: float = 0.0, gender_prior: GenderPrior | None = None
    ) -> None:
        super().__init__()
        self.hidden = hidden
        self.layers = nn.Sequential(
            nn.Linear(len(FEATURES), hidden), nn.Tanh(), nn.Dropout(0.2), nn.Linear(hidden, 1)
        )
        self.advice_weight = advice_weight
        self.gender_prior = gender_prior or GenderPrior({})

    def forward(self, features: Tensor, advice: Tensor) -> Tensor:
        scores: Tensor = self.layers(features).squeeze(-1) + self.advice_weight * advice.clamp(min=UNLIKELY)
        return scores

    @torch.no_grad()
    def score(self, features: np.ndarray, advice: np.ndarray | None = None) -> np.ndarray:
        """(C,) scores of a mention's candidates."""
        given = np.zeros(len(features)) if advice is None else advice
        result: np.ndarray = self(torch.from_numpy(features), torch.from_numpy(given).float()).numpy()
        return result

    def to_dict(self) -> dict[str, Any]:
        """For the model's card: some thousand numbers."""
        weights = {
            name: np.round(v.numpy().astype(float), 4).tolist() for name, v in self.state_dict().items()
        }
        return {
            "features": list(FEATURES),
            "advice_weight": self.advice_weight,
            "weights": weights,
            "leanings": self.gender_prior.to_dict(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Linker:
        try:
            if tuple(values["features"]) != FEATURES:
                raise ModelError("the linker of this model was made with other features, by another version")
            weights = {name: torch.tensor(value) for name, value in values["weights"].items()}
            linker = cls(
                len(weights["layers.0.bias"]),
                advice_weight=float(values["advice_weight"]),
                gender_prior=GenderPrior.from_dict(values["leanings"]),
            )
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
    lexicon: Lexicon | None = None,
    advise: Advice | None = None,
    on_link: Callable[[int, int], None] | None = None,
) -> list[int]:
    """The entity of each span (in text order, outer before inner), numbered from 0 in order of first mention."""

    def choose(number: int, described: Described, early: bool) -> int:
        heeded = advise is not None and linker.advice_weight and not early
        advice = advise(number, described.candidates) if advise and heeded else None
        return described.candidates[int(np.argmax(linker.score(described.features, advice)))]

    return follow_mentions(document, spans, choose, types=types, lexicon=lexicon, on_link=on_link)


def follow_mentions(
    document: Document,
    spans: Sequence[Span],
    choose: Choice,
    *,
    types: Sequence[str | None] | None = None,
    lexicon: Lexicon | None = None,
    on_link: Callable[[int, int], None] | None = None,
) -> list[int]:
    """Walk through the mentions, let ``choose`` decide, and keep the cast; at a quotation's start, ask who will speak."""
    cast = EntityMemory(document, lexicon)
    views = view_spans(document, spans)
    speakers = find_speakers(document, views)
    mention_types = types or [None] * len(views)
    entities: list[int] = []
    for number, view in enumerate(views):
        if view.quote in speakers and view.quote not in cast.voices:
            speaker = speakers[view.quote]
            cast.voices[view.quote] = (
                entities[speaker]
                if speaker < number
                else choose(speaker, describe(cast, views[speaker], mention_types[speaker]), True)
            )
        chosen = choose(number, describe(cast, view, mention_types[number]), False)
        entities.append(cast.add(view, chosen, mention_types[number]))
        if on_link:
            on_link(number, entities[-1])
    return entities


# -- learning ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """The mentions of a document: all rows, the proposal's advice, whose rows they are, and which row is right."""

    features: Tensor
    advice: Tensor
    owners: Tensor
    chosen: Tensor


@dataclass
class _Collector:
    """Decides as the annotators did, and notes what the linker would have had to choose from."""

    entities: Sequence[str]
    advise: Advice | None
    numbers: dict[str, int] = field(default_factory=dict)
    rows: list[np.ndarray] = field(default_factory=list)
    advice: list[np.ndarray] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)

    def choose(self, number: int, described: Described, early: bool) -> int:
        entity = self.numbers.get(self.entities[number], NOBODY)
        if not early and entity in described.candidates:
            count = len(described.candidates)
            self.chosen.append(len(self.owners) + described.candidates.index(entity))
            self.owners += [len(self.chosen) - 1] * count
            self.rows.append(described.features)
            self.advice.append(self.advise(number, described.candidates) if self.advise else np.zeros(count))
        return entity

    def note(self, number: int, entity: int) -> None:
        self.numbers[self.entities[number]] = entity


def make_example(
    document: Document,
    spans: Sequence[Span],
    entities: Sequence[str],
    *,
    types: Sequence[str | None] | None = None,
    lexicon: Lexicon | None = None,
    advise: Advice | None = None,
    on_link: Callable[[int, int], None] = lambda number, entity: None,
) -> Example:
    """Mentions (in text order, outer before inner) and their entities, as they would be met from left to right."""
    collector = _Collector(entities, advise)

    def note(number: int, entity: int) -> None:
        collector.note(number, entity)
        on_link(number, entity)

    follow_mentions(document, spans, collector.choose, types=types, lexicon=lexicon, on_link=note)
    rows = collector.rows or [np.zeros((0, len(FEATURES)), dtype=np.float32)]
    return Example(
        torch.from_numpy(np.concatenate(rows)),
        torch.from_numpy(np.concatenate(collector.advice or [np.zeros(0)])).float(),
        torch.tensor(collector.owners, dtype=torch.int64),
        torch.tensor(collector.chosen, dtype=torch.int64),
    )


def train_linker(
    examples: Sequence[Example],
    *,
    advice_weight: float = 0.0,
    gender_prior: GenderPrior | None = None,
    hidden: int = HIDDEN,
    epochs: int = 20,
    rate: float = 0.003,
    seed: int = 1,
    on_epoch: Callable[[int, float, Linker], None] = lambda epoch, loss, linker: None,
) -> Linker:
    """Maximum likelihood of the annotated entity among the candidates, document by document."""
    torch.manual_seed(seed)
    linker = Linker(hidden, advice_weight=advice_weight, gender_prior=gender_prior)
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
    scores = linker(example.features, example.advice)
    count = len(example.chosen)
    largest = scores.new_full((count,), -torch.inf).scatter_reduce(0, example.owners, scores.detach(), "amax")
    sums = scores.new_zeros(count).index_add(0, example.owners, (scores - largest[example.owners]).exp())
    result: Tensor = (scores[example.chosen] - largest - sums.log()).sum()
    return result


def join_linkers(linkers: Sequence[Linker]) -> Linker:
    """One linker whose scores are the mean of several: their hidden layers side by side."""
    joined = Linker(
        sum(linker.hidden for linker in linkers),
        advice_weight=linkers[0].advice_weight,
        gender_prior=linkers[0].gender_prior,
    )
    states = [linker.state_dict() for linker in linkers]
    joined.load_state_dict(
        {
            "layers.0.weight": torch.cat([state["layers.0.weight"] for state in states]),
            "layers.0.bias": torch.cat([state["layers.0.bias"] for state in states]),
            "layers.3.weight": torch.cat([state["layers.3.weight"] for state in states], dim=1) / len(states),
            "layers.3.bias": torch.stack([state["layers.3.bias"] for state in states]).mean(dim=0),
        }
    )
    return joined.eval()
