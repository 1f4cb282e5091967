"""Agreement with people: a model's choices against the 20 guesses that Modi et al. (2017) collected for each slot."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import rel_entr

from entitynlm.prediction.choices import NEW, Answer, Choice, find_entities
from entitynlm.prediction.slots import SlottedStory
from entitynlm.text.document import Document


@dataclass(frozen=True)
class Agreement:
    """In percent, how often the choice is people's majority; Pearson's correlation with their shares; Jensen-Shannon in bits."""

    accuracy: float
    correlation: float | None
    correlation_of_truth: float | None
    divergence: float


class HumanChooser:
    """The paper's fifth row, people's majority; each guess has the probability of one in twenty."""

    def __init__(self, stories: Sequence[SlottedStory]) -> None:
        self.guesses: dict[tuple[str, int], list[tuple[str, ...]]] = defaultdict(list)
        for slotted in stories:  # two slots may ask about one mention
            for slot in slotted.slots:
                self.guesses[slotted.story.id, slot.position].append(slot.guesses)

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        found = []
        asked: Counter[int] = Counter()
        for position in positions:
            seen = find_entities(story, position)
            lists = self.guesses[story.id, position]
            guesses = lists[asked[position] % len(lists)]
            asked[position] += 1
            shares = tuple(count_shares(guesses, seen).tolist())
            found.append(Choice((*seen, NEW), shares, find_majority(guesses, seen)))
        return found


def find_majority(guesses: Sequence[str], entities: Sequence[str]) -> str:
    """The label guessed most often (of equals, the first); only then is an entity that was not mentioned yet mapped to "new"."""
    majority = Counter(guesses).most_common(1)[0][0]
    return majority if majority in entities else NEW


def count_shares(guesses: Sequence[str], entities: Sequence[str]) -> np.ndarray:
    """(entities + 1,) the share of guesses for each entity and, at the end, for a new one."""
    counts = Counter(guesses)
    shares = np.array([counts[entity] for entity in entities] + [0.0])
    shares[-1] = len(guesses) - shares.sum()
    return shares / max(1, len(guesses))


def measure_agreement(answers: Sequence[Answer]) -> Agreement:
    asked = [answer for answer in answers if answer.slot.guesses]
    model = [np.array(answer.choice.probabilities) for answer in asked]
    people = [count_shares(answer.slot.guesses, answer.choice.entities[:-1]) for answer in asked]
    truths = [answer.choice.entities.index(answer.truth) for answer in asked]
    same = sum(a.choice.best == find_majority(a.slot.guesses, a.choice.entities[:-1]) for a in asked)
    return Agreement(
        100 * same / len(asked),
        _correlate(np.concatenate(model), np.concatenate(people)),
        _correlate(
            *(np.array([p[t] for p, t in zip(side, truths, strict=True)]) for side in (model, people))
        ),
        float(np.mean([measure_divergence(*pair) for pair in zip(model, people, strict=True)])),
    )


def measure_divergence(first: np.ndarray, second: np.ndarray) -> float:
    """Jensen-Shannon, in bits: 0 for equal distributions, 1 for those with nothing in common."""
    middle = (first + second) / 2
    return max(0.0, float((rel_entr(first, middle) + rel_entr(second, middle)).sum()) / (2 * np.log(2)))


def _correlate(first: np.ndarray, second: np.ndarray) -> float | None:
    """Pearson's; None where one side never changes."""
    if len(first) < 2 or first.std() == 0 or second.std() == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])
