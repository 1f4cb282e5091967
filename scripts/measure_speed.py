"""Speed and memory of the packaged models: ``python scripts/measure_speed.py TEXT``, one after the other in one run.

``annotate`` and ``surprisal`` (with its default particles) are called from the shell, on the first sentence of a text and on
all of it. CPU-seconds of the first are the cost of a start; the difference gives words per CPU-second; memory is the highest of
the whole text. Language models must have been unpacked before.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from entitynlm.model.packaged import list_models
from entitynlm.text.segmentation import segment_text

VERBS = ("annotate", "surprisal")


def measure(verb: str, model: str, text: Path) -> tuple[float, float]:
    """CPU-seconds and the highest memory (GB) of one call, on one thread."""
    out = text.with_name(f"{text.stem}-{Path(model).name}.{'jsonl' if verb == 'annotate' else 'tsv'}")
    command = [sys.executable, "-m", "entitynlm.interfaces.cli", verb, str(text), "--model", model]
    command += ["--out", str(out), "--force", "--quiet", "--threads", "1"]
    child = os.spawnve(os.P_NOWAIT, sys.executable, command, {**os.environ, "OMP_NUM_THREADS": "1"})
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} ended with status {status}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    text = given.text.read_text(encoding="utf-8")
    cut = segment_text(text)
    end = cut.sentences[0][1]
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        short, whole = Path(folder) / "short.txt", Path(folder) / "whole.txt"
        short.write_text(text[: cut.offsets[end - 1][1]], encoding="utf-8")
        whole.write_text(text, encoding="utf-8")
        for model in list_models():
            for verb in VERBS:
                measure(verb, model, short)  # compiles what has not been compiled yet
                start, _ = measure(verb, model, short)
                seconds, memory = measure(verb, model, whole)
                speed = (len(cut.tokens) - end) / (seconds - start)
                row = {"model": model, "verb": verb, "words": len(cut.tokens), "start": round(start, 1)}
                figures.append({**row, "words_per_cpu_second": round(speed), "memory_gb": round(memory, 2)})
                print(figures[-1], flush=True)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
