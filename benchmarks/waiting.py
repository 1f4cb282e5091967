"""11. What people wait for: the start of a command, annotation of long texts, SmolLM2 beside an earlier commit, generation."""

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.data import load_documents
from benchmarks.figures import Context, Figure
from benchmarks.surprisal import make_text
from benchmarks.timing import Contestant, median_ratio, race, time_lap
from entitynlm.coref.annotation import annotate_document
from entitynlm.generation.continuations import generate_continuations
from entitynlm.generation.request import ContinuationRequest
from entitynlm.model.language_models import SMOLLM2_MODULE
from entitynlm.model.packaged import ON_SMOLLM2, SMALL
from entitynlm.model.pretrained import Pretrained, load_pretrained
from entitynlm.text.document import Document

NAME = "waiting"
HERE = Path(__file__).resolve().parents[1]
SENTENCE = "Anna lost her key, so she called her brother Bob."
SHORT, LONG = 1_200, 24_000  # tokens
NOVEL = 120_000  # words
WORDS = 30  # of a continuation
SEEDS = 5
BARS = {"annotate": 1.45, "surprisal": 1.6}
TEXTS = {"annotate": (200, 3_000), "surprisal": (200, 1_000)}
"""Words of two texts, whose difference is free of the start."""


COUNTER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""A program that runs a command; the system counts the memory of a process that starts another one as memory of both."""


def run_command(checkout: Path, *arguments: str) -> tuple[float, float]:
    """Run ``entitynlm`` from the sources of a checkout on one thread; returns its CPU-seconds and its memory at the most (MB)."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "entitynlm", *arguments, "--threads", "1"]
    counter = [sys.executable, "-c", COUNTER, *command]
    done = subprocess.run(counter, stdout=subprocess.PIPE, env=environment, cwd=checkout, check=True)
    seconds, memory = map(float, done.stdout.split())
    return seconds, memory * (1 if sys.platform == "darwin" else 1024) / 1e6


def measure_start(model: str, folder: Path, laps: int) -> float:
    """CPU-seconds of ``annotate`` of one sentence, the best of some; a first call compiles what is not in the cache."""
    path = folder / "sentence.txt"
    path.write_text(SENTENCE, encoding="utf-8")
    return min(run_command(HERE, "annotate", str(path), "--model", model)[0] for _ in range(laps + 1))


def write_text(context: Context, size: int, folder: Path) -> Path:
    """Write so many words of the documents as a text; the first ones come again where they do not suffice."""
    words = [word for document in load_documents(context.data) for word in document.tokens]
    size = context.choose(size, size // 10)
    path = folder / f"{size}.txt"
    path.write_text(" ".join((words * (1 + size // len(words)))[:size]), encoding="utf-8")
    return path


def measure_novel(context: Context, folder: Path) -> list[Figure]:
    """Memory of ``annotate`` on SmolLM2 for a text as long as a novel, and what a word costs."""
    path = write_text(context, NOVEL, folder)
    seconds, megabytes = run_command(HERE, "annotate", str(path), "--model", ON_SMOLLM2)
    words = len(path.read_text(encoding="utf-8").split())
    text = f"annotate {words:,} words on SmolLM2: memory at the most"
    return [
        Figure("annotate_novel_megabytes", megabytes, text, "MB", must=1_500, most=True),
        Figure(
            "annotate_novel_words_per_cpu_second", words / seconds, "… speed, start included", "words/CPU-s"
        ),
    ]


def compare_commits(context: Context, verb: str, before: Path, folder: Path) -> float:
    """How many times as fast as an earlier commit a verb on SmolLM2 is, per word after the start: median of rounds."""
    paths = [write_text(context, size, folder) for size in TEXTS[verb]]
    ratios = []
    for number in range(context.choose(4, 2)):
        cost = {}
        for checkout in (HERE, before):
            times = [run_command(checkout, verb, str(path), "--model", ON_SMOLLM2)[0] for path in paths]
            cost[checkout] = times[1] - times[0]
        if number:  # the first round compiles what is not in the cache
            ratios.append(cost[before] / cost[HERE])
    return statistics.median(ratios)


def cut_text(text: Document, size: int) -> list[Document]:
    """Cut a text into texts of at least ``size`` tokens, between sentences."""
    parts, start = [], 0
    for _, end in text.sentences:
        if end - start >= size or end == len(text):
            inside = [(a - start, b - start) for a, b in text.sentences if start <= a < end]
            parts.append(Document(f"{text.id} {start}", text.tokens[start:end], tuple(inside)))
            start = end
    return parts


def measure_growth(context: Context, pretrained: Pretrained) -> float:
    """Cost per word of annotating a long text ÷ that of the same words as short texts."""

    def annotate(texts: list[Document]) -> Contestant:
        def lap() -> int:
            for text in texts:
                annotate_document(pretrained, text)
            return sum(map(len, texts))

        return lap

    text = make_text(context, LONG)
    parts = cut_text(text, context.choose(SHORT, SHORT // 10))
    laps = race({"short": annotate(parts), "long": annotate([text])}, context.choose(3, 1))
    return median_ratio(laps["short"], laps["long"])


def measure_generation(pretrained: Pretrained, prompt: Document, count: int) -> float:
    """CPU-seconds of continuations after loading, with the reading of the text: median of some seeds, for sentences are of all
    lengths and some words are drawn many times.
    """
    request = ContinuationRequest(words=WORDS)

    def time_seed(seed: int) -> float:
        write = partial(generate_continuations, pretrained, prompt, request, count=count, seed=seed)
        return time_lap(lambda: len(write())).cpu

    return statistics.median(map(time_seed, range(SEEDS)))


def run(context: Context) -> list[Figure]:
    laps = context.choose(3, 1)
    figures: list[Figure] = []
    told = "annotation, cost per word at 24,000 tokens ÷ that of the same words in texts of 1,200"
    growth = measure_growth(context, load_pretrained(SMALL))
    figures.append(Figure("annotate_growth_1200_to_24000", growth, told, must=1.2, most=True))
    has_smollm2 = importlib.util.find_spec(SMOLLM2_MODULE) is not None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for model, bar in ((SMALL, 2.8), (ON_SMOLLM2, 4.5)) if has_smollm2 else ((SMALL, 2.8),):
            start = measure_start(model, folder, laps)
            text = f"annotate one sentence with {model}, from the shell"
            figures.append(Figure(f"start_{model}_cpu_seconds", start, text, "CPU-s", must=bar, most=True))
        if has_smollm2:
            figures += measure_novel(context, folder)
        if has_smollm2 and context.before is not None:
            for verb, bar in BARS.items():
                ratio = compare_commits(context, verb, context.before, folder)
                text = f"{verb} on SmolLM2, speed ÷ that of {context.before.name}"
                figures.append(Figure(f"{verb}_smollm2_vs_before", ratio, text, "×", must=bar))
    if has_smollm2:
        pretrained, prompt = load_pretrained(ON_SMOLLM2), make_text(context, 60)
        for count, bar in ((1, 4.0), (4, 8.0)):
            seconds = measure_generation(pretrained, prompt, count)
            text = f"generate on SmolLM2, {count} × {WORDS} words after loading"
            figures.append(
                Figure(f"generate_{count}_cpu_seconds", seconds, text, "CPU-s", must=bar, most=True)
            )
    return figures
