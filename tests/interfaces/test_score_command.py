"""``entitynlm score`` as people run it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from entitynlm.interfaces.cli import app

KEY = """#begin document (tale); part 000
tale 0 0 Mary (0)
tale 0 1 saw -
tale 0 2 her (0)|(1
tale 0 3 cat 1)
tale 0 4 . -

tale 0 0 It (1)
tale 0 1 slept -
tale 0 2 . -

#end document
#begin document (tale); part 001
tale 1 0 She (4)
tale 1 1 smiled -
tale 1 2 at -
tale 1 3 her (4)
tale 1 4 cat (5)

#end document
"""
RESPONSE = KEY.replace("It (1)", "It (0)").replace("cat (5)", "cat -")


@pytest.fixture()
def files(tmp_path: Path) -> dict[str, str]:
    paths = {}
    for name, text in (("key", KEY), ("response", RESPONSE)):
        path = tmp_path / f"{name}.conll"
        path.write_text(text)
        paths[name] = str(path)
    return paths


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["score", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_figures_as_json(files: dict[str, str]) -> None:
    figures = json.loads(run(files["key"], files["response"], "--json", "-"))
    assert figures["muc"]["recall"] == pytest.approx(100 * 2 / 3)
    assert figures["muc"]["precision"] == pytest.approx(100 * 2 / 3)
    assert 0 < figures["conll"] < 100


def test_a_table_for_people_with_truncated_figures(files: dict[str, str]) -> None:
    output = run(files["key"], files["response"], "--metric", "muc")
    assert "MUC" in output
    assert "66.66" in output
    assert "CEAF" not in output


def test_singletons_of_the_key_can_be_left_out(files: dict[str, str]) -> None:
    strict = json.loads(run(files["key"], files["response"], "-m", "mentions", "--json", "-"))
    relaxed = json.loads(
        run(files["key"], files["response"], "-m", "mentions", "--json", "-", "--drop-singletons", "key")
    )
    assert strict["mentions"]["recall"] == pytest.approx(100 * 6 / 7)
    assert relaxed["mentions"]["recall"] == 100


def test_two_responses_can_be_compared(files: dict[str, str]) -> None:
    figures = json.loads(
        run(files["key"], files["response"], "--versus", files["key"], "--json", "-", "--trials", "99")
    )
    assert figures["versus"]["conll"]["difference"] == pytest.approx(100 - figures["conll"])
    assert 0 < figures["versus"]["conll"]["p_value"] <= 1


def test_a_stray_tab_at_the_end_of_a_row_makes_no_column(files: dict[str, str], tmp_path: Path) -> None:
    stray = tmp_path / "stray.conll"
    lines = [line.replace(" ", "\t") if line.startswith("tale") else line for line in KEY.splitlines()]
    stray.write_text("\n".join(line + "\t" if line.endswith(".\t-") else line for line in lines) + "\n")
    assert json.loads(run(files["key"], str(stray), "-m", "mentions", "--json", "-"))["mentions"]["f1"] == 100


def test_errors_are_one_readable_message(files: dict[str, str], tmp_path: Path) -> None:
    half = tmp_path / "half.conll"
    half.write_text(KEY.split("#begin document (tale); part 001")[0])
    command = [sys.executable, "-m", "entitynlm.interfaces.cli", "score"]
    for arguments, words in (
        ([files["key"], str(half)], "lacks 1 of 2 documents (tale#001)"),
        ([files["key"], files["response"], "-m", "rouge"], "there is no metric 'rouge'"),
        ([files["key"], str(tmp_path / "nothing.conll")], "no such file"),
    ):
        result = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert result.returncode == 2
        assert words in result.stderr
        assert "Traceback" not in result.stderr
    assert run(files["key"], str(half), "--lenient")


def test_scoring_needs_no_network_and_no_compiler(tmp_path: Path) -> None:
    path = tmp_path / "key.conll"
    path.write_text("#begin document (d); part 000\nd\t0\t0\tAnna\t(1)\nd\t0\t1\tshe\t(1)\n\n#end document\n")
    code = (
        "import sys; from entitynlm.interfaces.cli import app; "
        f"app(['score', {str(path)!r}, {str(path)!r}], standalone_mode=False); "
        "print([name for name in ('torch', 'spacy', 'numba') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def read_figures(printed: str) -> dict[str, tuple[float, ...]]:
    rows = (line.split() for line in printed.splitlines())
    return {row[0]: tuple(map(float, row[1:])) for row in rows if len(row) == 4 and row[0] != "recall"}


def test_two_columns_with_nested_and_repeated_mentions(tmp_path: Path) -> None:
    """Brackets without bars between them, and one span in two entities, as in its case O; figures by the official scorer."""
    (tmp_path / "n.key").write_text(
        "#begin document (n);\nn\t(0(1\nn\t1)\nn\t0)\nn\t-\nn\t(0)\nn\t(1(2\nn\t1)2)\nn\t(2)\n#end document\n"
    )
    (tmp_path / "n.sys").write_text(
        "#begin document (n);\nn (0|(1 \nn 1) \nn 0) \nn -\nn (0)|(1)\nn - \nn -\nn (2)\n#end document\n"
    )
    result = CliRunner().invoke(app, ["score", str(tmp_path / "n.key"), str(tmp_path / "n.sys")])
    found = read_figures(result.stdout)
    assert found["MUC"] == (33.33, 100, 50) and found["B³"] == (50, 100, 66.66)
    assert found["CEAF_m"] == (66.66, 100, 80) and found["CEAF_e"] == (77.77, 77.77, 77.77)
    assert found["BLANC"] == (41.66, 100, 58.33)
