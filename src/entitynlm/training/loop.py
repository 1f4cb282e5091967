"""The training loop: one for P, for the proposals and for the LSTM baseline.

Every random decision is drawn from (seed, epoch, batch), never from a running state, so a training that was interrupted and
resumed gives the same weights, bit for bit, as one that was not.
"""

import copy
import json
import math
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from entitynlm.config import ModelConfig, TrainingConfig, rename_settings, to_dict
from entitynlm.errors import ModelError
from entitynlm.model.batch.scores import (
    BatchScores,
    Carried,
    Scores,
    Window,
    check_windows,
    cut_windows,
    score_windows,
)
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.noise import DrawnNoise, FixedNoise, Noise
from entitynlm.model.pretrained import Network
from entitynlm.model.rnnlm import LanguageModel
from entitynlm.progress import SILENT, Progress

EVALUATION_BUDGET = 20_000  # padded words scored at once when nothing is learned


@dataclass
class TrainingState:
    """Where a training stands; everything but the weights that is needed to go on."""

    epoch: int = 0
    batch: int = 0
    best_loss: float | None = None
    best_epoch: int = 0
    bad_epochs: int = 0
    rate: float = 0.0
    finished: bool = False
    history: list[dict[str, Any]] = field(default_factory=list)


class Training:
    """A training under way: ``run`` goes on from ``state`` until it ends or is asked to stop."""

    def __init__(
        self,
        network: Network,
        train: Sequence[EncodedDocument],
        development: Sequence[EncodedDocument],
        config: TrainingConfig,
        *,
        seed: int,
    ) -> None:
        check_windows(network.config, config.window)
        self.network = network
        self.config = config
        self.seed = seed
        self.train = [cut(network, document, config.window) for document in train if len(document)]
        self.development = [cut(network, document, 0) for document in development if len(document)]
        self.lengths = [sum(len(window.words) for window in windows) for windows in self.train]
        self._word_share = config.word_share if config.weights[3] else 0.0
        self.state = TrainingState(rate=config.learning_rate)
        learned = (value for value in network.parameters() if value.requires_grad)
        self.optimizer = make_optimizer(learned, config)
        self.best_weights: dict[str, Tensor] = {}

    def describe(self) -> dict[str, Any]:
        """The settings that fix the result, for JSON."""
        return {"model": to_dict(self.network.config), "training": to_dict(self.config), "seed": self.seed}

    def run(
        self, progress: Progress = SILENT, *, on_epoch: Callable[[dict[str, Any]], None] | None = None
    ) -> bool:
        """Train; the best weights are in the network at the end. False if ``progress`` interrupted it (it can be resumed)."""
        part = self.network.config.mode
        while not self.state.finished:
            if not self._run_epoch(progress, f"{part}, epoch {self.state.epoch + 1}"):
                return False
            record = self._finish_epoch()
            if on_epoch:
                on_epoch(record)
            dev = record["dev"]
            progress.message(
                f"{part} epoch {record['epoch']}: train {record['train_loss']:.4f}, dev {record['dev_loss']:.4f} "
                f"(R {dev['r']:.3f}, E {dev['e']:.3f}, L {dev['l']:.3f}, X {dev['x']:.3f}), "
                f"{record['tokens_per_second']:,.0f} words/s"
            )
        if self.best_weights:
            self.network.load_state_dict(self.best_weights)
        self.network.eval()
        return True

    def _run_epoch(self, progress: Progress, task: str) -> bool:
        """The rest of the current epoch; False if it was interrupted."""
        state = self.state
        self.network.train()
        for group in self.optimizer.param_groups:
            group["lr"] = state.rate
        share, count = self.config.documents_per_epoch, len(self.lengths)
        chosen = choose_documents(count, share, seed=self.seed, epoch=state.epoch).tolist()
        lengths = [self.lengths[i] for i in chosen]
        batches = make_batches(lengths, self.config.batch_size, seed=self.seed, epoch=state.epoch)
        done, loss, started = 0, 0.0, time.perf_counter()
        progress.start(task, sum(lengths))
        for number in range(state.batch, len(batches)):
            torch.manual_seed(derive_seed(self.seed, state.epoch, number))
            generator = torch.Generator().manual_seed(derive_seed(self.seed, state.epoch, number, 1))
            tokens, batch_loss = self._learn(
                [self.train[chosen[i]] for i in batches[number]], DrawnNoise(generator)
            )
            done, loss = done + tokens, loss + batch_loss
            state.batch = number + 1
            speed = done / max(1e-9, time.perf_counter() - started)
            try:
                progress.advance(task, tokens, f"loss {loss / max(1, done):.3f} · {speed:,.0f} words/s")
            except KeyboardInterrupt:
                return False
        progress.finish(task)
        self._train_loss = loss / max(1, done)
        self._speed = done / max(1e-9, time.perf_counter() - started)
        return True

    def _learn(self, documents: Sequence[list[Window]], noise: DrawnNoise) -> tuple[int, float]:
        """One batch: an update per window, with the states of documents that go on carried from window to window."""
        tokens, loss = 0, 0.0
        carried: Carried | None = None
        alive = list(range(len(documents)))
        for step in range(max(len(windows) for windows in documents)):
            going_on = [i for i in alive if step < len(documents[i])]
            if carried is not None:
                carried = carried.select(self.network.backbone, [alive.index(i) for i in going_on])
            alive = going_on
            self.optimizer.zero_grad(set_to_none=True)
            windows = [documents[i][step] for i in alive]
            result = score(self.network, windows, noise, carried, self._word_share)
            objective = weigh_loss(result.scores, self.config.weights)
            objective.backward()
            if self.config.clip:
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip)
            self.optimizer.step()
            tokens += len(result.scores.r)
            loss -= float(result.scores.total.detach())
            carried = result.carried
        return tokens, loss

    def _finish_epoch(self) -> dict[str, Any]:
        """Measure on development documents, keep the best, settle the learning rate and whether to go on."""
        state, config = self.state, self.config
        losses = measure_losses(self.network, self.development, self.config.word_share)
        state.epoch, state.batch = state.epoch + 1, 0
        record: dict[str, Any] = {
            "epoch": state.epoch,
            "train_loss": self._train_loss,
            "dev_loss": losses["total"],
            "dev": losses,
            "learning_rate": state.rate,
            "tokens_per_second": round(self._speed, 1),
        }
        if state.best_loss is None or losses["total"] < state.best_loss:
            state.best_loss, state.best_epoch, state.bad_epochs = losses["total"], state.epoch, 0
            self.best_weights = copy.deepcopy(self.network.state_dict())
        else:
            state.bad_epochs += 1
            if config.schedule == "plateau":
                state.rate /= 2
        if config.schedule == "cosine":
            state.rate = config.learning_rate * 0.5 * (1 + math.cos(math.pi * state.epoch / config.epochs))
        state.finished = state.epoch >= config.epochs or state.bad_epochs >= config.patience
        state.history.append(record)
        return record


