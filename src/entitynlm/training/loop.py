"""The training loop of P, its proposal and the LSTM baseline.

Every random decision is drawn from (seed, epoch, batch), never from a running state, so that a training that was interrupted and
resumed gives the same weights, bit for bit. A checkpoint is one file with everything that the training needs to continue, renamed
into its place when it is on the disk, so that a crash leaves the last complete one.
"""

import copy
import io
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entitynlm.config import TrainingConfig, to_dict
from entitynlm.errors import ModelError, TrainingError
from entitynlm.files import write_atomically
from entitynlm.model.batch.scores import Carried, Network, Scores, Window, cut_windows, score_windows
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.noise import DrawnNoise, FixedNoise
from entitynlm.progress import SILENT, Progress

EVALUATION_BUDGET = 20_000  # padded words scored at once when nothing is learned
CHECKPOINT_SECONDS = 600.0  # between checkpoints within an epoch: a long one is not begun anew after a crash
MOST_NAMES = 5  # documents that an error names


@dataclass
class TrainingState:
    """The progress of a training: everything but the weights that is needed to continue.

    ``words`` and ``loss`` (nats) are those of the current epoch so far.
    """

    epoch: int = 0
    batch: int = 0
    words: int = 0
    loss: float = 0.0
    best_loss: float | None = None
    best_epoch: int = 0
    bad_epochs: int = 0
    rate: float = 0.0
    finished: bool = False
    history: list[dict[str, Any]] = field(default_factory=list)


