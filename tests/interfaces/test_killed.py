"""kill -9 at random moments of train, sweep and data get: the same command goes on, and nothing is lost or doubled."""

import hashlib
import json
import os
import random
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from entitynlm.interfaces.cli import app, main
from support.commands import write_stories

KILLS = [5, pytest.param(50, marks=pytest.mark.slow)]
SIZES = "--set model.hidden_size=8 --set model.embedding_size=8 --set training.epochs=2 --set training.batch_size=2"
SPACE = '[space]\n"training.learning_rate" = [0.01, 0.03, 0.1]\n'


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_stories(tmp_path_factory.mktemp("corpus"), train=6, dev=2)
    (folder / "space.toml").write_text(SPACE, encoding="utf-8")
    return folder


def run(arguments: Sequence[str], seconds: float | None = None) -> int | None:
    """The command line in a process of its own (forked, since torch is here already); None if it was killed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking a process that has threads
        child = os.fork()
    if child == 0:
        code = 3
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            sys.argv[:] = ["entitynlm", *arguments]
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            os._exit(code)
    ends = time.monotonic() + (seconds if seconds is not None else 300)
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert seconds is not None, f"{arguments} did not come to an end"
    return None


def kill_and_finish(
    command: Callable[[str], list[str]], check: Callable[[], None], kills: int, folder: Path
) -> None:
    """Run a command to its end for comparison; then again, killed so often at random moments, and ``check`` what it made.

    The command runs once in this process, to load what it needs, so that kills come while it works and not while it imports.
    A run that ends before its moment has come is checked too, and begun anew, from nothing.
    """
    assert CliRunner().invoke(app, command("first"), catch_exceptions=False).exit_code == 0
    shutil.rmtree(folder / "first")
    started = time.monotonic()
    assert run(command("whole")) == 0
    whole, draw, done = time.monotonic() - started, random.Random(kills), 0
    while done < kills:
        ended = run(command("cut"), draw.uniform(0.0, whole))
        assert ended in (None, 0), "a command that is started again must not fail"
        done += ended is None
        if ended == 0:
            check()
            shutil.rmtree(folder / "cut")
    assert run(command("cut")) == 0
    check()


def read_folder(folder: Path, ending: str = "") -> dict[str, str]:
    """Every file below a folder, hidden ones too, by its path: what would show a leftover."""
    files = [path for path in folder.rglob(f"*{ending}") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("kills", KILLS)
def test_training(corpus: Path, tmp_path: Path, kills: int) -> None:
    def command(out: str) -> list[str]:
        return ["train", str(corpus), *SIZES.split(), "--resume", "--quiet", "--out", str(tmp_path / out)]

    def check() -> None:
        whole, cut = (read_folder(tmp_path / name, ".safetensors") for name in ("whole", "cut"))
        for name in ("generative.safetensors", "causal.safetensors"):
            assert whole[name] == cut[name]
        assert read_folder(tmp_path / "whole").keys() == read_folder(tmp_path / "cut").keys()
        lines = (tmp_path / "cut" / "log.jsonl").read_text(encoding="utf-8").splitlines()
        epochs = [(record["part"], record["epoch"]) for record in map(json.loads, lines)]
        assert epochs == [(part, epoch) for part in ("generative", "causal") for epoch in range(1, 3)]

    kill_and_finish(command, check, kills, tmp_path)


@pytest.mark.parametrize("kills", KILLS)
def test_sweep(corpus: Path, tmp_path: Path, kills: int) -> None:
    pytest.importorskip("optuna")

    def command(out: str) -> list[str]:
        space = ["--space", str(corpus / "space.toml")]
        figures = ["--json", str(tmp_path / f"{out}.json"), "--force"]
        return [
            "sweep",
            str(corpus),
            *space,
            *SIZES.split(),
            "--quiet",
            "--out",
            str(tmp_path / out),
            *figures,
        ]

    def check() -> None:
        whole, cut = (json.loads((tmp_path / f"{n}.json").read_text("utf-8")) for n in ("whole", "cut"))
        done = [trial for trial in cut["trials"] if trial["state"] == "complete"]
        assert {trial["state"] for trial in cut["trials"]} <= {"complete", "interrupted", "running"}
        expected = {json.dumps(trial["settings"]): trial["dev_losses"] for trial in whole["trials"]}
        assert {json.dumps(trial["settings"]): trial["dev_losses"] for trial in done} == expected
        assert len(done) == len(expected) == 3
        best = [(tmp_path / name / "best.toml").read_text("utf-8") for name in ("whole", "cut")]
        assert best[0] == best[1]
        left = [{path for path in read_folder(tmp_path / n) if "/" not in path} for n in ("whole", "cut")]
        assert left[0] == left[1]

    kill_and_finish(command, check, kills, tmp_path)


@pytest.mark.parametrize("kills", KILLS)
def test_getting_a_corpus(tmp_path: Path, kills: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENTITYNLM_CACHE", str(tmp_path / "cache"))

    def command(out: str) -> list[str]:
        return ["data", "get", "stories", "--documents", "40", "--quiet", "--out", str(tmp_path / out)]

    def check() -> None:
        assert read_folder(tmp_path / "whole") == read_folder(tmp_path / "cut")

    kill_and_finish(command, check, kills, tmp_path)
