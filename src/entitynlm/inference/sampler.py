"""The one compiled loop: a population of particles makes its choices of R, E and L, word by word.

For each word and each particle, in the order of the generative story (section 2.2, with Q's choices of section 5.1):

    1. where no mention is open, R is drawn from Q (eq. 3); if a mention starts, E is drawn among the particle's
       entities of that kind and a newborn one (eq. 4, 7), then L (eq. 5);
    2. the same choices get their log-probability under P, from P's own tables and P's own entity vectors;
    3. at every word of a mention, the entity's vector changes (eq. 8) in both state tables.

Words are the outer loop and particles the inner one, because what is computed from a row of a state table is the same
for all particles that share it (see ``states``). Word probabilities (eq. 6) are left to matrix products after the
loop; the loop hands out the distinct pairs (word, row of e_current) that they need.

Choices come from uniform numbers that are drawn outside, three per word and particle whether they are used or not:
the loop is a function of its arguments, apart from the birth noise, which has a generator to itself. ``forced``
choices are scored instead of drawn, which is how tests put every analysis of a text through this very loop;
``greedy`` takes the best instead of drawing.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from entitynlm.inference.states import Rows, Side
from entitynlm.model.scan import SMALLEST_NORM

# The columns of Particles.memory: what a particle knows about an entity.
KIND, LAST_TOKEN, LAST_SENTENCE, LAST_MENTION, COUNT, MODEL_ROW, PROPOSAL_ROW = range(7)
COLUMNS = 7

_FAST = {"reassoc", "contract", "nsz"}


class Particles(NamedTuple):
    """What differs between particles, as integers. N particles, room for M entities each; entities count from 1."""

    memory: np.ndarray  # (N, M + 1, COLUMNS)
    entities: np.ndarray  # (N,) how many there are
    mentions: np.ndarray  # (N,) how many have started
    remaining: np.ndarray  # (N,) words of the open mention still to come
    kind: np.ndarray  # (N,) of the open mention
    entity: np.ndarray  # (N,) of the open mention
    current: np.ndarray  # (N,) the row of e_current in P's table


class Segment(NamedTuple):
    """Some words in a row. ``first`` is the place of the first one in the tables, ``position`` its place in the text,
    ``end`` the number of words of the text (or a number beyond any text, where the end is not known yet).
    """

    first: int
    position: int
    end: int
    sentence: np.ndarray  # (S,)


class Choices(NamedTuple):
    """What the particles chose over the S words of a segment, as the paper's R, E, L, and what that cost."""

    kind: np.ndarray  # (S, N)
    entity: np.ndarray  # (S, N)
    remaining: np.ndarray  # (S, N)
    log_p: np.ndarray  # (S, N) log P of the choices made at this word, without the word itself
    log_q: np.ndarray  # (S, N)
    pair: np.ndarray  # (S, N) which pair (word, e_current) the particle is in
    pair_words: np.ndarray  # (pairs,) word of each pair, counted within the segment
    pair_rows: np.ndarray  # (pairs,) row of e_current in P's table
    pairs: np.ndarray  # (1,) how many pairs there are


def make_choices(words: int, particles: int) -> Choices:
    """Room for the choices of a segment."""
    shape = (words, particles)
    return Choices(
        kind=np.zeros(shape, dtype=np.int16),
        entity=np.zeros(shape, dtype=np.int32),
        remaining=np.ones(shape, dtype=np.int16),
        log_p=np.zeros(shape),
        log_q=np.zeros(shape),
        pair=np.zeros(shape, dtype=np.int32),
        pair_words=np.zeros(words * particles, dtype=np.int32),
        pair_rows=np.zeros(words * particles, dtype=np.int32),
        pairs=np.zeros(1, dtype=np.int64),
    )