def cut(network: Network, document: EncodedDocument, size: int) -> list[Window]:
    """A document in windows (0: one), prepared for scoring."""
    if isinstance(network, LanguageModel):
        return network.cut(document, size)
    return cut_windows(document, network, size)


def score(
    network: Network,
    windows: Sequence[Window],
    noise: Noise | None,
    carried: Carried | None,
    word_share: float = 1.0,
) -> BatchScores:
    if isinstance(network, LanguageModel):
        return network.score(windows, carried, word_share)
    return score_windows(network, windows, noise=noise, carried=carried, word_share=word_share)


def make_optimizer(parameters: Iterable[Tensor], config: TrainingConfig) -> torch.optim.Optimizer:
    """AdaGrad or Adam, as in the paper's section 3; with weight decay Adam becomes AdamW.

    ``fused`` makes an update in one pass, in a ninth of the time; torch has it for AdaGrad on the CPU only.
    """
    values, rate, decay = list(parameters), config.learning_rate, config.weight_decay
    if config.optimizer == "adagrad":
        on_cpu = all(value.device.type == "cpu" for value in values)
        return torch.optim.Adagrad(values, lr=rate, weight_decay=decay, fused=on_cpu or None)
    if decay:
        return torch.optim.AdamW(values, lr=rate, weight_decay=decay, fused=True)
    return torch.optim.Adam(values, lr=rate, fused=True)


def weigh_loss(scores: Scores, weights: tuple[float, float, float, float]) -> Tensor:
    """Negative log-probability per word (equation 9), each variable with its weight: what training makes small."""
    parts = (scores.r, scores.e, scores.l, scores.x)
    total = sum((w * part.sum() for w, part in zip(weights, parts, strict=True)), scores.r.new_zeros(()))
    return -total / max(1, len(scores.r))


