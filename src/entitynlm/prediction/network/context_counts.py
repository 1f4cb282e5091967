"""Co-occurrence counts of contexts with head words and entity types, and the probabilities of candidates that they give.

A candidate is as probable as the words it was called by before, or as the types that those words suggest; types are annotation,
so they are read from training stories only. The counts that a training story brought itself are subtracted before its own slots
are measured (leave one story out).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from entitynlm.prediction.contexts import Context, extract_contexts, stem
from entitynlm.prediction.network.descriptors import (
    Descriptors,
    ScenarioClassifier,
    collect_verbs,
    describe_context,
    find_scenario,
)
from entitynlm.text.document import Document

LETTERS = {"1": "word1", "2": "word2", "3": "word3", "s": "scenario", "v": "verb", "m": "latest_head"}
LEVELS = (
    ("", -1), ("1", 0), ("21", 1), ("321", 2), ("s", 0), ("s1", 4), ("s21", 5), ("s321", 6),
    ("sv", 4), ("sv1", 5), ("sv21", 6), ("sm", 4), ("sm1", 5), ("smv1", 9),
)  # fmt: skip
"""Each level's descriptors by their :data:`LETTERS`, and the level that it backs off to."""
SHOWN = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13]  # the levels that become features
STRENGTH = 2.0  # how many observations the level below counts for
SMALLEST = 1e-6
JOINT = "\x1f"  # between the parts of a key in a stored table

Key = tuple[str, ...]


@dataclass(frozen=True)
class CountedSlot:
    """What the counts say at one slot.

    :param log_probs: (5, candidates + 1, levels), the last row that of a new entity: of the candidate's words (new: of words that
        are no candidate's); of its types among entities mentioned before (of any new entity); of its types (of types that no
        candidate has); the last two normalised, with the probability of a type shared by the candidates of that type.
    """

    log_probs: np.ndarray
    type_probs: np.ndarray  # (candidates, types)
    types: list[str]  # the likeliest type of each candidate
    descriptors: Descriptors


class _Tables:
    """Counts by key: head words, (type, newness) and, by scenario and head word, types."""

    def __init__(self, types: int) -> None:
        self.types = types
        self.words: dict[Key, Counter[str]] = defaultdict(Counter)
        self.outcomes: dict[Key, np.ndarray] = defaultdict(lambda: np.zeros(2 * types, dtype=np.float32))
        self.heads: dict[Key, np.ndarray] = defaultdict(lambda: np.zeros(types, dtype=np.float32))
        self.type_log_probs: dict[Key, np.ndarray] = {}  # a cache

    def add(self, observed: Iterable[tuple[list[Key], str, str, int]]) -> None:
        for keys, scenario, head, outcome in observed:
            for key in keys:
                self.words[key][head] += 1
                self.outcomes[key][outcome] += 1
            for key in ((scenario, head), ("", head)):
                self.heads[key][outcome % self.types] += 1