class Training:
    """A training in progress: ``run`` continues from ``state`` until it ends or is asked to stop.

    :ivar checkpoint: file that is written after each epoch, at intervals within long ones, and when the training is stopped.
    """

    def __init__(
        self,
        network: Network,
        train: Sequence[EncodedDocument],
        development: Sequence[EncodedDocument],
        config: TrainingConfig,
        *,
        seed: int,
    ) -> None:
        self.network = network
        self.checkpoint: Path | None = None
        self.config = config
        self.seed = seed
        self.names = [document.id for document in train if len(document)]
        self.train = [cut_windows(document, network, config.window) for document in train if len(document)]
        self.development = [cut_windows(document, network, 0) for document in development if len(document)]
        self.lengths = [sum(len(window.words) for window in windows) for windows in self.train]
        self._word_share = config.word_share if config.weights[3] else 0.0
        self.state = TrainingState(rate=config.learning_rate)
        learned = (value for value in network.parameters() if value.requires_grad)
        self.optimizer = make_optimizer(learned, config)
        self.best_weights: dict[str, Tensor] = {}
        self._speed = 0.0  # words per second

    def describe(self) -> dict[str, Any]:
        """Describe the settings that determine the result, for JSON."""
        return {"model": to_dict(self.network.config), "training": to_dict(self.config), "seed": self.seed}

    def run(
        self, progress: Progress = SILENT, *, on_epoch: Callable[[dict[str, Any]], None] | None = None
    ) -> bool:
        """Train; the network has the best weights at the end. False if ``progress`` interrupted the training (it can be resumed).

        :param on_epoch: called with the losses of each epoch, before the checkpoint is written.
        """
        part = self.network.config.mode
        while not self.state.finished:
            if not self._run_epoch(progress, f"{part}, epoch {self.state.epoch + 1}"):
                self.save()
                return False
            record = self._finish_epoch()
            if on_epoch:
                on_epoch(record)
            self.save()
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
        """Run the rest of the current epoch; False if it was interrupted."""
        state = self.state
        self.network.train()
        for group in self.optimizer.param_groups:
            group["lr"] = state.rate
        share, count = self.config.documents_per_epoch, len(self.lengths)
        chosen = choose_documents(count, share, seed=self.seed, epoch=state.epoch).tolist()
        lengths = [self.lengths[i] for i in chosen]
        batches = make_batches(lengths, self.config.batch_size, seed=self.seed, epoch=state.epoch)
        before, started = state.words, time.perf_counter()
        saved = started
        progress.start(task, sum(lengths))
        for number in range(state.batch, len(batches)):
            words, loss = self._learn([chosen[i] for i in batches[number]], number)
            state.words, state.loss, state.batch = state.words + words, state.loss + loss, number + 1
            now = time.perf_counter()
            self._speed = (state.words - before) / max(1e-9, now - started)
            told = f"loss {state.loss / max(1, state.words):.3f} · {self._speed:,.0f} words/s"
            try:
                progress.advance(task, words, told)
            except KeyboardInterrupt:
                return False
            if now - saved > CHECKPOINT_SECONDS:
                self.save()
                saved = time.perf_counter()
        progress.finish(task)
        return True

    def _learn(self, batch: Sequence[int], number: int) -> tuple[int, float]:
        """Train on one batch: an update per window; documents that go on pass their states from window to window."""
        epoch = self.state.epoch
        torch.manual_seed(derive_seed(self.seed, epoch, number))
        noise = DrawnNoise(torch.Generator().manual_seed(derive_seed(self.seed, epoch, number, 1)))
        alive: list[int] = []
        carried: Carried | None = None
        words_of_batch, loss_of_batch = 0, 0.0
        for step in range(max(len(self.train[i]) for i in batch)):
            going_on = [i for i in batch if step < len(self.train[i])]
            windows = [self.train[i][step] for i in going_on]
            before = carried and carried.select(self.network.backbone, [alive.index(i) for i in going_on])
            self.optimizer.zero_grad(set_to_none=True)
            result = score_windows(
                self.network, windows, noise=noise, carried=before, word_share=self._word_share
            )
            alive, carried = going_on, result.carried
            weigh_loss(result.scores, self.config.weights).backward()
            loss = -float(result.scores.total.detach())
            norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip or math.inf)
            if not (math.isfinite(loss) and math.isfinite(float(norm))):
                names = ", ".join([self.names[i] for i in going_on][:MOST_NAMES])
                raise self._give_up(f"batch {number + 1} ({names})", loss)
            self.optimizer.step()
            words_of_batch += sum(len(window.words) for window in windows)
            loss_of_batch += loss
        return words_of_batch, loss_of_batch

    def _give_up(self, where: str, loss: float) -> TrainingError:
        """Make the error that says at which batch the training failed."""
        what = "the gradient is not finite" if math.isfinite(loss) else f"the loss is {loss}"
        return TrainingError(
            f"the training of the {self.network.config.mode} part stopped in epoch {self.state.epoch + 1}, "
            f"{where}: {what}. A smaller training.learning_rate or training.clip may help"
        )

    def _finish_epoch(self) -> dict[str, Any]:
        """Measure on development documents, keep the best weights, set the learning rate, and decide whether to continue."""
        state, config = self.state, self.config
        losses = measure_losses(self.network, self.development, self.config.word_share)
        if not math.isfinite(losses["total"]):
            raise self._give_up("on development documents", losses["total"])
        train_loss = state.loss / max(1, state.words)
        state.epoch, state.batch, state.words, state.loss = state.epoch + 1, 0, 0, 0.0
        record: dict[str, Any] = {
            "epoch": state.epoch,
            "train_loss": train_loss,
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

    def save(self) -> None:
        """Write the checkpoint, if the training has one."""
        if self.checkpoint is None:
            return
        state = {
            "settings": self.describe(),
            "progress": asdict(self.state),
            "weights": self.network.state_dict(),
            "best": self.best_weights,
            "optimizer": self.optimizer.state_dict(),
        }
        content = io.BytesIO()  # torch tells a full disk as an error of its own format
        torch.save(state, content)
        with write_atomically(self.checkpoint, "wb", durable=True) as stream:
            stream.write(content.getbuffer())

    def load(self, path: Path) -> None:
        """Continue from a checkpoint, which must have been made with the same settings."""
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
            stored, settings = state["settings"], self.describe()
            if different := sorted(
                key for key in {*stored, *settings} if stored.get(key) != settings.get(key)
            ):
                raise ModelError(
                    f"{path}: this checkpoint was made with other settings ({', '.join(different)}); "
                    "train into another folder, or without --resume"
                )
            self.network.load_state_dict(state["weights"])
            self.best_weights = state["best"]
            self.optimizer.load_state_dict(state["optimizer"])
            self.state = TrainingState(**state["progress"])
        except ModelError:
            raise
        except Exception as error:  # torch has no error of its own for a damaged file
            reason = str(error).partition("\n")[0][:100]
            raise ModelError(f"{path}: this checkpoint can't be used ({reason})") from error


def make_optimizer(parameters: Iterable[Tensor], config: TrainingConfig) -> torch.optim.Optimizer:
    """Make AdaGrad or Adam, as in the paper's section 3; Adam's weight decay, where there is any, is AdamW's.

    ``fused`` makes an update in one pass, in a ninth of the time; torch has it for AdaGrad on the CPU only.
    """
    values, rate, decay = list(parameters), config.learning_rate, config.weight_decay
    if config.optimizer == "adagrad":
        on_cpu = all(value.device.type == "cpu" for value in values)
        return torch.optim.Adagrad(values, lr=rate, weight_decay=decay, fused=on_cpu or None)
    return torch.optim.AdamW(values, lr=rate, weight_decay=decay, fused=True)


def weigh_loss(scores: Scores, weights: tuple[float, float, float, float]) -> Tensor:
    """Compute the negative log-probability per word (equation 9) with a weight for each variable: the objective of training."""
    parts = (scores.r, scores.e, scores.l, scores.x)
    total = sum((w * part.sum() for w, part in zip(weights, parts, strict=True)), scores.r.new_zeros(()))
    return -total / max(1, len(scores.r))


@torch.no_grad()
def measure_losses(
    network: Network, documents: Sequence[list[Window]], word_share: float = 1.0
) -> dict[str, float]:
    """Measure the negative log-probability per word of held-out documents: in total, and of each variable.

    A ``word_share`` below one selects the same words at every call.
    """
    network.eval()
    torch.manual_seed(0)
    lengths = [len(windows[0].words) for windows in documents]
    sums = torch.zeros(4, dtype=torch.float64)
    for batch in make_even_batches(lengths, EVALUATION_BUDGET):
        windows = [documents[i][0] for i in batch]
        scores = score_windows(network, windows, noise=FixedNoise(), word_share=word_share).scores
        parts = [scores.r.sum(), scores.e.sum(), scores.l.sum(), scores.x.sum()]
        sums -= torch.stack(parts).double().cpu()
    r, e, l, x = (sums / max(1, sum(lengths))).tolist()
    return {"total": r + e + l + x, "r": r, "e": e, "l": l, "x": x, "tokens": sum(lengths)}


def make_batches(lengths: Sequence[int], batch_size: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Make shuffled batches of documents of similar length, blurred by a tenth so that batches differ between epochs."""
    rng = np.random.default_rng([seed, epoch])
    blurred = np.asarray(lengths, dtype=float) * rng.uniform(0.9, 1.1, len(lengths))
    order = np.argsort(-blurred, kind="stable")
    batches = [order[i : i + batch_size].tolist() for i in range(0, len(order), batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def choose_documents(count: int, share: int, *, seed: int, epoch: int) -> np.ndarray:
    """Choose the ``share`` documents of an epoch (0: all): successive parts of passes over all, each pass in a new order."""
    if not share or share >= count:
        return np.arange(count)
    first = epoch * share
    passes = range(first // count, (first + share - 1) // count + 1)
    orders = [np.random.default_rng([seed, number, 2]).permutation(count) for number in passes]
    start = first - passes[0] * count
    return np.unique(np.concatenate(orders)[start : start + share])


def make_even_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Make batches in a fixed order for evaluation, each with as many documents as fit ``budget`` padded words (at least one)."""
    batches: list[list[int]] = []
    for number in np.argsort(-np.asarray(lengths), kind="stable").tolist():
        longest = lengths[batches[-1][0]] if batches else 0
        if batches and longest * (len(batches[-1]) + 1) <= budget:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches


def derive_seed(*numbers: int) -> int:
    """Derive a seed from several numbers by mixing their bits."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)
