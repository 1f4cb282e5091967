"""The truth for short texts and small models: every analysis of a text, one by one.

The number of analyses grows faster than exponentially with the text, so this is for a handful of words. It is what
the estimators are held against: a sum with no randomness in it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import torch
from torch import Tensor

from entitynlm.errors import InferenceError
from entitynlm.inference.particle_filter import FilterConfig, ParticleFilter
from entitynlm.inference.readings import Readings
from entitynlm.inference.weights import FloatArray, log_sum_exp
from entitynlm.model.batch.scores import Scores
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.variables import Analysis
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import Noise
from support.scoring import score_encoded

MOST_ANALYSES = 200_000
MOST_WORDS = 50  # beyond which there is no need to count
BATCH = 512


def with_analysis(document: EncodedDocument, analysis: Analysis) -> EncodedDocument:
    """Put other mentions on the words of a document."""
    return replace(document, r=analysis.mention_type, e=analysis.entity, l=analysis.remaining)


def sum_variables(scores: Scores) -> Tensor:
    """(words of the batch,) log P of all variables together."""
    return scores.r + scores.e + scores.l + scores.x


def sum_documents(scores: Scores) -> Tensor:
    """(B,) log P(R, E, L, X) of each document."""
    return torch.stack([part.sum() for part in sum_variables(scores).split(np.diff(scores.bounds).tolist())])


def enumerate_analyses(words: int, *, max_length: int, mention_types: int = 1) -> Iterator[Analysis]:
    """Every (R, E, L) of so many words that obeys the story's grammar.

    No mention is longer than what is left of the text: one that the end cuts is the same analysis as one that ends
    there, and its probability is that of all lengths that reach the end.
    """
    values = np.zeros((3, words), dtype=np.int64)
    values[2] = 1

    def go_on(t: int, entity_types_: tuple[int, ...]) -> Iterator[Analysis]:
        if t == words:
            yield Analysis(*values.copy())
            return
        values[:, t] = 0, 0, 1
        yield from go_on(t + 1, entity_types_)
        for mention_type in range(1, mention_types + 1):
            known = [n for n, other in enumerate(entity_types_, start=1) if other == mention_type]
            for entity in (*known, len(entity_types_) + 1):
                then = entity_types_ if entity <= len(entity_types_) else (*entity_types_, mention_type)
                for length in range(1, min(max_length, words - t) + 1):
                    values[0, t : t + length] = mention_type
                    values[1, t : t + length] = entity
                    values[2, t : t + length] = np.arange(length, 0, -1)
                    yield from go_on(t + length, then)

    return go_on(0, ())


def count_analyses(words: int, *, max_length: int, mention_types: int = 1) -> int:
    """How many analyses :func:`enumerate_analyses` gives, without making them."""

    @cache
    def count(left: int, known: tuple[int, ...]) -> int:
        """``known`` is how many entities of each mention type there are; the order of types does not matter."""
        if left == 0:
            return 1
        total = count(left - 1, known)
        for mention_type in range(mention_types):
            grown = tuple(sorted(n + (other == mention_type) for other, n in enumerate(known)))
            for length in range(1, min(max_length, left) + 1):
                total += known[mention_type] * count(left - length, known) + count(left - length, grown)
        return total

    return count(words, (0,) * mention_types)


def list_analyses(network: EntityNetwork, document: EncodedDocument) -> list[Analysis]:
    """Every analysis of a document's words that a network can give; an error where they are too many."""
    settings = {"max_length": network.config.max_length, "mention_types": network.config.mention_types}
    if len(document) > MOST_WORDS or count_analyses(len(document), **settings) > MOST_ANALYSES:
        raise InferenceError(
            f"the {len(document)} words of {document.id!r} have more than {MOST_ANALYSES:,} analyses; "
            "enumeration is for a handful of words"
        )
    return list(enumerate_analyses(len(document), **settings))


@torch.no_grad()
def score_analyses(
    network: EntityNetwork,
    document: EncodedDocument,
    analyses: Sequence[Analysis],
    *,
    noise: Noise | None = None,
) -> FloatArray:
    """log P(R, E, L, X) of each analysis, or log Q(R, E, L | X) for a proposal."""
    scores = []
    for start in range(0, len(analyses), BATCH):
        some = [with_analysis(document, analysis) for analysis in analyses[start : start + BATCH]]
        scores.append(sum_documents(score_encoded(network, some, noise=noise)).double().cpu().numpy())
    return np.concatenate(scores)


def enumerate_log_prob(
    model: EntityNetwork, document: EncodedDocument, *, noise: Noise | None = None
) -> float:
    """log P(X), exactly, given the noise of new entities (None: none)."""
    return float(log_sum_exp(score_analyses(model, document, list_analyses(model, document), noise=noise)))


def weigh_analyses(
    model: EntityNetwork,
    proposal: EntityNetwork,
    document: EncodedDocument,
    analyses: Sequence[Analysis],
    *,
    prior_share: float = 0.0,
    seed: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """log P(R, E, L, X) and log Q(R, E, L | X) of given analyses, as the sampler itself computes them.

    Every analysis is a particle that is forced to take it. P's new entities get fresh noise from ``seed``.
    """
    forced = np.stack([np.stack(analysis) for analysis in analyses], axis=1)
    config = FilterConfig(islands=len(analyses), share=prior_share)
    found = ParticleFilter(model, proposal, config, np.random.SeedSequence(seed))
    for chunk in Readings(document).read(model, proposal):
        found.advance(chunk, end=len(document), forced=forced[:, :, chunk.start : chunk.stop].T)
    parts = found.population.particles.parts
    return parts[:4].sum(0), parts[4]


def enumerate_mean_weight(
    model: EntityNetwork,
    proposal: EntityNetwork,
    document: EncodedDocument,
    *,
    prior_share: float = 0.0,
    seed: int = 0,
) -> float:
    """log E_Q[w]: the sum of Q · (P / Q) over every path that the sampler can take, by the sampler itself.

    Where Q covers P's support this is log P(X), and it is what both estimators estimate.
    """
    analyses = list_analyses(proposal, document)
    log_p, log_q = weigh_analyses(model, proposal, document, analyses, prior_share=prior_share, seed=seed)
    log_weights = log_p - log_q
    return float(log_sum_exp(log_q + log_weights))
