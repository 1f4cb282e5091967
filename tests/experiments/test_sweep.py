"""Sweeps: the space, the queue that workers share, pruning, dead workers, the winner, and a database."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from entitynlm.config import load_toml
from entitynlm.errors import ConfigError
from entitynlm.experiments import sweep as queue
from entitynlm.experiments.sweep import Sweep, bury_dead, fill_queue, hide_password, list_trials, take_trial
from entitynlm.experiments.sweep_space import SearchSpace, load_space
from entitynlm.experiments.sweep_workers import run_workers
from entitynlm.interfaces.cli import app
from entitynlm.progress import SILENT, Progress
from entitynlm.stories import generate_stories
from entitynlm.text.formats.registry import write_documents
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
    return folder


def call(corpus: Path, out: Path, *options: str) -> Result:
    sweep = ["sweep", str(corpus), "--space", str(corpus / "space.toml"), "--out", str(out)]
    return CliRunner().invoke(app, [*sweep, *SIZES, *options])


def make_sweep(corpus: Path, folder: Path, **options: Any) -> Sweep:
    changes = {"model.hidden_size": 8, "model.embedding_size": 8, "training.epochs": 2}
    space = SearchSpace({"model.dropout": [0.0, 0.2, 0.4]}, pruner="none")
    return Sweep(str(corpus), folder, load_settings(None, changes).to_dict(), space, **options)


def read_states(folder: Path) -> list[str]:
    return [trial["state"] for trial in json.loads((folder / "table.json").read_text("utf-8"))["trials"]]


def test_the_papers_grid() -> None:
    space = load_space("paper")
    points = space.list_points(seed=1)
    assert len(points) == 2 * 2 * 5 * 5 * 2 == len({json.dumps(point) for point in points})
    assert space.list_points(1) == points != space.list_points(2)
    changes = space.suggest(optuna.trial.FixedTrial(points[0]))
    rates = {"adam": 0.001, "adagrad": 0.1}
    assert changes["training.learning_rate"] == rates[changes["training.optimizer"]]
    assert load_settings(None, changes).training.embeddings in ("random", "glove-6b-50d")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no dimension"),
        ("[space]\n'model.dropout' = 0.2", "a list of values or a range"),
        ("[space]\n'model.dropout' = []", "a list of values or a range"),
        ("[space]\n'model.dropout' = [0.2, 0.2]", "the same"),
        ("[space]\n'model.dropout' = { low = 0.1, high = 0.5 }", "a grid has no ranges"),
        ("[sweep]\nsampler = 'tpe'\n[space]\n'model.dropout' = { low = 0.1 }", "high"),
        (
            "[sweep]\nsampler = 'tpe'\n[space]\n'model.dropout' = { low = 0.5, high = 0.1 }",
            "low not above high",
        ),
        ("[sweep]\nsampler = 'tpe'\n[space]\n'a.b' = { low = 0, high = 1, log = true }", "above zero"),
        ("[sweep]\nsampler = 'guess'\n[space]\n'model.dropout' = [0.2]", "sampler"),
        ("[sweep]\npruner = 'guess'\n[space]\n'model.dropout' = [0.2]", "pruner"),
        ("[sweep]\ntrials = 0\n[space]\n'model.dropout' = [0.2]", "trials"),
        ("[sweep]\ntrails = 3\n[space]\n'model.dropout' = [0.2]", "trails"),
        ("[spaces]\n'model.dropout' = [0.2]", "spaces"),
        ("[space]\n'a' = [{ 'model.dropout' = 0.2 }, 3]", "tables of settings, or none"),
    ],
)
def test_wrong_spaces_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "space.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_space(tmp_path / "space.toml")


def test_ranges_are_drawn_from_by_a_sampler() -> None:
    dimensions = {
        "training.learning_rate": {"low": 1e-4, "high": 0.1, "log": True},
        "model.layers": {"low": 1, "high": 3},
    }
    space = SearchSpace(dimensions, sampler="tpe", trials=4)
    assert space.list_points(1) == [{}] * 4
    study = optuna.create_study(sampler=queue.make_sampler("tpe", 3))
    drawn = [space.suggest(study.ask()) for _ in range(5)]
    assert all(1e-4 <= point["training.learning_rate"] <= 0.1 for point in drawn)
    assert all(point["model.layers"] in (1, 2, 3) for point in drawn)


def test_a_sweep_stores_its_winner_and_goes_on_with_more_trials(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "sweep"
    done = call(corpus, out, "--pruner", "none", "--trials", "2")
    assert done.exit_code == 0, done.output
    assert read_states(out) == ["complete"] * 2
    done = call(corpus, out, "--pruner", "none", "--json", "-")
    figures = json.loads(done.stdout)
    assert [trial["state"] for trial in figures["trials"]] == ["complete"] * 4
    losses = {trial["trial"]: trial["dev_loss"] for trial in figures["trials"]}
    assert losses[figures["best"]] == min(losses.values())
    for name in ("table.md", "losses.svg", "settings.svg"):
        assert (out / name).stat().st_size > 100
    assert len(list((out / "trials").iterdir())) == 1  # all others are not needed any more
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
    assert changed.exit_code == 1 and "begun with something else (seed)" in str(changed.exception)


def test_bad_trials_are_given_up_and_failing_ones_named(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = '[sweep]\npruner = "halving"\n[space]\n"training.learning_rate" = [0.1, 0.05, 0.01, 1e-4, 1e-6, 1e38]\n'
    (tmp_path / "space.toml").write_text(space, encoding="utf-8")
    out = tmp_path / "out"
    done = call(corpus, out, "--space", str(tmp_path / "space.toml"), "--set", "training.clip=0")
    assert done.exit_code == 0, done.output
    trials = json.loads((out / "table.json").read_text("utf-8"))["trials"]
    by_rate = {trial["settings"]["training.learning_rate"]: trial for trial in trials}
    assert by_rate[1e38]["state"] == "fail" and "the loss is" in by_rate[1e38]["reason"]
    assert "pruned" in {trial["state"] for trial in trials}
    assert all(len(trial["dev_losses"]) < 3 for trial in trials if trial["state"] == "pruned")
    assert json.loads((out / "table.json").read_text("utf-8"))["best"] is not None


def test_the_point_of_a_dead_worker_waits_again(corpus: Path, tmp_path: Path) -> None:
    sweep = make_sweep(corpus, tmp_path)
    study = sweep.open()
    fill_queue(study, sweep)
    fill_queue(study, sweep)
    assert len(list_trials(study)) == 3
    here, elsewhere, fresh = (take_trial(study) for _ in range(3))
    assert take_trial(study) is None
    fill_queue(study, sweep)  # all three have a worker that lives: this process
    assert take_trial(study) is None
    here.set_user_attr(queue.WORKER, f"{os.uname().nodename}:999999999@1")
    elsewhere.set_user_attr(queue.WORKER, "another-machine:12@34")
    elsewhere.set_user_attr(queue.ALIVE, time.time() - queue.SILENCE + 60)
    fill_queue(study, sweep)
    again = take_trial(study)
    assert again is not None and take_trial(study) is None  # the other machine was heard of lately
    assert again.user_attrs[queue.POINT] == here.user_attrs[queue.POINT]
    elsewhere.set_user_attr(queue.ALIVE, time.time() - queue.SILENCE - 60)
    bury_dead(study)
    states = [trial.state.name for trial in list_trials(study)]
    assert states == ["FAIL", "FAIL", "RUNNING", "RUNNING"]
    assert fresh.user_attrs[queue.POINT] == 2


def test_a_point_is_given_up_if_it_kills_its_workers_not_if_the_sweep_was_killed(
    corpus: Path, tmp_path: Path
) -> None:
    sweep = make_sweep(corpus, tmp_path)
    study, begun = sweep.open(), datetime.now()

    def die() -> int:
        """A worker takes the next trial and is gone; how many wait then, in a sweep that is started again."""
        taken = take_trial(study)
        assert taken is not None
        taken.set_user_attr(queue.WORKER, f"{os.uname().nodename}:999999999@1")
        fill_queue(study, sweep)
        return sum(trial.state.name == "WAITING" for trial in list_trials(study))

    fill_queue(study, sweep)
    points = len(list_trials(study))
    assert [die() for _ in range(points * queue.MOST_DEATHS)] == [points] * points * queue.MOST_DEATHS
    for _ in range(points):
        take_trial(study).set_user_attr(queue.WORKER, f"{os.uname().nodename}:999999999@1")
    fill_queue(study, sweep, begun=begun)
    assert take_trial(study) is None
    fill_queue(study, sweep, begun=datetime.now())  # started again: perhaps with more memory
    assert take_trial(study) is not None


class StopAfter(Progress):
    """Interrupts a sweep after so many batches."""

    def __init__(self, batches: int) -> None:
        self.left = batches

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def test_a_trial_that_goes_on_has_the_losses_of_all_its_epochs(corpus: Path, tmp_path: Path) -> None:
    """The pruner compares them, and the table shows them; the epochs before were another trial's."""
    found = []
    for name, progress in (("whole", SILENT), ("cut", StopAfter(2))):  # a batch is an epoch
        sweep = make_sweep(corpus, tmp_path / name)
        study = sweep.open()
        fill_queue(study, sweep)
        assert run_workers(sweep, study, 1, progress) == (name == "whole")
        fill_queue(study, sweep)
        assert run_workers(sweep, study, 1, SILENT)
        done = [trial for trial in list_trials(study) if trial.state.name == "COMPLETE"]
        found.append({trial.params["model.dropout"]: trial.intermediate_values for trial in done})
        assert [trial.state.name for trial in list_trials(study)].count("FAIL") == (name == "cut")
    assert found[0] == found[1]