class ContextCounts:
    """Counts over the training stories; see the module's docstring."""

    def __init__(self, scenarios: ScenarioClassifier, verbs: Iterable[str], types: Sequence[str]) -> None:
        self.scenarios = scenarios
        self.verbs = frozenset(verbs)
        self.types = tuple(types)
        self.type_ids = {name: number for number, name in enumerate(types)}
        self.tables = _Tables(len(types))
        self._nothing = _Tables(len(types))
        self._stories: dict[str, tuple[Document, frozenset[int]]] = {}
        self._measured: dict[tuple[str, int], CountedSlot] = {}

    @classmethod
    def fit(
        cls, stories: Sequence[Document], counted: Sequence[Sequence[int]] | None = None
    ) -> ContextCounts:
        """Count all mentions, or those that start at ``counted`` (a list per story); the types of head words are those of all."""
        types = sorted({story.entity_types.get(e.id) or "" for story in stories for e in story.entities})
        made = cls(ScenarioClassifier.fit(stories), collect_verbs(stories), types)
        for number, story in enumerate(stories):
            starts = counted[number] if counted is not None else [m.start for m in story.mentions]
            made._stories[story.id] = (story, frozenset(starts))
            made.tables.add(made._observe(story))
        return made

    def _observe(self, story: Document) -> Iterator[tuple[list[Key], str, str, int]]:
        """Keys (none, if it is not counted), scenario, head, and type with newness of each mention of a training story."""
        scenario = find_scenario(story)
        _, counted = self._stories[story.id]
        seen: set[str] = set()
        contexts = extract_contexts(story, [mention.start for mention in story.mentions])
        for mention, context in zip(story.mentions, contexts, strict=True):
            outcome = self.find_outcome(story, mention.entity, is_new=mention.entity not in seen)
            seen.add(mention.entity)
            descriptors = describe_context(context, scenario, self.verbs)
            keys = make_keys(descriptors) if mention.start in counted else []
            yield keys, scenario, stem(story.tokens[mention.end - 1]), outcome

    def find_outcome(self, story: Document, entity: str, *, is_new: bool) -> int:
        """The number of an annotated entity's type, plus the number of types if the entity is new."""
        number = self.type_ids.get(story.entity_types.get(entity) or "", 0)
        return number + len(self.types) * is_new

    def measure(self, story: Document, contexts: Sequence[Context]) -> list[CountedSlot]:
        """Measure the slots of a story; those of a training story without its own counts, and once only."""
        positions = [context.position for context in contexts]
        pairs = zip(contexts, self.scenarios.classify(story, positions), strict=True)
        if story.id not in self._stories or self._stories[story.id][0] is not story:
            return [self._measure(*pair, self._nothing) for pair in pairs]
        if not all((story.id, position) in self._measured for position in positions):
            own = _Tables(len(self.types))
            own.add(self._observe(story))
            for context, scenario in pairs:
                self._measured[story.id, context.position] = self._measure(context, scenario, own)
        return [self._measured[story.id, position] for position in positions]

    def _measure(self, context: Context, scenario: str, own: _Tables) -> CountedSlot:
        type_probs = self._infer_types(context, scenario, own)  # (candidates, types)
        names = [self.types[best] for best in type_probs.argmax(axis=1)] if len(type_probs) else []
        descriptors = describe_context(context, scenario, self.verbs, names)
        outcomes, words = self._estimate(context, make_keys(descriptors), own)
        known, new = np.split(outcomes, 2, axis=1)  # (levels, types) each
        any_type = known + new
        absent = np.prod(1 - type_probs, axis=0)
        shared = type_probs / type_probs.sum(axis=0).clip(1)
        tables = [
            words,
            np.vstack([type_probs @ known.T, new.sum(axis=1)]),
            np.vstack([type_probs @ any_type.T, any_type @ absent]),
            np.vstack([shared @ known.T, new @ absent]),
            np.vstack([shared @ any_type.T, any_type @ absent]),
        ]
        tables[3:] = [table / table.sum(axis=0).clip(1e-9) for table in tables[3:]]
        logs = np.stack([np.log(table + SMALLEST).astype(np.float32) for table in tables])
        return CountedSlot(logs, type_probs, names, descriptors)

    def _estimate(self, context: Context, keys: Sequence[Key], own: _Tables) -> tuple[np.ndarray, np.ndarray]:
        """(shown levels, 2 types) probabilities of outcomes, and (candidates + 1, shown levels) of candidates' words."""
        size = 2 * len(self.types)
        heads = list(dict.fromkeys(head for c in context.candidates for head in c.heads))
        outcomes = np.empty((len(LEVELS), size), dtype=np.float32)
        words = np.empty((len(LEVELS), len(heads)))
        nothing, none = np.zeros(size, dtype=np.float32), Counter[str]()
        for level, ((_, parent), key) in enumerate(zip(LEVELS, keys, strict=True)):
            counts = self.tables.outcomes.get(key, nothing) - own.outcomes.get(key, nothing)
            total = counts.sum()
            below = outcomes[parent] if parent >= 0 else np.float32(1 / size)
            outcomes[level] = (counts + STRENGTH * below) / (total + STRENGTH)
            every, mine = self.tables.words.get(key, none), own.words.get(key, none)
            counts = np.array([every[head] - mine[head] for head in heads], dtype=np.float64)
            fewer = words[parent] if parent >= 0 else 1 / (len(self.tables.words["",]) + 1)
            words[level] = (counts + STRENGTH * fewer) / (float(total) + STRENGTH)
        shown = words[SHOWN]
        column = {head: number for number, head in enumerate(heads)}
        rows = [shown[:, [column[h] for h in dict.fromkeys(c.heads)]].sum(axis=1) for c in context.candidates]
        return outcomes[SHOWN], np.array([*rows, 1 - shown.sum(axis=1)]).clip(0, 1)

    def _infer_types(self, context: Context, scenario: str, own: _Tables) -> np.ndarray:
        """(candidates, types) by naive Bayes: each different head word of a candidate is evidence."""
        if not context.candidates:
            return np.zeros((0, len(self.types)), dtype=np.float32)
        evidence = [
            sum(self._infer_type(head, scenario, own) for head in dict.fromkeys(candidate.heads))
            for candidate in context.candidates
        ]
        found: np.ndarray = softmax(evidence, axis=1)
        return found

    def _infer_type(self, head: str, scenario: str, own: _Tables) -> np.ndarray:
        """(types,) log-probabilities of the types of an entity that is called by a word."""
        cache, size = own.type_log_probs, len(self.types)
        if (scenario, head) not in cache:
            probs = np.full(size, 1 / size, dtype=np.float32)
            nothing = np.zeros(size, dtype=np.float32)
            for key in (("", head), (scenario, head)):
                counts = self.tables.heads.get(key, nothing) - own.heads.get(key, nothing)
                probs = (counts + probs) / (counts.sum() + 1)
            cache[scenario, head] = np.log(probs.clip(1e-4))
        return cache[scenario, head]

    def to_dict(self) -> dict[str, Any]:
        rows = {
            name: {
                JOINT.join(key): {int(i): int(row[i]) for i in np.flatnonzero(row)}
                for key, row in getattr(self.tables, name).items()
            }
            for name in ("outcomes", "heads")
        }
        return {
            "scenarios": self.scenarios.log_probs,
            "verbs": sorted(self.verbs),
            "types": self.types,
            "words": {JOINT.join(key): counts for key, counts in self.tables.words.items()},
            **rows,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ContextCounts:
        made = cls(ScenarioClassifier(values["scenarios"]), values["verbs"], values["types"])
        for name, counts in values["words"].items():
            made.tables.words[tuple(name.split(JOINT))] = Counter(counts)
        for table in ("outcomes", "heads"):
            rows = getattr(made.tables, table)
            for name, counts in values[table].items():
                rows[tuple(name.split(JOINT))][list(map(int, counts))] = list(counts.values())
        return made


def make_keys(descriptors: Descriptors) -> list[Key]:
    """The keys of all levels."""
    return [(name, *(descriptors[LETTERS[letter]] for letter in name)) for name, _ in LEVELS]
