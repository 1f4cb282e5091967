"""Perplexity, its standard error, and whether one language model is better than another on the same documents.

Words of one document are not independent of each other, documents are: so both the test and the interval take documents as their
units. All logarithms are natural.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from entitynlm.errors import ConfigError, DataError

TRIALS = 10_000
TOLERANCE = 1e-12  # sums in another order are the same difference
BLOCK = 1_024  # trials at a time, so that a corpus of thousands of documents fits into memory

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LanguageComparison:
    """Two language models on the same documents.

    :param change: of perplexity from the first to the second, as a share: -0.023 is 2.3 % less.
    :param low: and :param high: the bounds of its 95 % interval, by bootstrap over documents.
    :param p_value: of a two-sided sign-flip test on the documents' log-probabilities.
    :param wins: documents that are likelier under the second.
    """

    change: float
    low: float
    high: float
    p_value: float
    wins: int
    documents: int


def to_perplexity(log_prob: float, tokens: int) -> float:
    """exp of the mean negative log-probability per word."""
    if tokens < 1:
        raise DataError("there are no words to measure a perplexity on")
    return float(np.exp(-log_prob / tokens))


def propagate_error(perplexity: float, standard_errors: npt.ArrayLike, tokens: int) -> float:
    """The standard error of a perplexity, from those of the documents' log-probabilities (nan where one is not known)."""
    total = float(np.sqrt(np.sum(np.square(np.asarray(standard_errors, dtype=np.float64)))))
    return perplexity * total / tokens


def compare_language_models(
    first: npt.ArrayLike, second: npt.ArrayLike, tokens: npt.ArrayLike, *, trials: int = TRIALS, seed: int = 0
) -> LanguageComparison:
    """Compare two models by their log-probabilities of the same documents, which have ``tokens`` words each."""
    if trials < 1:
        raise ConfigError(f"a randomisation test needs at least one trial, not {trials}")
    before, after, sizes = (np.asarray(values, dtype=np.float64) for values in (first, second, tokens))
    if not (before.shape == after.shape == sizes.shape and before.ndim == 1 and len(sizes)):
        raise DataError("two language models can only be compared on the same documents")
    gains = after - before
    generator = np.random.default_rng(seed)
    changes = []  # on corpora drawn, document by document, from this one
    for rows in _list_blocks(trials):
        drawn = generator.integers(0, len(gains), (rows, len(gains)))
        changes.append(np.expm1(-gains[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)))
    low, high = np.quantile(np.concatenate(changes), [0.025, 0.975])
    return LanguageComparison(
        change=float(np.expm1(-gains.sum() / sizes.sum())),
        low=float(low),
        high=float(high),
        p_value=_flip_signs(gains, generator, trials),
        wins=int(np.sum(gains > 0)),
        documents=len(gains),
    )


def _list_blocks(trials: int) -> list[int]:
    """How many trials are made at a time."""
    return [min(BLOCK, trials - start) for start in range(0, trials, BLOCK)]


def _flip_signs(gains: FloatArray, generator: np.random.Generator, trials: int) -> float:
    """If the models were of one kind, each document's gain could as well have been a loss of the same size.

    With so few documents that all sign patterns can be tried, they are, and the p-value is exact.
    """
    observed = abs(gains.sum()) - TOLERANCE * max(1.0, float(np.abs(gains).sum()))
    if 2 ** len(gains) <= trials:
        patterns = (np.arange(2 ** len(gains))[:, None] >> np.arange(len(gains))) & 1
        return float(np.mean(np.abs((1 - 2 * patterns) @ gains) >= observed))
    extreme = 0
    for rows in _list_blocks(trials):
        signs = generator.choice([-1.0, 1.0], (rows, len(gains)))
        extreme += int(np.sum(np.abs(signs @ gains) >= observed))
    return (extreme + 1) / (trials + 1)
