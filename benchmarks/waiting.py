"""11. What people wait for: the start of a command, annotation of long texts, SmolLM2 beside an earlier commit, generation."""

import importlib.util
import os
import resource
import statistics
import subprocess
import sys
import tempfile
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
WORDS = 30  # of a continuation
BARS = {"annotate": 1.45, "surprisal": 1.6}
TEXTS = {"annotate": (200, 3_000), "surprisal": (200, 1_000)}
"""Words of two texts, whose difference is free of the start."""


def run_command(checkout: Path, *arguments: str) -> float:
    """Run ``entitynlm`` from the sources of a checkout on one thread; returns its CPU-seconds."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "entitynlm", *arguments, "--threads", "1"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True, env=environment, cwd=checkout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_start(model: str, folder: Path, laps: int) -> float:
    """CPU-seconds of ``annotate`` of one sentence, the best of some; a first call compiles what is not in the cache."""
    path = folder / "sentence.txt"
    path.write_text(SENTENCE, encoding="utf-8")
    return min(run_command(HERE, "annotate", str(path), "--model", model) for _ in range(laps + 1))


def compare_commits(context: Context, verb: str, before: Path, folder: Path) -> float:
    """How many times as fast as an earlier commit a verb on SmolLM2 is, per word after the start: median of rounds."""
    words = [word for document in load_documents(context.data) for word in document.tokens]
    paths = []
    for size in TEXTS[verb]:
        paths.append(folder / f"{size}.txt")
        paths[-1].write_text(" ".join(words[: context.choose(size, size // 10)]), encoding="utf-8")
    ratios = []
    for number in range(context.choose(4, 2)):
        cost = {}
        for checkout in (HERE, before):
            times = [run_command(checkout, verb, str(path), "--model", ON_SMOLLM2) for path in paths]
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
    """CPU-seconds of continuations after loading: the first call of a process, with the reading of the text."""

    def lap() -> int:
        request = ContinuationRequest(words=WORDS)
        return len(generate_continuations(pretrained, prompt, request, count=count))

    return time_lap(lap).cpu


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
