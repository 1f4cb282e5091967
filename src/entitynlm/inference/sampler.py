"""Let a population of particles choose R, E and L, word by word, in one compiled loop.

For each word and each particle, in the order of the generative story (section 2.2, with Q's choices of section 5.1):

    1. where no mention is open, R is drawn from Q (eq. 3); if a mention starts, E is drawn among the particle's
       entities of that type and a new one (eq. 4, 7), then L (eq. 5);
    2. the same choices get their log-probability under P, from P's own tables and P's own entity vectors;
    3. at every word of a mention, the entity's vector changes (eq. 8) in both state tables.

Words are the outer loop and particles the inner one, because what is computed from a row of a state table is the same
for all particles that share it (see ``state_tables``). Word probabilities (eq. 6) are left to matrix products after the
loop, which hands out the distinct pairs (word, row of e_current) that they need. Choices come from uniform numbers that are
drawn outside, three per word and island whether they are used or not.
"""

import numpy as np

from entitynlm.compilation import njit
from entitynlm.inference.kernels import (
    FAST,
    count_draws,
    exponentiate_scores,
    log_sum_row,
    mix_logs,
    multiply_rows,
    next_point,
    split,
    take_one,
)
from entitynlm.inference.particles import (
    FIRST_END,
    FIRST_TOKEN,
    MODEL_ROW,
    PROPOSAL_ROW,
    Choices,
    Particles,
    Segment,
)
from entitynlm.inference.state_tables import NetworkArrays, Rows, create_entity, multiply, update_row_once
from entitynlm.model.batch.document_index import COUNT, MENTION, SENTENCE, TOKEN, TYPE


@njit(nogil=True)
def advance(  # type: ignore[no-untyped-def]
    particles: Particles, P: NetworkArrays, P_rows: Rows, Q: NetworkArrays, Q_rows: Rows, share, segment: Segment,
    uniforms, noise, forced, choices: Choices,
):  # fmt: skip
    """Let all particles make their choices over a segment.

    One step per word for all particles together, rather than one call per particle: a call hands over dozens of
    arrays, and counting references to them would cost more than the arithmetic.

    :param share: how much of P's own choice is in what is drawn from, (1 - share) · Q + share · P.
    :param uniforms: (S, islands, 3) for R, E and L: where the points of an island's particles start (``next_point``).
    :param noise: (S, islands, D) of the entities that are new at each word, which the particles of an island share; (S,
        islands, 0) where new entities have none.
    :param forced: (S, N, 3) the R, E and L to take instead, or an array of size zero.
    """
    # particles that start a mention at the present word
    starters = np.empty(len(particles.entities), dtype=np.int64)
    most = max(particles.memory.shape[1], P.log_types.shape[1], P_rows.lengths.shape[1])
    scratch, counts = np.empty((6, most)), np.zeros(most, dtype=np.int64)
    candidates = np.zeros((5, most), dtype=np.int64)
    # of entities that are new at the word
    new_rows = np.empty((noise.shape[1], P.log_types.shape[1]), dtype=np.int64)
    ranks = np.empty(noise.shape[1], dtype=np.int64)  # how many particles of each island have drawn
    choices.pairs[0] = 0
    for s in range(len(segment.sentence)):
        new_rows[:] = -1
        choices.log_p[:, s] = 0.0
        starting = _choose_types(
            particles, P, Q, share, segment, s, uniforms, forced, choices, starters, scratch, counts, ranks
        )
        if starting > 0:
            starting = _choose_entities(
                particles, P, P_rows, Q, Q_rows, share, segment, s, uniforms, noise, forced, choices,
                starters, starting, scratch, candidates, counts, new_rows, ranks,
            )  # fmt: skip
            _choose_lengths(
                particles, P, P_rows, Q, Q_rows, share, segment, s, uniforms, forced, choices,
                starters[:starting], scratch, counts, ranks,
            )  # fmt: skip
        choices.copies[s] = particles.copies
        _pair_words(particles, P_rows, P.log_types.shape[1] - 1, segment, s, choices)
        _read_word(particles, P, P_rows, Q, Q_rows, segment, s, choices)


# -- R -------------------------------------------------------------------------------------------------------------------


