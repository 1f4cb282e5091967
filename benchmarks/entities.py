"""10 b. Marginal surprisal with a hundred particles, and annotation, by entities that are trained a little on SmolLM2."""

import importlib.util
from functools import partial

import numpy as np
import torch

from benchmarks.figures import Context, Figure
from benchmarks.surprisal import make_text
from benchmarks.timing import Contestant, median_rate, median_ratio, race
from entitynlm.coref.annotation import annotate_document
from entitynlm.inference.marginal import estimate_log_prob
from entitynlm.model.backbones.huggingface.reader import LanguageModelRuntime
from entitynlm.model.backbones.huggingface.weights import load_language_model
from entitynlm.model.language_models import SMOLLM2, SMOLLM2_MODULE
from entitynlm.model.loading import make_untrained
from entitynlm.model.pretrained import Pretrained
from entitynlm.stories import generate_stories
from entitynlm.text.document import Document
from entitynlm.training.recipe import train_pretrained
from entitynlm.training.settings import load_settings

NAME = "entities"


def run_output_layer(runtime: LanguageModelRuntime, text: np.ndarray, words: int) -> int:
    """The language model's own pass: transformers, with the probability of every piece of the text."""
    ids = torch.tensor([[runtime.start, *text]])
    with torch.no_grad():
        logits = runtime.model(input_ids=ids).logits[0, :-1]
        torch.log_softmax(logits, -1).gather(1, ids[0, 1:, None])
    return words


def train_entities(stories: int, epochs: int) -> Pretrained:
    """P and its proposal, trained a little on generated stories: fresh ones would put half of all words into mentions."""
    documents = list(generate_stories(stories, seed=3))
    settings = load_settings(None, {"training.epochs": epochs}, language_model=SMOLLM2)
    trained = train_pretrained(documents, documents[:4], settings, seed=1)
    assert trained is not None
    return trained


def estimate(pretrained: Pretrained, runtime: LanguageModelRuntime, document: Document) -> Contestant:
    """One estimate of log P(X) with a hundred particles, from words to figure."""
    encoded = pretrained.encoder.encode_words(document)

    def lap() -> int:
        runtime.forget()
        networks = pretrained.get("generative"), pretrained.get("causal")
        estimate_log_prob(*networks, encoded, particles=100, repeats=1)
        return len(document)

    return lap


def annotate(pretrained: Pretrained, runtime: LanguageModelRuntime, document: Document) -> Contestant:
    def lap() -> int:
        runtime.forget()
        annotate_document(pretrained, document)
        return len(document)

    return lap


def measure_entities(context: Context, runtime: LanguageModelRuntime, document: Document) -> list[Figure]:
    """What summing entities out, or finding them, costs on top of the language model."""
    pretrained = train_entities(context.choose(60, 6), context.choose(10, 1))
    encoded = pretrained.encoder.encode_words(document)
    pieces = encoded.words.all_pieces
    text = pieces[pieces < runtime.pieces]
    laps = race(
        {
            "pass": partial(run_output_layer, runtime, text, len(document)),
            "bare": estimate(make_untrained(SMOLLM2), runtime, document),
            "marginal": estimate(pretrained, runtime, document),
            "annotate": annotate(pretrained, runtime, document),
        },
        context.choose(3, 1),
    )
    costs = {name: median_ratio(laps["pass"], laps[name]) for name in ("bare", "marginal", "annotate")}
    rates = {name: median_rate(found) for name, found in laps.items()}
    unit = "words/CPU-s"
    told = f"marginal surprisal of {len(document):,} words, 100 particles"
    return [
        Figure(
            "pretrained_pass_words_per_cpu_second", rates["pass"], "transformers' own pass with logits", unit
        ),
        Figure("pretrained_bare_words_per_cpu_second", rates["bare"], "… while W_e is zero", unit),
        Figure("pretrained_marginal_words_per_cpu_second", rates["marginal"], told, unit),
        Figure("pretrained_samples100_vs_pass", costs["marginal"], "… in passes", "×", must=3.0, most=True),
        Figure(
            "pretrained_annotate_words_per_cpu_second", rates["annotate"], "annotation by the proposal", unit
        ),
    ]


def run(context: Context) -> list[Figure]:
    if any(importlib.util.find_spec(module) is None for module in (SMOLLM2_MODULE, "transformers")):
        return []
    return measure_entities(context, load_language_model(SMOLLM2), make_text(context, 1_000))
