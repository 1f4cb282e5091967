"""Speaker attribution: a log-linear model of :mod:`speaker_features` chooses each quotation's speaker among the entities near it.

Quotations are decided one after the other in text order, because the last speakers tell who may speak next. The weights were
learned from LitBank's training and development documents by ``scripts/train_speakers.py``.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from entitynlm.config import load_toml
from entitynlm.discourse.speaker_features import Dialogue, list_candidates

SPEAKER_WEIGHTS = Path(__file__).parents[1] / "resources" / "discourse" / "speakers.toml"


@cache
def load_weights() -> Mapping[str, float]:
    """Load the weight of each feature from the package's resources."""
    return {name: float(weight) for name, weight in load_toml(SPEAKER_WEIGHTS)["weights"].items()}


def find_speakers(dialogue: Dialogue, weights: Mapping[str, float] | None = None) -> list[str | None]:
    """Find the entity that speaks each quotation; None where no person is mentioned near it."""
    weights = load_weights() if weights is None else weights
    speakers: list[str | None] = []
    for number in range(len(dialogue.quotations)):
        rated = {
            who: sum(weights.get(feature, 0.0) for feature in sorted(found))
            for who, found in list_candidates(dialogue, number, speakers).items()
        }
        speakers.append(max(rated, key=lambda who: rated[who]) if rated else None)
    return speakers
