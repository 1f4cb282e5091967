"""Features of a candidate that need no training: how recently, how often and in which form it was mentioned."""

from bisect import bisect_right

import numpy as np

from entitynlm.prediction.contexts import PRONOUN_HEADS, SENTENCE_START, CandidateEntity, Context

EDGES = (
    (1, 2, 3, 4, 5, 7, 10, 15, 22, 32, 50, 80),
    (0, 1, 2, 3, 4, 6, 9),
    (1, 2, 3, 4, 5, 7, 10, 16),
    (1, 2, 3, 4, 6, 9, 14),
)
"""Lower edges of the buckets of the distances in tokens, sentences and mentions, and of the number of mentions."""
NUMBER_OF_BUCKETS = sum(map(len, EDGES))
FIRST_PERSON = frozenset("i me my mine myself we us our".split())
THIRD_PERSON = frozenset("he him she her they them".split())
CANDIDATE_COLUMNS = (
    "latest", "second_latest", "most_frequent", "log_token", "log_count", "share", "in_sentence",
    "last_in_sentence_before", "last_is_pronoun", "only_pronouns", "first_person", "third_person", "opens_sentences",
    "last_opened", "same_context", "last_same_context", "one_mention", "recently_introduced",
)  # fmt: skip
CONTEXT_COLUMNS = ("no_candidates", "log_candidates", "log_position", "offset", "opening")
SIZE = NUMBER_OF_BUCKETS + 1 + len(CANDIDATE_COLUMNS) + len(CONTEXT_COLUMNS)


def extract_shallow_features(context: Context) -> np.ndarray:
    """(candidates + 1, buckets + 1): one-hot recency and frequency; the last row, a new entity, has its own column."""
    found = np.zeros((len(context.candidates) + 1, NUMBER_OF_BUCKETS + 1), dtype=np.float32)
    for row, candidate in enumerate(context.candidates):
        values = (
            context.position - candidate.last,
            context.sentence - candidate.sentence,
            context.mentions - candidate.rank,
            len(candidate.starts),
        )
        column = 0
        for edges, value in zip(EDGES, values, strict=True):
            found[row, column + max(0, bisect_right(edges, value) - 1)] = 1
            column += len(edges)
    found[-1, -1] = 1
    return found


def extract_candidate_features(context: Context) -> np.ndarray:
    """(candidates + 1, SIZE): buckets, whether it is the new entity, and the columns above; those of the context on every row."""
    shallow = extract_shallow_features(context)
    counts = [len(candidate.starts) for candidate in context.candidates]
    own = np.zeros((len(shallow), len(CANDIDATE_COLUMNS)), dtype=np.float32)
    for row, candidate in enumerate(context.candidates):
        own[row] = _describe_candidate(context, candidate, counts)
    shared = (
        not context.candidates,
        np.log1p(len(context.candidates)) / 3,
        np.log1p(context.position) / 6,
        min(context.offset, 30) / 15,
        context.offset == 0,
    )
    return np.hstack([shallow, own, np.tile(np.array(shared, dtype=np.float32), (len(shallow), 1))])


def _describe_candidate(context: Context, candidate: CandidateEntity, counts: list[int]) -> tuple[float, ...]:
    previous = context.before[-1] if context.before else SENTENCE_START
    pronouns = [head in PRONOUN_HEADS for head in candidate.heads]
    back = context.mentions - candidate.rank
    count = len(candidate.starts)
    return (
        back == 1,
        back == 2,
        count == max(counts),
        np.log(context.position - candidate.last) / 5,
        np.log(count) / 3,
        count / sum(counts),
        candidate.sentence == context.sentence,
        candidate.sentence == context.sentence - 1,
        pronouns[-1],
        all(pronouns),
        any(head in FIRST_PERSON for head in candidate.heads),
        any(head in THIRD_PERSON for head in candidate.heads),
        candidate.contexts.count(SENTENCE_START) / count,
        candidate.contexts[-1] == SENTENCE_START,
        candidate.contexts.count(previous) / count,
        candidate.contexts[-1] == previous,
        count == 1,
        context.sentence - candidate.first_sentence <= 2,
    )
