"""The 5-gram baseline: modified Kneser-Ney over the very words that the neural models read.

The estimator sees word numbers instead of words. So ``<unk>`` is a word like any other to it (it stands in the training text),
nothing in a corpus can look like one of its own symbols, and the vocabulary is the neural models' by construction. Sentence ends
are KenLM's ``</s>``: each sentence is a line, and its end is one more word exactly where the encoder has put a ``</s>``. A recipe
without sentence ends makes each document a line, whose end is not counted.

KenLM's lmplz is a program that has to be built (``scripts/build_kenlm.sh``). Where it is missing VariKN estimates, a library that
ends the process when something is wrong, so it runs in a process of its own.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from entitynlm.errors import ConfigError, DataError
from entitynlm.extras import require
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.vocabulary import Vocabulary

ORDERS = range(2, 7)  # what KenLM's reader is built for
LOG_10 = float(np.log(10.0))

FloatArray = npt.NDArray[np.float64]
Estimator = Literal["kenlm", "varikn"]
ESTIMATORS: tuple[Estimator, ...] = ("kenlm", "varikn")

SORTING_MEMORY = "1G"  # for lmplz's sorting; it takes from the disk what it needs beyond
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


@dataclass(frozen=True)
class Estimate:
    """A description of the estimator, and the ``stray`` words that it gives probability to and that no text has."""

    description: str
    stray: tuple[str, ...]


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
    numbers = (split_lines(document, encoder.vocabulary) for document in encoded)
    lines = [[" ".join(map(str, line)) for line in document] for document in numbers]
    with tempfile.TemporaryDirectory(prefix="entitynlm-ngram-") as name:
        arpa = Path(name) / "model.arpa"
        estimate = (_run_lmplz if chosen == "kenlm" else _run_varikn)(lines, arpa, order)
        config = kenlm.Config()
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE
        try:
            reader = kenlm.Model(str(arpa), config)
        except (OSError, RuntimeError) as error:
            raise DataError(f"the n-grams can't be used ({str(error).splitlines()[-1]})") from error
    return NgramModel(reader, encoder.vocabulary, estimate)


def split_lines(document: EncodedDocument, vocabulary: Vocabulary) -> list[list[int]]:
    """The document's sentences without their ends; a document without sentence ends is one line."""
    ends = np.flatnonzero(document.x == vocabulary.sentence_end)
    *sentences, rest = np.split(document.x, ends + 1)
    return [line[:-1].tolist() for line in sentences] + ([rest.tolist()] if len(rest) else [])


def spell(word: int, vocabulary: Vocabulary) -> str:
    return "</s>" if word == vocabulary.sentence_end else str(word)


def find_lmplz() -> Path | None:
    """KenLM's estimator on the search path, or beside the Python that runs us (where our script puts it)."""
    beside = Path(sys.prefix) / "bin" / "lmplz"
    found = shutil.which("lmplz") or (str(beside) if beside.is_file() else None)
    return Path(found) if found else None


def choose_estimator(wanted: Estimator | None = None) -> Estimator:
    if wanted is not None and wanted not in ESTIMATORS:
        raise ConfigError(f"there is no n-gram estimator {wanted!r}; choose one of {', '.join(ESTIMATORS)}")
    if wanted == "kenlm" and find_lmplz() is None:
        raise ConfigError("KenLM's lmplz is not installed; build it with scripts/build_kenlm.sh")
    return wanted or ("kenlm" if find_lmplz() else "varikn")


def _run_lmplz(documents: Sequence[Lines], arpa: Path, order: int) -> Estimate:
    program = find_lmplz()
    assert program is not None, "choose_estimator has looked for it"
    text = arpa.with_suffix(".txt")
    _write_lines(text, documents)
    command = [
        str(program), "--order", str(order), "--memory", SORTING_MEMORY, "--temp_prefix", str(arpa.parent / "lmplz"),
        "--text", str(text), "--arpa", str(arpa),
    ]  # fmt: skip
    description = f"KenLM (lmplz), order {order}, modified Kneser-Ney"
    run = partial(subprocess.run, capture_output=True, text=True, check=False)
    result = run(command)
    if result.returncode and "--discount_fallback" in result.stderr:
        # So little text that some count of counts is zero: KenLM's own fixed discounts for the orders concerned.
        result = run([*command, "--discount_fallback"])
        description += ", fixed discounts where the text was too short to estimate them"
    if result.returncode:
        raise DataError(f"KenLM's lmplz could not estimate the n-grams ({_last_line(result.stderr)})")
    return Estimate(description, ("<unk>",))


def _run_varikn(documents: Sequence[Lines], arpa: Path, order: int) -> Estimate:
    require("varikn", extra="ngram", purpose="estimating the n-gram baseline without KenLM's lmplz")
    held_out = documents[HELD_OUT // 2 :: HELD_OUT] if len(documents) >= HELD_OUT else []
    rest = [d for number, d in enumerate(documents) if not held_out or number % HELD_OUT != HELD_OUT // 2]
    endings = (".txt", ".tuning", ".words", ".varikn")
    text, tuning, words, written = (arpa.with_suffix(ending) for ending in endings)
    _write_lines(text, rest, "<s> {} </s>")
    _write_lines(tuning, held_out, "<s> {} </s>")
    # Words of the held-out documents alone are words all the same.
    known = {word for document in documents for line in document for word in line.split()}
    _write_lines(words, [["<s>", "</s>", *sorted(known)]])
    files = [str(text), str(tuning) if held_out else "", str(words), str(written)]
    command = [sys.executable, "-c", _GROW_WITH_VARIKN, *files, str(order)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode or not written.exists():
        raise DataError(f"VariKN could not estimate the n-grams ({_last_line(result.stderr)})")
    _separate_by_tabs(written, arpa)
    how = f"discounts from {len(held_out)} training documents" if held_out else "discounts by leaving one out"
    return Estimate(f"VariKN, order {order}, modified Kneser-Ney, {how}", ("<unk>", "<s>"))


def _write_lines(path: Path, documents: Sequence[Lines], pattern: str = "{}") -> None:
    with path.open("w", encoding="utf-8") as stream:
        for document in documents:
            stream.writelines(pattern.format(line) + "\n" for line in document)


def _separate_by_tabs(source: Path, target: Path) -> None:
    """VariKN's ARPA has blanks between probability, words and back-off; KenLM's reader wants tabs."""
    order = 0
    with source.open(encoding="utf-8") as lines, target.open("w", encoding="utf-8") as stream:
        for line in lines:
            heading = re.fullmatch(r"\\(\d+)-grams:\s*", line)
            fields = line.split()
            if heading:
                order = int(heading[1])
            elif order and fields and not line.startswith("\\"):
                words = " ".join(fields[1 : 1 + order])
                line = "\t".join([fields[0], words, *fields[1 + order :]]) + "\n"
            stream.write(line)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "without a word"
