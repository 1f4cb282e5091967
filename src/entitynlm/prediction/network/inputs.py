"""Slots as numbers for the anticipating network: the words before, who is there, and a row of numbers per candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from entitynlm.prediction.contexts import PRONOUNS, Context, extract_contexts, stem
from entitynlm.prediction.network.expectations import Expectations
from entitynlm.prediction.network.facts import Facts
from entitynlm.text.document import Document

UNKNOWN, NOTHING, BOUNDARY = 0, 1, 2
"""The numbers of a word that is not in the vocabulary, of no word, and of the border before each sentence."""
SPECIAL_WORDS = 3
NEAREST = 6
SENTENCE, PAST = 20, 40
"""How many words are looked at one by one, and how many of the sentence and of the text before it as a heap."""
RECENT = 3
"""How many of the latest mentioned candidates are looked at by type."""


@dataclass(frozen=True)
class Words:
    """The words that a network knows."""

    names: tuple[str, ...]

    @property
    def numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @classmethod
    def collect(cls, stories: Sequence[Document], *, minimum: int = 2) -> Words:
        """All words that were seen ``minimum`` times."""
        found, counts = np.unique([w.lower() for story in stories for w in story.tokens], return_counts=True)
        known = (str(word) for word, count in zip(found, counts, strict=True) if count >= minimum)
        return cls(("<unk>", "<none>", "<s>", *known))


@dataclass(frozen=True)
class NumberedSlots:
    """M slots with P (slot, candidate) pairs; the last pair of each slot is a new entity.

    :param nearest: (M, NEAREST) words before, the nearest first.  :param verbs: (M, 3) verb, verb before, link.
    :param sentence: (M, SENTENCE) and :param past: (M, PAST) words in no order, filled up with nothing.
    :param scenario: (M,).  :param recent: (M, RECENT) pairs of the latest mentioned candidates, -1 for none.
    :param bounds: (M + 1,) the pairs of each slot.  :param features: (P, F) numbers.
    :param heads: (P, 2) the candidate's latest head and its latest head that is no pronoun.
    :param beliefs: (P, types) how likely the candidate is of each type; zeros for a new entity.
    :param answers: (M,) the pair that came true, :param words: (M,) the head word, :param outcomes: (M,) type and newness;
        zeros where nothing is learned.
    """

    nearest: np.ndarray
    verbs: np.ndarray
    sentence: np.ndarray
    past: np.ndarray
    scenario: np.ndarray
    recent: np.ndarray
    bounds: np.ndarray
    features: np.ndarray
    heads: np.ndarray
    beliefs: np.ndarray
    answers: np.ndarray
    words: np.ndarray
    outcomes: np.ndarray

    def __len__(self) -> int:
        return len(self.scenario)

    def pick(self, chosen: np.ndarray) -> NumberedSlots:
        """Some of the slots, in the order asked for."""
        starts, sizes = self.bounds[chosen], np.diff(self.bounds)[chosen]
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(bounds[-1]) + np.repeat(starts - bounds[:-1], sizes)
        shift = (bounds[:-1] - starts)[:, None]
        recent = self.recent[chosen]
        return NumberedSlots(
            self.nearest[chosen],
            self.verbs[chosen],
            self.sentence[chosen],
            self.past[chosen],
            self.scenario[chosen],
            np.where(recent < 0, -1, recent + shift),
            bounds,
            self.features[rows],
            self.heads[rows],
            self.beliefs[rows],
            self.answers[chosen] + shift[:, 0],
            self.words[chosen],
            self.outcomes[chosen],
        )


def join_slots(parts: Sequence[NumberedSlots]) -> NumberedSlots:
    """The slots of many stories as one."""
    bases = np.concatenate([[0], np.cumsum([part.bounds[-1] for part in parts])])
    joined = {
        f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(NumberedSlots)
    }
    pairs = list(zip(parts, bases[:-1], strict=True))
    joined["recent"] = np.concatenate([np.where(p.recent < 0, -1, p.recent + base) for p, base in pairs])
    joined["answers"] = np.concatenate([p.answers + base for p, base in pairs])
    joined["bounds"] = np.concatenate([*(p.bounds[:-1] + base for p, base in pairs), bases[-1:]])
    return NumberedSlots(**joined)


class Numberer:
    """Turns stories into numbers by what was learned from the training stories."""

    def __init__(self, words: Words, expectations: Expectations) -> None:
        self.numbers = words.numbers
        self.expectations = expectations
        self.scenarios = {name: n for n, name in enumerate(expectations.statistics.guesser.names)}

    def number(
        self, story: Document, positions: Sequence[int], *, learn: bool = False
    ) -> tuple[NumberedSlots, list[Context]]:
        """A story's slots at ``positions`` (one at least); if they are to be learned from, with their answers."""
        situations = extract_contexts(story, positions)
        described = self.expectations.describe(story, situations)
        kinds = len(self.expectations.statistics.types)
        sizes = [len(situation.candidates) + 1 for situation in situations]
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        beliefs = np.zeros((bounds[-1], kinds), dtype=np.float32)
        recent = np.full((len(situations), RECENT), -1, dtype=np.int64)
        heads: list[list[int]] = []
        for row, (situation, found) in enumerate(zip(situations, described, strict=True)):
            beliefs[bounds[row] : bounds[row + 1] - 1] = found.beliefs
            order = sorted(range(sizes[row] - 1), key=lambda c: -situation.candidates[c].rank)[:RECENT]
            recent[row, : len(order)] = bounds[row] + np.array(order, dtype=np.int64)
            heads += self._number_heads(situation)
        answers, targets, outcomes = self._find_answers(story, situations, learn)
        return NumberedSlots(
            np.array([self._pad(s.before[::-1], NEAREST, BOUNDARY) for s in situations]),
            np.array([self._number_verbs(found.facts) for found in described]),
            np.array([self._pad(s.before[::-1], SENTENCE, NOTHING) for s in situations]),
            np.array([self._pad(s.past[::-1], PAST, NOTHING) for s in situations]),
            np.array([self.scenarios.get(found.facts.scenario, 0) for found in described], dtype=np.int64),
            recent,
            bounds,
            np.concatenate([found.features for found in described]),
            np.array(heads, dtype=np.int64),
            beliefs,
            bounds[:-1] + answers,
            targets,
            outcomes,
        ), situations

    def _pad(self, words: Sequence[str], size: int, end: int) -> list[int]:
        """The first ``size`` words; where they end stands ``end``, and after that nothing."""
        found = [self.numbers.get(word, UNKNOWN) for word in words[:size]]
        return [*found, end, *([NOTHING] * size)][:size]

    def _number_verbs(self, facts: Facts) -> list[int]:
        words = (facts.verb, facts.earlier, facts.link)
        return [self.numbers.get(word, UNKNOWN) if word else NOTHING for word in words]

    def _number_heads(self, situation: Context) -> list[list[int]]:
        found = []
        for candidate in situation.candidates:
            nouns = [head for head in candidate.heads if head not in PRONOUNS]
            pair = (candidate.heads[-1], nouns[-1] if nouns else candidate.heads[-1])
            found.append([self.numbers.get(head, UNKNOWN) for head in pair])
        return [*found, [NOTHING, NOTHING]]

    def _find_answers(
        self, story: Document, situations: Sequence[Context], learn: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For training: which candidate, which head word, which type."""
        found = np.zeros((3, len(situations)), dtype=np.int64)
        if learn:
            types = self.expectations.statistics.types
            at = {mention.start: mention for mention in reversed(story.mentions)}
            for number, situation in enumerate(situations):
                mention = at[situation.position]
                names = [candidate.entity for candidate in situation.candidates]
                old = mention.entity in names
                kind = types.get(story.entity_types.get(mention.entity) or "", 0)
                head = story.tokens[mention.end - 1].lower()
                found[0, number] = names.index(mention.entity) if old else len(names)
                found[1, number] = self.numbers.get(head, self.numbers.get(stem(head), UNKNOWN))
                found[2, number] = kind + (0 if old else len(types))
        return found[0], found[1], found[2]
