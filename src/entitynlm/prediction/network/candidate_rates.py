"""How often one who could be mentioned is mentioned: counts of "was there" and "was chosen" from the training stories.

``statistics`` counts who is mentioned in a context. That says little of somebody who is seldom there, so here the question is
another one: of all the times that a candidate of this type, this recent, was there after these words, how often was it the one?
The same is counted for "new", and for each type of the scenario that no candidate has: how often is it brought in now? All
rates are smoothed by the first, shortest one, and a training story's own mentions are taken off before it is asked about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from entitynlm.prediction.contexts import CandidateEntity, Context, extract_contexts
from entitynlm.prediction.network.context_counts import JOINT, ContextCounts, Shares
from entitynlm.prediction.network.facts import Facts, describe_candidate, gather_facts
from entitynlm.prediction.network.scenarios import find_scenario
from entitynlm.text.document import Document

Key = tuple[str, ...]
Keys = list[Key]

NUMBER_OF_RATES = 16
NUMBER_OF_ABSENT = 13
WIDTH = NUMBER_OF_RATES + 2 * NUMBER_OF_ABSENT
STRENGTH = 3.0
"""How many observations the shortest context counts for."""
FEWEST = 2
"""A key that was there less often says nothing, and is not stored."""
PRIORS = {"candidate": 0.05, "new": 0.3, "absent": 0.01}
SMALLEST = {"rate": 1e-4, "absent": 1e-3}
FEWEST_OF_TYPE = 3
"""A type belongs to a scenario if so many entities of its stories have it."""


@dataclass(frozen=True)
class _Asked:
    """The keys at one slot: a list per candidate and one for "new"; and a list per absent type."""

    present: list[Keys]
    absent: dict[str, Keys]


def name_candidate(situation: Context, candidate: CandidateEntity, kind: str, facts: Facts) -> Keys:
    """The keys of a candidate, the shortest first."""
    own = describe_candidate(situation, candidate)
    first, second, _ = facts.words
    s, t = facts.scenario, kind
    recency, distance, count, pronoun = own.recency, own.distance, own.count, own.is_pronoun
    return [
        ("a", s, t),
        ("b", s, t, recency),
        ("c", s, t, first),
        ("d", s, t, second, first),
        ("e", s, t, facts.verb, first),
        ("f", s, t, first, recency),
        ("g", s, t, facts.latest, first),
        ("h", s, t, pronoun, first, distance),
        ("i", s, t, count, distance),
        ("j", s, t, facts.verb),
        ("k", s, t, facts.latest, facts.second),
        ("l", s, own.head, first, distance),
        ("m", s, t, own.context, first),
        ("n", s, own.head, second, first),
        ("o", recency, count, first),
        ("p", pronoun, recency, second, first),
    ]


def name_new(situation: Context, facts: Facts) -> Keys:
    """The keys of a new entity."""
    first, second, third = facts.words
    s, crowd = facts.scenario, facts.crowd
    return [
        ("Na", s),
        ("Nb", s, crowd),
        ("Nc", s, first),
        ("Nd", s, second, first),
        ("Ne", s, facts.verb, first),
        ("Nf", s, first, facts.stage),
        ("Ng", s, facts.latest, first),
        ("Nh", first, second, third),
        ("Ni", crowd, first),
        ("Nj", s, facts.verb),
        ("Nk", s, facts.latest, facts.second),
        ("Nl", first, str(int(situation.offset == 1)), crowd),
        ("Nm", s, first, crowd),
        ("Nn", second, first, crowd),
        ("No", facts.latest, first),
        ("Np", second, first),
    ]


def name_absent(kind: str, facts: Facts) -> Keys:
    """The keys of a type that no candidate has."""
    first, second, third = facts.words
    s, t = facts.scenario, kind
    return [
        ("Aa", s, t),
        ("Ab", s, t, first),
        ("Ac", s, t, second, first),
        ("Ad", s, t, facts.verb, first),
        ("Ae", s, t, facts.latest, first),
        ("Af", s, t, facts.verb),
        ("Ag", s, t, facts.latest),
        ("Ah", s, t, facts.verb, facts.link),
        ("Ai", s, t, facts.verb, facts.after, facts.link),
        ("Aj", s, t, facts.earlier, first),
        ("Ak", s, t, third, second, first),
        ("Al", s, t, facts.stage),
        ("Am", s, t, facts.link, facts.determiner),
    ]


class RateTable:
    """The counts; see the module's text."""

    def __init__(self, statistics: ContextCounts, inventory: Mapping[str, Sequence[str]]) -> None:
        self.statistics = statistics
        self.inventory = {scenario: tuple(kinds) for scenario, kinds in inventory.items()}
        self.there: Counter[Key] = Counter()
        self.chosen: Counter[Key] = Counter()
        self._asked: dict[str, tuple[Document, Sequence[int]]] = {}

    @classmethod
    def fit(cls, questions: Sequence[tuple[Document, Sequence[int]]], statistics: ContextCounts) -> RateTable:
        """Count over annotated stories, at the mentions that are asked about."""
        kinds: dict[str, Counter[str]] = {}
        for story, _ in questions:
            found = kinds.setdefault(find_scenario(story), Counter())
            found.update(kind for entity in story.entities if (kind := story.entity_types.get(entity.id)))
        inventory = {
            scenario: [kind for kind, count in sorted(found.items()) if count >= FEWEST_OF_TYPE]
            for scenario, found in kinds.items()
        }
        made = cls(statistics, inventory)
        for story, positions in questions:
            there, chosen = _count(made._observe(story, positions))
            made.there.update(there)
            made.chosen.update(chosen)
            made._asked[story.id] = (story, positions)
        return made

    def measure(
        self, story: Document, situations: Sequence[Context], facts: Sequence[Facts]
    ) -> list[np.ndarray]:
        """(candidates + 1, WIDTH) each, logarithms: rates, and how likely absent types are all together and the likeliest."""
        counted = self._asked.get(story.id)
        named: dict[int, _Asked] = {}
        there: Mapping[Key, int] = {}
        chosen: Mapping[Key, int] = {}
        if counted is not None and counted[0] is story:
            observed = list(self._observe(*counted))
            there, chosen = _count(observed)
            named = {position: found[0] for position, found in zip(counted[1], observed, strict=True)}
        return [
            self._measure(named.get(situation.position) or self._name(situation, known), there, chosen)
            for situation, known in zip(situations, facts, strict=True)
        ]

    def _measure(self, asked: _Asked, there: Mapping[Key, int], chosen: Mapping[Key, int]) -> np.ndarray:
        found = np.zeros((len(asked.present), WIDTH), dtype=np.float32)
        last = len(asked.present) - 1
        for row, keys in enumerate(asked.present):
            prior = PRIORS["new" if row == last else "candidate"]
            found[row, :NUMBER_OF_RATES] = self._estimate(keys, prior, there, chosen)
        found[:, :NUMBER_OF_RATES] = np.log(found[:, :NUMBER_OF_RATES] + SMALLEST["rate"])
        absent = np.array(
            [self._estimate(keys, PRIORS["absent"], there, chosen) for keys in asked.absent.values()]
        ).reshape(-1, NUMBER_OF_ABSENT)
        total, highest = absent.sum(axis=0), absent.max(axis=0, initial=0.0)
        found[last, NUMBER_OF_RATES:-NUMBER_OF_ABSENT] = np.log(total + SMALLEST["absent"])
        found[:, -NUMBER_OF_ABSENT:] = np.log(highest + SMALLEST["absent"])
        return found

    def _estimate(
        self, keys: Keys, prior: float, there: Mapping[Key, int], chosen: Mapping[Key, int]
    ) -> list[float]:
        found: list[float] = []
        for key in keys:
            count = self.there.get(key, 0)
            hits = self.chosen.get(key, 0)
            if key in there:
                count -= there[key]
                hits -= chosen.get(key, 0)
            found.append((hits + STRENGTH * prior) / (count + STRENGTH) if count >= FEWEST else prior)
            prior = found[0]
        return found

    def _observe(self, story: Document, positions: Sequence[int]) -> Iterator[tuple[_Asked, int, str]]:
        """Keys, answer and, of a new entity, its type, at each position."""
        at = {mention.start: mention.entity for mention in reversed(story.mentions)}
        situations = extract_contexts(story, positions)
        for situation, share in zip(situations, self.statistics.measure(story, situations), strict=True):
            names = [candidate.entity for candidate in situation.candidates]
            entity = at[situation.position]
            old = entity in names
            kind = "" if old else story.entity_types.get(entity) or ""
            facts = self.gather(situation, share)
            yield self._name(situation, facts), names.index(entity) if old else len(names), kind

    def gather(self, situation: Context, share: Shares) -> Facts:
        """See ``facts.gather_facts``."""
        statistics = self.statistics
        return gather_facts(situation, share.scenario, share.beliefs, statistics.names, statistics.verbs)

    def _name(self, situation: Context, facts: Facts) -> _Asked:
        present = [
            name_candidate(situation, candidate, kind, facts)
            for candidate, kind in zip(situation.candidates, facts.types, strict=True)
        ]
        absent = {
            kind: name_absent(kind, facts)
            for kind in self.inventory.get(facts.scenario, ())
            if kind not in facts.types
        }
        return _Asked([*present, name_new(situation, facts)], absent)

    # -- stored ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """All counts that say anything, as plain values."""
        kept = {key: count for key, count in self.there.items() if count >= FEWEST}
        return {
            "inventory": {scenario: list(kinds) for scenario, kinds in self.inventory.items()},
            "rates": {JOINT.join(key): [count, self.chosen[key]] for key, count in kept.items()},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], statistics: ContextCounts) -> RateTable:
        """The counts that ``to_dict`` gave."""
        made = cls(statistics, values["inventory"])
        for name, (there, chosen) in values["rates"].items():
            key = tuple(name.split(JOINT))
            made.there[key] = there
            if chosen:
                made.chosen[key] = chosen
        return made


def _count(observed: Iterable[tuple[_Asked, int, str]]) -> tuple[Counter[Key], Counter[Key]]:
    """What slots of an annotated story bring: who was there, and who was chosen."""
    there: Counter[Key] = Counter()
    chosen: Counter[Key] = Counter()
    for asked, answer, kind in observed:
        for row, keys in enumerate(asked.present):
            there.update(keys)
            if row == answer:
                chosen.update(keys)
        for name, keys in asked.absent.items():
            there.update(keys)
            if name == kind:
                chosen.update(keys)
    return there, chosen
