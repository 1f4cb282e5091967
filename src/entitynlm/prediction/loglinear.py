"""The two log-linear rows of the paper's Table 3: recency and frequency features, and the model of Modi et al. (2017).

Both are p(c) ∝ exp(w · f(c)) over the candidates and "new", fitted by maximum likelihood with an L2 penalty.

Modi et al. score every participant of a scenario, mentioned or not, by shallow features, selectional preferences of the verb and
predicate schemas. Here a candidate is scored by the types that its words suggest, and the probability of all participants
that were not mentioned yet is that of "new", which is the paper's mapping. The head verb is the last verb of the sentence so far,
since a verb that follows the mention is not known yet.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize

from entitynlm.prediction.choices import Choice, make_choice
from entitynlm.prediction.contexts import PRONOUN_HEADS, Context, extract_contexts
from entitynlm.prediction.features import extract_shallow_features
from entitynlm.prediction.slots import TrainingSlots
from entitynlm.prediction.type_counts import TypeCounts
from entitynlm.text.document import Document

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
