"""Calibration of referent probabilities: of the referents that the model gives 30 %, do three in ten come true?"""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from entitynlm.errors import DataError
from entitynlm.model.pretrained import Pretrained
from entitynlm.prediction.referents import NEW_REFERENT, trace_referents
from entitynlm.text.document import Document

PROBABILITY_BINS = 10


@dataclass(frozen=True)
class Bin:
    """Predictions of similar probability: how many, their mean probability, and how often they came true."""

    low: float
    high: float
    count: int
    predicted: float
    observed: float

    @property
    def error(self) -> float:
        return math.sqrt(max(self.observed * (1 - self.observed), 1e-9) / self.count)


@dataclass(frozen=True)
class Calibration:
    """Bins of the likeliest referents' probabilities, their expected calibration error, accuracy, and mean surprisal in bits."""

    bins: tuple[Bin, ...]
    calibration_error: float
    accuracy: float
    surprisal: float
    mentions: int
    documents: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def measure_calibration(pretrained: Pretrained, documents: Iterable[Document]) -> Calibration:
    """Compare the probabilities of the likeliest referents at all mentions with how often they came true."""
    network = pretrained.get("generative")
    probabilities: list[float] = []
    outcomes: list[bool] = []
    right, surprisals, count = 0, [], 0
    for document in documents:
        count += 1
        encoded = pretrained.encoder.encode(document)
        for found in trace_referents(network, encoded, with_words=False).referents:
            true = NEW_REFERENT if found.is_new else found.entity
            right += found.ranked[0][0] == true
            surprisals.append(found.surprisal / math.log(2))
            for number, probability in found.ranked:
                probabilities.append(probability)
                outcomes.append(number == true)
    if not surprisals:
        raise DataError(
            f"there is no mention in {count} document{'s' if count != 1 else ''}",
            hint="Calibration is measured on annotated documents",
        )
    grouped = group_predictions(np.array(probabilities), np.array(outcomes), PROBABILITY_BINS)
    error = sum(b.count * abs(b.predicted - b.observed) for b in grouped) / len(outcomes)
    mentions = len(surprisals)
    return Calibration(grouped, error, right / mentions, sum(surprisals) / mentions, mentions, count)


def group_predictions(probabilities: np.ndarray, outcomes: np.ndarray, bins: int) -> tuple[Bin, ...]:
    places = np.minimum((probabilities * bins).astype(int), bins - 1)
    found = []
    for number in range(bins):
        own = places == number
        if own.any():
            means = float(probabilities[own].mean()), float(outcomes[own].mean())
            found.append(Bin(number / bins, (number + 1) / bins, int(own.sum()), *means))
    return tuple(found)