@numba.njit(cache=True, nogil=True)
def advance(  # type: ignore[no-untyped-def]
    particles: Particles, P: Side, P_rows: Rows, Q: Side, Q_rows: Rows, segment: Segment,
    uniforms, forced, greedy, births, choices: Choices,
):  # fmt: skip
    """Let all particles make their choices over a segment.

    :param uniforms: (S, N, 3) for R, E and L.
    :param forced: (S, N, 3) the R, E and L to take instead, or an array of size zero.
    :param births: generator of P's birth noise.
    """
    room = particles.memory.shape[1]
    who = np.empty(room, dtype=np.int64)
    p_scores, q_scores, weights = np.empty(room), np.empty(room), np.empty(room)
    pairs = 0
    for s in range(len(segment.sentence)):
        t, position = segment.first + s, segment.position + s
        stamp = position + 1
        P_lengths, Q_lengths = 0, 0  # rows of Rows.lengths filled at this word
        for i in range(len(particles.entities)):
            log_p, log_q = 0.0, 0.0
            if particles.remaining[i] == 0:
                wanted = forced[s, i, 0] if forced.size > 0 else -1
                k = _choose_kind(Q.log_kinds[t], uniforms[s, i, 0], wanted, greedy)
                log_p, log_q = P.log_kinds[t, k], Q.log_kinds[t, k]
                particles.kind[i] = k
                if k > 0:
                    wanted = forced[s, i, 1] if forced.size > 0 else -1
                    n, e_p, e_q = _choose_entity(
                        particles, i, k, t, position, segment.sentence[s], P, P_rows, Q, Q_rows,
                        uniforms[s, i, 1], wanted, greedy, births, who, p_scores, q_scores, weights,
                    )  # fmt: skip
                    P_lengths = _measure(P, P_rows, particles.memory[i, n, MODEL_ROW], t, stamp, P_lengths)
                    Q_lengths = _measure(Q, Q_rows, particles.memory[i, n, PROPOSAL_ROW], t, stamp, Q_lengths)
                    wanted = forced[s, i, 2] if forced.size > 0 else -1
                    l, l_p, l_q = _choose_length(
                        P_rows.lengths[P_rows.measured_to[particles.memory[i, n, MODEL_ROW]]],
                        Q_rows.lengths[Q_rows.measured_to[particles.memory[i, n, PROPOSAL_ROW]]],
                        segment.end - position, uniforms[s, i, 2], wanted, greedy,
                    )  # fmt: skip
                    log_p += e_p + l_p
                    log_q += e_q + l_q
                    particles.remaining[i] = l
            choices.log_p[s, i], choices.log_q[s, i] = log_p, log_q
            pairs = _pair(particles.current[i], s, stamp, P_rows, choices, i, pairs)
            _read_word(particles, i, s, t, position, segment.sentence[s], P, P_rows, Q, Q_rows, choices)
    choices.pairs[0] = pairs


# -- R -------------------------------------------------------------------------------------------------------------------


@numba.njit(cache=True, nogil=True)
def _choose_kind(log_kinds, uniform, wanted, greedy):  # type: ignore[no-untyped-def]
    if wanted >= 0:
        return wanted
    if greedy:
        return np.argmax(log_kinds)
    height = 0.0
    for k in range(len(log_kinds)):
        height += np.exp(log_kinds[k])
        if uniform < height:
            return k
    return len(log_kinds) - 1  # rounding left the sum a little below one


# -- E -------------------------------------------------------------------------------------------------------------------


@numba.njit(cache=True, nogil=True)
def _choose_entity(  # type: ignore[no-untyped-def]
    particles, i, k, t, position, sentence, P, P_rows, Q, Q_rows, uniform, wanted, greedy, births,
    who, p_scores, q_scores, weights,
):  # fmt: skip
    """Eq. 4: draw an entity of kind k, start its mention; returns its number and the choice's log P and log Q."""
    memory = particles.memory[i]
    known = particles.entities[i]
    mention = particles.mentions[i] + 1
    stamp = position + 1
    count, chosen = 0, -1
    for n in range(1, known + 1):
        if memory[n, KIND] != k:
            continue
        token, sentences = position - memory[n, LAST_TOKEN], sentence - memory[n, LAST_SENTENCE]
        mentions, times = mention - memory[n, LAST_MENTION], memory[n, COUNT]
        p_scores[count] = _score(P, P_rows, memory[n, MODEL_ROW], t, stamp) + _score_distance(
            P, token, sentences, mentions, times
        )
        q_scores[count] = _score(Q, Q_rows, memory[n, PROPOSAL_ROW], t, stamp) + _score_distance(
            Q, token, sentences, mentions, times
        )
        who[count] = n
        if n == wanted:
            chosen = count
        count += 1
    newborn_row = _give_birth(P, P_rows, k, births)
    p_scores[count] = _score(P, P_rows, newborn_row, t, stamp)
    q_scores[count] = _score(Q, Q_rows, k, t, stamp)
    if wanted > known:
        chosen = count
    chosen, log_q = _draw(q_scores[: count + 1], weights, uniform, chosen, greedy)
    log_p = p_scores[chosen] - _log_sum_exp(p_scores[: count + 1])
    if chosen == count:
        n = known + 1
        particles.entities[i] = n
        memory[n, KIND], memory[n, COUNT] = k, 0
        memory[n, MODEL_ROW], memory[n, PROPOSAL_ROW] = newborn_row, k
    else:
        n = who[chosen]
        if P.sigma > 0:
            P_rows.used[0] -= 1  # nobody will ask for the newborn again
    memory[n, LAST_MENTION] = mention
    memory[n, COUNT] += 1
    particles.mentions[i] = mention
    particles.entity[i] = n
    particles.current[i] = memory[n, MODEL_ROW]
    return n, log_p, log_q


