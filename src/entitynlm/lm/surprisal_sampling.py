"""Surprisal of every word without an annotation: a particle filter that also counts how often its particles are in a mention.

Each repeat is one population with its own randomness. A word's estimate is the mean of the repeats' conditionals

    p(x_t | x_<t) = P(x_1 … x_t) / P(x_1 … x_{t-1}),

and its error their spread. (The estimate of the whole text, ``estimate_log_prob``, instead follows the repeat with the largest
P(x_1 … x_t): right for a sum over words, but on a novel one repeat would stand for all; docs/decisions/081.)
"""

from dataclasses import dataclass

import numpy as np

from entitynlm.inference.marginal import make_filters
from entitynlm.inference.particle_filter import ParticleFilter
from entitynlm.inference.particles import Choices
from entitynlm.inference.readings import Readings
from entitynlm.inference.weights import FloatArray, log_mean_exp, normalise
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.progress import SILENT, Progress

CHUNK = 2_048  # words between two remarks about progress


class ObservedFilter(ParticleFilter):
    """A particle filter that notes, for each word, how much of the weight is in a mention."""

    def start_watching(self) -> None:
        self.free: list[FloatArray] = []  # weight, before each word, of particles that may choose R there
        self.inside: list[FloatArray] = []  # weight, after each word, of particles in a mention

    def _weigh(self, choices: Choices, log_words: FloatArray) -> FloatArray:
        before = self.log_weights.copy()
        log_evidence = super()._weigh(choices, log_words)
        factors = np.cumsum(choices.log_p.sum(0) + log_words - choices.log_q, axis=0)
        after = normalise(before + factors)
        previous = np.concatenate([normalise(before)[None], after[:-1]])
        self.free.append((previous * choices.free).sum(1))
        self.inside.append((after * (choices.mention_type > 0)).sum(1))
        return log_evidence

    def take(self) -> tuple[FloatArray, FloatArray]:
        """What was noted since the last call."""
        noted = np.concatenate(self.free), np.concatenate(self.inside)
        self.start_watching()
        return noted


@dataclass(frozen=True)
class WordEstimates:
    """(T,) log p(x_t | x_<t) with standard errors (nan for one repeat), P(R_t > 0 | x_<t), and P(R_t > 0 | x_1 … x_t)."""

    log_probs: FloatArray
    errors: FloatArray
    mention_expected: FloatArray
    mention_found: FloatArray


def estimate_words(
    model: EntityNetwork,
    proposal: EntityNetwork,
    document: EncodedDocument,
    *,
    particles: int = 50,
    repeats: int = 4,
    seed: int = 0,
    readings: Readings | None = None,
    progress: Progress = SILENT,
) -> WordEstimates:
    """Estimate every word's probability given the words before it; the annotation is not looked at."""
    filters = make_filters(
        model, proposal, document, particles=particles, repeats=repeats, seed=seed, make=ObservedFilter
    )
    length = len(document)
    progress.start("words", length)
    log_evidence, expected, found = (np.empty((repeats, length)) for _ in range(3))
    for chunk in (readings or Readings(document)).read_both(model, proposal, size=CHUNK):
        part = slice(chunk.start, chunk.stop)
        starts = 1 - np.exp(chunk.model.log_types[:, 0].astype(np.float64))
        for row, particle_filter in enumerate(filters):
            particle_filter.start_watching()
            log_evidence[row, part] = particle_filter.advance(chunk, end=length)
            free, inside = particle_filter.take()
            expected[row, part] = free * starts + (1 - free)
            found[row, part] = inside
        progress.advance("words", chunk.stop - chunk.start)
    progress.finish("words")
    conditionals = np.diff(log_evidence, axis=1, prepend=0.0)
    log_probs = log_mean_exp(conditionals, axis=0)
    errors = np.full(length, np.nan)
    if repeats > 1:  # of the logarithm of the repeats' mean, by the delta method
        errors = np.exp(conditionals - log_probs).std(axis=0, ddof=1) / np.sqrt(repeats)
    return WordEstimates(log_probs, errors, np.clip(expected.mean(0), 0, 1), found.mean(0))
