"""7. A hundred samples of a document of 1,000 words against scoring passes of it, and what resampling buys."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.contestants import make_network, score_entities, train_entities
from benchmarks.data import Material, cut_pieces, join_documents, load_ontogum, make_batches
from benchmarks.figures import Context, Figure
from benchmarks.timing import Contestant, median_ratio, race
from entitynlm.config import ModelConfig, TrainingConfig
from entitynlm.inference.marginal import estimate_log_prob
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork

NAME = "inference"
WORDS = 1_000
LONG_ENOUGH = 500  # words from which on resampling has to pay
PARTICLES = 100


def train_networks(material: Material, context: Context) -> dict[str, EntityNetwork]:
    """P and its proposal, trained a little: fresh ones would put half of all words into mentions of a dozen words."""
    networks = {}
    batches = make_batches(material.documents, 4)[: context.choose(60, 2)]
    for mode in ("generative", "causal"):
        config = ModelConfig(mode=mode, hidden_size=128, embedding_size=128)
        network = make_network(material, config)
        lap = train_entities(network, batches, TrainingConfig(learning_rate=0.002))
        for _ in range(context.choose(3, 1)):
            lap()
        networks[mode] = network.eval()
    return networks


def estimate(
    model: EntityNetwork, proposal: EntityNetwork, document: EncodedDocument, **options: Any
) -> Contestant:
    """One estimate of log P(X), from words to figure."""

    def lap() -> int:
        estimate_log_prob(model, proposal, document, particles=PARTICLES, repeats=1, **options)
        return len(document)

    return lap


def measure_spread(
    model: EntityNetwork,
    proposal: EntityNetwork,
    documents: Sequence[EncodedDocument],
    repeats: int,
    **options: Any,
) -> tuple[float, float]:
    """Of single estimates of log P(X) per document: the (root mean square) standard deviation, and the mean."""
    found = [
        estimate_log_prob(model, proposal, document, particles=PARTICLES, repeats=repeats, **options).repeats
        for document in documents
    ]
    variances = [estimates.var(ddof=1) for estimates in found]
    return float(np.sqrt(np.mean(variances))), float(np.mean([estimates.mean() for estimates in found]))


def measure_speed(
    networks: dict[str, EntityNetwork], context: Context, text: EncodedDocument
) -> list[Figure]:
    document = cut_pieces(text, context.choose(WORDS, 200))[0]
    model = networks["generative"]
    contestants = {"pass": score_entities(model, [[document]])}
    contestants["samples"] = estimate(model, networks["causal"], document, method="importance")
    contestants["filter"] = estimate(model, networks["causal"], document)
    laps = race(contestants, context.choose(9, 1))
    samples = median_ratio(laps["pass"], laps["samples"])
    ratio = median_ratio(laps["samples"], laps["filter"])
    what = f"100 samples of {len(document):,} words ÷ a scoring pass"
    return [
        Figure("samples100_vs_pass", samples, what, must=30, aim=12, most=True),
        Figure("filter100_vs_samples100", ratio, "… particle filter ÷ samples", must=1.5, most=True),
    ]


def measure_accuracy(
    networks: dict[str, EntityNetwork], context: Context, documents: Sequence[EncodedDocument]
) -> list[Figure]:
    model, proposal = networks["generative"], networks["causal"]
    repeats = context.choose(6, 2)
    spread, mean = measure_spread(model, proposal, documents, repeats)
    plain_spread, plain_mean = measure_spread(model, proposal, documents, repeats, method="importance")
    text = f"standard error, particle filter ÷ importance sampling ({len(documents)} documents)"
    return [
        Figure("filter_error_vs_importance", spread / plain_spread, text, must=1 / 3, most=True),
        Figure("filter_error", spread, "… of the particle filter, N = 100", "nats"),
        Figure("importance_error", plain_spread, "… of importance sampling, N = 100", "nats"),
        Figure(
            "filter_gain", mean - plain_mean, "… mean log P(X), particle filter - importance sampling", "nats"
        ),
    ]


def run(context: Context) -> list[Figure]:
    material = load_ontogum(context.data)
    networks = train_networks(material, context)
    long = [d for d in material.documents if len(d) >= context.choose(LONG_ENOUGH, 1)][: context.choose(6, 1)]
    text = join_documents(material.documents[:4])
    return measure_speed(networks, context, text) + measure_accuracy(networks, context, long)
