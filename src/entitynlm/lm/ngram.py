"""The 5-gram baseline: modified Kneser-Ney over the same words that the neural models read.

The estimator sees word numbers instead of words, so that ``<unk>`` is a word like any other, no word of a corpus can look like
one of its own symbols, and the vocabulary is that of the neural models. Each sentence is a line whose end is the estimator's
``</s>``, predicted exactly where the encoder has a ``</s>``. In a recipe without sentence ends each document is a line, whose end
is not counted.

VariKN ends its process at an error, so it runs in a process of its own.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from entitynlm.errors import DataError, require
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.tokenizer import Vocabulary

ORDER = 5
LOG_10 = float(np.log(10.0))
STRAY = ("<UNK>", "<s>")  # words that VariKN gives probability to and that no text has

FloatArray = npt.NDArray[np.float64]

HELD_OUT = 20
"""VariKN's discounts come from every 20th training document: those from leaving-one-out are far too small here, and cost 5 % of
perplexity on OntoGUM and on LitBank (docs/decisions/046-language-model-baselines.md)."""

Lines = Sequence[str]

_GROW_WITH_VARIKN = """
import sys
import varikn
text, held_out, words, arpa, order = sys.argv[1:]
trainer = varikn.VarigramTrainer(True, False)  # three discounts per order: modified Kneser-Ney
trainer.set_datacost_scale(0.0)  # every n-gram of the text is worth its place: nothing is pruned
trainer.set_max_order(int(order))
trainer.initialize(text, 0, 0, -1, held_out, "<s>", False, words)  # discounts from the held-out text, if there is any
trainer.set_clear_symbol("<s>")  # no n-gram reaches across a sentence's start
trainer.grow(1)
trainer.write_file(arpa, True)
"""


Gram = tuple[str, ...]


class NgramModel:
    """p(x_t | the four words before it in the sentence), over the vocabulary of an encoder.

    Estimators reserve probability for unseen words. It is divided equally among the words of the vocabulary that are not in the
    training documents; where there are none it goes to ``<unk>``. So the probabilities of all words sum to one, as those of the
    neural models do.

    :param grams: by word numbers: log10 of the probability of the last word after those before it, and of the back-off weight of
        the whole gram as a context.
    """

    def __init__(
        self, grams: dict[Gram, tuple[float, float]], vocabulary: Vocabulary, description: str
    ) -> None:
        self.description = description
        self._grams, self._vocabulary = grams, vocabulary
        self._spelled = [spell(word, vocabulary) for word in range(len(vocabulary))]
        self._unseen = frozenset(
            word
            for word, spelled in enumerate(self._spelled)
            if word != vocabulary.start and (spelled,) not in grams
        )

    def score(self, document: EncodedDocument) -> FloatArray:
        """(T,) log p of each word, in nats, sentence ends included."""
        end = self._vocabulary.sentence_end
        log_probs, context = np.empty(len(document)), self._extend()
        for t, word in enumerate(document.x.tolist()):
            log_probs[t] = self._score_word(context, word)
            context = self._extend() if word == end else self._extend(context, word)
        return log_probs * LOG_10

    def _extend(self, context: Gram = (), word: int | None = None) -> Gram:
        """Return the context after one more word; without a word, that of a sentence's first word."""
        return (*context, "<s>" if word is None else self._spelled[word])[-(ORDER - 1) :]

    def _score_word(self, context: Gram, word: int) -> float:
        """Return log10 p(word | context)."""
        if word in self._unseen:
            return self._score_stray(context) - float(np.log10(len(self._unseen)))
        log_prob = self._back_off(context, self._spelled[word])
        if word == self._vocabulary.unknown and not self._unseen:
            stray = self._score_stray(context)
            return float(np.logaddexp(log_prob * LOG_10, stray * LOG_10)) / LOG_10
        return log_prob

    def _score_stray(self, context: Gram) -> float:
        """Return log10 of the probability that the estimator reserves for unseen words."""
        scores = [self._back_off(context, word) for word in STRAY]
        return float(np.logaddexp.reduce(np.array(scores) * LOG_10)) / LOG_10

    def _back_off(self, context: Gram, word: str) -> float:
        """Return log10 p(word | context) by the longest known gram."""
        weight = 0.0
        while (found := self._grams.get((*context, word))) is None:
            if not context:
                return -np.inf
            weight += self._grams.get(context, (0.0, 0.0))[1]
            context = context[1:]
        return weight + found[0]


