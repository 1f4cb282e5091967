"""10. A pretrained language model (SmolLM2): its states, annotation, marginal surprisal, beside transformers on the same text."""

import importlib.util
import os
import subprocess
import sys
from functools import partial

import numpy as np
import torch

from benchmarks.data import load_documents
from benchmarks.figures import Context, Figure
from benchmarks.timing import median_rate, median_ratio, race
from entitynlm.model.backbones.huggingface.architecture import has_bfloat16
from entitynlm.model.backbones.huggingface.reader import LanguageModelRuntime
from entitynlm.model.backbones.huggingface.weights import load_language_model
from entitynlm.model.language_models import SMOLLM2, SMOLLM2_MODULE

NAME = "pretrained"
START = f"""
import resource
import entitynlm.api
from entitynlm.model.backbones.huggingface.weights import load_language_model
load_language_model("{SMOLLM2}")
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime)
"""


def read_states(runtime: LanguageModelRuntime, texts: list[np.ndarray], words: int, layer: int) -> int:
    runtime.forget()
    runtime.read(texts, (layer,), keep=False)
    return words


def run_transformers(runtime: LanguageModelRuntime, texts: list[np.ndarray], words: int) -> int:
    """Each text at once, without the output layer."""
    with torch.no_grad():
        for text in texts:
            runtime.model.base_model(input_ids=torch.tensor([[runtime.start, *text]]))
    return words


def measure_start(laps: int) -> float:
    """CPU-seconds of a fresh process until the language model could read, the best of some; the cache is warm."""
    times = []
    for _ in range(laps):
        options = {**os.environ, "OMP_NUM_THREADS": "1"}
        result = subprocess.run(
            [sys.executable, "-c", START], capture_output=True, text=True, check=True, env=options
        )
        times.append(float(result.stdout))
    return min(times)


def run(context: Context) -> list[Figure]:
    if any(importlib.util.find_spec(module) is None for module in (SMOLLM2_MODULE, "transformers")):
        return []
    runtime = load_language_model(SMOLLM2)
    size = context.choose(600, 60)
    words = [word for document in load_documents(context.data) for word in document.tokens][: 8 * size]
    groups = {
        "": [words[:size]],
        "_long": [words[: 4 * size]],
        "_short": [words[i : i + size // 5] for i in range(0, size, size // 5)],
    }
    figures: list[Figure] = []
    for suffix, parts in groups.items():
        texts = [np.array(runtime.tokenizer(" ".join(part)).input_ids) for part in parts]
        count = sum(map(len, parts))
        laps = race(
            {
                "states": partial(read_states, runtime, texts, count, runtime.layers),
                "transformers": partial(run_transformers, runtime, texts, count),
                "layer 18": partial(read_states, runtime, texts, count, 18),
                "reduced": partial(read_states, runtime.reduced, texts, count, runtime.layers),
            },
            context.choose(1 if suffix == "_long" else 4, 1),
        )
        what = f"{len(parts)} text{'s' * (len(parts) > 1)} of {len(parts[0]):,} words"
        states, transformers, cut = (
            median_rate(laps[name]) for name in ("states", "transformers", "layer 18")
        )
        ratio = median_ratio(laps["states"], laps["transformers"])
        key = f"pretrained_states{suffix}"
        figures += [
            Figure(f"{key}_words_per_cpu_second", states, f"SmolLM2's states of {what}", "words/CPU-s"),
            Figure(
                f"{key}_transformers_words_per_cpu_second",
                transformers,
                "… transformers itself",
                "words/CPU-s",
            ),
            Figure(f"{key}_vs_transformers", ratio, "… ratio", "×", must=0.95),
            Figure(
                f"{key}_reduced_vs_transformers",
                median_ratio(laps["reduced"], laps["transformers"]),
                "… in bfloat16 where the processor has it, ratio",
                "×",
                must=1.4 if has_bfloat16() else 0.95,
            ),
            Figure(f"{key}_layer18_words_per_cpu_second", cut, "… states of layer 18 alone", "words/CPU-s"),
        ]
    start = measure_start(context.choose(3, 1))
    return [
        *figures,
        Figure(
            "pretrained_start_cpu_seconds", start, "start with a warm cache", "CPU-s", must=4.0, most=True
        ),
    ]