@njit(nogil=True, makes_arrays=False)
def _choose_types(  # type: ignore[no-untyped-def]
    particles, P, Q, share, segment, s, uniforms, forced, choices, starters, scratch, counts, ranks
):
    """Eq. 3, where no mention is open; lists the particles that start a mention and returns their number."""
    t = segment.first + s
    remaining, mention_type, free = particles.remaining, particles.mention_type, choices.free
    log_p, log_q = choices.log_p, choices.log_q
    p_types, size = P.log_types, P.log_types.shape[1]
    log_mixed, probs = scratch[0], scratch[1]
    for k in range(size):
        log_mixed[k] = mix_logs(p_types[t, k], Q.log_types[t, k], share)
        probs[k] = np.exp(log_mixed[k])
    starting, ranks[:] = 0, 0
    for i in range(particles.used[0]):  # those that split off on the way are done already
        free[s, i] = remaining[i] == 0
        if not free[s, i]:
            log_q[s, i] = 0.0
            continue
        if forced.size > 0:
            take_one(size, forced[s, i, 0], particles.copies[i], counts)
        else:
            point = next_point(uniforms[s, :, 0], ranks, particles.island[i])
            count_draws(probs, size, point, particles.copies[i], counts)
        for k in range(size):
            if counts[k] > 0:
                new = split(particles, choices, s, i, counts[k])
                mention_type[new] = k
                log_p[0, s, new], log_q[s, new] = p_types[t, k], log_mixed[k]
                if k > 0:
                    starters[starting] = new
                    starting += 1
    return starting


# -- E -------------------------------------------------------------------------------------------------------------------


@njit(nogil=True, makes_arrays=False)
def _choose_entities(  # type: ignore[no-untyped-def]
    particles, P, P_rows, Q, Q_rows, share, segment, s, uniforms, noise, forced, choices, starters,
    starting, scratch, candidates, counts, new_rows, ranks,
):  # fmt: skip
    """Eq. 4: each particle that starts a mention draws one of its entities of the type, or a new one (eq. 7).

    Returns the number of these particles, including those that split off.
    """
    t, position = segment.first + s, segment.position + s
    memory = particles.memory
    found, ranks[:] = starting, 0
    for i in starters[:starting]:
        point = next_point(uniforms[s, :, 1], ranks, particles.island[i])
        mention_type, mention = particles.mention_type[i], particles.mentions[i] + 1
        own, rows = noise[s, particles.island[i]], new_rows[particles.island[i]]
        log_new = 0.0
        if choices.entropy.size > 0 and len(rows) > 2:
            for k in range(1, len(rows)):
                _create_once(P, P_rows, own, k, rows)
            log_new = _expect_referents(
                particles, P, P_rows, segment, s, i, mention, rows, scratch, candidates, choices
            )
        new_row = _create_once(P, P_rows, own, mention_type, rows)
        count = _score_candidates(
            particles, P, P_rows, Q, Q_rows, share, segment, s, i, mention_type, mention, new_row, scratch, candidates
        )  # fmt: skip
        p_total, q_total = _draw_entities(
            scratch, candidates, count, share, point, forced[s, i, 1] if forced.size > 0 else -1,
            particles.copies[i], counts,
        )  # fmt: skip
        if choices.entropy.size > 0 and len(rows) == 2:  # one type: its candidates are all referents
            log_new = scratch[0, count - 1] - p_total
            choices.entropy[s, i] = 0.0
            for c in range(count):
                log_p = scratch[0, c] - p_total
                choices.entropy[s, i] -= np.exp(log_p) * log_p
        for chosen in range(count):
            if counts[chosen] == 0:
                continue
            new = split(particles, choices, s, i, counts[chosen])
            if new != i:
                starters[found] = new
                found += 1
            log_p, n = scratch[0, chosen] - p_total, candidates[0, chosen]
            choices.log_p[1, s, new] = log_p
            choices.log_q[s, new] += mix_logs(log_p, scratch[1 if share < 1 else 0, chosen] - q_total, share)
            if choices.entropy.size > 0:
                log_type = P.log_types[t, mention_type] - np.log1p(-np.exp(np.float64(P.log_types[t, 0])))
                choices.log_referent[s, new] = log_new if chosen == count - 1 else log_type + log_p
            if chosen == count - 1:
                particles.entities[new] = n
                memory[new, n, TYPE], memory[new, n, COUNT], memory[new, n, FIRST_TOKEN] = (
                    mention_type,
                    0,
                    position,
                )
                memory[new, n, MODEL_ROW], memory[new, n, PROPOSAL_ROW] = new_row, mention_type
            memory[new, n, MENTION] = mention
            memory[new, n, COUNT] += 1
            particles.mentions[new] = mention
            particles.entity[new] = n
            particles.current[new] = memory[new, n, MODEL_ROW]
    return found


