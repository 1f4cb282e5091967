"""The documentation holds: commands and options exist, Python and the notebook run, links lead somewhere."""

import ast
import contextlib
import dataclasses
import importlib
import inspect
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import typer
from starlette.testclient import TestClient

import entitynlm
from entitynlm.characters.character import Cast
from entitynlm.generation.request import Continuation
from entitynlm.interfaces.cli import VERBS, app
from entitynlm.lm.surprisal import Surprisal
from entitynlm.prediction.referents import Trace
from entitynlm.progress import SILENT
from support.bare_language_models import needs_smollm2
from support.documented_inputs import list_help_examples

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "results").glob("*.md")])
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
INDEX = ROOT / "docs" / "decisions" / "README.md"
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md")
CHECKED = [path for path in DOCS if path.stem == "troubleshooting" or path.stem.startswith("howto-")]
ELSEWHERE = ("source", "echo")  # what a shell block may call besides entitynlm


def list_blocks(path: Path, language: str) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def list_commands(path: Path) -> list[str]:
    return [line for block in list_blocks(path, "sh") for line in block.splitlines() if line.strip()]


def list_examples(path: Path) -> list[str]:
    """Commands in indented blocks, which are there to be adapted."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.strip() for line in re.findall(r"^    entitynlm .*$", text, flags=re.MULTILINE)]


def check_command(line: str) -> None:
    """Follow the verbs to the command, and parse the rest as it would."""
    program, *arguments = shlex.split(line.split(" > ")[0], comments=True)
    if program in ELSEWHERE:
        return
    assert program == "entitynlm", line
    command: Any = typer.main.get_command(app)
    while hasattr(command, "get_command") and arguments and command.get_command(None, arguments[0]):
        command = command.get_command(None, arguments.pop(0))
    if "--help" in arguments or "-h" in arguments:
        return
    known = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    for word in arguments:
        if re.match(r"--?[a-z]", word):
            assert word.split("=")[0] in known, f"{line}: there is no option {word}"


@pytest.mark.parametrize(("path", "line"), [(path, line) for path in CHECKED for line in list_commands(path)])
def test_commands_are_as_the_docs_have_them(path: Path, line: str) -> None:
    check_command(line)


@pytest.mark.parametrize(
    ("path", "line"), [(path, line) for path in [*DOCS, ROOT / "README.md"] for line in list_examples(path)]
)
def test_examples_are_commands(path: Path, line: str) -> None:
    check_command(line)


@pytest.mark.parametrize("line", [line for path in VERBS for line in list_help_examples(path)])
def test_examples_of_the_help_are_commands(line: str) -> None:
    check_command(line.rpartition(" | ")[2])


def test_there_is_something_to_check() -> None:
    assert sum(len(list_commands(path)) for path in CHECKED) > 25
    with pytest.raises(AssertionError, match="no option"):
        check_command("entitynlm surprisal a.txt --colourful")


def list_signatures(section: str) -> list[tuple[str, str]]:
    """Names and arguments of the functions in a table of the Python reference."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").split(f"\n## `{section}`\n")[1]
    return re.findall(r"^\| `(\w+)\(([^`]*)\)` \|", text.split("\n## ")[0], flags=re.MULTILINE)


def read_default(value: ast.expr) -> Any:
    return SILENT if ast.unparse(value) == "SILENT" else ast.literal_eval(value)


@pytest.mark.parametrize(
    ("owner", "name", "arguments"),
    [
        (owner, *found)
        for owner in (entitynlm, entitynlm.EntityNLM, entitynlm.Document)
        for found in list_signatures(owner.__name__)
    ],
)
def test_signatures_are_as_the_reference_has_them(owner: Any, name: str, arguments: str) -> None:
    given = ast.parse(f"def {name}({arguments}): ...").body[0]
    assert isinstance(given, ast.FunctionDef)
    written = {arg.arg: inspect.Parameter.empty for arg in (*given.args.args, *given.args.kwonlyargs)}
    pairs = [*zip(given.args.args[::-1], given.args.defaults[::-1], strict=False)]
    pairs += [*zip(given.args.kwonlyargs, given.args.kw_defaults, strict=True)]
    written.update({arg.arg: read_default(value) for arg, value in pairs if value is not None})
    parameters = inspect.signature(getattr(owner, name)).parameters
    actual = {key: parameter.default for key, parameter in parameters.items() if key != "self"}
    assert written == actual
    keywords = {key for key, found in parameters.items() if found.kind is found.KEYWORD_ONLY}
    assert {arg.arg for arg in given.args.kwonlyargs} == keywords


def test_the_reference_has_all_methods() -> None:
    public = {name: thing for name, thing in vars(entitynlm.EntityNLM).items() if not name.startswith("_")}
    properties = {name for name, thing in public.items() if isinstance(thing, property)}
    assert {name for name, _ in list_signatures("EntityNLM")} == set(public) - properties
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert properties <= set(re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE))


