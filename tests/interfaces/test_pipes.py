"""What a shell puts in place of ``<(command)`` is read like a file: a verb gives what it gives for a file of that name."""

import contextlib
import itertools
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.errors import ConfigError
from entitynlm.interfaces.cli import app
from support.small_model import STORY

ANNOTATED = """#begin document (tale); part 000
tale 0 0 Ann (0)
tale 0 1 saw -
tale 0 2 Bo (1)
tale 0 3 . -

tale 0 0 She (0)
tale 0 1 ran -

#end document
"""
IRREGULAR = ANNOTATED.replace("tale 0 2 Bo", "tale 0 7 Bo")  # not for the quick reader of scores
ITEMS = "item\tcondition\tcontext\ttarget\n1\ta\tAnn ran.\tShe | saw Bo.\n1\tb\tAnn ran.\tHe | saw Bo.\n"
QUICK = ("--samples", "2", "--repeats", "1")
VERBS: dict[str, tuple[list[str], tuple[str, ...], str]] = {  # verb, options, and what FILE holds
    "annotate": (["annotate"], ("FILE", "--to", "jsonl"), STORY),
    "annotate an annotation": (["annotate"], ("FILE", "--to", "jsonl"), ANNOTATED),
    "surprisal": (["surprisal"], ("FILE", *QUICK), STORY),
    "surprisal of items": (["surprisal"], ("--items", "FILE", "--compare", "condition", *QUICK), ITEMS),
    "report": (["report"], ("FILE", "--out", "OUT/page.html", *QUICK), STORY),
    "characters": (["characters"], ("FILE",), STORY),
    "generate": (["generate"], ("FILE", "--words", "5"), STORY),
    "predict-entity": (["predict-entity"], ("FILE",), ANNOTATED),
    "score": (["score"], ("FILE", "FILE"), ANNOTATED),
    "score of an irregular file": (["score"], ("FILE", "FILE"), IRREGULAR),
    "data stats": (["data", "stats"], ("FILE",), ANNOTATED),
    "data stats of an irregular file": (["data", "stats"], ("FILE",), IRREGULAR),
    "data convert": (["data", "convert"], ("FILE", "-", "--to", "jsonl"), ANNOTATED),
}
WITHOUT_MODEL = ("score", "data")


@contextlib.contextmanager
def feed(path: Path, content: bytes) -> Iterator[None]:
    """A pipe that has the content for whoever opens it first, and nothing for whoever opens it again."""
    blocks = itertools.chain([content], itertools.repeat(b""))
    over = threading.Event()

    def write() -> None:
        while not over.is_set():
            with contextlib.suppress(BrokenPipeError), path.open("wb") as stream:
                stream.write(next(blocks))

    os.mkfifo(path)
    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        over.set()
        last = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        thread.join()
        os.close(last)


def run(name: str, file: Path, out: Path, model: Path) -> Result:
    verb, rest, _ = VERBS[name]
    arguments = [str(file) if argument == "FILE" else argument.replace("OUT", str(out)) for argument in rest]
    chosen = [] if verb[0] in WITHOUT_MODEL else ["--model", str(model)]
    return CliRunner().invoke(app, [*verb, *arguments, *chosen], catch_exceptions=False)


@pytest.mark.parametrize("name", VERBS)
def test_a_pipe_is_read_like_a_file(
    name: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = VERBS[name][2].encode()
    results: dict[str, tuple[str, dict[str, bytes]]] = {}
    for kind in ("file", "pipe"):
        folder = tmp_path / kind
        folder.mkdir()
        monkeypatch.chdir(folder)  # paths are shown as seen from there
        file = folder / ("story.tsv" if content == ITEMS.encode() else "story")
        if kind == "file":
            file.write_bytes(content)
        with feed(file, content) if kind == "pipe" else contextlib.nullcontext():
            result = run(name, file, folder / "out", model)
        assert result.exit_code == 0, result.output
        written = {path.name: path.read_bytes() for path in sorted(folder.glob("out/*"))}
        results[kind] = result.stdout.replace(str(folder), ""), written
    assert results["pipe"] == results["file"]


def test_a_pipe_of_a_shell_has_no_name_and_no_ending(model: Path) -> None:
    """A document from /dev/fd/63 is not called 63, and a table of items is one by its first line."""
    for command, content in (
        (["annotate", "--to", "jsonl"], STORY),
        (["surprisal", *QUICK, "--compare", "condition", "--items"], ITEMS),
    ):
        reading, writing = os.pipe()
        with open(writing, "wb") as stream:  # noqa: PTH123 (a descriptor)
            stream.write(content.encode())
        result = CliRunner().invoke(app, [*command, f"/dev/fd/{reading}", "--model", str(model)])
        os.close(reading)
        assert result.exit_code == 0, result.output
        if content == STORY:
            assert json.loads(result.stdout)["doc_key"] == "document"
        else:
            assert result.stdout.startswith("item\tregion\tcondition\tminus")


def test_a_batch_job_says_that_it_reads_more_than_once(model: Path, tmp_path: Path) -> None:
    with feed(tmp_path / "story.txt", STORY.encode()):
        arguments = [str(tmp_path / "story.txt"), "--out", str(tmp_path / "out"), "--model", str(model)]
        result = CliRunner().invoke(app, ["batch", "annotate", *arguments])
    assert isinstance(result.exception, ConfigError) and "is a pipe" in str(result.exception)
