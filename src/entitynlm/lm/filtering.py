"""Record the filtered posterior over R, E and L at each word: given the words up to it and none after.

It is given by a particle filter's weights after word t. Particles number their entities independently, so an entity is identified
here by the word at which it was first mentioned.
"""

from typing import NamedTuple

import numpy as np

from entitynlm.compilation import njit
from entitynlm.inference.particle_filter import WeighedSegment
from entitynlm.inference.weights import FloatArray

LIKELIEST = 4  # entities that are kept of each word, with their probabilities


class Beliefs(NamedTuple):
    """Posteriors at each of T words, in each of R independent populations.

    Values about a mention are means over the particles in which a mention starts here (0: in none).
    """

    drawn: FloatArray  # (R, T) mean of P / Q of the choices at t, before the word is scored: 1 but for chance
    free: FloatArray  # (R, T) P(R_t is free | x_<t): no mention goes on
    inside: FloatArray  # (R, T) P(R_t > 0 | x_1 … x_t)
    starts: FloatArray  # (R, T) P(a mention starts at t | x_1 … x_t)
    referent: FloatArray  # (R, T) -log P(its referent | a mention starts, x_<t and mentions before)
    entropy: FloatArray  # (R, T) over its referents
    # (R, T, LIKELIEST) the first word of the likeliest entities that the word is in a mention of; -1: none
    entities: np.ndarray
    masses: FloatArray  # (R, T, LIKELIEST) their probabilities


class BeliefObserver:
    """Records the posteriors of a filter at each word (``ParticleFilter``'s ``observer``)."""

    def __init__(self, repeats: int, words: int) -> None:
        figures = (np.zeros((repeats, words)) for _ in range(6))
        entities = np.full((repeats, words, LIKELIEST), -1, dtype=np.int64)
        self.beliefs = Beliefs._make([*figures, entities, np.zeros((repeats, words, LIKELIEST))])
        self._noted = 0

    def __call__(self, segment: WeighedSegment) -> None:
        _note_beliefs(*segment, self.beliefs, self._noted)
        self._noted += len(segment.log_factors)


@njit(nogil=True)
def _note_beliefs(log_weights, factors, choices, island, first, beliefs, noted):  # type: ignore[no-untyped-def]
    for r in range(len(beliefs.free)):
        own = np.flatnonzero(island == r)
        _note_island(log_weights[own], factors, first, choices, own, beliefs, r, noted)


@njit(nogil=True)
def _note_island(log_weights, factors, first, choices, own, beliefs, r, noted):  # type: ignore[no-untyped-def]
    """:param own: the island's particles, whose ``log_weights`` before these words are given."""
    count = len(own)
    entities, masses = np.empty(count, dtype=np.int64), np.empty(count)
    for s in range(len(factors)):
        t = noted + s
        highest = -np.inf
        for i in range(count):
            if choices.copies[s, own[i]] > 0:
                highest = max(highest, log_weights[i])
        total, found, drawn = 0.0, 0.0, 0.0
        for i in range(count):
            if choices.copies[s, own[i]] > 0:
                weight = choices.copies[s, own[i]] * np.exp(log_weights[i] - highest)
                total += weight
                found += weight if choices.free[s, own[i]] else 0.0
                drawn += weight * np.exp(choices.log_p[:, s, own[i]].sum() - choices.log_q[s, own[i]])
        beliefs.free[r, t], beliefs.drawn[r, t] = found / total, drawn / total
        highest = -np.inf
        for i in range(count):
            log_weights[i] += factors[s, own[i]]
            if choices.copies[s, own[i]] > 0:
                highest = max(highest, log_weights[i])
        total, within, starts, referent, entropy, known = 0.0, 0.0, 0.0, 0.0, 0.0, 0
        for i in range(count):
            particle = own[i]
            if choices.copies[s, particle] == 0:
                continue
            weight = choices.copies[s, particle] * np.exp(log_weights[i] - highest)
            total += weight
            if choices.mention_type[s, particle] == 0:
                continue
            within += weight
            if choices.free[s, particle]:
                starts += weight
                referent -= weight * choices.log_referent[s, particle]
                entropy += weight * choices.entropy[s, particle]
            name = first[particle, choices.entity[s, particle]]
            place = 0
            while place < known and entities[place] != name:
                place += 1
            if place == known:
                entities[place], masses[place] = name, 0.0
                known += 1
            masses[place] += weight
        beliefs.inside[r, t], beliefs.starts[r, t] = within / total, starts / total
        if starts > 0:
            beliefs.referent[r, t], beliefs.entropy[r, t] = referent / starts, entropy / starts
        for k in range(min(known, LIKELIEST)):
            best = int(np.argmax(masses[:known]))
            beliefs.entities[r, t, k], beliefs.masses[r, t, k] = entities[best], masses[best] / total
            masses[best] = -1.0


class FilteredPosteriors(NamedTuple):
    """Posteriors at each word, averaged over the repeats, (T,) each."""

    mention_expected: FloatArray  # P(R_t > 0 | x_<t)
    mention_found: FloatArray  # P(R_t > 0 | x_1 … x_t)
    mention_starts: FloatArray  # P(a mention starts at t | x_1 … x_t)
    referent: FloatArray  # surprisal in nats; nan where no mention starts in any particle, as the next one
    entropy: FloatArray
    entity: np.ndarray  # the first word of the likeliest entity; -1: the word is probably in no mention
    probability: FloatArray  # of that entity, given the words so far


def join_beliefs(beliefs: Beliefs, log_no_mention: FloatArray) -> FilteredPosteriors:
    """Average the beliefs of the repeats.

    :param log_no_mention: (T,) log P(R_t = 0) where it is free.
    """

    free, inside, starts = beliefs.free.mean(0), beliefs.inside.mean(0), beliefs.starts.mean(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        about = (beliefs.referent, beliefs.entropy)
        means = [np.maximum((values * beliefs.starts).mean(0) / starts, 0) for values in about]
    entity, probability = np.full(len(free), -1, dtype=np.int64), np.zeros(len(free))
    for t in np.flatnonzero(inside >= 0.5).tolist():
        masses: dict[int, float] = {}
        for name, mass in zip(beliefs.entities[:, t].flat, beliefs.masses[:, t].flat, strict=True):
            if name >= 0:
                masses[int(name)] = masses.get(int(name), 0.0) + float(mass)
        entity[t] = max(masses, key=lambda name: (masses[name], -name))
        probability[t] = masses[entity[t]] / len(beliefs.masses)
    expected = np.clip(free * -np.expm1(log_no_mention) + (1 - free), 0, 1)
    inside, starts = np.minimum(inside, 1), np.minimum(starts, 1)
    return FilteredPosteriors._make([expected, inside, starts, *means, entity, probability])
