"""Training of the anticipating network: Adam, a rate that falls to zero, a running mean of the weights, the best epoch."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from entitynlm.baselines.entity_choice.network import AnticipatingNetwork, Judgement
from entitynlm.baselines.entity_choice.stories import NumberedStory


@dataclass(frozen=True)
class LearningConfig:
    """How the network is trained.

    :param others: the weight of mentions that are not of the kind that is asked about.
    :param memory: of the running mean of the weights, per update; that mean is what is evaluated and kept (0: the weights as
        they are).
    :param word_weight: of the side task "which word", :param type_weight: of the side tasks "which type", :param
        reading_weight: of foreseeing every word, mention or not.
    """

    epochs: int = 9
    batch_size: int = 12
    rate: float = 0.003
    decay: float = 0.01
    others: float = 0.3
    word_weight: float = 0.3
    type_weight: float = 0.3
    reading_weight: float = 0.3
    memory: float = 0.99


@dataclass(frozen=True)
class EpochReport:
    """After an epoch: the training loss per mention, and the accuracy and loss on development mentions."""

    epoch: int
    loss: float
    accuracy: float
    development_loss: float


def learn(
    network: AnticipatingNetwork,
    train: Sequence[NumberedStory],
    development: Sequence[NumberedStory],
    config: LearningConfig,
    *,
    seed: int,
    on_epoch: Callable[[EpochReport], None] = lambda report: None,
) -> EpochReport:
    """Train; the best epoch's weights are in the network at the end, and its report is the answer."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    table = torch.from_numpy(np.concatenate([story.features for story in train]))
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
        total, count = 0.0, 0
        for number, batch in enumerate(batches):
            done = (epoch + number / len(batches)) / config.epochs
            for group in optimizer.param_groups:
                group["lr"] = config.rate * 0.5 * (1 + math.cos(math.pi * done))
            stories = [train[i] for i in batch]
            loss = measure_loss(network(stories), stories, config)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 2.0)
            optimizer.step()
            averaged.update_parameters(network)
            total, count = total + float(loss.detach()), count + 1
        judged = averaged.module
        assert isinstance(judged, AnticipatingNetwork)
        report = EpochReport(epoch + 1, total / max(1, count), *evaluate(judged, development))
        if best is None or report.development_loss < best.development_loss:
            best, weights = report, copy.deepcopy(judged.state_dict())
        on_epoch(report)
    assert best is not None
    network.load_state_dict(weights)
    network.eval()
    return best


def measure_loss(judgement: Judgement, stories: Sequence[NumberedStory], config: LearningConfig) -> Tensor:
    """The weighted loss per mention, with the side tasks."""
    answers, weights = _join_answers(stories)
    words = torch.from_numpy(np.concatenate([story.words for story in stories]))
    outcomes = torch.from_numpy(np.concatenate([story.outcomes for story in stories]))
    entity = -(judgement.log_probs[answers] * weights).sum() / weights.sum().clamp_min(1e-6)
    word = -judgement.words.gather(1, words[:, None]).mean()
    outcome = -judgement.outcomes.gather(1, outcomes[:, None]).mean()
    loss = entity + config.word_weight * word + config.type_weight * outcome
    if judgement.kinds is not None:
        kinds = outcomes % judgement.kinds.shape[1]
        loss = loss - config.type_weight * judgement.kinds.gather(1, kinds[:, None]).mean()
    if judgement.reading is not None and config.reading_weight:
        loss = loss - config.reading_weight * judgement.reading
    return loss


@torch.no_grad()
def evaluate(network: AnticipatingNetwork, stories: Sequence[NumberedStory]) -> tuple[float, float]:
    """Accuracy and loss on the mentions of weight one."""
    network.eval()
    right, count, loss = 0, 0, 0.0
    for story in stories:
        asked = np.flatnonzero(story.weights == 1)
        if not len(asked):
            continue
        log_probs = network([story]).log_probs.numpy()
        for m in asked:
            own = log_probs[story.bounds[m] : story.bounds[m + 1]]
            right += int(own.argmax() == story.answers[m] - story.bounds[m])
            loss -= float(log_probs[story.answers[m]])
            count += 1
    return right / max(1, count), loss / max(1, count)


def _join_answers(stories: Sequence[NumberedStory]) -> tuple[Tensor, Tensor]:
    bases = np.concatenate([[0], np.cumsum([len(story.heads) for story in stories])[:-1]])
    answers = np.concatenate([story.answers + base for story, base in zip(stories, bases, strict=True)])
    return torch.from_numpy(answers), torch.from_numpy(np.concatenate([story.weights for story in stories]))
