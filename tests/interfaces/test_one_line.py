"""Wrong calls, odd environments and odd files end in an answer or in one readable line, never in a traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file
from typer.testing import CliRunner

from entitynlm.api import EntityNLM
from entitynlm.errors import ConfigError, EntityNLMError
from entitynlm.files import lock_folder
from entitynlm.interfaces.cli import app
from entitynlm.text.formats.registry import read_documents
from support.small_model import STORY, store_model


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a story, links that lead in a circle, links to one file, and configurations that are none."""
    monkeypatch.chdir(tmp_path)
    Path("story.txt").write_text(STORY)
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    Path("linked.json").symlink_to("other.json")
    Path("hard.json").touch()
    Path("hard.jsonl").hardlink_to("hard.json")
    Path("number.toml").write_text("model = 3\n")
    Path("long.toml").write_bytes(b"#" * 2_000_000)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("annotate story.txt --to jsonl --out a", "leads in a circle"),
        ("annotate story.txt --json a", "leads in a circle"),
        ("batch annotate story.txt --out a", "can't be a folder"),
        (f"annotate story.txt --to jsonl --out {'n' * 300}.jsonl", "can't be written"),
        (f"annotate story.txt --json {'n/' * 3_000}x", "can't be written"),
        ("annotate story.txt --to jsonl --out new.json --json ./new.json", "two outputs"),
        ("annotate story.txt --to jsonl --out other.json --json linked.json", "two outputs"),
        ("annotate story.txt --to jsonl --out hard.jsonl --json hard.json --force", "two outputs"),
        ("surprisal story.txt --out s.tsv --json s.mentions.tsv", "two outputs"),
        ("characters story.txt --out c.tsv --json ./c.quotations.tsv", "two outputs"),
        ("surprisal story.txt --out table.xlsx", "which kind of table"),
        ("characters story.txt --out table.ods", "which kind of table"),
        ("generate story.txt --temperature 1e-30", "temperature"),
        ("generate story.txt --temperature 1e30", "temperature"),
        ("generate story.txt --temperature nan", "temperature"),
        ("generate story.txt --top-p 0", "top-p"),
        ("train story.txt --out m --config number.toml --set model.dropout=0.1", "is a section"),
        ("train story.txt --out m --config long.toml", "more than 1,048,576 bytes"),
        ("annotate story.txt --device cuda:7", "can't be used here"),
    ],
)
def test_one_line(words: str, told: str, here: Path, model: Path) -> None:
    chosen = [] if words.startswith("train") else ["--model", str(model)]
    before = sorted(path.name for path in here.iterdir())
    result = CliRunner().invoke(app, [*words.split(), *chosen])
    assert isinstance(result.exception, EntityNLMError), result.output
    assert told in str(result.exception) and "\n" not in str(result.exception)
    assert sorted(path.name for path in here.iterdir()) == before


@pytest.mark.parametrize("verb", ["generate", "predict-entity", "surprisal"])
def test_weights_that_lead_beyond_numbers(verb: str, here: Path) -> None:
    store_model(here / "model")
    for file in (here / "model").glob("*.safetensors"):
        with safe_open(file, "np") as stored:
            metadata, names = stored.metadata(), list(stored.keys())
            arrays = {name: stored.get_tensor(name) for name in names}
        huge = {n: np.full_like(a, -1e30) if a.dtype == np.float32 else a for n, a in arrays.items()}
        save_file(huge, file, metadata=metadata)
    (here / "model" / "SHA256SUMS").unlink()
    with np.errstate(all="ignore"):
        result = CliRunner().invoke(app, [verb, "story.txt", "--model", "model", "--quiet"])
    assert isinstance(result.exception, EntityNLMError), result.output
    assert "probably damaged" in str(result.exception)


def test_numbers_of_threads_have_a_limit(here: Path) -> None:
    result = CliRunner().invoke(app, ["annotate", "story.txt", "--threads", "99999999999"])
    assert result.exit_code == 2 and "4096" in result.stderr


def run_program(
    model: Path, *words: str, closed: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the program by a shell that closes standard streams."""
    command = f'exec "$0" -m entitynlm "$@" {closed}'
    given = ["sh", "-c", command, sys.executable, *words, "--model", str(model)]
    return subprocess.run(given, env={**os.environ, **environment}, capture_output=True, check=False)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_closed_streams(closed: str, here: Path, model: Path) -> None:
    done = run_program(model, "annotate", "story.txt", "--quiet", closed=closed)
    assert done.returncode == 0 and b"Traceback" not in done.stderr


def test_other_encodings_of_the_terminal(here: Path, model: Path) -> None:
    """What people read is shown as far as it can be; a format is UTF-8."""
    Path("quoted.txt").write_text("Anna said “hello” to Bob.", encoding="utf-8")
    latin = {"PYTHONIOENCODING": "latin-1"}
    shown = run_program(model, "annotate", "quoted.txt", "--quiet", **latin)
    assert shown.returncode == 0, shown.stderr
    written = run_program(model, "annotate", "quoted.txt", "--to", "jsonl", "--quiet", **latin)
    assert "“" in json.loads(written.stdout.decode("utf-8"))["sentences"][0]


def test_names_that_are_not_utf8(here: Path, model: Path) -> None:
    odd = os.fsdecode(b"na\xefve.txt")
    Path(odd).write_text(STORY)
    words = ["annotate", odd, "--model", str(model), "--to", "jsonl", "--out", "new/", "--json", "new.json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    (written,) = Path("new").iterdir()
    assert next(read_documents(written)).id == "na?ve"
    assert json.loads(Path("new.json").read_text("utf-8"))["documents"][0]["file"] == "na?ve.txt"


def test_a_corpus_goes_into_the_folder_where_one_is(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("empty").mkdir()
    monkeypatch.chdir("empty")
    result = CliRunner().invoke(app, ["data", "get", "stories", "--documents", "10", "--out", "."])
    assert result.exit_code == 0 and Path("train.jsonl").is_file()


def test_two_trainings_do_not_share_a_folder(here: Path) -> None:
    CliRunner().invoke(app, ["data", "get", "stories", "--documents", "10", "--out", "stories"])
    tiny = "--set model.hidden_size=6 --set model.embedding_size=6 --set training.epochs=1".split()
    with lock_folder(Path("m"), "first"):
        result = CliRunner().invoke(app, ["train", "stories", "--out", "m", "--parts", "generative", *tiny])
    assert "another training" in str(result.exception)


@pytest.mark.parametrize(
    "wrong", [{"base": float("nan")}, {"base": 1}, {"repeats": 0}, {"samples": 2.5}, {"samples": -1}]
)
def test_numbers_that_make_no_sense_in_python(model: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        EntityNLM.from_pretrained(model).surprisal(STORY, **wrong)


def test_two_clusters_of_one_id_are_told_of(tmp_path: Path) -> None:
    entities = {"version": 1, "entities": [{"id": "x"}, {"id": "x"}]}
    record = {"doc_key": "a", "sentences": [["Ann", "saw", "Bo"]], "clusters": [[[0, 0]], [[2, 2]]]}
    (tmp_path / "a.jsonl").write_text(json.dumps({**record, "entitynlm": entities}))
    result = CliRunner().invoke(app, ["data", "stats", str(tmp_path / "a.jsonl")])
    assert "2 clusters have the id 'x'" in " ".join(result.output.split())
