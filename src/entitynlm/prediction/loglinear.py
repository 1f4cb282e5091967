"""The two log-linear rows of the paper's Table 3: recency and frequency features, and the model of Modi et al. (2017).

Both are p(c) ∝ exp(w · f(c)) over the candidates and "new", fitted by maximum likelihood with an L2 penalty.

Modi et al. score every participant of a scenario, mentioned or not, by shallow features, selectional preferences of the verb and
predicate schemas. Here a candidate is scored by the types that its words suggest, and the probability of all participants
that were not mentioned yet is that of "new", which is the paper's mapping. The head verb is the last verb of the sentence so far,
since a verb that follows the mention is not known yet.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
PRIOR_COUNT = 2.0  # how many observations the level below counts for
SMALLEST_PROBABILITY = 1e-6

Key = tuple[str, ...]


class ScenarioClassifier:
    """Naive Bayes over the different words so far."""

    def __init__(self, log_probs: Mapping[str, Mapping[str, float]]) -> None:
        self.log_probs = log_probs
        self.names = sorted(log_probs)

    @classmethod
    def fit(cls, stories: Sequence[Document]) -> "ScenarioClassifier":
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
        """Return the likeliest scenario given the words before each position."""
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
    """Return the scenario that a training story is annotated with."""
    return story.meta.get("scenario", "")


def collect_verbs(stories: Sequence[Document]) -> frozenset[str]:
    """Collect words that are more often tagged as a verb than not, without auxiliaries."""
    balance: Counter[str] = Counter()
    for story in stories:
        for token, tag in zip(story.tokens, story.column("pos"), strict=True):
            balance[token.lower()] += 1 if tag and tag.startswith("VB") else -1
    return frozenset(word for word, count in balance.items() if count > 0) - AUXILIARIES


class _Tables:
    """Counts of (type, newness) by context key, and of types by scenario and head word."""

    def __init__(self, types: int) -> None:
        self.types = types
        self.outcomes: dict[Key, np.ndarray] = defaultdict(lambda: np.zeros(2 * types, dtype=np.float32))
        self.heads: dict[Key, np.ndarray] = defaultdict(lambda: np.zeros(types, dtype=np.float32))
        self.type_log_probs: dict[Key, np.ndarray] = {}  # a cache

    def add(self, observed: Iterable[tuple[list[Key], str, str, int]]) -> None:
        for keys, scenario, head, outcome in observed:
            for key in keys:
                self.outcomes[key][outcome] += 1
            for key in ((scenario, head), ("", head)):
                self.heads[key][outcome % self.types] += 1


class TypeCounts:
    """Counts the entity types that are mentioned in each context of the training stories.

    A candidate is as probable as the types that its head words suggest. Types, scenarios and part-of-speech tags are annotation,
    so they are read from training stories only; of other stories only words are used. A training story's own counts are
    subtracted before its slots are measured (leave one story out).
    """

    def __init__(self, scenarios: ScenarioClassifier, verbs: Iterable[str], types: Sequence[str]) -> None:
        self.scenarios = scenarios
        self.verbs = frozenset(verbs)
        self.types = tuple(types)
        self.type_ids = {name: number for number, name in enumerate(types)}
        self.tables = _Tables(len(types))
        self._nothing = _Tables(len(types))
        self._stories: dict[str, tuple[Document, frozenset[int]]] = {}

    @classmethod
    def fit(cls, stories: Sequence[Document], counted: Sequence[Sequence[int]] | None = None) -> "TypeCounts":
        """Count the contexts of all mentions, or of those that start at ``counted`` (a list per story); types of head words."""
        types = sorted({story.entity_types.get(e.id) or "" for story in stories for e in story.entities})
        made = cls(ScenarioClassifier.fit(stories), collect_verbs(stories), types)
        for number, story in enumerate(stories):
            starts = counted[number] if counted is not None else [m.start for m in story.mentions]
            made._stories[story.id] = (story, frozenset(starts))
            made.tables.add(made._observe(story))
        return made

    def _observe(self, story: Document) -> Iterator[tuple[list[Key], str, str, int]]:
        """Yield keys (none, if not counted), scenario, head, and type with newness of each mention of a training story."""
        scenario = find_scenario(story)
        _, counted = self._stories[story.id]
        seen: set[str] = set()
        contexts = extract_contexts(story, [mention.start for mention in story.mentions])
        for mention, context in zip(story.mentions, contexts, strict=True):
            number = self.type_ids.get(story.entity_types.get(mention.entity) or "", 0)
            outcome = number + len(self.types) * (mention.entity not in seen)
            seen.add(mention.entity)
            keys = self.make_keys(context, scenario) if mention.start in counted else []
            yield keys, scenario, stem(story.tokens[mention.end - 1]), outcome

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
        own = self._nothing
        if story.id in self._stories and self._stories[story.id][0] is story:
            own = _Tables(len(self.types))
            own.add(self._observe(story))
        scenarios = self.scenarios.classify(story, [context.position for context in contexts])
        return [self._measure(*pair, own) for pair in zip(contexts, scenarios, strict=True)]

    def _measure(self, context: Context, scenario: str, own: _Tables) -> np.ndarray:
        type_probs = self._infer_types(context, scenario, own)  # (candidates, types)
        known, new = np.split(self._estimate(self.make_keys(context, scenario), own), 2, axis=1)
        any_type = known + new  # (levels, types)
        absent = np.prod(1 - type_probs, axis=0)
        tables = [
            np.vstack([type_probs @ known.T, new.sum(axis=1)]),
            np.vstack([type_probs @ any_type.T, any_type @ absent]),
        ]
        return np.stack([np.log(table + SMALLEST_PROBABILITY).astype(np.float32) for table in tables])

    def _estimate(self, keys: Sequence[Key], own: _Tables) -> np.ndarray:
        """Return (levels, 2 types) probabilities of outcomes, each level smoothed by the one that it backs off to."""
        size = 2 * len(self.types)
        found = np.empty((len(BACK_OFF_LEVELS), size), dtype=np.float32)
        nothing = np.zeros(size, dtype=np.float32)
        for level, ((_, parent), key) in enumerate(zip(BACK_OFF_LEVELS, keys, strict=True)):
            counts = self.tables.outcomes.get(key, nothing) - own.outcomes.get(key, nothing)
            below = found[parent] if parent >= 0 else np.float32(1 / size)
            found[level] = (counts + PRIOR_COUNT * below) / (counts.sum() + PRIOR_COUNT)
        return found

    def _infer_types(self, context: Context, scenario: str, own: _Tables) -> np.ndarray:
        """Return (candidates, types) by naive Bayes: each different head word of a candidate is evidence."""
        if not context.candidates:
            return np.zeros((0, len(self.types)), dtype=np.float32)
        evidence = [
            sum(self._infer_type(head, scenario, own) for head in dict.fromkeys(candidate.heads))
            for candidate in context.candidates
        ]
        found: np.ndarray = softmax(evidence, axis=1)
        return found

    def _infer_type(self, head: str, scenario: str, own: _Tables) -> np.ndarray:
        """Return (types,) log-probabilities of the types of an entity that a head word names."""
        cache, size = own.type_log_probs, len(self.types)
        if (scenario, head) not in cache:
            probs = np.full(size, 1 / size, dtype=np.float32)
            nothing = np.zeros(size, dtype=np.float32)
            for key in (("", head), (scenario, head)):
                counts = self.tables.heads.get(key, nothing) - own.heads.get(key, nothing)
                probs = (counts + probs) / (counts.sum() + 1)
            cache[scenario, head] = np.log(probs.clip(1e-4))
        return cache[scenario, head]


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
