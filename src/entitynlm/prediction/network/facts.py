"""What is known where a mention starts, in the few words that counts can be kept by.

The types of candidates are guesses from their words (see ``statistics``); the verb is the last one of the sentence so far, and
its link is the last word before the mention that is no determiner: "put the dough in the …" is put, in.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from entitynlm.prediction.contexts import PRONOUNS, START, CandidateEntity, Context

DETERMINERS = frozenset(
    "the a an my his her our their your its some this that these those any another each more all both".split()
)
RECENCIES = (1, 2, 3, 4, 6, 9, 14)
COUNTS = (1, 2, 3, 5, 8)
CROWDS = (1, 3, 5, 7, 10, 14, 18)
FARTHEST_SENTENCE = 4
LAST_STAGE = 10


@dataclass(frozen=True, slots=True)
class Facts:
    """Of a situation.

    :param words: the three words before, the nearest first.  :param verb: the last verb of the sentence, :param earlier: the
        verb before that one.  :param link: see the module's text.  :param determiner: the word before, if it is one.
    :param types: of the candidates.  :param latest: the type of what was mentioned last, :param second: of the one before.
    :param after: the type of what was mentioned last since the verb.
    :param crowd: how many candidates there are, :param stage: how far the story is; both in steps.
    """

    scenario: str
    words: tuple[str, str, str]
    verb: str
    earlier: str
    link: str
    determiner: str
    types: tuple[str, ...]
    latest: str
    second: str
    after: str
    crowd: str
    stage: str


def gather_facts(
    situation: Context,
    scenario: str,
    beliefs: np.ndarray,
    names: Sequence[str],
    verbs: frozenset[str],
) -> Facts:
    """``beliefs`` (candidates, types) say how likely each candidate is of each of the types ``names``."""
    before = situation.before
    start = situation.position - situation.offset
    place = next((i for i in range(len(before) - 1, -1, -1) if before[i] in verbs), -1)
    past = (*situation.past, *before[: max(place, 0)])
    types = tuple(names[best] for best in beliefs.argmax(axis=1)) if len(beliefs) else ()
    order = sorted(range(len(types)), key=lambda row: -situation.candidates[row].rank)
    since = [
        (candidate.starts[-1], kind)
        for candidate, kind in zip(situation.candidates, types, strict=True)
        if place >= 0 and candidate.starts[-1] > start + place
    ]
    words = (START, START, START, *before)
    return Facts(
        scenario,
        (words[-1], words[-2], words[-3]),
        before[place] if place >= 0 else "",
        next((word for word in reversed(past) if word in verbs), ""),
        next((word for word in reversed(before) if word not in DETERMINERS), START),
        before[-1] if before and before[-1] in DETERMINERS else "",
        types,
        types[order[0]] if order else "",
        types[order[1]] if len(order) > 1 else "",
        max(since)[1] if since else "",
        str(bisect_right(CROWDS, len(types))),
        str(min(situation.sentence // 2, LAST_STAGE)),
    )


@dataclass(frozen=True, slots=True)
class CandidateFacts:
    """Of one candidate: recency in mentions, distance in sentences and how often, in steps; its latest word and its context."""

    recency: str
    distance: str
    count: str
    is_pronoun: str
    head: str
    context: str


def describe_candidate(situation: Context, candidate: CandidateEntity) -> CandidateFacts:
    """See :class:`CandidateFacts`."""
    return CandidateFacts(
        str(bisect_right(RECENCIES, situation.mentions - candidate.rank)),
        str(min(situation.sentence - candidate.sentence, FARTHEST_SENTENCE)),
        str(bisect_right(COUNTS, len(candidate.starts))),
        str(int(candidate.heads[-1] in PRONOUNS)),
        candidate.heads[-1],
        candidate.contexts[-1],
    )
