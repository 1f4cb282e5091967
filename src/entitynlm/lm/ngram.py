"""The 5-gram baseline: modified Kneser-Ney over the very words that the neural models read.

The estimator sees word numbers instead of words. So ``<unk>`` is a word like any other to it (it stands in the training text),
nothing in a corpus can look like one of its own symbols, and the vocabulary is the neural models' by construction. Sentence ends
are KenLM's ``</s>``: each sentence is a line, read from a fresh ``<s>``, and its end is one more word with one more probability,
exactly where the encoder has put a ``</s>``. A recipe without sentence ends makes each document a line, whose end is not counted.
"""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from entitynlm.errors import ConfigError, DataError
from entitynlm.extras import require
from entitynlm.lm.ngram_estimators import Estimate, Estimator, choose_estimator, estimate_arpa
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.vocabulary import Vocabulary

ORDERS = range(2, 7)  # what KenLM's reader is built for
LOG_10 = float(np.log(10.0))

FloatArray = npt.NDArray[np.float64]


class NgramModel:
    """p(x_t | the four words before it in the sentence), over the vocabulary of an encoder.

    Estimators keep a sliver of probability for words that they have never seen. Ours goes, in equal shares, to the words of
    the vocabulary that training did not have; where there are none it goes to ``<unk>``, which means the same. So the
    probabilities of all words sum to one, as those of the neural models do.
    """

    def __init__(self, reader: Any, vocabulary: Vocabulary, estimate: Estimate) -> None:
        """``reader`` is a ``kenlm.Model`` over word numbers."""
        self.description = estimate.description
        self.order = int(reader.order)
        self._kenlm = require("kenlm", extra="ngram", purpose="reading n-grams")
        self._reader = reader
        self._stray = estimate.stray
        self._vocabulary = vocabulary
        self._unseen = frozenset(
            word
            for word in range(len(vocabulary))
            if word != vocabulary.start and spell(word, vocabulary) not in reader
        )

    def score(self, document: EncodedDocument) -> FloatArray:
        """(T,) log p of each word, in nats, sentence ends included."""
        end = self._vocabulary.sentence_end
        first = self._start()
        state = first
        log_probs = np.empty(len(document))
        for t, word in enumerate(document.x.tolist()):
            log_probs[t], state = self._read(state, word)
            if word == end:
                state = first
        return log_probs * LOG_10

    def distribution(self, context: Sequence[int] = ()) -> FloatArray:
        """(V,) log-probabilities of all words after ``context``, the words of a sentence from its first on."""
        state = self._start()
        for word in context:
            _, state = self._read(state, word)
        log_probs = np.array([self._read(state, word)[0] for word in range(len(self._vocabulary))])
        log_probs[self._vocabulary.start] = -np.inf
        return log_probs * LOG_10

    def _start(self) -> Any:
        state = self._kenlm.State()
        self._reader.BeginSentenceWrite(state)
        return state

    def _read(self, state: Any, word: int) -> tuple[float, Any]:
        """log10 p(word | state), and the state after it."""
        after = self._kenlm.State()
        log_prob = self._reader.BaseScore(state, spell(word, self._vocabulary), after)
        if word in self._unseen:
            return self._score_stray(state) - float(np.log10(len(self._unseen))), after
        if word == self._vocabulary.unknown and not self._unseen:
            return float(np.logaddexp(log_prob * LOG_10, self._score_stray(state) * LOG_10)) / LOG_10, after
        return log_prob, after

    def _score_stray(self, state: Any) -> float:
        """log10 of what the estimator keeps for words that no text has."""
        after = self._kenlm.State()
        scores = [self._reader.BaseScore(state, word, after) for word in self._stray]
        return float(np.logaddexp.reduce(np.array(scores) * LOG_10)) / LOG_10


def estimate_ngrams(
    documents: Iterable[EncodedDocument],
    encoder: Encoder,
    *,
    order: int = 5,
    estimator: Estimator | None = None,
) -> NgramModel:
    """Estimate n-grams from training documents, with KenLM's lmplz or, where that is not installed, VariKN."""
    if order not in ORDERS:
        raise ConfigError(f"n-grams have an order from {ORDERS[0]} to {ORDERS[-1]}, not {order}")
    kenlm = require("kenlm", extra="ngram", purpose="the n-gram baseline")
    chosen = choose_estimator(estimator)
    encoded = list(documents)
    if not any(len(document) for document in encoded):
        raise DataError("there are no words to estimate n-grams from")
    lines = [
        [" ".join(map(str, line)) for line in split_lines(document, encoder.vocabulary)]
        for document in encoded
    ]
    with tempfile.TemporaryDirectory(prefix="entitynlm-ngram-") as name:
        arpa = Path(name) / "model.arpa"
        estimate = estimate_arpa(lines, arpa, order=order, estimator=chosen)
        config = kenlm.Config()
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE
        try:
            reader = kenlm.Model(str(arpa), config)
        except (OSError, RuntimeError) as error:
            raise DataError(f"the n-grams can't be used ({str(error).splitlines()[-1]})") from error
    return NgramModel(reader, encoder.vocabulary, estimate)


def split_lines(document: EncodedDocument, vocabulary: Vocabulary) -> Iterator[list[int]]:
    """The document's sentences without their ends; a document without sentence ends is one line."""
    line: list[int] = []
    for word in document.x.tolist():
        if word == vocabulary.sentence_end:
            yield line
            line = []
        else:
            line.append(word)
    if line:
        yield line


def spell(word: int, vocabulary: Vocabulary) -> str:
    """A word as the estimator knows it."""
    return "</s>" if word == vocabulary.sentence_end else str(word)
