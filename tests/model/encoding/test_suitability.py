"""One warning for texts that a model can say little about, and none for the others."""

import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

import entitynlm
from entitynlm.api import as_document
from entitynlm.interfaces.cli import app
from entitynlm.model.encoding.suitability import find_doubt
from entitynlm.model.pretrained import load_pretrained

ENGLISH = "Ann saw Bo in the garden. She ran to him, and he was glad that it had been a warm day for all of them. They sat down."
GERMAN = "Anna sah ihren Bruder im Garten stehen. Er hatte gerade den alten Zaun gestrichen und wollte nun eine Pause machen."
CHINESE = "安娜看见了鲍勃。她跑了！鲍勃看见了它。安娜看见了鲍勃。"


def test_the_shipped_model_knows_english() -> None:
    encoder = load_pretrained("entitynlm-en").encoder
    assert find_doubt(as_document(ENGLISH), encoder) is None
    for text in (GERMAN, CHINESE):
        assert "does not look like English" in str(find_doubt(as_document(text), encoder))
    assert find_doubt(as_document("Anna sah Bo."), encoder) is None  # too few words to tell


def test_capitals_and_tags_are_told() -> None:
    encoder = load_pretrained("entitynlm-en").encoder
    assert "is in capitals" in str(find_doubt(as_document(ENGLISH.upper()), encoder))
    assert "is in capitals" in str(find_doubt(as_document("MARTHA HALE OPENED THE DOOR AND RAN."), encoder))
    assert find_doubt(as_document("CHAPTER ONE. THE NATO."), encoder) is None
    assert "like English" in str(find_doubt(as_document("王小明打开了门。"), encoder))
    assert "HTML tags" in str(find_doubt(as_document("<p>Anna <b>ran</b>.</p>"), encoder))
    assert find_doubt(as_document("Is 1 <b and c> 2? " + ENGLISH), encoder) is None


def test_unknown_words_are_told(model: Path) -> None:
    encoder = load_pretrained(model).encoder  # it knows a dozen words
    assert "unknown word" in str(find_doubt(as_document(ENGLISH), encoder))


@pytest.mark.parametrize("verb", ["annotate", "surprisal", "generate", "predict-entity", "characters"])
def test_one_warning_on_the_command_line(verb: str, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(GERMAN)
    quick = {"surprisal": ["--samples", "2", "--repeats", "1"], "generate": ["--words", "2"]}.get(verb, [])
    result = CliRunner().invoke(app, [verb, str(tmp_path / "a.txt"), "--model", str(model), *quick])
    assert result.exit_code == 0 and result.stderr.count("does not look like English") == 1


def test_many_texts_do_not_flood(model: Path, tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number}.txt").write_text(GERMAN)
    result = CliRunner().invoke(app, ["annotate", str(tmp_path / "*.txt"), "--model", str(model)])
    assert result.stderr.count("does not look like English") == 3


def test_a_warning_in_python(model: Path) -> None:
    with pytest.warns(UserWarning, match="does not look like English"):
        entitynlm.load(model).annotate(GERMAN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entitynlm.load(model).annotate("Ann saw Bo. She ran.")
