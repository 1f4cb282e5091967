"""Reranking (section 5.2): choose among a baseline's candidates by log P(R, E, L, X), or by a linear combination with its score.

What a combination weighs is called by name: ``baseline`` is the baseline's own score, ``P`` is log P(R, E, L, X), ``P.r``,
``P.e``, ``P.l`` and ``P.x`` are its parts, ``causal``, ``causal.e``, ``lookahead`` … the same of the proposals (which have no x).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from entitynlm.coref.candidates.candidate_files import KBestList
from entitynlm.coref.reranking.scores import PARTS, add_singletons, score_candidates
from entitynlm.errors import ConfigError, DataError
from entitynlm.files import write_atomically
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document

BASELINE = "baseline"
MODES = {"P": "generative", "causal": "causal", "lookahead": "lookahead"}


@dataclass(frozen=True, eq=False)
class ScoredList:
    """The scores of a document's k candidates.

    :param baseline: (k,) the baseline's own.
    :param parts: by the network's short name (``P``, ``causal``, ``lookahead``), (k, 4) log-probabilities of R, E, L and X.
    """

    baseline: np.ndarray
    parts: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.baseline)

    def feature(self, name: str) -> np.ndarray:
        """(k,) the values of one name (see the module's text)."""
        if name == BASELINE:
            return self.baseline
        network, _, part = name.partition(".")
        if network not in self.parts or (part and part not in PARTS):
            raise ConfigError(
                f"there is no score {name!r}; this model gives {BASELINE}, "
                + ", ".join(f"{known} ({known}.r, {known}.e, …)" for known in self.parts)
            )
        values = self.parts[network]
        found: np.ndarray = values[:, PARTS.index(part)] if part else values.sum(axis=1)
        return found


@dataclass(frozen=True)
class Combination:
    """A linear combination: the weight of each name."""

    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        for name, weight in self.weights.items():
            if not math.isfinite(weight):
                raise ConfigError(f"the weight of {name!r} is not a finite number")

    def score(self, scored: ScoredList) -> np.ndarray:
        total = np.zeros(len(scored))
        for name, weight in self.weights.items():
            total += weight * scored.feature(name)
        return total

    def choose(self, scored: ScoredList) -> int:
        """The best candidate; of several, the one that the baseline has first."""
        return int(np.argmax(self.score(scored)))


BY_MODEL = Combination({"P": 1.0})


def list_networks(pretrained: Pretrained) -> dict[str, str]:
    """The networks of a model that can score candidates: mode by short name."""
    return {name: mode for name, mode in MODES.items() if mode in pretrained.networks}


def score_list(
    pretrained: Pretrained, document: Document, kbest: KBestList, names: Sequence[str] | None = None
) -> ScoredList:
    """Score the candidates of one document by the networks called ``names`` (default: all that the model has).

    A model that was trained with singletons sees them in candidates, too (decision 060).
    """
    known = list_networks(pretrained)
    chosen = list(known) if names is None else list(names)
    clusters = [candidate.clusters for candidate in kbest.candidates]
    if pretrained.encoder.singletons == "keep":
        clusters = add_singletons(clusters, kbest.mentions)
    parts = {
        name: score_candidates(pretrained.get(MODES.get(name, name)), pretrained.encoder, document, clusters)
        for name in chosen
    }
    return ScoredList(np.array([candidate.score for candidate in kbest.candidates]), parts)


def list_needed(combination: Combination) -> list[str]:
    names = (name.partition(".")[0] for name in combination.weights if name != BASELINE)
    return list(dict.fromkeys(names))


def save_combination(combination: Combination, path: str | Path) -> None:
    with write_atomically(path) as stream:
        json.dump({"weights": dict(combination.weights)}, stream, indent=2)
        stream.write("\n")


def load_combination(path: str | Path) -> Combination:
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError("there is no such file", path=path) from error
    except (OSError, ValueError) as error:
        raise DataError(f"these weights can't be read ({error})", path=path) from error
    weights = values.get("weights") if isinstance(values, dict) else None
    good = isinstance(weights, dict) and all(
        isinstance(weight, (int, float)) and not isinstance(weight, bool) for weight in weights.values()
    )
    if not good or not weights:
        raise DataError(
            "this is not a file of weights", path=path, expected='{"weights": {"baseline": 1.0, "P": 0.1}}'
        )
    return Combination({str(name): float(weight) for name, weight in weights.items()})
