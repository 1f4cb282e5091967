"""The committed list of bad inputs, ``bad_inputs.toml``: a verb answers, or says in one line what is wrong; no traceback."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from entitynlm.config import load_toml
from entitynlm.errors import EntityNLMError
from entitynlm.interfaces.cli import app

INPUTS = load_toml(Path(__file__).parent / "bad_inputs.toml")["input"]
CALLS = {
    "annotate": "annotate {file} --model {model} --to jsonl",
    "surprisal": "surprisal {file} --model {model} --samples 2 --repeats 1",
    "stats": "data stats {file}",
    "score": "score {file} {file}",
    "config": "train {file} --out {file}.model --config {file}",
    "items": "surprisal --items {file} --model {model} --samples 2 --repeats 1",
    "kbest": "rerank --kbest {file} --model {model} --out {file}.conll",
}


def make_content(entry: dict[str, Any]) -> bytes:
    if "hex" in entry:
        return bytes.fromhex(entry["hex"])
    return "".join(text * times for text, times in entry["parts"]).encode()


def test_there_are_four_hundred() -> None:
    assert sum(len(entry["exit"]) for entry in INPUTS) >= 400
    assert len({entry["name"] for entry in INPUTS}) == len(INPUTS)
    assert all(set(entry["exit"].values()) <= {0, 2} for entry in INPUTS)


@pytest.mark.parametrize("entry", INPUTS, ids=lambda entry: entry["name"])
def test_an_answer_or_one_readable_line(entry: dict[str, Any], model: Path, tmp_path: Path) -> None:
    file = tmp_path / entry["name"]
    file.write_bytes(make_content(entry))
    for verb, code in entry["exit"].items():
        result = CliRunner().invoke(app, CALLS[verb].format(file=file, model=model).split())
        error = result.exception
        if isinstance(error, SystemExit) or error is None:
            found, told = result.exit_code, result.output
        else:  # what the program turns into one line, and exit code 2
            assert isinstance(error, EntityNLMError), f"{verb}: {error!r}"
            found, told = 2, str(error)
            assert entry["name"] in told and "\n" not in told and len(told) < 1_500
        assert found == code, f"{verb} of {entry['name']} ({entry['why']}): {told}"
        assert code == 0 or told.strip()
        assert "Traceback" not in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == [entry["name"]]
