"""Estimate log p(x_t | x_<t) of every word without annotation: with entities, by sampling, and without entities.

With entities a particle filter also records what its particles believe about mentions (``filtering``). A word's estimate is the
mean of the conditionals P(x_1 … x_t) / P(x_1 … x_{t-1}) of independent repeats, its error their spread. (``estimate_log_prob``
instead follows the repeat with the largest P(x_1 … x_t): on a novel one repeat would stand for all; docs/decisions/081.) Without
entities it is the model's LSTM baseline (``rnnlm``), or else the language model under P.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import torch

from entitynlm.inference.marginal import make_filter
from entitynlm.inference.particle_filter import WeighedSegment
from entitynlm.inference.readings import Readings
from entitynlm.inference.scoring import score_baseline
from entitynlm.inference.weights import FloatArray, log_mean_exp
from entitynlm.lm.filtering import BeliefObserver, FilteredPosteriors, join_beliefs
from entitynlm.lm.next_words import NextWords
from entitynlm.model.batch.scores import Pieces
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress

BaselineName = Literal["rnnlm", "language model"]

# docs/decisions/081-surprisal.md has errors and costs of other values
P_SHARE = 0.5  # of P in what particles are drawn from
RESAMPLE_BELOW = 0.9  # of the particles: equal ones cost nothing, so resample whenever the weights differ
WORDS_PER_CHECK = 2  # words after which the weights are looked at
CORRECTED = 0.5  # how much of the choices' chance is divided out of a word's probability

REPORTED_WORDS = 512
"""Words between two reports of progress."""


@dataclass(frozen=True)
class WordEstimates:
    """(T,) log p(x_t | x_<t), (R, T) how far each repeat's -log p is from it, and what a reader believes, if known.

    :param without: (T,) log p by the language model alone, where the estimate needs it.
    """

    log_probs: FloatArray
    deviations: FloatArray
    reader: FilteredPosteriors | None = None
    without: FloatArray | None = None

    @cached_property
    def errors(self) -> FloatArray:
        """(T,) standard errors; nan where there is one repeat."""
        count = len(self.deviations)
        if count < 2:
            return np.full(len(self.log_probs), np.nan)
        return self.deviations.std(axis=0, ddof=1) / math.sqrt(count)


def estimate_words(
    model: EntityNetwork,
    proposal: EntityNetwork,
    document: EncodedDocument,
    readings: Readings | None = None,
    *,
    particles: int = 12,
    repeats: int = 8,
    seed: int = 0,
    next_words: NextWords | None = None,
    progress: Progress = SILENT,
) -> WordEstimates:
    """Estimate every word's probability given the words before it; the annotation is not looked at.

    A word to come changes the figures before it by less than 1e-4 bits: random numbers depend on the seed and the place alone,
    where the text ends is not known while it is read, and only the rounding of matrix products depends on how many words the last
    chunk has.
    """
    length = len(document)
    beliefs = BeliefObserver(repeats, length)

    def observe(segment: WeighedSegment) -> None:
        beliefs(segment)
        if next_words is not None:
            position, vectors = particle_filter.position, particle_filter.population.model_states.vectors
            next_words.note_segment(segment, chunk.model, position - chunk.start, position, vectors)

    particle_filter = make_filter(
        model,
        proposal,
        document,
        particles=particles,
        repeats=repeats,
        seed=seed,
        prior_share=P_SHARE,
        resample_threshold=RESAMPLE_BELOW,
        check_every=WORDS_PER_CHECK,
        by_seed_alone=True,
        observer=observe,
        referents=True,
    )
    progress.start("words", length)
    log_evidence, log_no_mention = np.empty((repeats, length)), np.empty(length)
    for whole in (readings or Readings(document)).read(model, proposal):
        for start in range(whole.start, whole.stop, REPORTED_WORDS):
            chunk = whole.cut(start, min(start + REPORTED_WORDS, whole.stop))
            part = slice(chunk.start, chunk.stop)
            log_no_mention[part] = chunk.model.log_types[:, 0]
            log_evidence[:, part] = particle_filter.advance(chunk, end=length + model.config.max_length + 1)
            progress.advance("words", len(chunk))
    progress.finish("words")
    log_probs, deviations = combine_repeats(log_evidence, beliefs.beliefs.drawn)
    if (
        document.piece_bounds is not None
    ):  # the end of a piece that began with the word before, as " of ?", is certain
        certain = np.diff(document.piece_bounds) == 0
        log_probs[certain], deviations[:, certain] = 0.0, 0.0
    bare = np.array(particle_filter.without_entities) if particle_filter.without_entities else None
    return WordEstimates(log_probs, deviations, join_beliefs(beliefs.beliefs, log_no_mention), bare)


def combine_repeats(log_evidence: FloatArray, drawn: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(T,) log p(x_t | x_<t), from (R, T) log P(x_1 … x_t) of repeats, and (R, T) deviations of each repeat's -log p from it.

    A word's probability is the mean of the repeats' conditionals. Part of their variance is due to the choices before the word,
    shown by (R, T) ``drawn``, whose mean is known to be 1, so half of its logarithm is subtracted (a control variate). A result
    above 1, possible by chance, is cut. Deviations are by the delta method. log P(X) of the run is the sum over words.
    """
    conditionals = np.diff(log_evidence, axis=1, prepend=0.0)
    log_means, shares = log_mean_exp(conditionals, axis=0), drawn.mean(axis=0)
    log_probs = np.minimum(log_means - CORRECTED * np.log(shares), 0.0)
    deviations: FloatArray = CORRECTED * (drawn / shares - 1) - np.expm1(conditionals - log_means)
    return log_probs, deviations


def name_baseline(pretrained: Pretrained) -> BaselineName:
    """Name the model that gives the surprisal without entities."""
    return "language model" if pretrained.language_model is None else "rnnlm"


def score_without_entities(
    pretrained: Pretrained,
    document: EncodedDocument,
    readings: Readings | None = None,
    estimates: WordEstimates | None = None,
) -> FloatArray:
    """Return (T,) log p(x_t | x_<t) in nats without entities.

    :param estimates: estimates with entities, which may have computed the language model's output layer already.
    """
    if pretrained.language_model is not None:
        return score_baseline(pretrained.language_model, document)
    if estimates is not None and estimates.without is not None:
        return estimates.without
    return score_by_backbone(pretrained.get("generative"), document, readings)


@torch.no_grad()
def score_by_backbone(
    network: EntityNetwork, document: EncodedDocument, readings: Readings | None = None
) -> FloatArray:
    """Score words by the backbone alone, without entities."""
    network.eval()
    found = [np.zeros(0)]
    for chunk in (readings or Readings(document)).read(network):
        states = torch.from_numpy(chunk.model.piece_states).to(network.W_r.device)
        pieces = Pieces(chunk.model.words, states.device)
        log_probs = network.backbone.log_prob(states, pieces.ids, pieces.places)
        found.append(pieces.sum_words(log_probs.double()).cpu().numpy())
    return np.concatenate(found)
