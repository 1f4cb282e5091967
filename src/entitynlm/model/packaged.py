"""The models that come with the package: found by name, and read only if every byte is as it was when they were measured."""

from __future__ import annotations

import hashlib
from pathlib import Path

from entitynlm.errors import ModelError
from entitynlm.text.corpora.catalogue import read_manifest

FOLDER = Path(__file__).resolve().parents[1] / "models"
MANIFEST = "SHA256SUMS"
DEFAULT = "entitynlm-en"


def list_models(folder: Path = FOLDER) -> list[str]:
    """The names of the models in the package."""
    return sorted(path.parent.name for path in folder.glob("*/model.json"))


def find_model(name: str | Path, *, folder: Path = FOLDER) -> Path:
    """The folder of a model: one of the user's own, or one that ships, checked against its hashes.

    A folder of that name wins over a shipped model, so that nobody's own work is ever shadowed.
    """
    path = Path(name)
    if path.exists() or str(name) not in list_models(folder):
        if not path.exists() and path.name == str(name):
            known = ", ".join(list_models(folder)) or "none"
            raise ModelError(
                f"{name}: there is no folder of this name, and no model of the package ({known})"
            )
        return path
    check_files(folder / path)
    return folder / path


def check_files(folder: Path) -> None:
    """Every file that the manifest lists is there and has its hash; anything else is an error that names the file."""
    try:
        files = read_manifest((folder / MANIFEST).read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(
            f"{folder}: the list of hashes ({MANIFEST}) is missing; reinstall entitynlm"
        ) from error
    for name, expected in files.items():
        try:
            with (folder / name).open("rb") as stream:
                found = hashlib.sha256(stream.read()).hexdigest()
        except OSError as error:
            raise ModelError(
                f"{folder / name}: a file of the model is missing; reinstall entitynlm"
            ) from error
        if found != expected:
            raise ModelError(
                f"{folder / name}: this file is damaged or was changed (SHA-256 {found[:12]}…, expected "
                f"{expected[:12]}…); reinstall entitynlm, or copy the folder elsewhere and name its path"
            )


def write_manifest(folder: Path) -> None:
    """List the hashes of a model's files, when it is made."""
    files = sorted(path for path in folder.iterdir() if path.suffix in (".json", ".safetensors"))
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / MANIFEST).write_text("".join(lines), encoding="utf-8")
