"""EntityNLM trained in a process of its own while other rows are made: the table then takes as long as its longest row."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path

import torch

from entitynlm.model.pretrained import Pretrained, load_pretrained
from entitynlm.progress import SILENT, Progress, Silent
from entitynlm.text.corpora import open_corpus
from entitynlm.training.completion import complete_pretrained
from entitynlm.training.settings import Settings

POLL = 1.0
"""Seconds between two looks at whether the training is asked to stop."""

TASK = "training beside"
_stop: Event | None = None
"""In the training process: set when it shall stop."""


@contextmanager
def train_in_background(
    folder: Path,
    corpus: Path,
    format: str | None,
    settings: Settings,
    *,
    seed: int,
    device: str = "cpu",
    progress: Progress = SILENT,
) -> Iterator[Callable[[], Pretrained | None]]:
    """Train the generative part of the model in ``folder``, beside what is done in the context.

    The context's value waits for the model: None if ``progress`` interrupted it. Whatever goes wrong in the context ends the
    training in a checkpoint.
    """
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    with ProcessPoolExecutor(1, context, _prepare_process, (stop,)) as pool:
        future = pool.submit(_train, folder, corpus, format, settings, seed, device)

        def wait() -> Pretrained | None:
            progress.start(TASK)
            while True:
                try:
                    finished = future.result(timeout=POLL)
                    progress.finish(TASK)
                except NotYet:
                    try:
                        progress.advance(TASK, 0)
                    except KeyboardInterrupt:
                        stop.set()
                else:
                    return load_pretrained(folder, device=device) if finished else None

        try:
            yield wait
        except BaseException:
            stop.set()
            raise


def _prepare_process(stop: Event) -> None:
    """Ctrl-C goes to every process of a terminal; this one is stopped by the event, so that it ends in a checkpoint."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)


class _Interruptible(Silent):
    """Progress that nobody sees, interrupted by an event."""

    def __init__(self, stop: Event) -> None:
        self._stop = stop

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt


def _train(
    folder: Path, corpus: Path, format: str | None, settings: Settings, seed: int, device: str
) -> bool:
    """Train, and say whether it was finished; the corpus is read here, since documents can't be sent."""
    assert _stop is not None
    opened = open_corpus(corpus, format=format)
    train, development = (list(opened.documents(name)) for name in ("train", "dev"))
    trained = complete_pretrained(
        folder,
        train,
        development,
        settings,
        parts=("generative",),
        seed=seed,
        device=device,
        progress=_Interruptible(_stop),
    )
    return trained is not None
