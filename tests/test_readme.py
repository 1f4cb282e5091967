"""What README tells people to type works: its ``sh`` and ``python`` blocks need only what the package carries."""

from __future__ import annotations

import dataclasses
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from entitynlm.errors import DataError
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.text.corpora.example import RUNNING_EXAMPLE
from entitynlm.text.formats.base import Oddity, Source

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


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


def run_recipe(number: int) -> dict[str, Any]:
    skeletons = re.findall(r"^   ```python\n(.*?)^   ```$", CONTRIBUTING, re.MULTILINE | re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(textwrap.dedent(skeletons[number]), namespace)
    return namespace


def test_the_recipe_for_a_baseline_works() -> None:
    encoder = Encoder.fit([RUNNING_EXAMPLE], recipe=Recipe(minimum_count=1), singletons="keep")
    encoded = encoder.encode(RUNNING_EXAMPLE)
    model = run_recipe(1)["UnigramModel"]([encoded], encoder.vocabulary)
    assert len(model.score(encoded)) == len(encoded)
    everything = dataclasses.replace(encoded, x=np.arange(len(encoder.vocabulary)))
    assert np.exp(model.score(everything)).sum() == pytest.approx(1.0)


def test_the_recipe_for_a_reader_works() -> None:
    namespace = run_recipe(0)
    content = b"%my-format\nAnna\t1\nsleeps\t-\n\t2\n"
    odd: list[Oddity] = []
    assert namespace["FORMAT"].recognise("a.my", content)
    (document,) = namespace["read"](Source("a.my", io.BytesIO(content), odd.append))
    assert document.tokens == ("Anna", "sleeps")
    assert document.clusters == (((0, 1),),)
    assert [oddity.line for oddity in odd] == [4]
    with pytest.raises(DataError, match=r"a\.my:2: a row without an entity"):
        list(namespace["read"](Source("a.my", io.BytesIO(b"%my-format\nAnna\n"))))


def test_links_lead_somewhere() -> None:
    for name in ("README.md", "CONTRIBUTING.md", "docs/index.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            if not target.startswith("http"):
                assert ((ROOT / name).parent / target).exists(), f"{name} links to {target}"
