"""The two log-linear rows of the paper's Table 3: recency and frequency features, and the model of Modi et al. (2017).

Both are p(c) ∝ exp(w · f(c)) over the candidates and "new", fitted by maximum likelihood with an L2 penalty.

Modi et al. score every participant of a scenario, mentioned or not, by shallow features, selectional preferences of the verb and
predicate schemas. Here a candidate is scored by the types that its words suggest, and the probability of all participants
that were not mentioned yet is that of "new", which is the paper's mapping. The head verb is the last verb of the sentence so far,
since a verb that follows the mention is not known yet.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from entitynlm.prediction.choices import Choice, make_choice
from entitynlm.prediction.contexts import (
    PRONOUN_HEADS,
    SENTENCE_START,
    Context,
    extract_contexts,
    extract_shallow_features,
    stem,
)
from entitynlm.prediction.slots import TrainingSlots
from entitynlm.text.document import Document

AUXILIARIES = frozenset(
    "be am is are was were been being have has had having do does did will would can could should may might must "
    "'s 're 've 'd 'll 'm n't".split()
)
BACK_OFF_LEVELS: tuple[tuple[tuple[str, ...], int], ...] = (
    ((), -1),
    (("scenario",), 0),
    (("scenario", "word"), 1),
    (("scenario", "verb"), 1),
    (("scenario", "verb", "word"), 2),
    (("scenario", "head", "word"), 2),
    (("scenario", "head", "verb", "word"), 4),
)
"""The descriptors of each back-off level, and the number of the level that its counts are smoothed by."""
HEAD = "head"  # the first part of the keys of head words
PRIOR_COUNT = 2.0  # how many observations the level below counts for
SMALLEST_PROBABILITY = 1e-6

Key = tuple[str, ...]
ContextCounts = Mapping[Key, np.ndarray]


class ScenarioClassifier:
    """Naive Bayes over the words so far that at least three training stories have, with one half added to each count."""

    def __init__(self, stories: Sequence[Document]) -> None:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        spread: Counter[str] = Counter()
        for story in stories:
            words = set(map(str.lower, story.tokens))
            spread.update(words)
            counts[find_scenario(story)].update(words)
        sizes = Counter(map(find_scenario, stories))
        self.names = sorted(counts)
        self.log_probs = {
            word: [math.log((counts[name][word] + 0.5) / (sizes[name] + 1)) for name in self.names]
            for word, count in spread.items()
            if count >= 3
        }

    def classify(self, story: Document, positions: Sequence[int]) -> list[str]:
        """Return the likeliest scenario given the words before each position."""
        scores = np.zeros((len(story) + 1, len(self.names)))
        unseen = set(self.log_probs)
        for position, token in enumerate(story.tokens, start=1):
            word = token.lower()
            if word in unseen:
                scores[position] = self.log_probs[word]
                unseen.remove(word)
        best = scores.cumsum(axis=0).argmax(axis=1)
        return [self.names[best[min(position, len(story))]] for position in positions]


def find_scenario(story: Document) -> str:
    """Return the scenario that a training story is annotated with."""
    return story.meta.get("scenario", "")


def collect_verbs(stories: Sequence[Document]) -> frozenset[str]:
    """Collect words that are more often tagged as a verb than not, without auxiliaries."""
    balance: Counter[str] = Counter()
    for story in stories:
        for token, tag in zip(story.tokens, story.column("pos"), strict=True):
            balance[token.lower()] += 1 if tag and tag.startswith("VB") else -1
    return frozenset(word for word, count in balance.items() if count > 0) - AUXILIARIES


class TypeCounts:
    """Counts the entity types that are mentioned in each context of the training stories.

    A candidate is as probable as the types that its head words suggest. Types, scenarios and part-of-speech tags are annotation,
    so they are read from training stories only; of the story at hand only words are used. The counts that a training story
    contributed are subtracted before its own slots are measured (leave one story out).

    :param counted: where mentions start in each story whose contexts are counted; the types of head words are those of all.
    """

    def __init__(self, stories: Sequence[Document], counted: Sequence[Sequence[int]]) -> None:
        types = sorted({story.entity_types.get(e.id) or "" for story in stories for e in story.entities})
        self.scenarios, self.verbs = ScenarioClassifier(stories), collect_verbs(stories)
        self.type_ids = {name: number for number, name in enumerate(types)}
        pairs = zip(stories, counted, strict=True)
        self._stories = {story.id: (story, frozenset(starts)) for story, starts in pairs}
        self.counts = self._count(stories)

    def _count(self, stories: Iterable[Document]) -> ContextCounts:
        """Count (type, newness) by context key, and types by scenario and head word, of mentions in training stories."""
        types = len(self.type_ids)
        counts: dict[Key, np.ndarray] = defaultdict(lambda: np.zeros(2 * types, dtype=np.float32))
        for story in stories:
            scenario, counted = find_scenario(story), self._stories[story.id][1]
            seen: set[str] = set()
            contexts = extract_contexts(story, [mention.start for mention in story.mentions])
            for mention, context in zip(story.mentions, contexts, strict=True):
                number = self.type_ids.get(story.entity_types.get(mention.entity) or "", 0)
                head = stem(story.tokens[mention.end - 1])
                for key in self.make_keys(context, scenario) if mention.start in counted else ():
                    counts[key][number + types * (mention.entity not in seen)] += 1
                for key in ((HEAD, scenario, head), (HEAD, "", head)):
                    counts[key][number] += 1
                seen.add(mention.entity)
        return counts

    def make_keys(self, context: Context, scenario: str) -> list[Key]:
        """Return the context's key at each level; its verb is the last verb of the sentence so far."""
        found = {
            "scenario": scenario,
            "word": context.before[-1] if context.before else SENTENCE_START,
            "verb": next((word for word in reversed(context.before) if word in self.verbs), ""),
            "head": context.latest,
        }
        return [
            (str(level), *(found[name] for name in names)) for level, (names, _) in enumerate(BACK_OFF_LEVELS)
        ]

    def measure(self, story: Document, contexts: Sequence[Context]) -> list[np.ndarray]:
        """Return (2, candidates + 1, levels) log-probabilities at each context, the last row that of a new entity.

        The first table has a candidate's types among entities mentioned before (in the last row: any new entity), the second
        its types whether old or new (in the last row: types that no candidate has).
        """
        known, _ = self._stories.get(story.id, (None, None))
        own = self._count([story]) if known is story else {}
        scenarios = self.scenarios.classify(story, [context.position for context in contexts])
        inferred: dict[Key, np.ndarray] = {}
        return [self._measure(*pair, own, inferred) for pair in zip(contexts, scenarios, strict=True)]

    def _measure(
        self, context: Context, scenario: str, own: ContextCounts, inferred: dict[Key, np.ndarray]
    ) -> np.ndarray:
        for head in {head for candidate in context.candidates for head in candidate.heads}:
            if (scenario, head) not in inferred:
                inferred[scenario, head] = self._infer_type(head, scenario, own)
        evidence: Any = [
            sum(inferred[scenario, head] for head in dict.fromkeys(candidate.heads))
            for candidate in context.candidates
        ]
        # (candidates, types) by naive Bayes: each different head word of a candidate is evidence
        type_probs = softmax(np.reshape(evidence, (-1, len(self.type_ids))), axis=1)
        known, new = np.split(self._estimate(self.make_keys(context, scenario), own), 2, axis=1)
        any_type = known + new  # (levels, types)
        absent = np.prod(1 - type_probs, axis=0)
        tables = [
            np.vstack([type_probs @ known.T, new.sum(axis=1)]),
            np.vstack([type_probs @ any_type.T, any_type @ absent]),
        ]
        return np.stack([np.log(table + SMALLEST_PROBABILITY).astype(np.float32) for table in tables])

    def _get(self, key: Key, own: ContextCounts) -> np.ndarray:
        """Get the counts of a key without those of a story."""
        nothing = np.zeros(2 * len(self.type_ids), dtype=np.float32)
        return self.counts.get(key, nothing) - own.get(key, nothing)

    def _estimate(self, keys: Sequence[Key], own: ContextCounts) -> np.ndarray:
        """Return (levels, 2 types) probabilities of outcomes, each level smoothed by the one that it backs off to."""
        size = 2 * len(self.type_ids)
        found = np.empty((len(BACK_OFF_LEVELS), size), dtype=np.float32)
        for level, ((_, parent), key) in enumerate(zip(BACK_OFF_LEVELS, keys, strict=True)):
            counts = self._get(key, own)
            below = found[parent] if parent >= 0 else np.float32(1 / size)
            found[level] = (counts + PRIOR_COUNT * below) / (counts.sum() + PRIOR_COUNT)
        return found

    def _infer_type(self, head: str, scenario: str, own: ContextCounts) -> np.ndarray:
        """Return (types,) log-probabilities of the types of an entity that a head word names."""
        size = len(self.type_ids)
        probs = np.full(size, 1 / size, dtype=np.float32)
        for key in ((HEAD, "", head), (HEAD, scenario, head)):
            counts = self._get(key, own)[:size]
            probs = (counts + probs) / (counts.sum() + 1)
        return np.log(probs.clip(1e-4))


