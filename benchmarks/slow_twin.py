"""2. The batched path against the slow twin, training."""

import sys
from pathlib import Path

import torch

from benchmarks.contestants import make_network, train_entities, update
from benchmarks.data import load_ontogum, make_batches
from benchmarks.figures import Context, Figure
from benchmarks.timing import Contestant, median_rate, median_ratio, race
from entitynlm.config import ModelConfig, TrainingConfig
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import FixedNoise
from entitynlm.training.loop import make_optimizer

NAME = "twin"


def train_slowly(network: EntityNetwork, document: EncodedDocument, config: TrainingConfig) -> Contestant:
    """One update on one document, word by word, differentiated by torch."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from support.slow_twin import SlowTwin

    twin = SlowTwin(network, FixedNoise())
    optimizer = make_optimizer(network.parameters(), config)

    def lap() -> int:
        network.train()
        optimizer.zero_grad(set_to_none=True)
        total = torch.stack([s.r + s.e + s.l + s.x for s in twin.score(document)]).sum()
        update(network, -total / len(document), config, optimizer)
        return len(document)

    return lap


def run(context: Context) -> list[Figure]:
    """The same network and sizes as in the first benchmark; the twin knows no dropout, so neither has any."""
    material = load_ontogum(context.data)
    config = ModelConfig(hidden_size=128, embedding_size=128, softmax="classes", dropout=0.0)
    training = TrainingConfig()
    batches = make_batches(material.documents, 16)[: context.choose(3, 1)]
    middle = sorted(material.documents, key=len)[len(material.documents) // 2]
    laps = race(
        {
            "fast": train_entities(make_network(material, config), batches, training),
            "slow": train_slowly(make_network(material, config), middle, training),
        },
        context.choose(5, 1),
    )
    return [
        Figure(
            "fast_vs_slow", median_ratio(laps["fast"], laps["slow"]), "training speed ÷ slow twin's", must=100
        ),
        Figure(
            "slow_tokens_per_cpu_second", median_rate(laps["slow"]), "training, slow twin", "tokens/CPU-s"
        ),
    ]
