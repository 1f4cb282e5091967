"""Who estimates the n-grams: KenLM's own lmplz where it is installed, else VariKN, which comes as a wheel.

Both smooth by modified Kneser-Ney and write ARPA files. lmplz is a program that has to be built (``scripts/build_kenlm.sh``);
VariKN is a library that talks a lot and ends the process when something is wrong, so it runs in a process of its own.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from entitynlm.errors import ConfigError, DataError
from entitynlm.extras import require
from entitynlm.files import write_atomically

Estimator = Literal["kenlm", "varikn"]
ESTIMATORS: tuple[Estimator, ...] = ("kenlm", "varikn")

MEMORY = "1G"  # for lmplz's sorting; it takes from the disk what it needs beyond
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
    """What was done, for the table.

    :param description: which estimator it was, and whether it had to help itself.
    :param stray: words of its own that the estimator gives probability to, and that no text has.
    """

    description: str
    stray: tuple[str, ...]


def find_lmplz() -> Path | None:
    """KenLM's estimator on the search path, or beside the Python that runs us (where our script puts it)."""
    beside = Path(sys.prefix) / "bin" / "lmplz"
    found = shutil.which("lmplz") or (str(beside) if beside.is_file() else None)
    return Path(found) if found else None


def choose_estimator(wanted: Estimator | None = None) -> Estimator:
    """The estimator asked for, or the best one that is here."""
    if wanted is not None and wanted not in ESTIMATORS:
        raise ConfigError(f"there is no n-gram estimator {wanted!r}; choose one of {', '.join(ESTIMATORS)}")
    if wanted == "kenlm" and find_lmplz() is None:
        raise ConfigError("KenLM's lmplz is not installed; build it with scripts/build_kenlm.sh")
    return wanted or ("kenlm" if find_lmplz() else "varikn")


def estimate_arpa(documents: Sequence[Lines], arpa: Path, *, order: int, estimator: Estimator) -> Estimate:
    """Estimate n-grams from documents, each a list of sentences, and write them to ``arpa``; helpers' files go beside it."""
    return (_run_lmplz if estimator == "kenlm" else _run_varikn)(documents, arpa, order)


def _run_lmplz(documents: Sequence[Lines], arpa: Path, order: int) -> Estimate:
    program = find_lmplz()
    assert program is not None, "choose_estimator has looked for it"
    text = arpa.with_suffix(".txt")
    _write_lines(text, documents)
    command = [
        str(program), "--order", str(order), "--memory", MEMORY, "--temp_prefix", str(arpa.parent / "lmplz"),
        "--text", str(text), "--arpa", str(arpa),
    ]  # fmt: skip
    description = f"KenLM (lmplz), order {order}, modified Kneser-Ney"
    result = _run(command)
    if result.returncode and "--discount_fallback" in result.stderr:
        # So little text that some count of counts is zero: KenLM's own fixed discounts for the orders concerned.
        result = _run([*command, "--discount_fallback"])
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
    result = _run(command)
    if result.returncode or not written.exists():
        raise DataError(f"VariKN could not estimate the n-grams ({_last_line(result.stderr)})")
    _separate_by_tabs(written, arpa)
    how = f"discounts from {len(held_out)} training documents" if held_out else "discounts by leaving one out"
    return Estimate(f"VariKN, order {order}, modified Kneser-Ney, {how}", ("<unk>", "<s>"))


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _write_lines(path: Path, documents: Sequence[Lines], pattern: str = "{}") -> None:
    with path.open("w", encoding="utf-8") as stream:
        for document in documents:
            stream.writelines(pattern.format(line) + "\n" for line in document)


def _separate_by_tabs(source: Path, target: Path) -> None:
    """VariKN's ARPA has blanks between probability, words and back-off; KenLM's reader wants tabs."""
    order = 0
    with source.open(encoding="utf-8") as lines, write_atomically(target) as stream:
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