def estimate_ngrams(documents: Iterable[EncodedDocument], encoder: Encoder) -> NgramModel:
    """Estimate n-grams from training documents by VariKN."""
    require("varikn", extra="ngram", purpose="the n-gram baseline")
    encoded = list(documents)
    if not any(len(document) for document in encoded):
        raise DataError("there are no words to estimate n-grams from")
    numbers = (split_lines(document, encoder.vocabulary) for document in encoded)
    lines = [[" ".join(map(str, line)) for line in document] for document in numbers]
    with tempfile.TemporaryDirectory(prefix="entitynlm-ngram-") as name:
        arpa = Path(name) / "model.arpa"
        how = _run_varikn(lines, arpa)
        grams = _read_arpa(arpa)
    return NgramModel(grams, encoder.vocabulary, f"VariKN, order {ORDER}, modified Kneser-Ney, {how}")


def split_lines(document: EncodedDocument, vocabulary: Vocabulary) -> list[list[int]]:
    """Split a document into sentences without their ends; a document without sentence ends is one line."""
    ends = np.flatnonzero(document.x == vocabulary.sentence_end)
    *sentences, rest = np.split(document.x, ends + 1)
    return [line[:-1].tolist() for line in sentences] + ([rest.tolist()] if len(rest) else [])


def spell(word: int, vocabulary: Vocabulary) -> str:
    return "</s>" if word == vocabulary.sentence_end else str(word)


def _run_varikn(documents: Sequence[Lines], arpa: Path) -> str:
    """Write an ARPA file; returns the source of the discounts."""
    held_out = documents[HELD_OUT // 2 :: HELD_OUT] if len(documents) >= HELD_OUT else []
    rest = [d for number, d in enumerate(documents) if not held_out or number % HELD_OUT != HELD_OUT // 2]
    text, tuning, words = (arpa.with_suffix(ending) for ending in (".txt", ".tuning", ".words"))
    _write_lines(text, rest, "<s> {} </s>")
    _write_lines(tuning, held_out, "<s> {} </s>")
    # Words of the held-out documents alone are words all the same.
    known = {word for document in documents for line in document for word in line.split()}
    _write_lines(words, [["<s>", "</s>", *sorted(known)]])
    files = [str(text), str(tuning) if held_out else "", str(words), str(arpa)]
    command = [sys.executable, "-c", _GROW_WITH_VARIKN, *files, str(ORDER)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode or not arpa.exists():
        told = result.stderr.strip().splitlines() or ["without a word"]
        raise DataError(f"VariKN could not estimate the n-grams ({told[-1]})")
    return (
        f"discounts from {len(held_out)} training documents" if held_out else "discounts by leaving one out"
    )


def _write_lines(path: Path, documents: Sequence[Lines], pattern: str = "{}") -> None:
    with path.open("w", encoding="utf-8") as stream:
        for document in documents:
            stream.writelines(pattern.format(line) + "\n" for line in document)


def _read_arpa(path: Path) -> dict[Gram, tuple[float, float]]:
    """Read the probability of each gram, and its back-off weight as a context (0 where it has none)."""
    grams: dict[Gram, tuple[float, float]] = {}
    order = 0
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            fields = line.split()
            if heading := re.fullmatch(r"\\(\d+)-grams:\s*", line):
                order = int(heading[1])
            elif order and fields and not line.startswith("\\"):
                weight = float(fields[1 + order]) if len(fields) > 1 + order else 0.0
                grams[tuple(map(sys.intern, fields[1 : 1 + order]))] = float(fields[0]), weight
    return grams
