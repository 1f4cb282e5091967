"""A word cache: words that a text has used before are more probable than a model that read it once thinks.

A control for language modelling. EntityNLM may repeat the words of its entities; a cache over the whole text is what repetition
is worth without any idea of who is meant, and a cache of bigrams (words that stood after the same word before) is what the copy
mechanism amounts to without entities. Both are mixed into any model of words alike, so that models can be compared with them.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from entitynlm.errors import ConfigError


class WordCache:
    """The words of a text so far, and their predecessors; the text may come in pieces."""

    def __init__(self, share: float, bigram_share: float = 0.0) -> None:
        if not (share >= 0 and bigram_share >= 0 and share + bigram_share < 1):
            told = f"{share:g}" if not bigram_share else f"{share:g} and {bigram_share:g}"
            raise ConfigError(f"the cache's share is at least 0 and below 1 (all together), not {told}")
        self.share, self.bigram_share = share, bigram_share
        self.counts: Counter[int] = Counter()
        self.pairs: Counter[tuple[int, int]] = Counter()
        self.total = 0
        self.last: int | None = None

    def read(self, x: np.ndarray) -> np.ndarray:
        """(T, 4) how much of the text before each of the words is this word; whether there is any text before it; how much of
        what came after the word before it is this word; whether anything did.
        """
        found = np.zeros((len(x), 4))
        for t, word in enumerate(x.tolist()):
            found[t, :2] = self.counts[word] / max(1, self.total), self.total > 0
            if self.last is not None:
                # The last word itself has no successor yet.
                followed = self.counts[self.last] - 1
                found[t, 2:] = self.pairs[self.last, word] / max(1, followed), followed > 0
                self.pairs[self.last, word] += 1
            self.counts[word] += 1
            self.total += 1
            self.last = word
        return found

    def mix(self, log_probs: np.ndarray, x: np.ndarray) -> np.ndarray:
        """(T, …) log((1 - shares) · p + share · frequency + bigram share · frequency after this predecessor) of the next words.

        A cache that has nothing to say (at the first word, after a predecessor that is new) has no share.
        """
        shape = (len(x), *[1] * (log_probs.ndim - 1))
        frequency, any_word, after, any_after = (column.reshape(shape) for column in self.read(x).T)
        rest = 1 - self.share * any_word - self.bigram_share * any_after
        with np.errstate(divide="ignore"):
            log_cache = np.log(self.share * frequency + self.bigram_share * after)
        mixed: np.ndarray = np.logaddexp(np.log(rest) + log_probs, log_cache)
        return mixed