@njit(nogil=True, makes_arrays=False)
def _create_once(P, P_rows, noise, k, new_rows):  # type: ignore[no-untyped-def]
    """Return the row of an entity of type k that is new at this word, which the particles of an island share."""
    if new_rows[k] < 0:
        new_rows[k] = create_entity(P.sigma, P.means, P_rows.vectors, P_rows.used, k, noise)
    return new_rows[k]


@njit(nogil=True, makes_arrays=False)
def _score_candidates(  # type: ignore[no-untyped-def]
    particles, P, P_rows, Q, Q_rows, share, segment, s, i, mention_type, mention, new_row, scratch, candidates
):
    """Score the candidates of a particle under P and Q, into rows 0 and 1; the last one is new. Returns their number."""
    t, stamp, memory = segment.first + s, segment.position + s + 1, particles.memory
    count = _list_candidates(memory, i, mention_type, particles.entities[i], mention, segment, s, candidates)
    _score_known(P, P_rows, memory, i, MODEL_ROW, t, stamp, candidates, count, scratch[0])
    if share < 1:
        _score_known(Q, Q_rows, memory, i, PROPOSAL_ROW, t, stamp, candidates, count, scratch[1])
    scratch[0, count] = multiply(P.queries, t, P_rows.vectors, new_row)
    scratch[1, count] = multiply(Q.queries, t, Q_rows.vectors, mention_type)
    candidates[0, count] = particles.entities[i] + 1
    return count + 1


@njit(nogil=True, makes_arrays=False)
def _expect_referents(  # type: ignore[no-untyped-def]
    particles, P, P_rows, segment, s, i, mention, new_rows, scratch, candidates, choices
):
    """Record the entropy of P over a particle's referents, given that a mention starts; return log P of any new one."""
    t, stamp = segment.first + s, segment.position + s + 1
    log_start = np.log1p(-np.exp(np.float64(P.log_types[t, 0])))
    entropy, new = 0.0, 0.0
    for k in range(1, len(new_rows)):
        count = _list_candidates(
            particles.memory, i, k, particles.entities[i], mention, segment, s, candidates
        )
        _score_known(P, P_rows, particles.memory, i, MODEL_ROW, t, stamp, candidates, count, scratch[0])
        scratch[0, count] = multiply(P.queries, t, P_rows.vectors, new_rows[k])
        total = log_sum_row(scratch, 0, 0, count + 1) - P.log_types[t, k] + log_start
        for c in range(count):
            log_p = scratch[0, c] - total
            entropy -= np.exp(log_p) * log_p
        new += np.exp(scratch[0, count] - total)
    choices.entropy[s, i] = entropy - new * np.log(max(new, 1e-300))
    return np.log(max(new, 1e-300))


@njit(nogil=True, makes_arrays=False)
def _list_candidates(memory, i, mention_type, known, mention, segment, s, candidates):  # type: ignore[no-untyped-def]
    """List the entities of a type that a particle knows, with their distances in tokens, sentences and mentions and the number of
    their mentions; returns how many they are.
    """
    position, sentence = segment.position + s, segment.sentence[s]
    count = 0
    for n in range(1, known + 1):
        if memory[i, n, TYPE] == mention_type:
            candidates[0, count] = n
            candidates[1, count] = position - memory[i, n, TOKEN]
            candidates[2, count] = sentence - memory[i, n, SENTENCE]
            candidates[3, count] = mention - memory[i, n, MENTION]
            candidates[4, count] = memory[i, n, COUNT]
            count += 1
    return count


