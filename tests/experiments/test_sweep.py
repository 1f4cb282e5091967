"""Sweeps: the space, pruning, interrupted and dead trials, the winner, and a database that machines share."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from entitynlm.config import load_toml
from entitynlm.errors import ConfigError
from entitynlm.experiments.sweep import Sweep, find_best, load_space
from entitynlm.interfaces.cli import app
from entitynlm.progress import SILENT, Progress
from entitynlm.stories import generate_stories
from entitynlm.text.formats.registry import read_documents, write_documents
from entitynlm.training.settings import load_settings

optuna = pytest.importorskip("optuna")

SIZES = "--set model.hidden_size=8 --set model.embedding_size=8 --set training.epochs=3".split()
SPACE = """
[space]
optimiser = [
  { "training.optimizer" = "adam", "training.learning_rate" = 0.01 },
  { "training.optimizer" = "adagrad", "training.learning_rate" = 0.1 },
]
"training.weights" = [[1, 1, 1, 1], [1, 4, 1, 1]]
"""
POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    stories = list(generate_stories(8, seed=3))
    write_documents(stories[:6], folder / "train.jsonl", "jsonl")
    write_documents(stories[6:], folder / "dev.jsonl", "jsonl")
    (folder / "space.toml").write_text(SPACE, encoding="utf-8")
    (folder / "dropout.toml").write_text('[space]\n"model.dropout" = [0.0, 0.2, 0.4]\n', encoding="utf-8")
    return folder


def call(corpus: Path, out: Path, *options: str) -> Result:
    sweep = ["sweep", str(corpus), "--space", str(corpus / "space.toml"), "--out", str(out)]
    return CliRunner().invoke(app, [*sweep, *SIZES, *options])


def make_sweep(corpus: Path, folder: Path) -> Sweep:
    changes = {"model.hidden_size": 8, "model.embedding_size": 8, "training.epochs": 2}
    space = load_space(corpus / "dropout.toml", pruner="none")
    train, dev = (list(read_documents(corpus / f"{split}.jsonl")) for split in ("train", "dev"))
    return Sweep((train, dev), folder, space, lambda point: load_settings(None, {**changes, **point}))


def test_the_papers_grid() -> None:
    space = load_space("paper")
    labels = space.list_labels()
    assert [len(values) for values in labels.values()] == [2, 2, 5, 5, 2]
    changes = space.suggest(optuna.trial.FixedTrial({name: values[-1] for name, values in labels.items()}))
    assert (changes["training.optimizer"], changes["training.learning_rate"]) == ("adagrad", 0.1)
    assert load_settings(None, changes).training.embeddings == "glove-6b-50d"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "space"),
        ("[space]\n'model.dropout' = 0.2", "Expected `object | array`"),
        ("[space]\n'model.dropout' = []", "length >= 1"),
        ("[space]\n'model.dropout' = { low = 0.1, high = 0.5 }", "a grid has no ranges"),
        ("[sweep]\nsampler = 'tpe'\n[space]\n'model.dropout' = { low = 0.1 }", "high"),
        ("[sweep]\nsampler = 'guess'\n[space]\n'model.dropout' = [0.2]", "sampler"),
        ("[sweep]\npruner = 'guess'\n[space]\n'model.dropout' = [0.2]", "pruner"),
        ("[sweep]\ntrials = 0\n[space]\n'model.dropout' = [0.2]", "trials"),
        ("[sweep]\ntrails = 3\n[space]\n'model.dropout' = [0.2]", "trails"),
        ("[spaces]\n'model.dropout' = [0.2]", "spaces"),
    ],
)
def test_wrong_spaces_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "space.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_space(tmp_path / "space.toml")


@pytest.mark.parametrize(
    "line",
    ["'model.dropout' = { low = 0.5, high = 0.1 }", "'model.dropout' = { low = 0, high = 1.5, log = true }"],
)
def test_ranges_that_make_no_sense(corpus: Path, tmp_path: Path, line: str) -> None:
    (tmp_path / "space.toml").write_text(f"[sweep]\nsampler = 'tpe'\n[space]\n{line}", encoding="utf-8")
    done = call(corpus, tmp_path / "out", "--space", str(tmp_path / "space.toml"))
    assert isinstance(done.exception, ConfigError) and "no such numbers" in str(done.exception)


def test_ranges_are_drawn_from_by_a_sampler(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "space.toml").write_text(
        "[sweep]\nsampler = 'tpe'\ntrials = 3\n[space]\n'training.learning_rate' = { low = 1e-4, high = 0.1, log = true }\n"
        "'model.hidden_size' = { low = 4, high = 6 }\n", encoding="utf-8",
    )  # fmt: skip
    done = call(corpus, tmp_path / "out", "--space", str(tmp_path / "space.toml"), "--json", "-")
    drawn = [trial["settings"] for trial in json.loads(done.stdout)["trials"]]
    assert all(
        1e-4 <= one["training.learning_rate"] <= 0.1 and one["model.hidden_size"] in (4, 5, 6)
        for one in drawn
    )
    assert len(drawn) == 3


def test_a_sweep_stores_its_winner_and_goes_on_with_more_trials(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "sweep"
    done = call(corpus, out, "--pruner", "none", "--trials", "2", "--json", "-")
    assert done.exit_code == 0, done.output
    assert [trial["state"] for trial in json.loads(done.stdout)["trials"]] == ["complete"] * 2
    done = call(corpus, out, "--pruner", "none", "--json", "-")
    figures = json.loads(done.stdout)
    assert [trial["state"] for trial in figures["trials"]] == ["complete"] * 4
    losses = {trial["trial"]: trial["dev_loss"] for trial in figures["trials"]}
    assert losses[figures["best"]] == min(losses.values())
    # The settings of the winner, trained by themselves, give its model.
    again = tmp_path / "again"
    trained = CliRunner().invoke(
        app, ["train", str(corpus), "--config", str(out / "best.toml"), "--out", str(again)]
    )
    assert trained.exit_code == 0, trained.output
    for name in ("generative.safetensors", "causal.safetensors"):
        assert (again / name).read_bytes() == (out / "model" / name).read_bytes()
    assert load_toml(out / "best.toml")["training"]["epochs"] == 3
    changed = call(corpus, out, "--seed", "2")
    assert changed.exit_code == 1 and "begun with another corpus, space, seed" in str(changed.exception)


def test_bad_trials_are_given_up_and_failing_ones_named(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = '[sweep]\npruner = "halving"\n[space]\n"training.learning_rate" = [0.1, 0.05, 0.01, 1e-4, 1e-6, 1e38]\n'
    (tmp_path / "space.toml").write_text(space, encoding="utf-8")
    out = tmp_path / "out"
    done = call(
        corpus, out, "--space", str(tmp_path / "space.toml"), "--set", "training.clip=0", "--json", "-"
    )
    assert done.exit_code == 0, done.output
    trials = json.loads(done.stdout)["trials"]
    by_rate = {trial["settings"]["training.learning_rate"]: trial for trial in trials}
    assert by_rate[1e38]["state"] == "fail" and "the loss is" in by_rate[1e38]["reason"]
    assert "pruned" in {trial["state"] for trial in trials}
    assert all(len(trial["dev_losses"]) < 3 for trial in trials if trial["state"] == "pruned")
    assert json.loads(done.stdout)["best"] is not None


class StopAfter(Progress):
    """Interrupts a sweep after so many batches."""

    def __init__(self, batches: int) -> None:
        self.left = batches

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def test_an_interrupted_trial_is_done_again(corpus: Path, tmp_path: Path) -> None:
    found = []
    for name, batches in (("whole", 0), ("cut", 2)):  # a batch is an epoch
        sweep = make_sweep(corpus, tmp_path / name)
        study = sweep.open(None, "sweep")
        if batches:
            with pytest.raises(KeyboardInterrupt):
                sweep.run(study, StopAfter(batches))
        sweep.run(sweep.open(None, "sweep"), SILENT)
        done = [trial for trial in study.trials if trial.state.name == "COMPLETE"]
        found.append({trial.params["model.dropout"]: trial.intermediate_values for trial in done})
        assert [trial.state.name for trial in study.trials].count("FAIL") == (name == "cut")
    assert found[0] == found[1]


def test_the_trial_of_a_dead_process_is_done_again(corpus: Path, tmp_path: Path) -> None:
    """At once in a grid, because no other point is left; by its missing heartbeat otherwise."""
    sweep = make_sweep(corpus, tmp_path)
    study = sweep.open(None, "sweep")
    with pytest.warns(UserWarning, match="Heartbeat"):
        study.ask()  # a process took a trial, and died
    sweep.run(study, SILENT)
    assert sorted(trial.state.name for trial in study.trials) == ["COMPLETE"] * 3 + ["RUNNING"]
    assert sweep.count_left(study) == 0


@pytest.mark.slow
def test_two_processes_share_the_trials(corpus: Path, tmp_path: Path) -> None:
    whole = call(corpus, tmp_path / "one", "--pruner", "none", "--json", "-")
    out = tmp_path / "two"
    arguments = ["sweep", str(corpus), "--space", str(corpus / "space.toml"), "--out", str(out)]
    command = [sys.executable, "-m", "entitynlm", *arguments, *SIZES, "--pruner", "none", "--quiet"]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(timeout=300) for process in processes] == [0, 0]
    one, two = (
        json.loads(done.stdout) for done in (whole, call(corpus, out, "--pruner", "none", "--json", "-"))
    )
    losses = [{trial["dev_loss"] for trial in found["trials"]} for found in (one, two)]
    assert losses[0] == losses[1] and (out / "model" / "model.json").exists()


@pytest.fixture
def database() -> Iterator[str]:
    """PostgreSQL in a folder of its own, without a network, as a user that is not root (it refuses to run as root)."""
    if not POSTGRES:
        pytest.skip("Debian's PostgreSQL is not here (apt-get install postgresql)")
    pytest.importorskip("psycopg")
    folder = Path(tempfile.mkdtemp(prefix="entitynlm-postgres-"))
    user = {"user": "nobody"} if os.getuid() == 0 else {}
    folder.chmod(0o777)
    programs, data = POSTGRES[-1].parent, folder / "data"

    def run(*command: object) -> None:
        subprocess.run([str(part) for part in command], check=True, capture_output=True, cwd=folder, **user)

    try:
        run(programs / "initdb", "-D", data, "-U", "me", "-A", "trust", "--no-sync")
        run(
            programs / "pg_ctl",
            "-D",
            data,
            "-w",
            "-o",
            f"-k {folder} -c listen_addresses='' -F",
            "-l",
            folder / "log",
            "start",
        )
        try:
            yield f"postgresql://me@/postgres?host={folder}"
        finally:
            run(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_two_machines_share_a_database(corpus: Path, tmp_path: Path, database: str) -> None:
    """One does the trials, the other stores the winner."""
    first = make_sweep(corpus, tmp_path / "first")
    first.run(first.open(database, "shared"), SILENT)
    shutil.rmtree(tmp_path / "first")
    second = make_sweep(corpus, tmp_path / "second")
    study = second.open(database, "shared")
    assert second.count_left(study) == 0
    model = second.store_winner(find_best(study), SILENT)
    assert (model / "model.json").exists()


def test_a_database_that_is_not_there_is_one_message(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    address = f"postgresql://me:secret@/nowhere?host={tmp_path}"
    done = call(corpus, tmp_path / "out", "--storage", address)
    assert isinstance(done.exception, ConfigError) and "secret" not in str(done.exception)
