"""How like people a model foresees: against the 20 guesses that Modi et al. (2017) collected for each slot."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from entitynlm.prediction.choices import NEW, Choice
from entitynlm.prediction.slots import Slot, SlottedStory
from entitynlm.text.document import Document


class Answered(Protocol):
    """A slot with what was chosen there."""

    @property
    def slot(self) -> Slot: ...

    @property
    def choice(self) -> Choice: ...


@dataclass(frozen=True)
class Agreement:
    """With people.

    :param accuracy: how often the model's choice is the people's majority, in percent.
    :param correlation: Pearson's, of the model's probability with the share of the people, over all answers at all slots.
    :param correlation_of_truth: the same over the true answers alone.
    :param divergence: mean Jensen-Shannon divergence between the two distributions, in bits.
    """

    accuracy: float
    correlation: float | None
    correlation_of_truth: float | None
    divergence: float


class HumanChooser:
    """The paper's fifth line. The majority is taken first (of equals, the guess that stands first), then an entity that was not
    mentioned yet becomes "new"; in the probabilities each guess is one of twenty.
    """

    def __init__(self, stories: Sequence[SlottedStory]) -> None:
        self.guesses: dict[tuple[str, int], list[tuple[str, ...]]] = defaultdict(list)
        for slotted in stories:  # two slots may ask about one mention
            for slot in slotted.slots:
                self.guesses[slotted.story.id, slot.position].append(slot.guesses)

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        """One choice per position; see ``Chooser``."""
        found = []
        asked: Counter[int] = Counter()
        for position in positions:
            seen = tuple(dict.fromkeys(m.entity for m in story.mentions if m.start < position))
            lists = self.guesses[story.id, position]
            guesses = lists[asked[position] % len(lists)]
            asked[position] += 1
            found.append(
                Choice(
                    (*seen, NEW), tuple(share_out(guesses, seen).tolist()), find_majority(guesses, set(seen))
                )
            )
        return found


def find_majority(guesses: Sequence[str], seen: set[str]) -> str:
    """The label that was guessed most often, mapped to what the task asks for."""
    counts = Counter(guesses)
    most = max(counts.values())
    majority = next(guess for guess in guesses if counts[guess] == most)
    return majority if majority in seen else NEW


def share_out(guesses: Sequence[str], entities: Sequence[str]) -> np.ndarray:
    """(entities + 1,) the share of guesses for each entity and, at the end, for a new one."""
    counts = Counter(guesses)
    shares = np.array([counts[entity] for entity in entities] + [0.0])
    shares[-1] = len(guesses) - shares.sum()
    return shares / max(1, len(guesses))


def measure_agreement(answers: Sequence[Answered]) -> Agreement:
    """Of a row with people, over the slots that people were asked about."""
    model: list[float] = []
    people: list[float] = []
    truths: list[tuple[float, float]] = []
    divergences: list[float] = []
    same = 0
    asked = [answer for answer in answers if answer.slot.guesses]
    for answer in asked:
        known = answer.choice.entities[:-1]
        shares = share_out(answer.slot.guesses, known)
        probabilities = np.array(answer.choice.probabilities)
        same += answer.choice.best == find_majority(answer.slot.guesses, set(known))
        model += probabilities.tolist()
        people += shares.tolist()
        name = NEW if answer.slot.is_new else answer.choice.resolve(answer.slot.entity)
        truth = answer.choice.entities.index(name)
        truths.append((float(probabilities[truth]), float(shares[truth])))
        divergences.append(measure_divergence(probabilities, shares))
    pairs = np.array(truths)
    return Agreement(
        100 * same / len(asked),
        _correlate(np.array(model), np.array(people)),
        _correlate(pairs[:, 0], pairs[:, 1]),
        float(np.mean(divergences)),
    )


def measure_divergence(first: np.ndarray, second: np.ndarray) -> float:
    """Jensen-Shannon, in bits: 0 for equal distributions, 1 for those that share nothing."""
    middle = (first + second) / 2
    total = 0.0
    for side in (first, second):
        there = side > 0
        total += float((side[there] * np.log2(side[there] / middle[there])).sum()) / 2
    return max(0.0, total)


def _correlate(first: np.ndarray, second: np.ndarray) -> float | None:
    """Pearson's; None where one side never changes."""
    if len(first) < 2 or first.std() == 0 or second.std() == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])