FeatureFunction = Callable[[Document, Sequence[Context]], list[np.ndarray]]
"""Computes (candidates + 1, F) features at each context of a story; the last row is that of a new entity."""


class LogLinearChooser:
    def __init__(self, extract: FeatureFunction, weights: np.ndarray) -> None:
        self.extract = extract
        self.weights = weights

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        contexts = extract_contexts(story, positions)
        return [
            make_choice(context.entities, features @ self.weights)
            for context, features in zip(contexts, self.extract(story, contexts), strict=True)
        ]


def fit_chooser(extract: FeatureFunction, stories: TrainingSlots) -> LogLinearChooser:
    features: list[np.ndarray] = []
    answers: list[int] = []
    for story, positions in stories:
        contexts = extract_contexts(story, positions)
        features += extract(story, contexts)
        answers += [context.find_answer(story) for context in contexts]
    return LogLinearChooser(extract, fit_weights(features, answers))


def fit_weights(
    features: Sequence[np.ndarray], answers: Sequence[int], *, penalty: float = 1e-4
) -> np.ndarray:
    """(F,) weights by L-BFGS, from (candidates + 1, F) features, all of one scale, and the true row of each slot."""
    sizes = np.array([len(rows) for rows in features])
    table = np.concatenate(list(features)).astype(np.float64)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    chosen = bounds[:-1] + np.asarray(answers)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    truth = table[chosen].sum(axis=0)

    def measure(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = table @ weights
        highest = np.maximum.reduceat(scores, bounds[:-1])
        exponentials = np.exp(scores - highest[owners])
        totals = np.add.reduceat(exponentials, bounds[:-1])
        loss = (highest + np.log(totals)).sum() - scores[chosen].sum()
        gradient = (exponentials / totals[owners]) @ table - truth
        count = len(sizes)
        return loss / count + penalty * weights @ weights, gradient / count + 2 * penalty * weights

    return np.asarray(minimize(measure, np.zeros(table.shape[1]), jac=True, method="L-BFGS-B").x)


def extract_shallow(story: Document, contexts: Sequence[Context]) -> list[np.ndarray]:
    return [extract_shallow_features(context) for context in contexts]


def extract_modi(counts: TypeCounts, story: Document, contexts: Sequence[Context]) -> list[np.ndarray]:
    """Return shallow features, selectional preferences, fit of participant types, and predicate schemas."""
    found = []
    for context, log_probs in zip(contexts, counts.measure(story, contexts), strict=True):
        shallow = extract_shallow_features(context)
        fits = np.hstack([*log_probs[:, :, 1:]]) / 3  # the first level knows nothing of the context
        pronouns = [candidate.heads[-1] in PRONOUN_HEADS for candidate in context.candidates]
        is_pronoun = np.array([*pronouns, False], dtype=np.float32)[:, None]
        found.append(np.hstack([shallow, is_pronoun, fits, fits * shallow[:, -1:]]))
    return found
