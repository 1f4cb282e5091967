"""``entitynlm models``: the models that are here, and the language models that can stand behind one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from entitynlm.cache import cache_folder
from entitynlm.default_model import MODEL_VARIABLE, explain_default
from entitynlm.errors import ModelError
from entitynlm.files import read_json
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.model.language_models import EXTRA, KnownLanguageModel, list_language_models, list_missing
from entitynlm.model.packaged import CONFIG_FILE, PACKAGED_MODELS, list_models, read_language_model

Folders = Annotated[list[Path] | None, typer.Argument(metavar="DIR", callback=options.check_exists)]


def models(*, folders: Folders = None, terminal: Terminal) -> None:
    """List the models that can be used, and the language models that one can be built on.

    Where no --model is given, the model is the one that the environment variable ENTITYNLM_MODEL names, else
    entitynlm-en-smollm2 where its language model is installed, else entitynlm-en. A language model by itself is --model
    huggingface:NAME (its entity side is untrained); train --backbone NAME trains one.

    Examples:

      entitynlm models
      entitynlm models runs/ --json -

    :param folders: Folders of models, or folders that such folders are in.
    """
    from entitynlm.interfaces.views import draw_table

    known = list_language_models()
    default, reason = explain_default()
    places = {name: PACKAGED_MODELS / name for name in list_models()}
    places |= {str(path): path for path in _find_folders(folders or [])}
    found = [
        {**_describe(place, known), "name": name, "default": name == default}
        for name, place in places.items()
    ]
    terminal.print(draw_table(("model", "parts", "stands on", "size"), map(_show, found), right=("size",)))
    chosen = f"used where no --model is given: {print_path(default)} ({reason}); {MODEL_VARIABLE}=NAME chooses another"
    terminal.print(f"\n{chosen}\n", markup=False)
    rows = [
        (one.name, _show_size(one.size), one.licence or "see its card", _show_place(one)) for one in known
    ]
    lines = [tuple(map(escape, row)) for row in rows]
    terminal.print(draw_table(("language model", "size", "licence", "here"), lines, right=("size",)))
    if missing := list_missing():
        needed = f"language models need {', '.join(missing)}: pip install 'entitynlm[{EXTRA}]'"
        terminal.print(f"\n{needed}", markup=False)
    languages = [{**asdict(one), "place": one.place and str(one.place)} for one in known]
    more = {"default": {"model": default, "reason": reason}, "missing": missing, "cache": str(cache_folder())}
    terminal.write_json({"models": found, "language_models": languages, **more})


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


def _describe(folder: Path, known: Sequence[KnownLanguageModel]) -> dict[str, Any]:
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
    if own is not None and not Path(own["model"]).exists():
        here = [one for one in known if one.name == own["model"] and one.place is not None]
        if not here:
            row["state"] = "its language model is not here"
        elif here[0].digest not in (None, own["digest"]):
            row["state"] = "another language model of this name is here"
    return row


def _show(row: dict[str, Any]) -> tuple[str, ...]:
    parts = ", ".join([*row["parts"], *row["components"]]) + (" (default)" if row["default"] else "")
    own = row["language_model"]
    stands = "its own LSTM" if own is None else f"{print_path(own['model'])} {own['digest']}"
    remarks = ["entity side untrained"] * row["untrained"] + [row["state"]] * (row["state"] != "ready")
    return tuple(map(escape, (row["name"], parts, "; ".join([stands, *remarks]), _show_size(row["bytes"]))))


def _show_place(one: KnownLanguageModel) -> str:
    if one.place is None:
        return f"no: {one.install}"
    return "ready" if one.cached else "unpacked at first use"


def _show_size(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size else ""
