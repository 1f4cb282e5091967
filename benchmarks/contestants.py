"""Training steps and scoring passes as laps for the race."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from benchmarks.data import Material, count_tokens
from benchmarks.lstm import Padded, PlainLanguageModel
from benchmarks.timing import Contestant
from entitynlm.config import ModelConfig, TrainingConfig
from entitynlm.model.batch.scores import cut_windows, score_windows
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import DrawnNoise, FixedNoise
from entitynlm.training.loop import make_optimizer, weigh_loss

Batches = Sequence[Sequence[EncodedDocument]]


def make_network(material: Material, config: ModelConfig) -> EntityNetwork:
    torch.manual_seed(0)
    return EntityNetwork(config, material.words, 0, material.classes)


def train_entities(network: EntityNetwork, batches: Batches, config: TrainingConfig) -> Contestant:
    """The step of the training loop: score, differentiate, clip, update. Layouts are made once per document, before."""
    windows = [[cut_windows(document, network)[0] for document in batch] for batch in batches]
    optimizer = make_optimizer(network.parameters(), config)
    noise = DrawnNoise(torch.Generator().manual_seed(0))

    def lap() -> int:
        network.train()
        for batch in windows:
            optimizer.zero_grad(set_to_none=True)
            update(
                network,
                weigh_loss(score_windows(network, batch, noise=noise).scores, config.weights),
                config,
                optimizer,
            )
        return count_tokens(batches)

    return lap


def train_plain(model: PlainLanguageModel, batches: Batches, config: TrainingConfig) -> Contestant:
    """The same for the plain language model."""
    padded = [Padded(batch) for batch in batches]
    optimizer = make_optimizer(model.parameters(), config)

    def lap() -> int:
        model.train()
        for batch in padded:
            optimizer.zero_grad(set_to_none=True)
            update(model, -model(batch).mean(), config, optimizer)
        return count_tokens(batches)

    return lap


def update(module: nn.Module, loss: Tensor, config: TrainingConfig, optimizer: torch.optim.Optimizer) -> None:
    loss.backward()
    torch.nn.utils.clip_grad_norm_(module.parameters(), config.clip)
    optimizer.step()


def score_entities(network: EntityNetwork, batches: Batches) -> Contestant:
    """log P of documents seen for the first time: their layouts are made within the lap."""

    @torch.no_grad()
    def lap() -> int:
        network.eval()
        for batch in batches:
            windows = [cut_windows(document, network)[0] for document in batch]
            score_windows(network, windows, noise=FixedNoise())
        return count_tokens(batches)

    return lap


def score_plain(model: PlainLanguageModel, batches: Batches) -> Contestant:
    """Score the batches by the plain language model, padding included."""

    @torch.no_grad()
    def lap() -> int:
        model.eval()
        for batch in batches:
            model(Padded(batch))
        return count_tokens(batches)

    return lap
