"""Numbers that describe a candidate where a mention starts: how recent, how frequent, how it was spoken of."""

from __future__ import annotations

import numpy as np

from entitynlm.prediction.contexts import PRONOUNS, START, Context

RECENCY = ("token", "sentence", "mention")
EDGES = {
    "token": (1, 2, 3, 4, 5, 7, 10, 15, 22, 32, 50, 80),
    "sentence": (0, 1, 2, 3, 4, 6, 9),
    "mention": (1, 2, 3, 4, 5, 7, 10, 16),
    "count": (1, 2, 3, 4, 6, 9, 14),
}
FIRST_PERSON = frozenset("i me my mine myself we us our".split())
NUMBER_OF_BUCKETS = sum(map(len, EDGES.values()))
OTHERS = (
    "new", "latest", "second_latest", "most_frequent", "log_token", "log_count", "share",
    "in_sentence", "last_in_sentence_before", "last_is_pronoun", "only_pronouns", "first_person", "third_person",
    "opens_sentences", "last_opened", "same_context", "last_same_context", "one_mention", "late_birth",
    "no_candidates", "log_candidates", "log_position", "offset", "opening",
)  # fmt: skip
SIZE = NUMBER_OF_BUCKETS + len(OTHERS)


def measure_shallow(situation: Context) -> np.ndarray:
    """(candidates + 1, buckets + 1): one-hot recency and frequency; the last row, a new entity, has its own column."""
    found = np.zeros((len(situation.candidates) + 1, NUMBER_OF_BUCKETS + 1), dtype=np.float32)
    for row, candidate in enumerate(situation.candidates):
        values = {
            "token": situation.position - candidate.last,
            "sentence": situation.sentence - candidate.sentence,
            "mention": situation.mentions - candidate.rank,
            "count": len(candidate.starts),
        }
        column = 0
        for name, edges in EDGES.items():
            found[row, column + max(0, int(np.searchsorted(edges, values[name], side="right")) - 1)] = 1
            column += len(edges)
    found[-1, -1] = 1
    return found


def measure_context(situation: Context) -> np.ndarray:
    """(candidates + 1, SIZE): the buckets and all :data:`OTHERS`; what concerns the situation is on every row."""
    shallow = measure_shallow(situation)
    others = np.zeros((len(shallow), len(OTHERS)), dtype=np.float32)
    column = {name: number for number, name in enumerate(OTHERS)}
    previous = situation.before[-1] if situation.before else START
    counts = [len(candidate.starts) for candidate in situation.candidates]
    for row, candidate in enumerate(situation.candidates):
        pronouns = [head in PRONOUNS for head in candidate.heads]
        back = situation.mentions - candidate.rank
        values = {
            "latest": back == 1,
            "second_latest": back == 2,
            "most_frequent": counts[row] == max(counts),
            "log_token": np.log(situation.position - candidate.last) / 5,
            "log_count": np.log(counts[row]) / 3,
            "share": counts[row] / sum(counts),
            "in_sentence": candidate.sentence == situation.sentence,
            "last_in_sentence_before": candidate.sentence == situation.sentence - 1,
            "last_is_pronoun": pronouns[-1],
            "only_pronouns": all(pronouns),
            "first_person": any(head in FIRST_PERSON for head in candidate.heads),
            "third_person": any(
                head in ("he", "him", "she", "her", "they", "them") for head in candidate.heads
            ),
            "opens_sentences": candidate.contexts.count(START) / len(candidate.contexts),
            "last_opened": candidate.contexts[-1] == START,
            "same_context": candidate.contexts.count(previous) / len(candidate.contexts),
            "last_same_context": candidate.contexts[-1] == previous,
            "one_mention": counts[row] == 1,
            "late_birth": situation.sentence - candidate.first_sentence <= 2,
        }
        for name, value in values.items():
            others[row, column[name]] = value
    others[-1, column["new"]] = 1
    others[:, column["no_candidates"]] = not situation.candidates
    others[:, column["log_candidates"]] = np.log1p(len(situation.candidates)) / 3
    others[:, column["log_position"]] = np.log1p(situation.position) / 6
    others[:, column["offset"]] = min(situation.offset, 30) / 15
    others[:, column["opening"]] = situation.offset == 0
    return np.hstack([shallow[:, :-1], others])