@numba.njit(cache=True, nogil=True, fastmath=_FAST)
def _score(side, rows, row, t, stamp):  # type: ignore[no-untyped-def]
    """hᵀ W_entity e of one row."""
    if rows.scored_at[row] != stamp:
        query, vector = side.queries[t], rows.vectors[row]
        total = query[0] * vector[0]
        for d in range(1, len(query)):
            total += query[d] * vector[d]
        rows.scores[row] = total
        rows.scored_at[row] = stamp
    return rows.scores[row]


@numba.njit(cache=True, nogil=True)
def _score_distance(side, token, sentences, mentions, times):  # type: ignore[no-untyped-def]
    """w_distᵀ f(e)."""
    limit = side.distance_limit
    return (
        side.distance[0, min(token, limit[0])]
        + side.distance[1, min(sentences, limit[1])]
        + side.distance[2, min(mentions, limit[2])]
        + side.distance[3, min(times, limit[3])]
    )


@numba.njit(cache=True, nogil=True, fastmath=_FAST)
def _give_birth(side, rows, k, births):  # type: ignore[no-untyped-def]
    """Eq. 7: the row of a newborn of kind k."""
    if side.sigma == 0:
        return k
    row = rows.used[0]
    rows.used[0] += 1
    mean, vector = side.means[k], rows.vectors[row]
    square = 0.0
    for d in range(len(mean)):
        u = mean[d] + side.sigma * births.standard_normal()
        vector[d] = u
        square += u * u
    norm = max(np.sqrt(square), SMALLEST_NORM)
    for d in range(len(mean)):
        vector[d] /= norm
    rows.scored_at[row] = 0  # the row may have been that of a newborn that nobody chose
    return row


@numba.njit(cache=True, nogil=True)
def _log_sum_exp(scores):  # type: ignore[no-untyped-def]
    highest = scores[0]
    for c in range(1, len(scores)):
        highest = max(highest, scores[c])
    total = 0.0
    for c in range(len(scores)):
        total += np.exp(scores[c] - highest)
    return highest + np.log(total)


@numba.njit(cache=True, nogil=True)
def _draw(scores, weights, uniform, wanted, greedy):  # type: ignore[no-untyped-def]
    """A place with probability ∝ exp(score), unless one is wanted or the best is; and its log-probability."""
    best = int(np.argmax(scores))
    total = 0.0
    for c in range(len(scores)):
        weights[c] = np.exp(scores[c] - scores[best])
        total += weights[c]
    chosen = len(scores) - 1
    if wanted >= 0:
        chosen = wanted
    elif greedy:
        chosen = best
    else:
        height = 0.0
        for c in range(len(scores)):
            height += weights[c]
            if uniform * total < height:
                chosen = c
                break
    return chosen, scores[chosen] - scores[best] - np.log(total)


# -- L -------------------------------------------------------------------------------------------------------------------


