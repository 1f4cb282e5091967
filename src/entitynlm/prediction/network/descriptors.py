"""Descriptors: what counts are kept by. Short texts that describe a slot, and a candidate at a slot.

Which words are verbs, and which words a scenario has (naive Bayes), is learned from annotated training stories; of the story at
hand only words are looked at. The verb of a slot is the last one of the sentence so far, and its link is the last word
before the slot that is no determiner: "put the dough in the …" has the verb "put" and the link "in".
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from entitynlm.prediction.contexts import PRONOUNS, START, CandidateEntity, Context
from entitynlm.text.document import Document

AUXILIARIES = frozenset(
    "be am is are was were been being have has had having do does did will would can could should may might must "
    "'s 're 've 'd 'll 'm n't".split()
)
DETERMINERS = frozenset(
    "the a an my his her our their your its some this that these those any another each more all both".split()
)
RECENCIES, COUNTS, CANDIDATES = (1, 2, 3, 4, 6, 9, 14), (1, 2, 3, 5, 8), (1, 3, 5, 7, 10, 14, 18)
"""Lower edges of the buckets of recency in mentions, of the number of mentions, and of the number of candidates."""
FARTHEST_SENTENCE, LAST_PROGRESS = 4, 10

Descriptors = Mapping[str, str]


class ScenarioClassifier:
    """Naive Bayes over the words so far, each counted once."""

    def __init__(self, log_probs: Mapping[str, Mapping[str, float]]) -> None:
        self.log_probs = log_probs
        self.names = sorted(log_probs)

    @classmethod
    def fit(cls, stories: Sequence[Document]) -> ScenarioClassifier:
        """Use the words of at least three stories, with one half added to each count."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        spread: Counter[str] = Counter()
        for story in stories:
            words = set(map(str.lower, story.tokens))
            spread.update(words)
            counts[find_scenario(story)].update(words)
        sizes = Counter(map(find_scenario, stories))
        vocabulary = [word for word, count in spread.items() if count >= 3]
        return cls(
            {
                name: {word: math.log((own[word] + 0.5) / (sizes[name] + 1)) for word in vocabulary}
                for name, own in counts.items()
            }
        )

    def classify(self, story: Document, positions: Sequence[int]) -> list[str]:
        """The likeliest scenario given the words before each position."""
        if not self.names:
            return [""] * len(positions)
        scores = np.zeros((len(story) + 1, len(self.names)))
        unseen = set(self.log_probs[self.names[0]])
        for position, token in enumerate(story.tokens, start=1):
            word = token.lower()
            if word in unseen:
                scores[position] = [self.log_probs[name][word] for name in self.names]
                unseen.remove(word)
        best = scores.cumsum(axis=0).argmax(axis=1)
        return [self.names[best[min(position, len(story))]] for position in positions]


def find_scenario(story: Document) -> str:
    """The scenario that a training story is annotated with."""
    return story.meta.get("scenario", "")


def collect_verbs(stories: Sequence[Document]) -> frozenset[str]:
    """Words that are tagged as a verb more often than not, auxiliaries aside."""
    balance: Counter[str] = Counter()
    for story in stories:
        for token, tag in zip(story.tokens, story.column("pos"), strict=True):
            balance[token.lower()] += 1 if tag and tag.startswith("VB") else -1
    return frozenset(word for word, count in balance.items() if count > 0) - AUXILIARIES


def describe_context(
    context: Context, scenario: str, verbs: frozenset[str], types: Sequence[str] = ()
) -> dict[str, str]:
    """The descriptors of a slot; those of types are empty without the candidates' ``types``."""
    before = context.before
    verb = next((i for i in range(len(before) - 1, -1, -1) if before[i] in verbs), -1)
    past = (*context.past, *before[: max(verb, 0)])
    latest = [types[number] for number in context.by_recency] if types else []
    after_verb = context.position - context.offset + verb + 1
    since_verb = [
        (candidate.starts[-1], name)
        for candidate, name in zip(context.candidates, types, strict=False)
        if verb >= 0 and candidate.starts[-1] >= after_verb
    ]
    words = (START, START, START, *before)
    return {
        "scenario": scenario,
        "word1": words[-1],
        "word2": words[-2],
        "word3": words[-3],
        "verb": before[verb] if verb >= 0 else "",
        "earlier_verb": next((word for word in reversed(past) if word in verbs), ""),
        "link": next((word for word in reversed(before) if word not in DETERMINERS), START),
        "determiner": before[-1] if before and before[-1] in DETERMINERS else "",
        "latest_head": context.latest,
        "latest_type": latest[0] if latest else "",
        "second_latest_type": latest[1] if len(latest) > 1 else "",
        "type_since_verb": max(since_verb)[1] if since_verb else "",
        "candidates": str(bisect_right(CANDIDATES, len(context.candidates))),
        "progress": str(min(context.sentence // 2, LAST_PROGRESS)),
        "is_second_word": str(int(context.offset == 1)),
    }


def describe_candidate(context: Context, candidate: CandidateEntity, type_name: str) -> dict[str, str]:
    return {
        "type": type_name,
        "recency": str(bisect_right(RECENCIES, context.mentions - candidate.rank)),
        "distance": str(min(context.sentence - candidate.sentence, FARTHEST_SENTENCE)),
        "count": str(bisect_right(COUNTS, len(candidate.starts))),
        "is_pronoun": str(int(candidate.heads[-1] in PRONOUNS)),
        "head": candidate.heads[-1],
        "word_before": candidate.contexts[-1],
    }
