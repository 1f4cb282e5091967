"""All that the training stories teach by counting, asked for together: shares of contexts, and rates of those who are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from entitynlm.prediction.contexts import Context
from entitynlm.prediction.features import extract_features
from entitynlm.prediction.network.candidate_rates import RateTable
from entitynlm.prediction.network.context_counts import ContextCounts
from entitynlm.prediction.network.facts import Facts
from entitynlm.prediction.slots import TrainingSlots
from entitynlm.text.document import Document


@dataclass(frozen=True)
class Description:
    """Of a situation.

    :param features: (candidates + 1, columns), the last row that of a new entity.
    :param beliefs: (candidates, types) how likely each candidate is of each type.
    """

    features: np.ndarray
    beliefs: np.ndarray
    facts: Facts


@dataclass
class Expectations:
    """Counts of contexts, and of who was there and was chosen."""

    statistics: ContextCounts
    rates: RateTable

    @classmethod
    def fit(cls, questions: TrainingSlots, statistics: ContextCounts | None = None) -> Expectations:
        """Count; ``statistics`` of the same stories may be handed in."""
        statistics = statistics or ContextCounts.fit([story for story, _ in questions])
        return cls(statistics, RateTable.fit(questions, statistics))

    def describe(self, story: Document, situations: Sequence[Context]) -> list[Description]:
        """What is to be expected in each situation."""
        shares = self.statistics.measure(story, situations)
        facts = [self.rates.gather(*pair) for pair in zip(situations, shares, strict=True)]
        rates = self.rates.measure(story, situations, facts)
        found = []
        for situation, share, known, rate in zip(situations, shares, facts, rates, strict=True):
            columns = (share.words, share.types, share.kinds, share.probabilities, share.presences, rate)
            features = np.hstack([extract_features(situation), *columns])
            found.append(Description(features.astype(np.float32), share.beliefs, known))
        return found

    def to_dict(self) -> dict[str, Any]:
        """All counts as plain values."""
        return {"statistics": self.statistics.to_dict(), "rates": self.rates.to_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Expectations:
        """The counts that ``to_dict`` gave."""
        statistics = ContextCounts.from_dict(values["statistics"])
        return cls(statistics, RateTable.from_dict(values["rates"], statistics))