@numba.njit(cache=True, nogil=True, fastmath=_FAST)
def _measure(side, rows, row, t, stamp, filled):  # type: ignore[no-untyped-def]
    """Eq. 5: see to it that the lengths of a row are known; returns how many rows' lengths are."""
    if rows.measured_at[row] == stamp:
        return filled
    vector, scores = rows.vectors[row], rows.lengths[filled]
    for l in range(len(scores)):
        weights = side.length_weights[l]
        total = weights[0] * vector[0]
        for d in range(1, len(vector)):
            total += weights[d] * vector[d]
        scores[l] = total + side.length_scores[t, l]
    normaliser = _log_sum_exp(scores)
    for l in range(len(scores)):
        scores[l] -= normaliser
    rows.measured_at[row] = stamp
    rows.measured_to[row] = filled
    return filled + 1


@numba.njit(cache=True, nogil=True)
def _choose_length(P_lengths, Q_lengths, left, uniform, wanted, greedy):  # type: ignore[no-untyped-def]
    """Draw L; at most ``left`` words are left, and all lengths that reach the end are one choice ("at least").

    Returns the length and the choice's log P and log Q.
    """
    last = min(left, len(Q_lengths))  # the longest that can be seen
    best, chosen, height = -1.0, last, 0.0
    for l in range(1, last + 1):
        probability = np.exp(_log_prob_length(Q_lengths, l, left))
        height += probability
        if greedy:
            if probability > best:
                best, chosen = probability, l
        elif uniform < height:
            chosen = l
            break
    if wanted > 0:
        chosen = wanted
    return chosen, _log_prob_length(P_lengths, chosen, left), _log_prob_length(Q_lengths, chosen, left)


@numba.njit(cache=True, nogil=True)
def _log_prob_length(lengths, l, left):  # type: ignore[no-untyped-def]
    return lengths[l - 1] if l < left else _log_sum_exp(lengths[l - 1 :])


# -- the word ------------------------------------------------------------------------------------------------------------


@numba.njit(cache=True, nogil=True)
def _pair(row, s, stamp, rows, choices, i, pairs):  # type: ignore[no-untyped-def]
    """Note which e_current the word is predicted from; returns how many distinct pairs there are."""
    if rows.paired_at[row] != stamp:
        rows.paired_at[row] = stamp
        rows.paired_to[row] = pairs
        choices.pair_words[pairs] = s
        choices.pair_rows[pairs] = row
        pairs += 1
    choices.pair[s, i] = rows.paired_to[row]
    return pairs


@numba.njit(cache=True, nogil=True)
def _read_word(particles, i, s, t, position, sentence, P, P_rows, Q, Q_rows, choices):  # type: ignore[no-untyped-def]
    """Step 5 of the story: in a mention, the entity changes; and write down R, E and L of this word."""
    if particles.remaining[i] == 0:
        choices.kind[s, i], choices.entity[s, i], choices.remaining[s, i] = 0, 0, 1
        return
    n = particles.entity[i]
    choices.kind[s, i], choices.entity[s, i] = particles.kind[i], n
    choices.remaining[s, i] = particles.remaining[i]
    entity = particles.memory[i, n]
    entity[MODEL_ROW] = _update(P, P_rows, entity[MODEL_ROW], t, position + 1)
    entity[PROPOSAL_ROW] = _update(Q, Q_rows, entity[PROPOSAL_ROW], t, position + 1)
    entity[LAST_TOKEN], entity[LAST_SENTENCE] = position, sentence
    particles.current[i] = entity[MODEL_ROW]
    particles.remaining[i] -= 1


@numba.njit(cache=True, nogil=True, fastmath=_FAST)
def _update(side, rows, row, t, stamp):  # type: ignore[no-untyped-def]
    """Eq. 8: the row of the state after the word."""
    if rows.updated_at[row] == stamp:
        return rows.updated_to[row]
    new = rows.used[0]
    rows.used[0] += 1
    e, h, gate, out = rows.vectors[row], side.states[t], side.gates[t], rows.vectors[new]
    score = gate[0] * e[0]
    for d in range(1, len(e)):
        score += gate[d] * e[d]
    delta = 1 / (1 + np.exp(-score))
    square = score * 0
    for d in range(len(e)):
        v = delta * e[d] + (1 - delta) * h[d]
        out[d] = v
        square += v * v
    norm = max(np.sqrt(square), SMALLEST_NORM)
    for d in range(len(e)):
        out[d] /= norm
    rows.scored_at[new] = 0
    rows.updated_at[row] = stamp
    rows.updated_to[row] = new
    return new
