"""Estimate log P(X), the probability of a text's words, summed over all analyses (section 5.1).

P(X) is estimated with N particles drawn from a proposal Q, by importance sampling or
by a particle filter, several times independently. The estimate of P(X) has no bias; its logarithm is too low on
average (Jensen), so that a perplexity made from it is too high on average, never too good.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from entitynlm.errors import ConfigError
from entitynlm.inference.particle_filter import FilterConfig, ParticleFilter, WeighedSegment
from entitynlm.inference.readings import Readings
from entitynlm.inference.weights import FloatArray, log_mean_exp
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork

Method = Literal["importance", "particle-filter"]

# docs/decisions/041-estimating-the-marginal.md says why
PRIOR_SHARE = 0.8  # P's share in what particles are drawn from
CHECK_EVERY = 4  # words after which the particle filter looks at its weights


@dataclass(frozen=True)
class MarginalEstimate:
    """An estimate of log P(X), in nats. R repeats, T words.

    :param log_prob: log-mean-exp of the repeats' estimates.
    :param standard_error: standard error of ``log_prob``, from the spread of the repeats; nan for a single repeat.
    :param per_token: (T,) estimates of log p(x_t | x_<t), which sum to ``log_prob``.
    :param repeats: (R,) each repeat's estimate.
    """

    log_prob: float
    standard_error: float
    per_token: FloatArray
    repeats: FloatArray

    @property
    def tokens(self) -> int:
        return len(self.per_token)


def make_filter(
    model: EntityNetwork,
    proposal: EntityNetwork,
    document: EncodedDocument,
    *,
    particles: int = 100,
    repeats: int = 1,
    method: Method = "particle-filter",
    seed: int = 0,
    prior_share: float = PRIOR_SHARE,
    resample_threshold: float = 0.5,
    check_every: int = CHECK_EVERY,
    by_seed_alone: bool = False,
    observer: Callable[[WeighedSegment], None] | None = None,
    **options: Any,
) -> ParticleFilter:
    """Make a particle filter at the start of a document.

    :param model: P, and :param proposal: Q, both in evaluation mode and over the same vocabulary.
    :param repeats: independent populations of ``particles`` each.
    :param seed: with the document's words it fixes the result, whatever other documents are estimated before it.
    :param prior_share: at every choice, this much of P's own distribution before it has seen the word is mixed into
        Q's. It bounds the damage where Q is sure of something that P finds improbable.
    :param resample_threshold: share of the particles below which the effective sample size leads to resampling.
    :param check_every: words between two looks at the weights.
    :param by_seed_alone: random numbers do not depend on the words, so that a text and its beginning have the same ones.
    :param options: others of :class:`FilterConfig`.
    """
    if seed < 0:
        raise ConfigError(f"a seed is a whole number that is not negative, not {seed}")
    if method == "particle-filter":
        options |= {"words": check_every, "threshold": resample_threshold}
    config = FilterConfig(particles, repeats, share=prior_share, **options)
    words = np.ascontiguousarray(document.x, dtype=np.int64)
    own = np.random.SeedSequence([seed, 0 if by_seed_alone else zlib.crc32(words.tobytes())])
    return ParticleFilter(model, proposal, config, own.spawn(1)[0], observer)


def estimate_log_prob(
    model: EntityNetwork,
    proposal: EntityNetwork,
    document: EncodedDocument,
    *,
    repeats: int = 4,
    **options: Any,
) -> MarginalEstimate:
    """Estimate log P(X) of a document's words; its annotation is not looked at. The options are those of :func:`make_filter`."""
    particle_filter = make_filter(model, proposal, document, repeats=repeats, **options)
    chunks = Readings(document).read(model, proposal)
    found = [particle_filter.advance(chunk, end=len(document)) for chunk in chunks]
    log_evidence = np.concatenate(found, axis=1)  # (R, T)
    after = log_mean_exp(log_evidence, axis=0)  # (T,) log P(x_1 … x_t)
    return MarginalEstimate(
        log_prob=float(after[-1]),
        standard_error=estimate_error(log_evidence[:, -1]),
        per_token=np.diff(after, prepend=0.0),
        repeats=log_evidence[:, -1].copy(),
    )


def average_words(
    model: EntityNetwork,
    proposal: EntityNetwork,
    document: EncodedDocument,
    *,
    particles: int,
    repeats: int,
    seed: int,
    prior_share: float,
) -> FloatArray:
    """(2, R) sums over words of log p(x_t | h, e_current): the mean over unweighted samples, and the log of the mean probability.

    Samples of Q (``prior_share`` 0) have read each word before they choose its entity, so these sums are no log-probabilities of
    the text and not comparable with a language model's; samples of P (``prior_share`` 1) have not.
    """
    sums = np.zeros((2, repeats))

    def observe(segment: WeighedSegment) -> None:
        choices = segment.choices.narrow(len(segment.island))
        log_words = segment.log_factors - choices.log_p.sum(0) + choices.log_q  # (S, n)
        for island in range(repeats):
            own = segment.island == island
            shares = choices.copies[:, own] / choices.copies[:, own].sum(1, keepdims=True)
            sums[0, island] += (shares * log_words[:, own]).sum()
            sums[1, island] += np.log((shares * np.exp(log_words[:, own])).sum(1)).sum()

    sampler = make_filter(
        model, proposal, document, particles=particles, repeats=repeats, method="importance", seed=seed,
        prior_share=prior_share, observer=observe,
    )  # fmt: skip
    for chunk in Readings(document).read(model, proposal):
        sampler.advance(chunk, end=len(document))
    return sums


def estimate_error(log_probs: FloatArray) -> float:
    """Estimate the standard error of the log-mean-exp of independent estimates by the jackknife.

    Where the estimates are close to each other this is their standard deviation over √R. Where one is far above the others,
    log-mean-exp follows it, and so does the jackknife; s / √R and the delta method are then too small
    (docs/decisions/041-estimating-the-marginal.md).
    """
    count = len(log_probs)
    if count < 2:
        return float("nan")
    without = np.array([float(log_mean_exp(np.delete(log_probs, i))) for i in range(count)])
    return float(np.sqrt((count - 1) / count * np.sum((without - without.mean()) ** 2)))