@njit(nogil=True, fastmath=FAST, makes_arrays=False)
def _score_known(arrays, rows, memory, i, column, t, stamp, candidates, count, out):  # type: ignore[no-untyped-def]
    """Score a particle's candidates under one of the networks: hᵀ W_entity e + w_distᵀ f(e)."""
    queries, vectors, scored_at, scores = arrays.queries, rows.vectors, rows.scored_at, rows.scores
    distance, largest = arrays.distance, arrays.distance.shape[1] - 1
    for c in range(count):
        row = memory[i, candidates[0, c], column]
        if scored_at[row] != stamp:
            total = queries[t, 0] * vectors[row, 0]
            for d in range(1, queries.shape[1]):
                total += queries[t, d] * vectors[row, d]
            scores[row] = total
            scored_at[row] = stamp
        out[c] = scores[row]
        for q in range(4):
            out[c] += distance[q, min(candidates[1 + q, c], largest)]


@njit(nogil=True, makes_arrays=False)
def _draw_entities(scratch, candidates, count, share, uniform, wanted, copies, counts):  # type: ignore[no-untyped-def]
    """Draw how many of the equal particles take each candidate; returns the logarithms of the sums under P and Q.

    scratch[0] and scratch[1] are the candidates' scores under P and Q.
    """
    p_highest, p_total = exponentiate_scores(scratch, 0, count)
    q_highest, q_total = exponentiate_scores(scratch, 1, count) if share < 1 else (p_highest, p_total)
    q = 3 if share < 1 else 2
    if wanted >= 0:
        chosen = count - 1
        for c in range(count):
            if candidates[0, c] == wanted:
                chosen = c
        take_one(count, chosen, copies, counts)
    else:
        for c in range(count):
            scratch[4, c] = (1 - share) * scratch[q, c] / q_total + share * scratch[2, c] / p_total
        count_draws(scratch[4], count, uniform, copies, counts)
    return p_highest + np.log(p_total), q_highest + np.log(q_total)


# -- L -------------------------------------------------------------------------------------------------------------------


@njit(nogil=True, makes_arrays=False)
def _choose_lengths(  # type: ignore[no-untyped-def]
    particles, P, P_rows, Q, Q_rows, share, segment, s, uniforms, forced, choices, starters, scratch, counts, ranks,
):  # fmt: skip
    """Eq. 5: draw the length of each new mention.

    No mention is longer than the remaining words; all lengths that reach the end are one choice, "at least".
    """
    left = segment.end - segment.position - s
    p_lengths, q_lengths = P_rows.lengths, Q_rows.lengths
    last = min(left, q_lengths.shape[1])
    p_filled, q_filled = 0, 0  # how many rows of these tables are from the present word
    ranks[:] = 0
    for i in starters:
        point = next_point(uniforms[s, :, 2], ranks, particles.island[i])
        row = particles.memory[i, particles.entity[i], MODEL_ROW]
        p_filled = _measure(P, P_rows, row, segment, s, p_filled)
        p = P_rows.measured_to[row]
        row = particles.memory[i, particles.entity[i], PROPOSAL_ROW]
        q_filled = _measure(Q, Q_rows, row, segment, s, q_filled)
        q = Q_rows.measured_to[row]
        if forced.size > 0:
            take_one(last, forced[s, i, 2] - 1, particles.copies[i], counts)
        else:
            probs = scratch[0]
            for l in range(1, last):
                probs[l - 1] = (1 - share) * np.exp(q_lengths[q, l - 1]) + share * np.exp(p_lengths[p, l - 1])
            probs[last - 1] = 1.0
            count_draws(probs, last, point, particles.copies[i], counts)
        for l in range(1, last + 1):
            if counts[l - 1] > 0:
                new = split(particles, choices, s, i, counts[l - 1])
                log_p = _log_prob_length(p_lengths, p, l, left)
                choices.log_p[2, s, new] = log_p
                choices.log_q[s, new] += mix_logs(log_p, _log_prob_length(q_lengths, q, l, left), share)
                particles.remaining[new] = l
                n = particles.entity[new]
                if particles.memory[new, n, COUNT] == 1:
                    particles.memory[new, n, FIRST_END] = segment.position + s + l


