"""Sweeps: the space, pruning, interrupted and dead trials, the best settings, and a database that machines share."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from entitynlm.errors import ConfigError
from entitynlm.interfaces.cli import app
from entitynlm.interfaces.commands import sweep
from entitynlm.training.settings import load_settings
from support.commands import write_stories

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
    folder = write_stories(tmp_path_factory.mktemp("corpus"), train=6, dev=2)
    (folder / "space.toml").write_text(SPACE, encoding="utf-8")
    return folder


def list_arguments(corpus: Path, out: Path, *options: object) -> list[str]:
    space = ["--space", corpus / "space.toml", "--out", out, "--quiet"]
    return list(map(str, ["sweep", corpus, *space, *SIZES, *options]))


def call(corpus: Path, out: Path, *options: object) -> Result:
    return CliRunner().invoke(app, list_arguments(corpus, out, *options))


def read_trials(done: Result) -> list[dict[str, Any]]:
    assert done.exit_code == 0, (done.output, done.exception)
    found: list[dict[str, Any]] = json.loads(done.stdout)["trials"]
    return found


def test_the_papers_grid() -> None:
    space = sweep.load_space("paper")
    assert [len(values) for values in space.values()] == [2, 2, 5, 5, 2] and sweep.count_points(space) == 200
    last = {name: sweep.label_values(values)[-1] for name, values in space.items()}
    changes = sweep.draw_settings(space, optuna.trial.FixedTrial(last))
    assert (changes["training.optimizer"], changes["training.learning_rate"]) == ("adagrad", 0.1)
    assert load_settings(None, changes).training.embeddings == "glove-6b-50d"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "one section"),
        ("[space]", "one section"),
        ("[space]\n'model.dropout' = 0.2", "a list of values is wanted"),
        ("[space]\n'model.dropout' = []", "a list of values is wanted"),
        ("[space]\n'model.dropout' = { low = 0.1 }", "high"),
        ("[space]\n'model.dropout' = { low = 0.5, high = 0.1 }", "low"),
        ("[space]\n'model.dropout' = { low = 0, high = 1.5, log = true }", "low"),
        ("[space]\n'model.dropout' = [0.2]\n[sweep]\ntrials = 3", "one section"),
    ],
)
def test_wrong_spaces_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "space.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        sweep.load_space(tmp_path / "space.toml")


def test_ranges_are_drawn_from_by_a_sampler(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "space.toml").write_text(
        "[space]\n'training.learning_rate' = { low = 1e-4, high = 0.1, log = true }\n"
        "'model.hidden_size' = { low = 4, high = 6 }\n", encoding="utf-8",
    )  # fmt: skip
    done = call(corpus, tmp_path / "out", "--space", tmp_path / "space.toml", "--trials", 3, "--json", "-")
    drawn = [trial["settings"] for trial in read_trials(done)]
    assert all(
        1e-4 <= one["training.learning_rate"] <= 0.1 and one["model.hidden_size"] in (4, 5, 6)
        for one in drawn
    )
    assert len(drawn) == 3


def test_a_sweep_goes_on_with_more_trials_and_its_best_settings_can_be_trained(
    corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "sweep"
    trials = read_trials(call(corpus, out, "--trials", 2, "--json", "-"))
    assert [trial["state"] for trial in trials] == ["complete"] * 2
    trials = read_trials(call(corpus, out, "--json", "-"))
    assert [trial["state"] for trial in trials] == ["complete"] * 4
    losses = [trial["dev_loss"] for trial in trials]
    assert losses == sorted(losses)
    train = ["train", corpus, "--config", out / "best.toml", "--parts", "generative", "--out", tmp_path / "m"]
    trained = CliRunner().invoke(app, [*map(str, train), "--json", "-", "--quiet"])
    assert trained.exit_code == 0, trained.output
    assert json.loads(trained.stdout)["parts"]["generative"]["best_dev_loss"] == pytest.approx(losses[0])
    changed = call(corpus, out, "--seed", 2)
    assert changed.exit_code == 1 and "begun with another corpus, space, seed" in str(changed.exception)


def test_bad_trials_are_given_up_and_failing_ones_named(corpus: Path, tmp_path: Path) -> None:
    rates = [0.1, 0.08, 0.05, 0.03, 0.02, 0.01, 1e-6, 2e-6, 3e-6, 1e38]
    (tmp_path / "space.toml").write_text(f"[space]\n'training.learning_rate' = {rates}\n", encoding="utf-8")
    more = ("--space", tmp_path / "space.toml", "--set", "training.clip=0", "--json", "-")
    trials = read_trials(call(corpus, tmp_path / "out", *more))
    by_rate = {trial["settings"]["training.learning_rate"]: trial for trial in trials}
    assert by_rate[1e38]["state"] == "fail" and "the loss is" in by_rate[1e38]["reason"]
    pruned = [trial for trial in trials if trial["state"] == "pruned"]
    assert pruned and all(len(trial["dev_losses"]) < 3 for trial in pruned)


def test_an_interrupted_trial_is_done_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read_trials(call(corpus, tmp_path / "whole", "--json", "-"))
    with monkeypatch.context() as patched:
        patched.setattr("entitynlm.training.recipe.train_pretrained", lambda *_, **__: None)
        assert call(corpus, tmp_path / "cut").exit_code == 130
    cut = read_trials(call(corpus, tmp_path / "cut", "--json", "-"))
    assert sorted(trial["state"] for trial in cut) == ["complete"] * 4 + ["interrupted"]
    losses = [
        {json.dumps(one["settings"]): one["dev_losses"] for one in found if one["state"] == "complete"}
        for found in (whole, cut)
    ]
    assert losses[0] == losses[1]


def test_the_trial_of_a_dead_process_is_done_again(corpus: Path, tmp_path: Path) -> None:
    """At once in a grid, because no other point is left; by its missing heartbeat otherwise."""
    call(corpus, tmp_path / "out", "--trials", 1)
    study = optuna.load_study(study_name="out", storage=f"sqlite:///{tmp_path}/out/study.db")
    study.ask()  # a process took a trial, and died
    states = [trial["state"] for trial in read_trials(call(corpus, tmp_path / "out", "--json", "-"))]
    assert sorted(states) == ["complete"] * 4 + ["running"]


@pytest.mark.slow
def test_two_processes_share_the_trials(corpus: Path, tmp_path: Path) -> None:
    whole = read_trials(call(corpus, tmp_path / "one", "--json", "-"))
    command = [sys.executable, "-m", "entitynlm", *list_arguments(corpus, tmp_path / "two")]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(timeout=300) for process in processes] == [0, 0]
    shared = read_trials(call(corpus, tmp_path / "two", "--json", "-"))
    assert {trial["dev_loss"] for trial in whole} == {trial["dev_loss"] for trial in shared}


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
        subprocess.run([str(part) for part in command], check=True, capture_output=True, cwd=folder, **user)  # type: ignore[call-overload]

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
    """Each has a folder of its own, of one name."""
    read_trials(call(corpus, tmp_path / "here" / "sweep", "--storage", database, "--json", "-"))
    done = call(corpus, tmp_path / "there" / "sweep", "--storage", database, "--json", "-")
    assert len(read_trials(done)) == 4
    best = [(tmp_path / place / "sweep" / "best.toml").read_text("utf-8") for place in ("here", "there")]
    assert best[0] == best[1]


def test_a_database_that_is_not_there_is_one_message(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    address = f"postgresql://me:secret@/nowhere?host={tmp_path}"
    done = call(corpus, tmp_path / "out", "--storage", address)
    assert isinstance(done.exception, ConfigError) and "secret" not in str(done.exception)
