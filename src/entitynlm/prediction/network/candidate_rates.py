"""Selection rates: of all the times that such a candidate was available in such a context, how often was it mentioned?

``context_counts`` says little about candidates that are seldom available. Here each candidate is available at every slot
and chosen at its own, under several keys; so does "new", and each type of the scenario that no candidate has. All are smoothed
by that of the shortest key, and the counts that a training story brought itself are subtracted (leave one story out).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np

from entitynlm.config import load_toml
from entitynlm.prediction.contexts import Context, extract_contexts
from entitynlm.prediction.network.context_counts import JOINT, ContextCounts, CountedSlot, Key
from entitynlm.prediction.network.descriptors import Descriptors, describe_candidate, find_scenario
from entitynlm.prediction.slots import TrainingSlots
from entitynlm.text.document import Document

RESOURCE = Path(__file__).parents[2] / "resources" / "prediction" / "rate_keys.toml"
TEMPLATES = {
    prefix: [
        (prefix + letter, line.split())
        for letter, line in zip(ascii_lowercase, keys.splitlines(), strict=False)
    ]
    for prefix, keys in load_toml(RESOURCE).items()
}
PRIORS = {"a": 0.05, "Na": 0.3, "Aa": 0.01}  # by the name of the shortest key
RATES, ABSENT = len(TEMPLATES[""]), len(TEMPLATES["A"])
WIDTH = RATES + 2 * ABSENT
STRENGTH = 3.0  # how many observations the shortest key counts for
FEWEST = 2  # a key that was seen less often has the shortest key's rate, and is not stored
FEWEST_OF_TYPE = 3  # a type belongs to a scenario if so many entities of its stories have it


def make_keys(prefix: str, descriptors: Descriptors) -> list[Key]:
    """The keys of a candidate (""), of a new entity ("N") or of an absent type ("A"), the shortest first."""
    return [(name, *[descriptors[field] for field in fields]) for name, fields in TEMPLATES[prefix]]


@dataclass
class _Counts:
    available: Counter[Key] = field(default_factory=Counter)
    chosen: Counter[Key] = field(default_factory=Counter)

    def add(self, keys: Sequence[Key], is_chosen: bool) -> None:
        self.available.update(keys)
        if is_chosen:
            self.chosen.update(keys)


class CandidateRates:
    """Counts over the training slots; see the module's docstring."""

    def __init__(self, context_counts: ContextCounts, inventory: Mapping[str, Sequence[str]]) -> None:
        self.context_counts = context_counts
        self.inventory = inventory
        self.counts = _Counts()
        self._stories: dict[str, tuple[Document, Sequence[int]]] = {}

    @classmethod
    def fit(cls, stories: TrainingSlots, context_counts: ContextCounts) -> CandidateRates:
        """Count over the slots of annotated stories."""
        types: dict[str, Counter[str]] = {}
        for story, _ in stories:
            found = types.setdefault(find_scenario(story), Counter())
            found.update(name for entity in story.entities if (name := story.entity_types.get(entity.id)))
        inventory = {
            scenario: [name for name, count in sorted(found.items()) if count >= FEWEST_OF_TYPE]
            for scenario, found in types.items()
        }
        made = cls(context_counts, inventory)
        for story, positions in stories:
            made._count(story, positions, made.counts)
            made._stories[story.id] = (story, positions)
        return made

    def _count(self, story: Document, positions: Sequence[int], found: _Counts) -> None:
        """Add the slots of an annotated story to some counts."""
        contexts = extract_contexts(story, positions)
        for context, slot in zip(contexts, self.context_counts.measure(story, contexts), strict=True):
            present, absent = self._make_keys(context, slot)
            answer = context.find_answer(story)
            is_new = answer == len(context.candidates)
            new_type = story.entity_types.get(context.find_mention(story).entity) if is_new else None
            for row, keys in enumerate(present):
                found.add(keys, row == answer)
            for name, keys in absent.items():
                found.add(keys, name == new_type)

    def _make_keys(self, context: Context, slot: CountedSlot) -> tuple[list[list[Key]], dict[str, list[Key]]]:
        """The keys of each candidate and of "new", and those of each absent type."""
        descriptors = slot.descriptors
        pairs = zip(context.candidates, slot.types, strict=True)
        present = [make_keys("", {**descriptors, **describe_candidate(context, *pair)}) for pair in pairs]
        missing = [t for t in self.inventory.get(descriptors["scenario"], ()) if t not in slot.types]
        absent = {name: make_keys("A", {**descriptors, "type": name}) for name in missing}
        return [*present, make_keys("N", descriptors)], absent

    def measure(
        self, story: Document, contexts: Sequence[Context], counted: Sequence[CountedSlot]
    ) -> list[np.ndarray]:
        """(candidates + 1, WIDTH) each, logarithms: rates, and how likely absent types are all together and the likeliest."""
        own = _Counts()
        if story.id in self._stories and self._stories[story.id][0] is story:
            self._count(*self._stories[story.id], own)
        found = []
        for context, slot in zip(contexts, counted, strict=True):
            present, absent = self._make_keys(context, slot)
            rates = np.array([self._estimate(keys, own) for keys in present], dtype=np.float32)
            introduced = np.array([self._estimate(keys, own) for keys in absent.values()]).reshape(-1, ABSENT)
            features = np.zeros((len(present), WIDTH), dtype=np.float32)
            features[:, :RATES] = np.log(rates + 1e-4)
            features[-1, RATES:-ABSENT] = np.log(introduced.sum(axis=0) + 1e-3)
            features[:, -ABSENT:] = np.log(introduced.max(axis=0, initial=0.0) + 1e-3)
            found.append(features)
        return found

    def _estimate(self, keys: Sequence[Key], own: _Counts) -> list[float]:
        """The rate of each key, the first one's smoothed by a prior and the others' by the first one's."""
        found: list[float] = []
        prior = PRIORS[keys[0][0]]
        for key in keys:
            available = self.counts.available.get(key, 0) - own.available.get(key, 0)
            chosen = self.counts.chosen.get(key, 0) - own.chosen.get(key, 0)
            smoothed = (chosen + STRENGTH * prior) / (available + STRENGTH)
            found.append(smoothed if available >= FEWEST else prior)
            prior = found[0]
        return found

    def to_dict(self) -> dict[str, Any]:
        """All counts that change a rate, as plain values."""
        kept = {key: count for key, count in self.counts.available.items() if count >= FEWEST}
        return {
            "inventory": self.inventory,
            "rates": {JOINT.join(key): [count, self.counts.chosen[key]] for key, count in kept.items()},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], context_counts: ContextCounts) -> CandidateRates:
        made = cls(context_counts, values["inventory"])
        for name, (available, chosen) in values["rates"].items():
            key = tuple(name.split(JOINT))
            made.counts.available[key] = available
            made.counts.chosen[key] = chosen
        return made
