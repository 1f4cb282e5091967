"""Processes that train together: the same losses as one, whoever computes which shard, and one that decides and writes."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from entitynlm.errors import ConfigError, TrainingError
from entitynlm.progress import SILENT, Progress
from entitynlm.stories import generate_stories
from entitynlm.text.formats.registry import write_documents
from entitynlm.training import loop
from entitynlm.training.processes import ONE_PROCESS, Processes
from entitynlm.training.recipe import fit_encoder, train_pretrained
from entitynlm.training.settings import Settings

STORIES = list(generate_stories(12, seed=5))
Job = Callable[[Processes], Any]


def make_settings(dropout: float = 0.3, **training: object) -> Settings:
    return Settings.from_dict(
        {
            "preprocessing": {"vocabulary_size": 300, "punctuation": "keep"},
            "model": {"hidden_size": 8, "embedding_size": 8, "dropout": dropout},
            "training": {"epochs": 2, "batch_size": 3, "learning_rate": 0.01, "window": 40, **training},
        }
    )


class StopAfter(Progress):
    """Interrupts a training after so many batches."""

    def __init__(self, batches: int) -> None:
        self.left = batches

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def train(folder: Path, processes: Processes, settings: Settings, progress: Progress = SILENT) -> bool:
    documents = STORIES[:8], STORIES[8:]
    where: dict[str, Any] = {"folder": folder, "resume": True, "processes": processes, "progress": progress}
    return train_pretrained(*documents, settings, parts=("generative",), seed=2, **where) is not None


def run_in_two(job: Job) -> list[Any]:
    """What a job returns (or the error that it ends with) in each of two processes that see each other."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("fork")  # a fresh interpreter would import torch twice
    results = context.Queue()

    def work(rank: int) -> None:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE="2")
        torch.set_num_threads(1)
        processes = Processes(rank, 2, rank)
        with processes.connect("cpu"):
            try:
                results.put((rank, job(processes)))
            except Exception as error:
                results.put((rank, error))
            processes.gather(None)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking a process that has threads
        started = [context.Process(target=work, args=(rank,)) for rank in range(2)]
        for process in started:
            process.start()
    found = dict(results.get(timeout=120) for _ in started)
    for process in started:
        process.join(timeout=60)
    return [found[0], found[1]]


def read_losses(folder: Path) -> list[float]:
    lines = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    return [value for line in lines for key, value in json.loads(line).items() if key.endswith("_loss")]


def read_state(checkpoint: Path) -> dict[str, Any]:
    with safe_open(checkpoint, "pt") as stored:
        return dict(json.loads(stored.metadata()["state"])["progress"])


def assert_same_weights(one: Path, other: Path, tolerance: float = 0.0) -> None:
    expected, found = (load_file(folder / "generative.safetensors") for folder in (one, other))
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, atol=tolerance, rtol=tolerance, msg=name)


def test_two_processes_train_as_one_does(tmp_path: Path) -> None:
    """Without dropout, which each process draws for its own documents, they make the same updates."""
    settings = make_settings(dropout=0.0)
    assert run_in_two(lambda processes: train(tmp_path / "two", processes, settings)) == [True, True]
    train(tmp_path / "one", ONE_PROCESS, settings)
    assert_same_weights(tmp_path / "one", tmp_path / "two", 1e-4)
    assert read_losses(tmp_path / "one") == pytest.approx(read_losses(tmp_path / "two"), abs=1e-5)


def test_a_loss_that_is_no_number_stops_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both name the document, whichever of them read it, and the checkpoint of the epoch before stays."""
    settings, seen = make_settings(epochs=4), []
    first_words = fit_encoder(STORIES[:8], settings).encode(STORIES[3]).x[:40]
    score = loop.score_batch

    def spoil(network: Any, windows: Any, *rest: Any) -> Any:
        """The second time that a process learns from a certain story, its words have no probability."""
        result = score(network, windows, *rest)
        here = [np.array_equal(window.words.x, first_words) for window in windows]
        seen.extend([True] * (network.training and any(here)))
        if len(seen) < 2 or not any(here):
            return result
        low, high = result.scores.bounds[here.index(True) :][:2]
        wrong = torch.zeros_like(result.scores.x)
        wrong[low:high] = torch.nan
        return replace(result, scores=replace(result.scores, x=result.scores.x + wrong))

    monkeypatch.setattr(loop, "score_batch", spoil)
    for error in run_in_two(lambda processes: train(tmp_path, processes, settings)):
        assert isinstance(error, TrainingError)
        told = re.search(
            r"the loss is nan in (\S+)\. .* The checkpoint of epoch (\d) is kept in (.*)$", str(error)
        )
        assert told and told[1] == STORIES[3].id and int(told[2]) in (1, 2), error
    monkeypatch.undo()
    state = read_state(Path(told[3]))
    assert state["epoch"] == int(told[2]) and np.isfinite(state["best_loss"])


def test_gradients_that_are_no_numbers_are_noticed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where every loss is finite, the documents of the batch are named, and the weights were not touched."""
    weigh = loop.weigh_loss
    monkeypatch.setattr(loop, "weigh_loss", lambda *arguments: weigh(*arguments) * 1e38 * 1e38)
    with pytest.raises(TrainingError, match=rf"gradient .* batch with {STORIES[0].id[:4]}.*learning_rate"):
        train(tmp_path, ONE_PROCESS, make_settings())
    assert not (tmp_path / "checkpoints").exists()


def test_processes_that_see_other_documents_are_refused(tmp_path: Path) -> None:
    def job(processes: Processes) -> Any:
        documents = STORIES[: 6 + processes.rank], STORIES[8:]
        return train_pretrained(
            *documents, make_settings(), parts=("generative",), seed=2, folder=tmp_path, processes=processes
        )

    assert all(isinstance(error, (ConfigError, RuntimeError)) for error in run_in_two(job))
    assert not (tmp_path / "model.json").exists()


@pytest.mark.slow
def test_torchrun_trains_prints_once_stops_and_goes_on(tmp_path: Path) -> None:
    """As people run it; Ctrl-C (which torchrun passes on) leaves a checkpoint that one process goes on from."""
    write_documents(STORIES[:8], tmp_path / "corpus" / "train.jsonl", "jsonl")
    write_documents(STORIES[8:], tmp_path / "corpus" / "dev.jsonl", "jsonl")
    sizes = [
        "--set",
        "model.hidden_size=8",
        "--set",
        "model.embedding_size=8",
        "--set",
        "training.batch_size=2",
    ]
    more = [*sizes, "--set", "training.epochs=90", "--set", "training.patience=90", "--parts", "generative"]

    def start(program: list[str], out: str, *options: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", *program, "train", str(tmp_path / "corpus"), *more, *options]
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([*command, "--out", str(tmp_path / out)], **streams)

    two = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "entitynlm"]
    cut = start(two, "cut")
    while not (tmp_path / "cut" / "log.jsonl").exists():
        assert cut.poll() is None, cut.stderr and cut.stderr.read()
        time.sleep(0.05)
    cut.send_signal(signal.SIGINT)
    _, told = cut.communicate(timeout=120)
    assert told.count("continue with the same command and --resume") == 1, told
    assert not (tmp_path / "cut" / "model.json").exists()
    out, told = start(["entitynlm"], "cut", "--resume").communicate(timeout=120)
    assert "stored in" in out, told
    out, told = start(two, "whole").communicate(timeout=120)
    assert out.count("stored in") == 1, told
    assert_same_weights(tmp_path / "whole", tmp_path / "cut")
