"""What stories of one kind have in common: a naive Bayes guess of the kind (the scenario) from words, and a list of verbs.

Scenario names and parts of speech are read from the training stories alone; a story that is asked about shows nothing but words.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from entitynlm.text.document import Document

AUXILIARIES = frozenset(
    "be am is are was were been being have has had having do does did will would can could should may might must "
    "'s 're 've 'd 'll 'm n't".split()
)


class ScenarioClassifier:
    """Naive Bayes over the words so far."""

    def __init__(self, log_probs: Mapping[str, Mapping[str, float]]) -> None:
        self.log_probs = {name: dict(values) for name, values in log_probs.items()}
        self.names = sorted(self.log_probs)

    @classmethod
    def fit(cls, stories: Sequence[Document]) -> ScenarioClassifier:
        """Words that at least three stories have, with one half added to each count."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        spread: Counter[str] = Counter()
        for story in stories:
            words = set(map(str.lower, story.tokens))
            spread.update(words)
            counts[find_scenario(story)].update(words)
        stories_of = Counter(map(find_scenario, stories))
        vocabulary = [word for word, count in spread.items() if count >= 3]
        return cls(
            {
                name: {word: math.log((own[word] + 0.5) / (stories_of[name] + 1)) for word in vocabulary}
                for name, own in counts.items()
            }
        )

    def guess(self, story: Document, positions: Sequence[int]) -> list[str]:
        """The likeliest scenario given the words before each position (each word counted once)."""
        scores = dict.fromkeys(self.names, 0.0)
        seen: set[str] = set()
        best = [max(self.names, key=scores.__getitem__)] if self.names else [""]
        for token in story.tokens:
            word = token.lower()
            if word not in seen and self.names and word in self.log_probs[self.names[0]]:
                for name in self.names:
                    scores[name] += self.log_probs[name][word]
            seen.add(word)
            best.append(max(self.names, key=scores.__getitem__) if self.names else "")
        return [best[min(position, len(best) - 1)] for position in positions]


def find_scenario(story: Document) -> str:
    """The scenario that a training story is annotated with."""
    return story.meta.get("scenario", "")


def collect_verbs(stories: Sequence[Document]) -> frozenset[str]:
    """Words that are tagged as a verb more often than not, auxiliaries aside."""
    tagged: dict[str, Counter[bool]] = defaultdict(Counter)
    for story in stories:
        for token, tag in zip(story.tokens, story.column("pos"), strict=True):
            tagged[token.lower()][bool(tag and tag.startswith("VB"))] += 1
    return frozenset(w for w, found in tagged.items() if found[True] > found[False]) - AUXILIARIES


def find_verb(before: Sequence[str], verbs: frozenset[str]) -> str:
    """The last verb among the words of a sentence so far, or nothing: the head verb where it precedes the mention."""
    return next((word for word in reversed(before) if word in verbs), "")
