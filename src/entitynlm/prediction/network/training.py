"""Training of the anticipating network: Adam, a rate that falls to zero, a running mean of the weights, the best epoch."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from entitynlm.prediction.network.inputs import NumberedSlots
from entitynlm.prediction.network.network import Judgement, PredictionNetwork


@dataclass(frozen=True)
class PredictorTraining:
    """How the network is trained.

    :param batch_size: slots per update.
    :param memory: of the running mean of the weights, per update; that mean is what is evaluated and kept (0: the weights as
        they are).
    :param word_weight: of the side task "which word", :param type_weight: of the side task "which type".
    :param smoothing: how much of the answer's probability is to be spread over all candidates.
    """

    epochs: int = 10
    batch_size: int = 128
    rate: float = 0.003
    decay: float = 0.03
    word_weight: float = 0.3
    type_weight: float = 0.3
    smoothing: float = 0.0
    memory: float = 0.99


@dataclass(frozen=True)
class EpochReport:
    """After an epoch: the training loss per mention, and the accuracy and loss on development mentions."""

    epoch: int
    loss: float
    accuracy: float
    development_loss: float


def learn(
    network: PredictionNetwork,
    train: NumberedSlots,
    development: NumberedSlots,
    config: PredictorTraining,
    *,
    seed: int,
    on_epoch: Callable[[EpochReport], None] = lambda report: None,
) -> EpochReport:
    """Train; the best epoch's weights are in the network at the end, and its report is the answer."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    table = torch.from_numpy(train.features)
    network.mean.copy_(table.mean(0))
    network.scale.copy_(table.std(0).clamp_min(1e-3))
    optimizer = torch.optim.AdamW(network.parameters(), lr=config.rate, weight_decay=config.decay)
    best: EpochReport | None = None
    weights: dict[str, Tensor] = {}
    averaged = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(config.memory))
    for epoch in range(config.epochs):
        network.train()
        order = rng.permutation(len(train))
        batches = [order[i : i + config.batch_size] for i in range(0, len(order), config.batch_size)]
        total = 0.0
        for number, batch in enumerate(batches):
            done = (epoch + number / len(batches)) / config.epochs
            for group in optimizer.param_groups:
                group["lr"] = config.rate * 0.5 * (1 + math.cos(math.pi * done))
            slots = train.pick(batch)
            loss = measure_loss(network(slots), slots, config)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 2.0)
            optimizer.step()
            averaged.update_parameters(network)
            total += float(loss.detach())
        judged = averaged.module
        assert isinstance(judged, PredictionNetwork)
        report = EpochReport(epoch + 1, total / len(batches), *evaluate(judged, development))
        if best is None or report.development_loss < best.development_loss:
            best, weights = report, copy.deepcopy(judged.state_dict())
        on_epoch(report)
    assert best is not None
    network.load_state_dict(weights)
    network.eval()
    return best


def measure_loss(judgement: Judgement, slots: NumberedSlots, config: PredictorTraining) -> Tensor:
    """The loss per mention, with the side tasks."""
    chosen = judgement.log_probs[torch.from_numpy(slots.answers)]
    if config.smoothing:
        sizes = torch.from_numpy(np.diff(slots.bounds))
        shares = judgement.log_probs / torch.repeat_interleave(sizes, sizes)
        entity = -((1 - config.smoothing) * chosen.mean() + config.smoothing * shares.sum() / len(slots))
    else:
        entity = -chosen.mean()
    word = -judgement.words.gather(1, torch.from_numpy(slots.words)[:, None]).mean()
    outcome = -judgement.outcomes.gather(1, torch.from_numpy(slots.outcomes)[:, None]).mean()
    return entity + config.word_weight * word + config.type_weight * outcome


@torch.no_grad()
def evaluate(network: PredictionNetwork, slots: NumberedSlots) -> tuple[float, float]:
    """Accuracy and loss per mention."""
    network.eval()
    log_probs = network(slots).log_probs.numpy()
    highest = np.maximum.reduceat(log_probs, slots.bounds[:-1])
    own = log_probs[slots.answers]
    return float((own >= highest).mean()), float(-own.mean())
