"""12. Batch jobs: words per second with one worker and with two, and what each verb costs with each packaged model."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.data import load_documents
from benchmarks.figures import Context, Figure
from benchmarks.timing import _high_water, measure_peak, start_memory
from entitynlm.model.language_models import list_installs
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import write_documents

NAME = "throughput"
SMALL, LARGE = "entitynlm-en", "entitynlm-en-smollm2"
WORDS = {  # to measure on: half a minute each
    ("annotate", SMALL): 60_000,
    ("surprisal", SMALL): 12_000,
    ("characters", SMALL): 60_000,
    ("annotate", LARGE): 10_000,
    ("surprisal", LARGE): 2_000,
    ("characters", LARGE): 10_000,
}
JOB_WORDS = {SMALL: 400_000, LARGE: 30_000}  # done by one worker and by two: most of a minute for one
ROUNDS = 3


def take_words(documents: list[Document], words: int) -> Iterator[Document]:
    """Bare documents of about so many words together; the first ones come again (by another name) where they do not suffice."""
    taken = number = 0
    while taken < words:
        for document in documents:
            if taken >= words:
                return
            number += 1
            bare = Document(f"{number}-{document.id}", document.tokens, document.sentences)
            taken += len(bare)
            yield bare


def measure_cost(context: Context, verb: str, model: str) -> tuple[float, float]:
    """In a process of its own: CPU seconds per million words of the plain verb with one thread, and its memory in MB."""
    from typer.testing import CliRunner

    from entitynlm.interfaces.cli import app

    documents = load_documents(context.data)
    folder = Path(tempfile.mkdtemp())
    start_memory()
    seconds, tokens = 0.0, 0
    for words in (500, context.choose(WORDS[verb, model], 500)):  # the first to load and compile
        path = folder / f"{words}.jsonl"
        taken = list(take_words(documents, words))
        write_documents(taken, path, "jsonl")
        call = [verb, str(path), "--model", model, "--threads", "1", "--quiet", "--out", f"{folder}/{words}/"]
        started = time.process_time()
        assert CliRunner().invoke(app, call).exit_code == 0
        seconds, tokens = time.process_time() - started, sum(map(len, taken))
    return 1e6 * seconds / tokens, _high_water()


def run_job(path: Path, model: str, workers: int) -> dict[str, Any]:
    """A job from its start to its end, with its figures."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.json"
        call = [sys.executable, "-m", "entitynlm.interfaces.cli", "batch", "annotate", str(path)]
        options = [
            "--out",
            f"{folder}/out",
            "--model",
            model,
            "--workers",
            str(workers),
            "--json",
            str(figures),
        ]
        subprocess.run(
            [*call, *options, "--documents-per-shard", "20", "--quiet"], check=True, stdout=subprocess.DEVNULL
        )
        found: dict[str, Any] = json.loads(figures.read_text())
        return found


def compare_workers(context: Context, model: str) -> tuple[float, float, float]:
    """Words per second of one worker and of two, and the median of their ratios within a round; model loading is in it."""
    speeds: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.jsonl"
        words = context.choose(JOB_WORDS[model], 1_000)
        write_documents(take_words(load_documents(context.data), words), path, "jsonl")
        for _ in range(context.choose(ROUNDS, 1)):
            one, two = (run_job(path, model, workers)["tokens_per_second"] for workers in (1, 2))
            speeds.append((one, two))
    one, two = (statistics.median(pair[number] for pair in speeds) for number in (0, 1))
    return one, two, statistics.median(second / first for first, second in speeds)


def run(context: Context) -> list[Figure]:
    models = [SMALL] if list_installs() else [SMALL, LARGE]
    figures = []
    for model in models:
        short = "small" if model == SMALL else "smollm2"
        if (os.cpu_count() or 1) > 1:
            one, two, ratio = compare_workers(context, model)
            text = f"batch annotate, {model}: two workers ÷ one, from start to end of a job"
            figures.append(Figure(f"batch_two_workers_{short}", ratio, text, "", must=1.7))
            for name, speed in (("one", one), ("two", two)):
                key = f"batch_words_per_second_{name}_{short}"
                figures.append(Figure(key, speed, f"… {name} of them", "words/s"))
        for verb in ("annotate", "surprisal", "characters"):
            peak = measure_peak(measure_cost, context, verb, model)
            seconds, memory = peak.result
            key = f"batch_{verb}_{short}"
            text = f"batch {verb}, {model}: CPU time of a million words"
            figures.append(Figure(f"{key}_cpu_hours_per_million_words", seconds / 3600, text, "h"))
            figures.append(Figure(f"{key}_megabytes", memory, "… memory of a worker", "MB"))
    return figures
