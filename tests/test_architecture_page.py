"""The pages about the code are true: the packages and arrows of docs/architecture.md, and every file and function named there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from entitynlm.config import ModelConfig
from test_architecture import ARROWS

REPOSITORY = Path(__file__).resolve().parents[1]
SOURCE = REPOSITORY / "src" / "entitynlm"
ARCHITECTURE = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
MODEL = (REPOSITORY / "docs" / "model.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`\n]+)`")
STEP = re.compile(r"^\| [^|]* \| `([\w/]+\.py)` \| ([^|]+) \|$", re.MULTILINE)


@cache
def list_names(path: Path) -> set[str]:
    """Functions, classes with their methods (``Class.method`` too), and assigned names of a module."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {
                f"{node.name}.{child.name}" for child in node.body if isinstance(child, ast.FunctionDef)
            }
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
        if isinstance(node, ast.arg):
            names.add(node.arg)
    return names


def test_the_page_has_the_arrows_of_the_test() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([`\w, ]*)\|$", ARCHITECTURE, re.MULTILINE)
    assert {name: set(CODE.findall(allowed)) for name, allowed in rows} == ARROWS


def test_the_picture_has_all_packages_in_their_order() -> None:
    picture = ARCHITECTURE.split("## The packages")[1].split("Imports go down")[0]
    drawn = re.findall(r"│ (\w+) ", picture)
    assert set(drawn) == set(ARROWS) - {"default_model"}
    for name, below in zip(drawn, (drawn[n + 1 :] for n in range(len(drawn))), strict=True):
        assert ARROWS[name] - {"default_model"} <= set(below)


@pytest.mark.parametrize(("file", "functions"), STEP.findall(ARCHITECTURE))
def test_every_step_of_the_walks_exists(file: str, functions: str) -> None:
    named = CODE.findall(functions)
    assert named, f"the step in {file} names no function"
    assert set(named) <= list_names(SOURCE / file)


def test_there_are_four_walks() -> None:
    walks = ARCHITECTURE.split("\n## Walk ")[1:]
    assert [len(STEP.findall(walk)) > 12 for walk in walks] == [True] * 4


@pytest.mark.parametrize("page", [ARCHITECTURE, MODEL], ids=["architecture", "model"])
def test_every_path_exists(page: str) -> None:
    paths = [name for name in CODE.findall(page) if re.fullmatch(r"[\w/.-]+\.(py|md|toml)|[\w/]+/", name)]
    assert len(paths) > 10
    missing = [path for path in paths if not (SOURCE / path).exists() and not (REPOSITORY / path).exists()]
    assert missing == []


@pytest.mark.parametrize("page", [ARCHITECTURE, MODEL], ids=["architecture", "model"])
def test_every_name_exists(page: str) -> None:
    """A function, class, attribute or setting that a page names is somewhere in the source."""
    known = set().union(*(list_names(path) for path in SOURCE.rglob("*.py")))
    known |= {path.stem for path in SOURCE.iterdir()}
    known |= list_names(REPOSITORY / "tests" / "support" / "slow_twin.py")
    settings = set(ModelConfig.__struct_fields__)
    wrong = []
    for text in CODE.findall(page):
        name = re.sub(r"\(.*\)$", "", text).split(" = ")[0]
        if name.startswith("model."):
            wrong += [text] if name.removeprefix("model.") not in settings else []
        elif re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", name) and name not in known:
            wrong += [text] if name.split(".")[-1] not in known else []
    assert wrong == []
