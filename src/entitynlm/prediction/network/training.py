"""Training of the predictor network: AdamW with a cosine schedule, a moving average of the weights, the best epoch."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from entitynlm.prediction.network.inputs import SlotBatch
from entitynlm.prediction.network.network import PredictionNetwork, PredictorOutput


@dataclass(frozen=True)
class PredictorTraining:
    """How the network is trained.

    :param batch_size: slots per update.
    :param word_weight: of the side task "which head word", :param type_weight: of the side task "which type".
    :param ema_decay: of the exponential moving average of the weights, per update; that average is evaluated and kept (0: the
        weights as they are).
    """

    epochs: int = 10
    batch_size: int = 128
    learning_rate: float = 0.003
    weight_decay: float = 0.03
    word_weight: float = 0.3
    type_weight: float = 0.3
    ema_decay: float = 0.99


@dataclass(frozen=True)
class EpochReport:
    """After an epoch: the training loss per mention, and the accuracy and loss on development mentions."""

    epoch: int
    loss: float
    accuracy: float
    development_loss: float


def train_network(
    network: PredictionNetwork,
    train: SlotBatch,
    development: SlotBatch,
    config: PredictorTraining,
    *,
    seed: int,
    on_epoch: Callable[[EpochReport], None] = lambda report: None,
) -> EpochReport:
    """Train, put the best epoch's weights into the network, and return that epoch's report."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    features = torch.from_numpy(train.features)
    network.mean.copy_(features.mean(0))
    network.scale.copy_(features.std(0).clamp_min(1e-3))
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    best: EpochReport | None = None
    weights: dict[str, Tensor] = {}
    averaged = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(config.ema_decay))
    for epoch in range(config.epochs):
        network.train()
        order = rng.permutation(len(train))
        batches = [order[i : i + config.batch_size] for i in range(0, len(order), config.batch_size)]
        total = 0.0
        for number, batch in enumerate(batches):
            done = (epoch + number / len(batches)) / config.epochs
            for group in optimizer.param_groups:
                group["lr"] = config.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
            slots = train.select(batch)
            loss = measure_loss(network(slots), slots, config)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 2.0)
            optimizer.step()
            averaged.update_parameters(network)
            total += float(loss.detach())
        report = EpochReport(epoch + 1, total / len(batches), *evaluate(averaged.module, development))
        if best is None or report.development_loss < best.development_loss:
            best, weights = report, copy.deepcopy(averaged.module.state_dict())
        on_epoch(report)
    assert best is not None
    network.load_state_dict(weights)
    network.eval()
    return best


def measure_loss(output: PredictorOutput, slots: SlotBatch, config: PredictorTraining) -> Tensor:
    """The loss per mention, with the side tasks."""
    entity = -output.log_probs[torch.from_numpy(slots.true_pairs)].mean()
    word = -output.words.gather(1, torch.from_numpy(slots.words)[:, None]).mean()
    outcome = -output.outcomes.gather(1, torch.from_numpy(slots.outcomes)[:, None]).mean()
    return entity + config.word_weight * word + config.type_weight * outcome


@torch.no_grad()
def evaluate(network: torch.nn.Module, slots: SlotBatch) -> tuple[float, float]:
    """Accuracy and loss per mention."""
    log_probs = network.eval()(slots).log_probs.numpy()
    highest = np.maximum.reduceat(log_probs, slots.bounds[:-1])
    own = log_probs[slots.true_pairs]
    return float((own >= highest).mean()), float(-own.mean())