@torch.no_grad()
def measure_losses(
    network: Network, documents: Sequence[list[Window]], word_share: float = 1.0
) -> dict[str, float]:
    """Negative log-probability per word of documents that are not learned from: in total, and of each variable.

    A ``word_share`` below one chooses the same words every time.
    """
    network.eval()
    torch.manual_seed(0)
    sums = torch.zeros(4, dtype=torch.float64)
    lengths = [len(windows[0].words) for windows in documents]
    for batch in make_even_batches(lengths, EVALUATION_BUDGET):
        scores = score(network, [documents[i][0] for i in batch], FixedNoise(), None, word_share).scores
        parts = [scores.r.sum(), scores.e.sum(), scores.l.sum(), scores.x.sum()]
        sums -= torch.stack(parts).double().cpu()
    r, e, l, x = (sums / max(1, sum(lengths))).tolist()
    return {"total": r + e + l + x, "r": r, "e": e, "l": l, "x": x, "tokens": sum(lengths)}


def make_batches(lengths: Sequence[int], batch_size: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Shuffled batches of similar lengths, blurred by a tenth so that documents meet other neighbours in every epoch."""
    rng = np.random.default_rng([seed, epoch])
    blurred = np.asarray(lengths, dtype=float) * rng.uniform(0.9, 1.1, len(lengths))
    order = np.argsort(-blurred, kind="stable")
    batches = [order[i : i + batch_size].tolist() for i in range(0, len(order), batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def choose_documents(count: int, share: int, *, seed: int, epoch: int) -> np.ndarray:
    """The documents of an epoch that has ``share`` of them (0: all): pass after pass over all, each in an order of its own."""
    if not share or share >= count:
        return np.arange(count)
    first = epoch * share
    passes = range(first // count, (first + share - 1) // count + 1)
    orders = [np.random.default_rng([seed, number, 2]).permutation(count) for number in passes]
    start = first - passes[0] * count
    return np.unique(np.concatenate(orders)[start : start + share])


def make_even_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Batches in a fixed order for evaluation, as many documents each as fit ``budget`` padded words (at least one)."""
    batches: list[list[int]] = []
    for number in np.argsort(-np.asarray(lengths), kind="stable").tolist():
        longest = lengths[batches[-1][0]] if batches else 0
        if batches and longest * (len(batches[-1]) + 1) <= budget:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches


def derive_seed(*numbers: int) -> int:
    """One seed from several numbers, well mixed."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)


def save_checkpoint(training: Training, folder: Path) -> None:
    """Store all that ``load_checkpoint`` needs to go on exactly here, renamed as one folder: whole or not there."""
    beside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    save_file(_contiguous(training.network.state_dict()), beside / "weights.safetensors")
    save_file(_contiguous(training.best_weights), beside / "best.safetensors")
    optimizer = training.optimizer.state_dict()
    moments = {
        f"{index}.{name}": torch.as_tensor(value)
        for index, values in optimizer["state"].items()
        for name, value in values.items()
    }
    save_file(_contiguous(moments), beside / "optimizer.safetensors")
    state = {
        "progress": asdict(training.state),
        "groups": optimizer["param_groups"],
        "settings": training.describe(),
    }
    (beside / "state.json").write_text(json.dumps(state, indent=1), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    beside.replace(folder)


def load_checkpoint(training: Training, folder: Path) -> None:
    """Put a training back where its checkpoint left it; the settings must be the same."""
    try:
        state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        # An option that came after the checkpoint was made is missing there: it stood at its default.
        stored = {**state["settings"]}
        stored["training"] = {**to_dict(TrainingConfig()), **stored["training"]}
        stored["model"] = {**to_dict(ModelConfig()), **rename_settings(stored["model"])}
        settings = training.describe()
        if stored != settings:
            different = sorted(key for key in {*stored, *settings} if stored.get(key) != settings.get(key))
            raise ModelError(
                f"{folder}: this checkpoint was made with other settings ({', '.join(different)}); "
                "train into another folder, or without --resume"
            )
        training.network.load_state_dict(load_file(folder / "weights.safetensors"))
        training.best_weights = dict(load_file(folder / "best.safetensors"))
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for key, value in load_file(folder / "optimizer.safetensors").items():
            index, name = key.split(".", 1)
            moments.setdefault(int(index), {})[name] = value
        training.optimizer.load_state_dict({"state": moments, "param_groups": state["groups"]})
        training.state = TrainingState(**state["progress"])
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise ModelError(f"{folder}: this checkpoint can't be used ({error})") from error


def _contiguous(tensors: dict[str, Any]) -> dict[str, torch.Tensor]:
    return {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
