"""``entitynlm train`` as people run it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from entitynlm.interfaces.cli import main
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.training_options import follow_training
from entitynlm.stories import generate_stories
from entitynlm.text.formats.registry import write_documents
from support.commands import write_stories

SMALL = "--set model.hidden_size=8 --set model.embedding_size=8 --set training.epochs=2 --set resolver.epochs=1".split()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_stories(tmp_path_factory.mktemp("corpus"), train=10, dev=4)


def start(*arguments: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "entitynlm.interfaces.cli", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


class Result(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The console script in this process (a new one would import torch each time)."""

    def call(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["entitynlm", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return Result(code, *capsys.readouterr())

    return call


Run = Callable[..., Result]


def test_train_stores_a_model_and_its_log(corpus: Path, tmp_path: Path, run: Run) -> None:
    model = tmp_path / "model"
    code, out, err = run("train", corpus, "--out", model, *SMALL, "--seed", 4, "--json", "-")
    assert code == 0, err
    figures = json.loads(out)
    assert set(figures["parts"]) == {"generative", "causal", "resolver"}
    assert figures["seed"] == 4
    assert figures["parts"]["generative"]["best_dev_loss"] > 0
    log = [json.loads(line) for line in (model / "log.jsonl").read_text().splitlines()]
    assert {"part", "epoch", "train_loss", "dev_loss"} <= set(log[0])


@pytest.mark.slow
def test_ctrl_c_saves_and_resume_goes_on(corpus: Path, tmp_path: Path, run: Run) -> None:
    arguments = ["train", corpus, *SMALL, "--set", "training.epochs=40", "--set", "training.patience=40"]
    arguments += ["--parts", "generative", "--set", "training.batch_size=1"]
    process = start(*arguments, "--out", tmp_path / "cut")
    log = tmp_path / "cut" / "log.jsonl"
    for _ in range(600):
        if log.exists():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "--resume" in err
    assert not (tmp_path / "cut" / "model.json").exists()
    code, _, err = run(*arguments, "--out", tmp_path / "cut", "--resume")
    assert code == 0, err
    code, _, err = run(*arguments, "--out", tmp_path / "whole")
    assert code == 0, err
    weights = "generative.safetensors"
    assert (tmp_path / "cut" / weights).read_bytes() == (tmp_path / "whole" / weights).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "model.dropout=2"], "dropout"),
        (["--set", "dropout"], "SECTION.KEY=VALUE"),
        (["--config", "nowhere.toml"], "nowhere.toml"),
        (["--device", "abacus"], "abacus"),
        (["--parts", "causal"], "no model"),
        (["--parts", "generative,nonsense"], "--parts: there is no 'nonsense'"),
    ],
)
def test_wrong_options_end_with_two_and_one_message(
    corpus: Path, tmp_path: Path, run: Run, arguments: list[str], message: str
) -> None:
    code, out, err = run("train", corpus, "--out", tmp_path / "model", *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert out == ""


def test_a_corpus_without_development_documents_is_refused(tmp_path: Path, run: Run) -> None:
    write_documents(generate_stories(2, seed=1), tmp_path / "train.jsonl", "jsonl")
    code, _, err = run("train", tmp_path / "train.jsonl", "--out", tmp_path / "model")
    assert code == 2
    assert "dev" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_may_come_while_something_is_printed(
    number: int, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two prints of rich's, one within the other, have ended trainings with a traceback: the handler must not use it."""
    terminal = Terminal()
    monkeypatch.setattr(Terminal, "remark", lambda *_, **__: pytest.fail("printed by rich"))
    with follow_training(terminal):
        signal.raise_signal(number)
        assert terminal.stop_asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert capfd.readouterr().err == "stopping after this batch …\n"