def test_a_process_that_is_killed_while_it_writes_leaves_a_usable_journal(
    corpus: Path, tmp_path: Path
) -> None:
    """No lock stays behind, and what comes after an unfinished line (of a full disk, too) is read."""
    sweep = make_sweep(corpus, tmp_path)
    study = sweep.open()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking a process that has threads
        child = os.fork()
    if child == 0:
        study._storage._backend._lock.acquire()
        with (tmp_path / queue.JOURNAL).open("ab") as journal:
            journal.write(b'{"op_code":4,"worker_id":"')
        os._exit(0)
    os.waitpid(child, 0)
    assert [path.name for path in tmp_path.iterdir()] == [queue.JOURNAL]
    for number in range(3):
        again = sweep.open()
        fill_queue(again, sweep)
        assert take_trial(again) is not None and len(list_trials(sweep.open())) == 3, number


def test_a_worker_that_was_killed_before_it_said_so_is_waited_for(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the sweep would end without a winner, and say that the rest is done elsewhere."""
    monkeypatch.setattr(queue, "UNCLAIMED", 1.0)
    sweep = make_sweep(corpus, tmp_path)
    study = sweep.open()
    fill_queue(study, sweep)
    taken = list_trials(study)[0]
    assert study._storage.set_trial_state_values(taken._trial_id, optuna.trial.TrialState.RUNNING)
    assert run_workers(sweep, study, 1, SILENT)
    assert sorted(trial.state.name for trial in list_trials(study)) == ["COMPLETE"] * 3 + ["FAIL"]


def test_what_waits_twice_is_done_once(corpus: Path, tmp_path: Path) -> None:
    sweep = make_sweep(corpus, tmp_path)
    study = sweep.open()
    for _ in range(2):  # two machines that filled the queue at the same moment
        for number, point in enumerate(sweep.space.list_points(sweep.seed)):
            study.enqueue_trial(point, user_attrs={queue.POINT: number})
    taken = []
    while (trial := take_trial(study)) is not None:
        taken.append(trial.user_attrs[queue.POINT])
    assert taken == [0, 1, 2]


def test_passwords_are_not_shown() -> None:
    assert hide_password("postgresql://me:secret@db/optuna") == "postgresql://me:…@db/optuna"
    assert hide_password("sqlite:///a.db") == "sqlite:///a.db"


def read_trials(out: Path) -> list[Any]:
    """Of a sweep that runs, or has only just made its folder and its journal."""
    if not (out / queue.JOURNAL).exists():
        return []
    try:
        return optuna.load_study(study_name=out.name, storage=queue.open_storage(None, out)).trials
    except KeyError:
        return []


@pytest.mark.slow
def test_workers_share_the_trials_and_a_killed_one_is_replaced(corpus: Path, tmp_path: Path) -> None:
    whole = call(corpus, tmp_path / "one", "--pruner", "none", "--json", "-")
    out = tmp_path / "two"
    command = [
        os.sys.executable,
        "-m",
        "entitynlm",
        "sweep",
        str(corpus),
        "--space",
        str(corpus / "space.toml"),
    ]
    command += [
        "--out",
        str(out),
        *SIZES,
        "--pruner",
        "none",
        "--workers",
        "2",
        "--json",
        str(tmp_path / "two.json"),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    killed = 0
    while not killed and process.poll() is None:
        for trial in read_trials(out):
            if trial.state.name == "RUNNING" and queue.WORKER in trial.user_attrs:
                killed = int(trial.user_attrs[queue.WORKER].rpartition(":")[2].partition("@")[0])
                os.kill(killed, 9)
                break
        time.sleep(0.05)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 0, told
    one, two = json.loads(whole.stdout), json.loads((tmp_path / "two.json").read_text("utf-8"))
    done = [trial for trial in two["trials"] if trial["state"] == "complete"]
    assert sorted(trial["dev_loss"] for trial in done) == sorted(trial["dev_loss"] for trial in one["trials"])
    assert [trial["state"] for trial in two["trials"]].count("interrupted") == 1


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
    """One begins, the other does the rest, and trains the winner of the first again: it does not have its checkpoint."""
    first = make_sweep(corpus, tmp_path / "first", storage=database, study="shared")
    study = first.open()
    fill_queue(study, first)
    assert run_workers(first, study, 1, SILENT)
    shutil.rmtree(tmp_path / "first")
    second = make_sweep(corpus, tmp_path / "second", storage=database, study="shared")
    again = second.open()
    fill_queue(again, second)
    assert [trial.state.name for trial in list_trials(again)] == ["COMPLETE"] * 3
    from entitynlm.experiments.sweep_workers import store_winner

    best = queue.find_best(again)
    stored = store_winner(second, best, SILENT)
    assert stored is not None and stored["generative"] == best.value
    assert (tmp_path / "second" / "model" / "model.json").exists()


def test_a_database_that_is_not_there_is_one_message(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    address = f"postgresql://me:secret@/nowhere?host={tmp_path}"
    done = call(corpus, tmp_path / "out", "--storage", address)
    assert isinstance(done.exception, ConfigError) and "secret" not in str(done.exception)
