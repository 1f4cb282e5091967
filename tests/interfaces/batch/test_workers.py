"""Processes and Ray give the bytes that one process gives, leave nothing behind when they are killed, and pass errors on."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from entitynlm.interfaces.batch import job
from support.batch_jobs import read_folder, write_corpus
from support.small_model import store_model


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, a corpus, and what one process makes of it."""
    base = tmp_path_factory.mktemp("engines")
    store_model(base / "model")
    write_corpus(base / "in", 24)
    done = subprocess.run(command(base, "whole", "--workers", "1"), capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    return base


def command(place: Path, out: str, *more: str) -> list[str]:
    program = [sys.executable, "-m", "entitynlm.interfaces.cli", "batch", "characters", str(place / "in")]
    options = [
        "--model",
        str(place / "model"),
        "--out",
        str(place / out),
        "--least",
        "1",
        "--documents-per-shard",
        "3",
    ]
    return [*program, *options, *more]


def test_two_processes_give_the_bytes_of_one(place: Path) -> None:
    call = command(place, "two", "--workers", "2", "--json", str(place / "two.json"))
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr  # some documents fail
    assert "3 documents failed" in done.stdout and "Traceback" not in done.stderr
    assert read_folder(place / "two") == read_folder(place / "whole")
    figures = json.loads((place / "two.json").read_text())
    assert (figures["documents"], figures["failed"]) == (32, 3) and figures["tokens_per_second"] > 0


def list_processes(place: Path) -> list[int]:
    """Processes that were started with this place in their command line, or whose parent was."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"BATCH_TEST={place}".encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", range(3))
def test_killed_with_its_workers_at_work(place: Path, number: int) -> None:
    """kill -9 of the command: the workers leave, and the next run gives the bytes of a job that nobody disturbed."""
    call = command(place, f"killed{number}", "--workers", "2", "--quiet")
    environment = {**os.environ, "BATCH_TEST": str(place)}
    process = subprocess.Popen(call, env=environment, stdout=subprocess.DEVNULL)
    time.sleep(1 + random.Random(number).random() * 8)
    process.send_signal(signal.SIGKILL)
    process.wait()
    limit = time.monotonic() + 20
    while list_processes(place) and time.monotonic() < limit:
        time.sleep(0.2)
    assert list_processes(place) == []
    assert subprocess.run(call, stdout=subprocess.DEVNULL, check=False).returncode == 1
    assert read_folder(place / f"killed{number}") == read_folder(place / "whole")


@pytest.mark.slow
def test_a_killed_worker_is_told_of(place: Path) -> None:
    """The kernel kills a worker when memory is short: the job ends with advice, and goes on later."""
    call = command(place, "short", "--workers", "2")
    environment = {**os.environ, "BATCH_TEST": f"{place}-short"}
    process = subprocess.Popen(
        call, env=environment, stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL
    )
    workers: list[int] = []
    while len(workers) < 2 and process.poll() is None:
        time.sleep(0.1)
        mine = list_processes(Path(f"{place}-short"))
        workers = [
            pid
            for pid in mine
            if pid != process.pid and b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]
    os.kill(workers[0], signal.SIGKILL)
    told = process.communicate()[1]
    assert process.returncode == 2 and "fewer --workers" in told and "Traceback" not in told
    assert subprocess.run(call, capture_output=True, check=False).returncode == 1
    assert read_folder(place / "short") == read_folder(place / "whole")


@pytest.mark.slow
def test_ray_with_two_workers_gives_the_same_bytes(place: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'entitynlm[scale]'")
    call = command(place, "ray", "--engine", "ray", "--workers", "2")
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert read_folder(place / "ray") == read_folder(place / "whole")


class Imported(Exception):
    """Stands for the import of Ray."""


@pytest.mark.parametrize("address", [None, "127.0.0.1:6379"])
def test_a_ray_of_our_own_has_a_password(address: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray reads it when it is imported, so it must be set before."""
    environment = {"RAY_ADDRESS": address} if address else {}

    def stop(*_: object, **__: object) -> None:
        raise Imported

    monkeypatch.setattr(job.os, "environ", environment)
    monkeypatch.setattr(job, "require", stop)
    with pytest.raises(Imported):
        next(job.run_ray(None, [], 1))  # type: ignore[arg-type]
    found = environment.get("RAY_AUTH_MODE"), len(environment.get("RAY_AUTH_TOKEN", ""))
    assert found == (("token", 64) if address is None else (None, 0))


@pytest.mark.slow
def test_errors_come_through_ray(place: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'entitynlm[scale]'")
    weights = place / "model" / "causal.safetensors"
    whole = weights.read_bytes()
    try:
        weights.write_bytes(whole[:-8])
        call = command(place, "damaged", "--engine", "ray", "--workers", "1")
        done = subprocess.run(call, capture_output=True, text=True, check=False)
    finally:
        weights.write_bytes(whole)
    assert done.returncode == 2 and "damaged or was changed" in done.stderr
    assert "Traceback" not in done.stderr
