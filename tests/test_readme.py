"""README keeps what it shows: its commands and its Python print what stands below them, with the default model."""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from entitynlm.model.language_models import list_installs

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
SHOWN = [
    (code, printed)
    for (language, code), (after, printed) in pairwise(BLOCKS)
    if language in ("sh", "python") and after == "text"
]
FIGURE = re.compile(r"\d+\.\d{6}")
LETTER = next(text for language, text in BLOCKS if language == "text" and "Mrs. Hale" in text)


def is_alike(line: str, other: str) -> bool:
    """Whether two lines are the same, long figures to 0.05, because processors round differently."""
    figures = [[float(figure) for figure in FIGURE.findall(text)] for text in (line, other)]
    return FIGURE.sub("#", line) == FIGURE.sub("#", other) and figures[0] == pytest.approx(
        figures[1], abs=0.05
    )


@pytest.mark.skipif(
    bool(list_installs()), reason="README shows the default model, and SmolLM2 is not installed here"
)
@pytest.mark.parametrize(("code", "printed"), SHOWN, ids=lambda text: text.split("\n")[0][:40])
def test_what_is_shown_is_printed(code: str, printed: str, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text(LETTER, encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if key != "ENTITYNLM_MODEL"}
    environment = {**kept, "COLUMNS": "96", "PYTHON": sys.executable}
    if code.startswith("entitynlm "):
        command = ["sh", "-c", code.replace("entitynlm ", '"$PYTHON" -m entitynlm ', 1)]
    else:
        command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    found = [line.rstrip() for line in done.stdout.splitlines()]
    lines = [line.rstrip() for line in printed.splitlines() if line.rstrip() != "…"]
    assert done.returncode == 0, done.stderr
    assert [line for line in lines if not any(is_alike(line, other) for other in found)] == []


def test_there_is_something_to_check() -> None:
    assert len(SHOWN) >= 4
