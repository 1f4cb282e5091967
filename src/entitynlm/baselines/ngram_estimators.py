"""Who estimates the n-grams: KenLM's own lmplz where it is installed, else VariKN, which comes as a wheel.

Both smooth by modified Kneser-Ney and write ARPA files. lmplz is a program that has to be built (``scripts/build_kenlm.sh``);
VariKN is a library that talks a lot and ends the process when something is wrong, so it runs in a process of its own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from entitynlm.errors import ConfigError, DataError
from entitynlm.extras import require
from entitynlm.files import write_atomically

Estimator = Literal["kenlm", "varikn"]
ESTIMATORS: tuple[Estimator, ...] = ("kenlm", "varikn")

MEMORY = "1G"  # for lmplz's sorting; it takes from the disk what it needs beyond

_GROW_WITH_VARIKN = """
import sys
import varikn
text, arpa, order = sys.argv[1:]
trainer = varikn.VarigramTrainer(True, False)  # three discounts per order: modified Kneser-Ney
trainer.set_datacost_scale(0.0)  # every n-gram of the text is worth its place: nothing is pruned
trainer.set_max_order(int(order))
trainer.initialize(text, 0, 0, -1, "", "<s>", False, "")
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


def estimate_arpa(text: Path, arpa: Path, *, order: int, estimator: Estimator) -> Estimate:
    """Estimate n-grams from ``text``, a sentence per line without its ends, and write them to ``arpa``."""
    if estimator == "kenlm":
        return _run_lmplz(text, arpa, order)
    return _run_varikn(text, arpa, order)


def _run_lmplz(text: Path, arpa: Path, order: int) -> Estimate:
    program = find_lmplz()
    assert program is not None, "choose_estimator has looked for it"
    command = [
        str(program), "--order", str(order), "--memory", MEMORY, "--temp_prefix", str(arpa.parent / "lmplz"),
        "--text", str(text), "--arpa", str(arpa),
    ]  # fmt: skip
    description = f"KenLM (lmplz), order {order}, modified Kneser-Ney"
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode and "--discount_fallback" in result.stderr:
        # So little text that some count of counts is zero: KenLM's own fixed discounts for the orders concerned.
        result = subprocess.run(
            [*command, "--discount_fallback"], capture_output=True, text=True, check=False
        )
        description += ", fixed discounts where the text was too short to estimate them"
    if result.returncode:
        raise DataError(f"KenLM's lmplz could not estimate the n-grams ({_last_line(result.stderr)})")
    return Estimate(description, ("<unk>",))


def _run_varikn(text: Path, arpa: Path, order: int) -> Estimate:
    require("varikn", extra="ngram", purpose="estimating the n-gram baseline without KenLM's lmplz")
    marked, written = text.with_suffix(".marked"), arpa.with_suffix(".varikn")
    with text.open(encoding="utf-8") as source, write_atomically(marked) as target:
        target.writelines(f"<s> {line.rstrip()} </s>\n" for line in source)
    command = [sys.executable, "-c", _GROW_WITH_VARIKN, str(marked), str(written), str(order)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode or not written.exists():
        raise DataError(f"VariKN could not estimate the n-grams ({_last_line(result.stderr)})")
    _separate_by_tabs(written, arpa)
    return Estimate(f"VariKN, order {order}, modified Kneser-Ney", ("<unk>", "<s>"))


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
