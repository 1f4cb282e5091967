"""p(word | unknown): how a word that the vocabulary lacks is spelled, so that it has a surprisal of its own (docs/decisions/081).

A character n-gram model with Witten–Bell smoothing, learnt from the vocabulary's rarer half: the words that just made it into the
vocabulary are most like those that did not. Its shares of words that *are* in the vocabulary are taken out. Below the shortest
context every character of Unicode is equally likely, so no word has probability zero.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from entitynlm.model.encoding.preprocessing import unescape
from entitynlm.model.encoding.tokenizer import Tokenizer
from entitynlm.model.encoding.vocabulary import Vocabulary

ORDER = 5
START, END = "\x02", "\x03"


class SpellingModel:
    """Strings of characters, each given the four before it."""

    def __init__(self, words: Iterable[str], *, order: int = ORDER, known: Sequence[str] = ()) -> None:
        """``words`` to learn from; ``known`` words are given probability zero, and the others what they had."""
        self.order = order
        self._counts: dict[str, Counter[str]] = {}
        for word in words:
            for character, context in self._list_characters(word):
                for length in range(order):
                    self._counts.setdefault(context[order - 1 - length :], Counter())[character] += 1
        self._log_unknown = 0.0
        self._spelled: dict[str, float] = {}  # names come again and again
        taken = math.fsum(math.exp(self.log_prob(word)) for word in known)
        self._log_unknown = math.log1p(-min(taken, 1 - 1e-9))

    @classmethod
    def of_vocabulary(cls, vocabulary: Vocabulary) -> SpellingModel:
        ordinary = [unescape(word) for word in vocabulary.words[vocabulary.specials :]]
        return cls(ordinary[len(ordinary) // 2 :], known=ordinary)

    @classmethod
    def of_tokenizer(cls, tokenizer: Tokenizer) -> SpellingModel | None:
        """The same for a vocabulary; None where words are open, and every one has a spelling of its own."""
        return cls.of_vocabulary(tokenizer) if isinstance(tokenizer, Vocabulary) else None

    def _list_characters(self, word: str) -> Iterator[tuple[str, str]]:
        padded = START * (self.order - 1) + word + END
        for place in range(self.order - 1, len(padded)):
            yield padded[place], padded[place - self.order + 1 : place]

    def log_prob(self, word: str) -> float:
        """log p(word | it is unknown), in nats."""
        if word not in self._spelled:
            self._spelled[word] = math.fsum(
                math.log(self._prob(*pair)) for pair in self._list_characters(word)
            )
        return self._spelled[word] - self._log_unknown

    def _prob(self, character: str, context: str) -> float:
        """Witten–Bell: as much is left to shorter contexts as there were different characters after this one."""
        prob = 1 / (sys.maxunicode + 1)
        for length in range(len(context) + 1):
            seen = self._counts.get(context[len(context) - length :])
            if seen is None:
                break
            total, kinds = seen.total(), len(seen)
            prob = (seen[character] + kinds * prob) / (total + kinds)
        return prob
