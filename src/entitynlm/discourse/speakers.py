"""Who speaks: each quotation's speaker among the entities near it, by a log-linear model of :mod:`speaker_features`.

Quotations are visited in text order, because the last speakers tell who may speak next. The weights were learned from LitBank's
training and development documents by ``scripts/train_speakers.py``.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from math import exp, log
from pathlib import Path

from entitynlm.config import load_toml
from entitynlm.discourse.speaker_features import Dialogue, SpeakerFeatures
from entitynlm.text.document import Document, Span

WIDTH = 8
"""Sequences of speakers that are followed at a time: a tag may settle who spoke before it."""
MEMORY = 12
"""Quotations after which a decision is final."""
WEIGHTS = Path(__file__).parents[1] / "resources" / "discourse" / "speakers.toml"


@cache
def load_weights() -> Mapping[str, float]:
    return {name: float(weight) for name, weight in load_toml(WEIGHTS)["weights"].items()}


def find_speakers(
    document: Document, quotations: Sequence[Span], weights: Mapping[str, float] | None = None
) -> list[str | None]:
    """The entity that speaks each quotation; None where nobody is near."""
    weights = load_weights() if weights is None else weights
    features = SpeakerFeatures(Dialogue(document, quotations))
    beam: list[tuple[float, tuple[str | None, ...]]] = [(0.0, ())]
    settled: list[str | None] = []
    for number in range(len(quotations)):
        extended: list[tuple[float, tuple[str | None, ...]]] = []
        for score, recent in beam:
            candidates = features.list(number, [*settled, *recent])
            rated = {who: sum(weights.get(f, 0.0) for f in found) for who, found in candidates.items()}
            total = log(sum(exp(rating) for rating in rated.values())) if rated else 0.0
            for who in sorted(rated, key=lambda who: -rated[who])[:WIDTH]:
                extended.append((score + rated[who] - total, (*recent, who)))
            if not rated:
                extended.append((score, (*recent, None)))
        beam = _keep_best(extended)
        if len(beam[0][1]) > MEMORY:  # too long ago to change
            settled.append(beam[0][1][0])
            beam = [(score, recent[1:]) for score, recent in beam if recent[0] == settled[-1]]
    return [*settled, *beam[0][1]]


def _keep_best(
    extended: list[tuple[float, tuple[str | None, ...]]],
) -> list[tuple[float, tuple[str | None, ...]]]:
    """The best sequences; of those with the same last speakers, which go on alike, only the best one."""
    best: dict[tuple[str | None, ...], tuple[float, tuple[str | None, ...]]] = {}
    for score, recent in sorted(extended, key=lambda pair: -pair[0]):
        best.setdefault(recent[-3:], (score, recent))
    return list(best.values())[:WIDTH]
