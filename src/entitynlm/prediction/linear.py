"""The two log-linear rows of the paper's table: shallow features, and the model of Modi et al. (2017).

Modi et al. score every participant of a scenario, mentioned or not, by shallow features, by how well it fits the head verb
(selectional preferences) and by what happened before (predicate schemas). Here a candidate is judged by the types that its words
suggest, and the whole probability of participants that were not mentioned is that of "new", which is the paper's mapping. The
head verb is the last verb of the sentence so far: one that follows the mention can't be known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from entitynlm.prediction.choices import Choice, make_choice
from entitynlm.prediction.contexts import PRONOUNS, Context, look_around
from entitynlm.prediction.loglinear import Examples, fit_weights
from entitynlm.prediction.measures import measure_shallow
from entitynlm.prediction.network.statistics import SHOWN, ContextStatistics, Shares
from entitynlm.text.document import Document

Questions = Sequence[tuple[Document, Sequence[int]]]
"""Annotated stories, and in each the first words of mentions to learn from."""

MODI_LEVELS = tuple(SHOWN.index(level) for level in (4, 5, 8, 9, 12, 13))
"""Scenario; with the word before (the case marker); with the verb; with both; with what was mentioned last; with all of these."""


class LinearChooser:
    """p(c) ∝ exp(w · f(c)), with f from what may be seen."""

    def __init__(
        self, describe: Callable[[Document, Sequence[Context]], list[np.ndarray]], weights: np.ndarray
    ):
        self.describe = describe
        self.weights = weights

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        """One choice per position; see ``Chooser``."""
        situations = look_around(story, positions)
        return [
            make_choice([candidate.entity for candidate in situation.candidates], features @ self.weights)
            for situation, features in zip(situations, self.describe(story, situations), strict=True)
        ]


def fit_chooser(
    describe: Callable[[Document, Sequence[Context]], list[np.ndarray]],
    questions: Questions,
    *,
    on_story: Callable[[int, int], None] = lambda done, total: None,
) -> LinearChooser:
    """Fit the weights of any description on annotated stories."""
    features: list[np.ndarray] = []
    answers: list[int] = []
    for number, (story, positions) in enumerate(questions, start=1):
        situations = look_around(story, positions)
        features += describe(story, situations)
        at = {mention.start: mention.entity for mention in reversed(story.mentions)}
        for situation in situations:
            names = [candidate.entity for candidate in situation.candidates]
            entity = at[situation.position]
            answers.append(names.index(entity) if entity in names else len(names))
        on_story(number, len(questions))
    return LinearChooser(describe, fit_weights(Examples(features, answers)))


def describe_shallow(story: Document, situations: Sequence[Context]) -> list[np.ndarray]:
    """Recency and frequency, and nothing else."""
    return [measure_shallow(situation) for situation in situations]


class ModiDescription:
    """Shallow features, selectional preferences, participant-type fit and predicate schemas."""

    def __init__(self, statistics: ContextStatistics) -> None:
        self.statistics = statistics

    def __call__(self, story: Document, situations: Sequence[Context]) -> list[np.ndarray]:
        shares = self.statistics.measure(story, situations)
        return [self._describe(situation, share) for situation, share in zip(situations, shares, strict=True)]

    def _describe(self, situation: Context, share: Shares) -> np.ndarray:
        shallow = measure_shallow(situation)
        new = shallow[:, -1:]
        levels = list(MODI_LEVELS)
        fits = np.hstack([share.types[:, levels], share.kinds[:, levels]]) / 3
        pronouns = [
            [head in PRONOUNS for head in candidate.heads[-1:]] == [True]
            for candidate in situation.candidates
        ]
        forms = np.array([*pronouns, False], dtype=np.float32)[:, None]
        return np.hstack([shallow, forms, fits, fits * new])
