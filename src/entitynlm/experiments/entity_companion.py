"""EntityNLM trained in a process of its own while the other rows are made: the table then takes as long as its longest row.

What the training has to tell comes back through a queue, to the listener. A stop is asked for by an event, so that
Ctrl-C, which every process of a terminal gets, ends in a checkpoint and not in the middle of writing one.
"""

from __future__ import annotations

import multiprocessing
import queue
import signal
import threading
from multiprocessing.synchronize import Event as Signal
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from entitynlm.config import Mode
from entitynlm.errors import EntityNLMError, ModelError
from entitynlm.model.pretrained import Pretrained, load_pretrained
from entitynlm.text.corpora import open_corpus
from entitynlm.training.completion import complete_pretrained
from entitynlm.training.loop import Event
from entitynlm.training.recipe import Listener
from entitynlm.training.settings import Settings

PART: Mode = "generative"
EVERY = 20
"""Updates between two pieces of news."""
PATIENCE = 1.0
"""Seconds between two looks at whether the process is still there."""


class Companion:
    """A training under way; as a context manager it is asked to stop, and waited for, when anything goes wrong beside it.

    :param corpus: the folder with the splits "train" and "dev", and :param format: its format, if that is not to be recognised.
    :param listener: is told the news from a thread of its own.
    """

    def __init__(
        self,
        folder: Path,
        corpus: Path,
        settings: Settings,
        *,
        format: str | None = None,
        seed: int,
        device: str = "cpu",
        threads: int = 1,
        listener: Listener | None = None,
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self.folder, self.device = folder, device
        self._listener = listener or Listener()
        self._outcome: bool | str | None = None
        self._news: Any = context.Queue()
        self._stop = context.Event()
        order = (folder, corpus, format, settings, seed, device, threads)
        self._process = context.Process(target=_work, args=(*order, self._news, self._stop), daemon=True)
        self._process.start()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def __enter__(self) -> Companion:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._stop.set()
        self._join()

    def wait(self) -> Pretrained | None:
        """The trained model; None if the listener stopped it."""
        self._join()
        if self._outcome is None:
            raise ModelError(f"{self.folder}: the process that trained this model ended without a word")
        if isinstance(self._outcome, str):
            raise EntityNLMError(self._outcome)
        return load_pretrained(self.folder, device=self.device) if self._outcome else None

    def _join(self) -> None:
        """In small steps, so that Ctrl-C is heard."""
        while self._thread.is_alive():
            self._thread.join(timeout=PATIENCE)
        self._process.join()

    def _listen(self) -> None:
        """Pass news on until the training ends: whether it was finished, or what went wrong."""
        while self._outcome is None:
            if self._listener.should_stop():
                self._stop.set()
            try:
                kind, value = self._news.get(timeout=PATIENCE)
            except queue.Empty:
                if not self._process.is_alive():
                    return
                continue
            if kind == "event":
                self._listener.on_event(PART, value)
            elif kind == "epoch":
                self._listener.on_epoch(PART, value)
            else:
                self._outcome = value


def _work(
    folder: Path,
    corpus: Path,
    format: str | None,
    settings: Settings,
    seed: int,
    device: str,
    threads: int,
    news: Any,
    stop: Signal,
) -> None:
    """What the other process does; it reads the corpus by itself, since documents can't be sent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(threads)
    heard = 0

    def tell(mode: Mode, event: Event) -> None:
        nonlocal heard
        heard += 1
        if heard % EVERY == 0:
            news.put(("event", event))

    listener = Listener(tell, lambda mode, record: news.put(("epoch", record)), stop.is_set)
    try:
        opened = open_corpus(corpus, format=format)
        pretrained = complete_pretrained(
            folder,
            list(opened.documents("train")),
            list(opened.documents("dev")),
            settings,
            parts=(PART,),
            seed=seed,
            device=device,
            listener=listener,
        )
        news.put(("end", pretrained is not None))
    except EntityNLMError as error:
        news.put(("end", str(error)))