@njit(nogil=True, makes_arrays=False)
def _measure(arrays, rows, row, segment, s, filled):  # type: ignore[no-untyped-def]
    """Compute the log-probabilities of lengths for a row, unless they are cached; returns the number of cached rows."""
    stamp = segment.position + s + 1
    if rows.measured_at[row] == stamp:
        return filled
    rows.measured_at[row] = stamp
    rows.measured_to[row] = filled
    lengths, scores = rows.lengths, arrays.length_scores
    multiply_rows(arrays.length_weights, rows.vectors[row], lengths[filled])
    for l in range(lengths.shape[1]):
        lengths[filled, l] += scores[segment.first + s, l]
    normaliser = log_sum_row(lengths, filled, 0, lengths.shape[1])
    for l in range(lengths.shape[1]):
        lengths[filled, l] -= normaliser
    return filled + 1


@njit(nogil=True, makes_arrays=False)
def _log_prob_length(lengths, row, l, left):  # type: ignore[no-untyped-def]
    return lengths[row, l - 1] if l < left else log_sum_row(lengths, row, l - 1, lengths.shape[1])


# -- the word ------------------------------------------------------------------------------------------------------------


@njit(nogil=True, makes_arrays=False)
def _pair_words(particles, rows, types, segment, s, choices):  # type: ignore[no-untyped-def]
    """Record the place in its mention and the e_current from which each particle predicts the word, once for each pair.

    Places are numbered as by ``find_mention_positions``, where P has vectors for them.
    """
    stamp, places = segment.position + s + 1, rows.paired_at.shape[1]
    most = (places - 1) // (2 * types)
    remaining, mention_type, current = particles.remaining, particles.mention_type, particles.current
    paired_at, paired_to, pairs = rows.paired_at, rows.paired_to, choices.pairs
    for i in range(particles.used[0]):
        row, place = current[i], 0
        if places > 1 and remaining[i] > 0:
            kind = (mention_type[i] - 1) * 2 + choices.free[s, i]
            place = kind * most + min(remaining[i], most)
        if paired_at[row, place] != stamp:
            paired_at[row, place], paired_to[row, place] = stamp, pairs[0]
            choices.pair_words[pairs[0]], choices.pair_places[pairs[0]] = s, place
            choices.pair_rows[pairs[0]] = row
            pairs[0] += 1
        choices.pair[s, i] = paired_to[row, place]


@njit(nogil=True, makes_arrays=False)
def _read_word(particles, P, P_rows, Q, Q_rows, segment, s, choices):  # type: ignore[no-untyped-def]
    """Step 5 of the story: update the entity of an open mention. Also record R, E and L of this word."""
    t, position, stamp = segment.first + s, segment.position + s, segment.position + s + 1
    memory, remaining, mention_type = particles.memory, particles.remaining, particles.mention_type
    entity, current, sentence = particles.entity, particles.current, segment.sentence[s]
    mention_types, entities, lengths = choices.mention_type, choices.entity, choices.remaining
    p_gates, p_states, p_vectors, p_used = P.gates, P.states, P_rows.vectors, P_rows.used
    q_gates, q_states, q_vectors, q_used = Q.gates, Q.states, Q_rows.vectors, Q_rows.used
    p_updated, p_to, q_updated, q_to = (
        P_rows.updated_at,
        P_rows.updated_to,
        Q_rows.updated_at,
        Q_rows.updated_to,
    )
    for i in range(particles.used[0]):
        if remaining[i] == 0:
            mention_types[s, i], entities[s, i], lengths[s, i] = 0, 0, 1
            continue
        n = entity[i]
        mention_types[s, i], entities[s, i], lengths[s, i] = mention_type[i], n, remaining[i]
        row = memory[i, n, MODEL_ROW]
        memory[i, n, MODEL_ROW] = update_row_once(
            p_gates, p_states, t, p_vectors, p_used, p_updated, p_to, row, stamp
        )
        row = memory[i, n, PROPOSAL_ROW]
        memory[i, n, PROPOSAL_ROW] = update_row_once(
            q_gates, q_states, t, q_vectors, q_used, q_updated, q_to, row, stamp
        )
        memory[i, n, TOKEN], memory[i, n, SENTENCE] = position, sentence
        current[i] = memory[i, n, MODEL_ROW]
        remaining[i] -= 1
