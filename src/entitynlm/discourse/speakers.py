"""Speaker attribution: a log-linear model of :mod:`speaker_features` chooses each quotation's speaker among the entities near it.

Quotations are decided in text order by beam search, because the last speakers tell who may speak next. The weights were learned
from LitBank's training and development documents by ``scripts/train_speakers.py``.
"""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from math import exp, log
from pathlib import Path

from entitynlm.config import load_toml
from entitynlm.discourse.speaker_features import Dialogue, SpeakerFeatures

BEAM_WIDTH = 8
"""Sequences of speakers that are followed at a time: a tag may settle who spoke before it."""
SPEAKER_MEMORY = 12
"""Quotations after which a decision is final."""
SPEAKER_WEIGHTS = Path(__file__).parents[1] / "resources" / "discourse" / "speakers.toml"

_Sequence = tuple[float, tuple[str | None, ...]]
"""A log-probability and the speakers of the quotations that are not yet settled."""


@cache
def load_weights() -> Mapping[str, float]:
    """Load the weight of each feature from the package's resources."""
    return {name: float(weight) for name, weight in load_toml(SPEAKER_WEIGHTS)["weights"].items()}


def find_speakers(dialogue: Dialogue, weights: Mapping[str, float] | None = None) -> list[str | None]:
    """Find the entity that speaks each quotation; None where no person is mentioned near it."""
    weights = load_weights() if weights is None else weights
    features = SpeakerFeatures(dialogue)
    beam: list[_Sequence] = [(0.0, ())]
    settled: list[str | None] = []
    spoken: Counter[str | None] = Counter()
    for number in range(len(dialogue.quotations)):
        extended: list[_Sequence] = []
        for score, recent in beam:
            candidates = features.list(number, recent, spoken)
            rated = {
                who: sum(weights.get(f, 0.0) for f in sorted(found)) for who, found in candidates.items()
            }
            total = log(sum(exp(rating) for rating in rated.values())) if rated else 0.0
            for who in sorted(rated, key=lambda who: -rated[who])[:BEAM_WIDTH]:
                extended.append((score + rated[who] - total, (*recent, who)))
            if not rated:
                extended.append((score, (*recent, None)))
        beam = _keep_best(extended)
        if len(beam[0][1]) > SPEAKER_MEMORY:  # too long ago to change
            settled.append(beam[0][1][0])
            spoken[settled[-1]] += 1
            beam = [(score, recent[1:]) for score, recent in beam if recent[0] == settled[-1]]
    return [*settled, *beam[0][1]]


def _keep_best(extended: list[_Sequence]) -> list[_Sequence]:
    """Keep the best sequences, and only the best of those with the same last three speakers, which go on alike."""
    best: dict[tuple[str | None, ...], _Sequence] = {}
    for score, recent in sorted(extended, key=lambda pair: -pair[0]):
        best.setdefault(recent[-3:], (score, recent))
    return list(best.values())[:BEAM_WIDTH]
