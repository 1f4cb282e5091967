"""How likely each entity is in a context, by counts from the training stories.

Three things are counted after each context (the words before, the scenario, the last verb, the latest mention's head):
the mention's head word, the type of its entity, and whether the entity is new. A candidate's share is the probability of the
words that it was called by before, or of the types that those words suggest. Counts of a training story's own mentions are
taken off before it is asked about (leave one story out); otherwise every story would have foreseen itself.

Types are annotation, so they are looked at in training stories only; a candidate's type is guessed from its words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from entitynlm.prediction.contexts import START, Context, extract_contexts, stem
from entitynlm.prediction.network.scenarios import (
    ScenarioClassifier,
    collect_verbs,
    find_scenario,
    find_verb,
)
from entitynlm.text.document import Document

LEVELS: tuple[tuple[str, int], ...] = (
    ("", -1),
    ("1", 0),
    ("21", 1),
    ("321", 2),
    ("s", 0),
    ("s1", 4),
    ("s21", 5),
    ("s321", 6),
    ("sv", 4),
    ("sv1", 5),
    ("sv21", 6),
    ("sm", 4),
    ("sm1", 5),
    ("smv1", 9),
)
"""Contexts: 1, 2, 3 the words before, s the scenario, v the verb, m the latest mention; and what each falls back on."""
SHOWN = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13)
"""The levels that become features."""
STRENGTH = 2.0
"""How many observations the shorter context counts for."""
SMALLEST = 1e-6
JOINT = "\x1f"
"""Between the parts of a context in a stored table."""

Key = tuple[str, ...]


@dataclass(frozen=True)
class Shares:
    """Features of one situation: (candidates + 1, levels) each, the last row that of a new entity; all are logarithms.

    :param words: probability of the candidate's words; of words that are no candidate's.
    :param types: probability of its types among known entities; that the entity is new.
    :param kinds: probability of its types, known or new; of types that no candidate has.
    :param probabilities: of the candidate, if nobody but the candidates and types that none of them has can be mentioned, and
        candidates of one type share its probability; :param presences: the same with ``kinds``.
    :param beliefs: (candidates, types) how likely each is of each type; no logarithms.
    """

    words: np.ndarray
    types: np.ndarray
    kinds: np.ndarray
    probabilities: np.ndarray
    presences: np.ndarray
    beliefs: np.ndarray
    scenario: str


def name_contexts(situation: Context, scenario: str, verb: str) -> list[Key]:
    """The keys of all levels."""
    last = (START, START, START, *situation.before)[-3:]
    parts = {"1": last[2], "2": last[1], "3": last[0], "s": scenario, "v": verb, "m": situation.latest}
    return [(name, *(parts[letter] for letter in name)) for name, _ in LEVELS]


class ContextCounts:
    """Counts over the training stories; see the module's text."""

    def __init__(self, guesser: ScenarioClassifier, verbs: Iterable[str], types: Sequence[str]) -> None:
        self.guesser = guesser
        self.verbs = frozenset(verbs)
        self.names = tuple(types)
        self.types = {name: number for number, name in enumerate(types)}
        self.words: dict[Key, Counter[str]] = defaultdict(Counter)
        self.outcomes: dict[Key, np.ndarray] = {}
        self.heads: dict[tuple[str, str], np.ndarray] = {}
        self.vocabulary = 0
        self._stories: dict[str, Document] = {}
        self._counted: dict[str, frozenset[int]] = {}
        self._found: dict[tuple[str, int], Shares] = {}
        self._beliefs: dict[tuple[str, str], np.ndarray] = {}

    @classmethod
    def fit(
        cls, stories: Sequence[Document], counted: Sequence[Sequence[int]] | None = None
    ) -> ContextCounts:
        """Count the mentions of annotated stories, or those that start at ``counted`` (a list per story).

        The words that types are called by are learned from all mentions.
        """
        types = sorted({story.entity_types.get(e.id) or "" for story in stories for e in story.entities})
        made = cls(ScenarioClassifier.fit(stories), collect_verbs(stories), types)
        for number, story in enumerate(stories):
            made._stories[story.id] = story
            if counted is not None:
                made._counted[story.id] = frozenset(counted[number])
            for contexts, scenario, head, outcome in made._observe(story):
                for context in contexts:
                    made.words[context][head] += 1
                    _find_vector(made.outcomes, context, 2 * len(types))[outcome] += 1
                for key in ((scenario, head), ("", head)):
                    _find_vector(made.heads, key, len(types))[outcome % len(types)] += 1
        made.vocabulary = len(made.words["",]) + 1
        return made

    def _observe(self, story: Document) -> Iterator[tuple[list[Key], str, str, int]]:
        """Contexts (none, if it is not counted), scenario, head and outcome of each mention of an annotated story."""
        scenario = find_scenario(story)
        counted = self._counted.get(story.id)
        seen: set[str] = set()
        situations = extract_contexts(story, [mention.start for mention in story.mentions])
        for mention, situation in zip(story.mentions, situations, strict=True):
            kind = self.types.get(story.entity_types.get(mention.entity) or "", 0)
            outcome = kind + (len(self.types) if mention.entity not in seen else 0)
            seen.add(mention.entity)
            verb = find_verb(situation.before, self.verbs)
            is_counted = counted is None or mention.start in counted
            contexts = name_contexts(situation, scenario, verb) if is_counted else []
            yield contexts, scenario, stem(story.tokens[mention.end - 1]), outcome

    def measure(self, story: Document, situations: Sequence[Context]) -> list[Shares]:
        """The shares in each situation of a story, without what the story itself brought to the counts.

        Those of a training story are kept: every model that learns from it asks for them again.
        """
        if self._stories.get(story.id) is not story:
            return self._measure_all(story, situations, None)
        lacking = [s for s in situations if (story.id, s.position) not in self._found]
        if lacking:
            found = self._measure_all(story, lacking, _Own(self, story))
            self._found.update(((story.id, s.position), f) for s, f in zip(lacking, found, strict=True))
        return [self._found[story.id, situation.position] for situation in situations]

    def _measure_all(self, story: Document, situations: Sequence[Context], own: _Own | None) -> list[Shares]:
        scenarios = self.guesser.guess(story, [situation.position for situation in situations])
        return [self._measure(s, name, own) for s, name in zip(situations, scenarios, strict=True)]

    def _measure(self, situation: Context, scenario: str, own: _Own | None) -> Shares:
        contexts = name_contexts(situation, scenario, find_verb(situation.before, self.verbs))
        outcomes = self._estimate_outcomes(contexts, own)[list(SHOWN)]  # (levels, 2 types)
        count = len(self.types)
        known, new = outcomes[:, :count], outcomes[:, count:]
        beliefs = self._guess_types(situation, scenario, own)  # (candidates, types)
        free = np.prod(1 - beliefs, axis=0)
        types = np.vstack([beliefs @ known.T, new.sum(axis=1)])
        kinds = np.vstack([beliefs @ (known + new).T, (known + new) @ free])
        words = self._estimate_words(situation, contexts, own)
        single = beliefs / beliefs.sum(axis=0).clip(1)
        probabilities = np.vstack([single @ known.T, new @ free])
        presences = np.vstack([single @ (known + new).T, (known + new) @ free])
        probabilities, presences = (
            table / table.sum(axis=0).clip(1e-9) for table in (probabilities, presences)
        )
        return Shares(
            _log(words), _log(types), _log(kinds), _log(probabilities), _log(presences), beliefs, scenario
        )

    def _estimate_outcomes(self, contexts: Sequence[Key], own: _Own | None) -> np.ndarray:
        """(levels, 2 types) smoothed from level to level."""
        size = 2 * len(self.types)
        found = np.empty((len(LEVELS), size), dtype=np.float32)
        for level, (_, parent) in enumerate(LEVELS):
            shorter = found[parent] if parent >= 0 else np.float32(1 / size)
            counts = self.outcomes.get(contexts[level])
            if counts is None:
                found[level] = shorter
                continue
            if own is not None and contexts[level] in own.outcomes:
                counts = counts.copy()
                for outcome in own.outcomes[contexts[level]]:
                    counts[outcome] -= 1
            found[level] = (counts + STRENGTH * shorter) / (counts.sum() + STRENGTH)
        return found

    def _estimate_words(self, situation: Context, contexts: Sequence[Key], own: _Own | None) -> np.ndarray:
        """(candidates + 1, shown levels): the mass of each candidate's words, and what is left."""
        names = list(dict.fromkeys(head for c in situation.candidates for head in c.heads))
        probs = np.empty((len(LEVELS), len(names)))
        for level, (_, parent) in enumerate(LEVELS):
            shorter = probs[parent] if parent >= 0 else np.full(len(names), 1 / self.vocabulary)
            counter = self.words.get(contexts[level])
            if not counter:
                probs[level] = shorter
                continue
            counts = np.array([counter.get(name, 0) for name in names], dtype=np.float64)
            total = float(self.outcomes[contexts[level]].sum())
            if own is not None and contexts[level] in own.words:
                mine = own.words[contexts[level]]
                counts -= [mine.get(name, 0) for name in names]
                total -= sum(mine.values())
            probs[level] = (counts + STRENGTH * shorter) / (total + STRENGTH)
        shown = probs[list(SHOWN)]
        place = {name: number for number, name in enumerate(names)}
        rows = [
            shown[:, [place[h] for h in dict.fromkeys(c.heads)]].sum(axis=1) for c in situation.candidates
        ]
        return np.array([*rows, 1 - shown.sum(axis=1)]).clip(0, 1)

    def _guess_types(self, situation: Context, scenario: str, own: _Own | None) -> np.ndarray:
        """(candidates, types): each different word of a candidate is evidence, given the scenario."""
        if not situation.candidates:
            return np.zeros((0, len(self.types)), dtype=np.float32)
        table = self._beliefs if own is None else own.beliefs
        logs = np.stack(
            [
                sum(
                    (self._guess_word(h, scenario, own, table) for h in dict.fromkeys(c.heads)),
                    start=np.float32(0),
                )
                for c in situation.candidates
            ]
        )
        exponentials = np.exp(logs - logs.max(axis=1, keepdims=True))
        found: np.ndarray = exponentials / exponentials.sum(axis=1, keepdims=True)
        return found

    def _guess_word(
        self, head: str, scenario: str, own: _Own | None, table: dict[tuple[str, str], np.ndarray]
    ) -> np.ndarray:
        """(types,) log-probabilities of the types of an entity that is called by a word."""
        if (scenario, head) in table:
            return table[scenario, head]
        probs = np.full(len(self.types), 1 / len(self.types), dtype=np.float32)
        for key in (("", head), (scenario, head)):
            counts = self.heads.get(key)
            if counts is None:
                continue
            if own is not None and key in own.heads:
                counts = counts.copy()
                for kind in own.heads[key]:
                    counts[kind] -= 1
            probs = (counts + probs) / (counts.sum() + 1)
        table[scenario, head] = np.log(probs.clip(1e-4))
        return table[scenario, head]

    # -- stored ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """All counts as plain values."""

        def sparse(table: Mapping[Any, np.ndarray]) -> dict[str, dict[int, int]]:
            return {
                JOINT.join(key): {int(i): int(counts[i]) for i in np.flatnonzero(counts)}
                for key, counts in table.items()
            }

        return {
            "scenarios": self.guesser.log_probs,
            "verbs": sorted(self.verbs),
            "types": list(self.types),
            "words": {JOINT.join(key): dict(counts) for key, counts in self.words.items()},
            "outcomes": sparse(self.outcomes),
            "heads": sparse(self.heads),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ContextCounts:
        """The counts that ``to_dict`` gave."""
        made = cls(ScenarioClassifier(values["scenarios"]), values["verbs"], values["types"])

        def dense(
            table: Mapping[str, Mapping[str, int]], size: int
        ) -> Iterator[tuple[list[str], np.ndarray]]:
            for key, counts in table.items():
                vector = np.zeros(size, dtype=np.float32)
                for place, count in counts.items():
                    vector[int(place)] = count
                yield key.split(JOINT), vector

        for key, counts in values["words"].items():
            made.words[tuple(key.split(JOINT))] = Counter(counts)
        for parts, vector in dense(values["outcomes"], 2 * len(made.types)):
            made.outcomes[tuple(parts)] = vector
        for parts, vector in dense(values["heads"], len(made.types)):
            made.heads[parts[0], parts[1]] = vector
        made.vocabulary = len(made.words["",]) + 1
        return made


def _log(values: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.log(values + SMALLEST).astype(np.float32)
    return found


def _find_vector(table: dict[Any, np.ndarray], key: tuple[str, ...], size: int) -> np.ndarray:
    if key not in table:
        table[key] = np.zeros(size, dtype=np.float32)
    return table[key]


class _Own:
    """What one training story has brought to the counts."""

    def __init__(self, statistics: ContextCounts, story: Document) -> None:
        self.words: dict[Key, Counter[str]] = defaultdict(Counter)
        self.outcomes: dict[Key, list[int]] = defaultdict(list)
        self.heads: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.beliefs: dict[tuple[str, str], np.ndarray] = {}
        for contexts, scenario, head, outcome in statistics._observe(story):
            for context in contexts:
                self.words[context][head] += 1
                self.outcomes[context].append(outcome)
            for key in ((scenario, head), ("", head)):
                self.heads[key].append(outcome % len(statistics.types))