def run(code: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<docs>", "exec"), {"__name__": "docs"})
    return printed.getvalue()


def write_regions() -> None:
    """Write a table of items, of two conditions, as ``surprisal --items`` writes it."""
    rows = [
        f"{item}\t{condition}\t1\t{2 + item % 3 + more}\t0"
        for item in range(8)
        for condition, more in (("known", item % 2), ("new", 1.5))
    ]
    table = "\n".join(["item\tcondition\tregion\tsurprisal\toov", *rows])
    Path("regions.tsv").write_text(table + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "code"), [(path.stem, block) for path in CHECKED for block in list_blocks(path, "python")]
)
def test_python_in_the_docs_runs(
    name: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if "statsmodels" in code:
        write_regions()
    if "__main__" in code:  # other processes import it from a file
        Path("program.py").write_text(code, encoding="utf-8")
        printed = subprocess.run(
            [sys.executable, "program.py"], capture_output=True, text=True, check=True
        ).stdout
    else:
        printed = run(code)
    assert printed or "print(" not in code


def test_the_service_in_the_docs_answers_from_many_threads() -> None:
    (code,) = (
        block for block in list_blocks(ROOT / "docs" / "howto-build.md", "python") if "FastAPI" in block
    )
    names: dict[str, Any] = {"__name__": "service"}
    exec(compile(code, "service.py", "exec"), names)
    with TestClient(names["app"]) as client, ThreadPoolExecutor(4) as threads:
        text = "Anna lost her key. She called Bob."
        answers = list(threads.map(lambda _: client.post("/annotate", json=text).json(), range(8)))
        assert client.post("/annotate", json="x" * 100_001).status_code == 422
    assert answers[0]["resolved"] == "Anna lost Anna's key. Anna called Bob." and answers == answers[:1] * 8


@pytest.mark.parametrize("owner", [entitynlm.Document, Surprisal, Trace, Cast, Continuation])
def test_the_reference_names_what_is_there(owner: type) -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").split(f"\n## `{owner.__name__}`")[1]
    rows = re.findall(r"^\| (`.*?`) \|", text.split("\n## ")[0], flags=re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)", row)}
    known = {*dir(owner), *(each.name for each in dataclasses.fields(owner))}
    assert named and named <= known


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_in_the_docs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_regions()
    (code,) = list_blocks(ROOT / "docs" / "howto-surprisal.md", "r")
    Path("model.R").write_text(code, encoding="utf-8")
    result = subprocess.run(["Rscript", "model.R"], capture_output=True, text=True, check=False)
    assert result.returncode == 0 and "conditionnew" in result.stdout, result.stderr


@needs_smollm2
@pytest.mark.slow
def test_the_tutorial_prints_what_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the default model; figures to 0.05, because processors round differently."""
    monkeypatch.delenv("ENTITYNLM_MODEL")
    notebook = json.loads((ROOT / "docs" / "tutorial.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    stored = "".join("".join(output["text"]) for cell in cells for output in cell["outputs"])
    monkeypatch.chdir(tmp_path)
    printed = run("\n\n".join("".join(cell["source"]) for cell in cells))
    figure = re.compile(r"\d+\.\d+")
    words = [figure.sub("#", text).split() for text in (printed, stored)]
    assert words[0] == words[1]
    found, expected = ([float(number) for number in figure.findall(text)] for text in (printed, stored))
    assert found == pytest.approx(expected, abs=0.05)


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All code cells in their order, in one namespace and an empty folder."""
    notebook = json.loads((ROOT / "docs" / "tutorial.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 7 and all(not cell.lstrip().startswith(("%", "!")) for cell in cells)
    monkeypatch.chdir(tmp_path)
    printed = run("\n\n".join(cells))
    assert "Martha" in printed and "bits" in printed
    assert (tmp_path / "gull-point.html").stat().st_size > 10_000


@pytest.mark.parametrize("path", [*DOCS, *DECISIONS, INDEX, *PAGES], ids=lambda path: path.stem)
def test_links_in_the_docs_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if not target.startswith(("http", "mailto")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_every_decision_record_is_in_the_index_once() -> None:
    listed = re.findall(
        r"^- \[(\d{3})\]\((\1-[a-z0-9-]+\.md)\) \S", INDEX.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(name for _, name in listed) == [path.name for path in DECISIONS]


def test_decisions_that_are_cited_exist() -> None:
    numbers = {path.name[:3] for path in DECISIONS}
    cited = re.compile(r"decisions/(\d{3})([a-z0-9-]*\.md)?|[Dd]ecision (\d{3})")
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *DOCS, *DECISIONS, *PAGES]
    for path in sources:
        for by_path, rest, by_number in cited.findall(path.read_text(encoding="utf-8")):
            assert (by_path or by_number) in numbers, f"{path.name} cites decision {by_path or by_number}"
            assert not rest or (INDEX.parent / (by_path + rest)).exists(), (
                f"{path.name} cites {by_path + rest}"
            )


def test_modules_that_decisions_name_exist() -> None:
    for path in DECISIONS:
        for name in re.findall(r"`([a-z0-9_]+/[a-z0-9_/]+\.(?:py|sh))`", path.read_text(encoding="utf-8")):
            assert (ROOT / name).exists() or (ROOT / "src" / "entitynlm" / name).exists(), (
                f"{path.name} names {name}"
            )


@pytest.mark.parametrize("path", [*DOCS, ROOT / "README.md"], ids=lambda path: path.stem)
def test_imports_in_the_docs_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for module, names in re.findall(r"^ *from (entitynlm[\w.]*) import (.+)$", text, flags=re.MULTILINE):
        found = importlib.import_module(module)
        assert [name for name in names.split(", ") if not hasattr(found, name)] == [], (
            f"{path.name}: {module}"
        )


@pytest.mark.parametrize("path", [*DOCS, ROOT / "README.md"], ids=lambda path: path.stem)
def test_files_named_in_the_docs_exist(path: Path) -> None:
    for line in path.read_text(encoding="utf-8").splitlines():
        if "of commit" in line:  # what was there once
            continue
        for name in re.findall(
            r"\b((?:src|tests|configs|scripts|benchmarks)/[\w/-]+\.(?:py|toml|sh))\b", line
        ):
            assert (ROOT / name).exists(), f"{path.name}: {name}"
