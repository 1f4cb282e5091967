"""What README tells people to type works: its ``sh`` and ``python`` blocks need only what the package carries."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def run(arguments: list[str], folder: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "ENTITYNLM_DATA"}
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh folder in which all commands were run, in the order in which they stand."""
    folder = tmp_path_factory.mktemp("readme")
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.strip()]
    assert len(lines) >= 5
    for line in lines:
        program, *arguments = shlex.split(line, comments=True)
        assert program == "entitynlm", (
            f"README tells people to run {program!r}, which this test does not know"
        )
        run([sys.executable, "-m", "entitynlm.interfaces.cli", *arguments], folder)
    return folder


def test_the_commands_run_and_leave_what_they_promise(folder: Path) -> None:
    assert sorted(path.name for path in (folder / "corpora/stories").iterdir()) == [
        "corpus.json",
        "dev.jsonl",
        "test.jsonl",
        "train.jsonl",
    ]
    assert (folder / "corpora/stories-conll/development").is_dir()


@pytest.mark.parametrize("code", blocks("python"))
def test_the_python_runs(folder: Path, code: str) -> None:
    assert run([sys.executable, "-c", code], folder).strip()


def test_the_printed_example_is_what_the_demo_prints(folder: Path) -> None:
    printed = run([sys.executable, "-m", "entitynlm.interfaces.cli", "demo", "--no-training"], folder)
    for line in blocks("console")[0].splitlines():
        assert line.rstrip() in printed


def test_links_lead_somewhere() -> None:
    for name in ("README.md", "CONTRIBUTING.md", "docs/index.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            if not target.startswith("http"):
                assert ((ROOT / name).parent / target).exists(), f"{name} links to {target}"
