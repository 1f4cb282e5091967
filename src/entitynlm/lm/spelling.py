"""p(word | unknown): the surprisal of an unknown word's spelling (docs/decisions/081).

A character n-gram model with Witten–Bell smoothing, trained on the words of the vocabulary (each counts once), gives the
probability of a spelling; the probability of words *in* the vocabulary is removed, and below the shortest context every character
of Unicode is equally likely, so that no word has probability zero.

A Pitman–Yor process over the unknown words of the text so far, with this model as its base, makes repetitions likely. It depends
on no later words.
"""

import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from entitynlm.inference.weights import FloatArray
from entitynlm.model.encoding.preprocessing import unescape_word
from entitynlm.model.encoding.tokenizer import Vocabulary

SPELLING_ORDER = 5
WORD_START, WORD_END = "\x02", "\x03"

# of the process; chosen on LitBank's development texts (docs/decisions/081)
DISCOUNT, CONCENTRATION = 0.8, 5.0


class SpellingModel:
    """Strings of characters, each given the four before it."""

    def __init__(
        self, words: Iterable[str], *, order: int = SPELLING_ORDER, known: Sequence[str] = ()
    ) -> None:
        """``words`` are the training data; ``known`` words get probability zero, and the others share what they had."""
        self.order = order
        self._counts = Counter(
            gram[start:] for word in words for gram in self._list_grams(word) for start in range(order)
        )
        self._totals: dict[str, tuple[int, int]] = {}  # of a context: characters after it, different ones
        for gram, count in self._counts.items():
            total, kinds = self._totals.get(gram[:-1], (0, 0))
            self._totals[gram[:-1]] = (total + count, kinds + 1)
        self._probs: dict[str, float] = {}
        self._log_unknown = 0.0
        self._spelled: dict[str, float] = {}  # names come again and again
        taken = math.fsum(math.exp(self.log_prob(word)) for word in known)
        self._log_unknown = math.log1p(-min(taken, 1 - 1e-9))

    @classmethod
    def of_vocabulary(cls, vocabulary: Vocabulary) -> "SpellingModel":
        """Make the model for the words that a vocabulary lacks, once."""
        if vocabulary not in _MODELS:
            ordinary = [unescape_word(word) for word in vocabulary.words[vocabulary.specials :]]
            _MODELS[vocabulary] = cls(ordinary, known=ordinary)
        return _MODELS[vocabulary]

    def _list_grams(self, word: str) -> list[str]:
        """List the characters of a word, and its end, each after the characters before it."""
        padded = WORD_START * (self.order - 1) + word + WORD_END
        return [padded[place : place + self.order] for place in range(len(word) + 1)]

    def log_prob(self, word: str) -> float:
        """log p(word | it is unknown), in nats."""
        if word not in self._spelled:
            self._spelled[word] = math.fsum(
                math.log(self._find_prob(gram)) for gram in self._list_grams(word)
            )
        return self._spelled[word] - self._log_unknown

    def _find_prob(self, gram: str) -> float:
        """Witten–Bell: the weight of shorter contexts is the number of different characters seen after this one."""
        if not gram:
            return 1 / (sys.maxunicode + 1)
        if gram not in self._probs:
            prob = self._find_prob(gram[1:])
            if (context := gram[:-1]) in self._totals:
                total, kinds = self._totals[context]
                prob = (self._counts[gram] + kinds * prob) / (total + kinds)
            self._probs[gram] = prob
        return self._probs[gram]


_MODELS: WeakKeyDictionary[Vocabulary, SpellingModel] = WeakKeyDictionary()


def spell_unknown_words(vocabulary: Vocabulary, words: Sequence[str]) -> FloatArray:
    """(T,) log p(word | unknown, the unknown words before it) of a text's words, in nats; nan where a word is known."""
    found = np.full(len(words), math.nan)
    counts: Counter[str] = Counter()
    unknown = [place for place, word in enumerate(words) if vocabulary.is_unknown(word)]
    spelling = SpellingModel.of_vocabulary(vocabulary) if unknown else None
    for before, place in enumerate(unknown):
        assert spelling is not None
        word = words[place]
        spelled = spelling.log_prob(unescape_word(word))
        fresh = CONCENTRATION + DISCOUNT * len(counts)
        share = max(counts[word] - DISCOUNT, 0.0) + fresh * math.exp(spelled)
        # a line of dashes or an address may be too long for its probability to be a number, not for its logarithm
        log_share = math.log(share) if share > 1e-300 else math.log(fresh) + spelled
        found[place] = log_share - math.log(before + CONCENTRATION)
        counts[word] += 1
    return found
