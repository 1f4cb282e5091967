"""Processes and Ray give the bytes that one process gives, leave nothing behind when they are killed, and pass errors on."""

from __future__ import annotations

import json
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from entitynlm.interfaces.batch import engines
from entitynlm.interfaces.batch.engines import order_shards
from entitynlm.interfaces.batch.shards import Shard
from entitynlm.interfaces.batch.tasks import ListingCharacters
from entitynlm.interfaces.options import ModelOptions
from support.batch_jobs import read_folder, run_job, write_corpus
from support.small_model import store_model


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, a corpus, and what one process makes of it."""
    base = tmp_path_factory.mktemp("engines")
    store_model(base / "model")
    write_corpus(base / "in", 24)
    task = ListingCharacters(ModelOptions(str(base / "model"), "cpu", 1), "tsv", 1, "auto")
    run_job(task, base / "in", base / "whole")
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
@pytest.mark.parametrize("number", range(5))
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


@contextmanager
def start_cluster(environment: dict[str, str]) -> Iterator[str]:
    """A Ray of two nodes with a processor each, both on this machine; its address. Nobody else's Ray is stopped at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="ray-")  # the names of Ray's sockets must be short
    here = [
        "--node-ip-address",
        "127.0.0.1",
        "--num-cpus",
        "1",
        "--object-store-memory",
        "100000000",
        "--block",
    ]
    head = ["--head", "--port", str(port), "--include-dashboard", "false", "--temp-dir", folder]
    program = [sys.executable, "-m", "ray.scripts.scripts", "start", "--disable-usage-stats", *here]
    nodes: list[subprocess.Popen[str]] = []
    try:
        for node in (head, ["--address", f"127.0.0.1:{port}"]):
            streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
            nodes.append(subprocess.Popen([*program, *node], env=environment, **streams))
            told: list[str] = []
            for line in nodes[-1].stdout or ():
                told.append(line)
                if "--block" in line:  # the last thing that is said when a node is there
                    break
            assert nodes[-1].poll() is None, "".join(told)
        yield f"127.0.0.1:{port}"
    finally:
        for started in reversed(nodes):
            started.terminate()
            started.communicate(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
def test_a_cluster_of_two_nodes_gives_the_same_bytes(place: Path) -> None:
    """Each node has one processor, so two workers are on two nodes; the third never finds a place, and is not waited for."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'entitynlm[scale]'")
    own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_worker_niceness": "0"}
    with start_cluster(os.environ | own) as address:
        call = command(place, "cluster", "--engine", "ray", "--address", address, "--workers", "3")
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=os.environ | own)
    assert done.returncode == 1, done.stderr
    assert read_folder(place / "cluster") == read_folder(place / "whole")
    assert "INFO" not in done.stderr


@pytest.mark.parametrize("address", [None, "127.0.0.1:6379"])
def test_a_ray_of_our_own_has_a_password(address: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray reads it when it is imported, so it must be set before."""
    environment: dict[str, str] = {}
    seen: list[bool] = []
    monkeypatch.setattr(engines.os, "environ", environment)
    monkeypatch.setattr(engines, "require", lambda *_, **__: seen.append("RAY_AUTH_TOKEN" in environment))
    engines.import_ray(address)
    assert seen == [address is None]
    assert (environment.get("RAY_AUTH_MODE"), len(environment.get("RAY_AUTH_TOKEN", ""))) == (
        ("token", 64) if address is None else (None, 0)
    )


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


def test_the_largest_shards_come_first() -> None:
    shards = [Shard(name, (), "", 1, size) for name, size in (("a", 2), ("b", 9), ("c", 5))]
    assert [shard.name for shard in order_shards(shards)] == ["b", "c", "a"]
