"""Score given analyses: log P(R, E, L, X) of an annotated document, or of many analyses of the same words together."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch

from entitynlm.inference.particle_filter import FilterConfig, ParticleFilter
from entitynlm.inference.readings import Readings
from entitynlm.model.backbones.base import LanguageModel
from entitynlm.model.batch.scores import Carried, Network, iterate_windows, score_windows
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import FixedNoise
from entitynlm.results import Result

SCORED_WORDS = 4_000  # words scored at once: long enough to be fast, short enough for any memory


@dataclass(frozen=True, eq=False, repr=False)
class AnalysisScore(Result):
    """Log-probabilities (nats) of a document's variables, per word of the model's word sequence.

    ``r``, ``e``, ``l``, ``x`` are (T,) arrays; a forced value (R inside a mention, L outside of one) has log-probability zero.
    ``words`` are the model's words, ``origin`` the document's token behind each (-1: a sentence end). ``left_out`` counts the
    mentions that the model does not see, or sees changed, by reason ("nested", "cut" …).
    """

    id: str
    words: tuple[str, ...]
    origin: np.ndarray
    r: np.ndarray
    e: np.ndarray
    l: np.ndarray
    x: np.ndarray
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def per_token(self) -> np.ndarray:
        return self.r + self.e + self.l + self.x

    @property
    def log_prob(self) -> float:
        """log P(R, E, L, X) of the document (equation 9)."""
        return float(self.per_token.sum())

    @property
    def parts(self) -> dict[str, float]:
        """log P(R), log P(E), log P(L) and log P(X) by the names of the variables; they sum to ``log_prob``."""
        return {name: float(getattr(self, name).sum()) for name in ("r", "e", "l", "x")}


def score_document(
    network: EntityNetwork, document: EncodedDocument, words: tuple[str, ...]
) -> AnalysisScore:
    """Score one annotated document, a long one by windows in bounded memory.

    The noise of new entities is fixed, so that scoring can be repeated exactly.
    """
    r, e, l, x = _score_by_windows(network, document)
    return AnalysisScore(document.id, words, document.origin, r, e, l, x)


def score_baseline(network: LanguageModel, document: EncodedDocument) -> np.ndarray:
    """Return (T,) log p(x_t | x_<t) in nats by the model's baseline, a language model without entities."""
    return _score_by_windows(network, document)[3]


@torch.no_grad()
def _score_by_windows(network: Network, document: EncodedDocument) -> list[np.ndarray]:
    """Score windows one after the other, each given the states after the one before: (T,) of R, E, L and X."""
    network.eval()
    carried: Carried | None = None
    found: list[list[np.ndarray]] = [[np.zeros(0)] for _ in range(4)]
    for part in iterate_windows(document, network, SCORED_WORDS) if len(document) else ():
        result = score_windows(network, [part], noise=FixedNoise(), carried=carried)
        carried = result.carried.select(network.backbone, [0])
        for variable, name in zip(found, "relx", strict=True):
            variable.append(getattr(result.scores, name).double().cpu().numpy())
    return [np.concatenate(variable) for variable in found]


def score_together(network: EntityNetwork, document: EncodedDocument, analyses: np.ndarray) -> np.ndarray:
    """Return (V, 4) log-probabilities of R, E, L and X of V analyses (3, V, T) of the same words, without noise.

    Each analysis is a particle, on an island of its own, whose choices are forced, so what analyses share is computed once.
    """
    config = FilterConfig(islands=analyses.shape[1], share=1.0)
    particle_filter = ParticleFilter(network, network, config, np.random.SeedSequence(0))
    for chunk in Readings(document).read(network):
        part = slice(chunk.start, chunk.stop)
        particle_filter.advance(chunk, end=len(document), forced=analyses[:, :, part].T)
    return particle_filter.population.particles.parts[:4].T
