"""A word cache: words that a text has used before are more probable than a model that read it once thinks.

A control for language modelling. EntityNLM may repeat the words of its entities; a cache over the whole text is what repetition
is worth without any idea of who is meant. It is mixed into any model of words alike, so that models can be compared with it.
"""

from __future__ import annotations

import numpy as np

from entitynlm.errors import ConfigError


class WordCache:
    """The words of a text so far; the text may come in pieces."""

    def __init__(self, share: float) -> None:
        if not 0 <= share < 1:
            raise ConfigError(f"the cache's share is at least 0 and below 1, not {share}")
        self.share = share
        self.counts: dict[int, int] = {}
        self.total = 0

    def read(self, x: np.ndarray) -> np.ndarray:
        """(T,) how much of the text before each of the words is this word."""
        frequency = np.zeros(len(x))
        for t, word in enumerate(x.tolist()):
            frequency[t] = self.counts.get(word, 0) / max(1, self.total)
            self.counts[word] = self.counts.get(word, 0) + 1
            self.total += 1
        return frequency

    def mix(self, log_probs: np.ndarray, x: np.ndarray) -> np.ndarray:
        """(T, …) log((1 - share) · p + share · frequency) of the next words; there is no cache at the first word."""
        shape = (len(x), *[1] * (log_probs.ndim - 1))
        share = np.full(shape, self.share)
        share[: int(self.total == 0)] = 0.0
        with np.errstate(divide="ignore"):
            log_cache = np.log(share * self.read(x).reshape(shape))
        mixed: np.ndarray = np.logaddexp(np.log1p(-share) + log_probs, log_cache)
        return mixed
