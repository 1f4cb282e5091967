"""All commands and Python examples of README, docs/ and the help texts run as they are written, with the files they name."""

import contextlib
import functools
import io
import re
import shlex
import shutil
import textwrap
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from entitynlm.interfaces.cli import VERBS, app
from entitynlm.model import loading
from entitynlm.model.language_models import list_installs
from support.documented_inputs import list_help_examples, make_inputs
from support.tiny_language_models import save_model

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ELSEWHERE = (
    "source",
    "make",
    "pip",
    "python",
)  # the shell, the repository's own tools: not in a folder of one's own
LONG = re.compile(
    r"\b(batch|train|sweep|evaluate|rerank)\b"
    r"|smollm2|my-gpt2|--documents 2000|--samples 100"
)
DOWNLOADS = re.compile(r"data get (?!stories)")


def list_commands(text: str) -> list[str]:
    """The lines of ``sh`` blocks, and the indented lines that begin with the program's name."""
    text = text.replace("\\\n", " ")
    found = []
    for block, line in re.findall(
        r"^```sh\n(.*?)^```$|^    (entitynlm [^\n]*)$", text, re.MULTILINE | re.DOTALL
    ):
        found += [part for part in block.splitlines() if part.strip()] if block else [line]
    return found


def run_command(line: str) -> str | None:
    """Run a line as a shell would, within this process; None if it is none of ours."""
    line, _, target = line.partition(" > ")
    *before, line = line.partition(" | cut")[0].split(" | ")
    program, *arguments = shlex.split(line, comments=True)
    given = shlex.split(before[0])[1] if before else ""
    if program in ELSEWHERE:
        return None
    if program == "echo":
        printed = arguments[0]
    else:
        assert program == "entitynlm", line
        if not {"--help", "--version"} & set(arguments):
            arguments.append("--force")  # a stand-in for a file that is written has a name of the page's
        result = CliRunner().invoke(app, arguments, input=given)
        if result.exit_code != 0:
            raise AssertionError(f"{line}\n{result.output}\n{result.exception!r}") from result.exception
        printed = result.stdout
    if target:
        Path(shlex.split(target, comments=True)[0]).write_text(printed, encoding="utf-8")
    return printed


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_inputs(tmp_path_factory.mktemp("inputs")).parent


@pytest.fixture
def work(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands are run in. The small model is the default, and loaded once; nothing is opened in a browser."""
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("ENTITYNLM_MODEL", "entitynlm-en")
    monkeypatch.setattr(loading, "load_model", load_once(loading.load_model))
    monkeypatch.setattr(webbrowser, "open", lambda address: True)
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: [one.close() for one in sockets])
    return Path.cwd()


@functools.cache
def load_once(load: Callable[..., Any]) -> Callable[..., Any]:
    """Models of the package are loaded once for all tests; those of the folder as often as they are asked for."""
    kept = functools.cache(load)

    def load_model(path: Any, **options: Any) -> Any:
        return (kept if str(path) == "entitynlm-en" else load)(path, **options)

    return load_model


def collect() -> list[tuple[str, list[str]]]:
    pages = [(page.stem, list_commands(page.read_text(encoding="utf-8"))) for page in PAGES]
    helps = [(f"help-{name.replace(' ', '-')}", list_help_examples(name)) for name in VERBS]
    return [(name, lines) for name, lines in [*pages, *helps] if lines]


def skip_reason(line: str) -> str | None:
    if DOWNLOADS.search(line):
        return "it downloads"
    if "--engine ray" in line:
        return "it needs a cluster; tests/interfaces/batch/test_workers.py has a Ray of its own"
    if "--storage" in line or "runs/grid" in line:
        return "it needs a database, or trains 200 networks; tests/interfaces/test_sweep.py starts one, and has a smaller grid"
    if re.search(r"\bhuman\b", line):
        return "people's guesses are in InScript alone"
    if " MODEL" in line or " RUN/" in line:
        return "a name in capitals stands for a folder of the reader's"
    if "smollm2" in line and list_installs():
        return "SmolLM2 is not installed"
    return None


@pytest.mark.parametrize(
    ("page", "lines"), collect(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_quick_commands(page: str, lines: list[str], work: Path) -> None:
    """All but those that take long, or that use a model which such a one trains."""
    for line in dict.fromkeys(lines):
        missing = [folder for folder in re.findall(r"runs/\w+", line) if not Path(folder).exists()]
        if not LONG.search(line) and not missing and skip_reason(line) is None:
            run_command(line)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "lines"), collect(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_all_commands_of_a_page_in_their_order(page: str, lines: list[str], work: Path) -> None:
    if not any(LONG.search(line) for line in lines):
        pytest.skip("all of its commands are quick")
    for folder in re.findall(r"(?:--out|-o) (runs/[\w-]+)", "\n".join(lines)):
        shutil.rmtree(folder, ignore_errors=True)  # the page makes it
    if any("models/my-gpt2" in line for line in lines):
        save_model(Path("models/my-gpt2"), "gpt2", layers=12)
    for line in lines:
        if skip_reason(line) is None:
            run_command(line)


def list_code(text: str) -> list[str]:
    """Blocks of Python: fenced, or indented and beginning with an import."""
    fenced = re.findall(r"^```(?:python|py)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"(?<=\n\n)((?:    (?:import|from) .*\n)(?:(?:    .*)?\n)*)", text)
    return [*fenced, *map(textwrap.dedent, indented)]


def collect_code() -> list[Any]:
    found = []
    for page in PAGES:
        for number, code in enumerate(list_code(page.read_text(encoding="utf-8")), start=1):
            marks = [pytest.mark.slow] if "open_corpus" in code or page.stem == "stories" else []
            if "runs/stories" in code:  # trained by a command of that page
                continue
            found.append(pytest.param(page.stem, code, id=f"{page.stem}-{number}", marks=marks))
    return found


@pytest.mark.parametrize(("page", "code"), collect_code())
def test_python_examples(page: str, code: str, work: Path) -> None:
    if "regions.tsv" in code:
        run_command("entitynlm surprisal --items items.tsv --out regions.tsv")
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, f"<{page}>", "exec"), {"__name__": "documented"})
    except OSError as error:
        if "en_core_web_sm" not in str(error):
            raise
        pytest.skip("spaCy's English pipeline is not installed")


def test_there_is_something_to_run() -> None:
    assert len(collect_code()) >= 8
    lines = [line for _, found in collect() for line in found]
    assert len(lines) > 100
    quick = [line for line in lines if not LONG.search(line)]
    assert len(quick) > 60
    assert len([line for line in lines if skip_reason(line) not in (None, "SmolLM2 is not installed")]) <= 18


def test_what_fails_is_told(work: Path) -> None:
    with pytest.raises(AssertionError, match="no such file"):
        run_command("entitynlm annotate nobody.txt")
    assert run_command("make demo") is None
    run_command('echo "Anna ran." > mine.txt')
    assert Path("mine.txt").read_text() == "Anna ran."


@pytest.mark.parametrize(
    "target", re.findall(r"^ {4}make ([\w-]+)", "\n".join(p.read_text() for p in PAGES), re.M)
)
def test_targets_of_make_exist(target: str) -> None:
    assert re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
