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
from entitynlm.model.language_models import (
    BACKBONE_PREFIX,
    EXTRA,
    KnownLanguageModel,
    list_language_models,
    list_missing,
)
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
    found = [_describe_model(PACKAGED_MODELS / name, name, known) for name in list_models()]
    found += [_describe_model(path, str(path), known) for path in _find_folders(folders or [])]
    found = [{**row, "default": row["name"] == default} for row in found]
    lines = [
        (f"[bold]{escape(row['name'])}[/bold]", *map(escape, _show_model(row)), _show_size(row["bytes"]))
        for row in found
    ]
    terminal.print(draw_table(("model", "parts", "stands on", "size"), lines, right=("size",)))
    chosen = f"used where no --model is given: {print_path(default)} ({reason}); {MODEL_VARIABLE}=NAME chooses another"
    terminal.print(f"\n{chosen}", markup=False)
    lines = [
        (f"[bold]{escape(one.name)}[/bold]", _show_size(one.size), *map(escape, _show_language_model(one)))
        for one in known
    ]
    terminal.print()
    headings = ("language model", "size", "licence", "digest", "here")
    terminal.print(draw_table(headings, lines, right=("size",)))
    if missing := list_missing():
        needed = f"language models need {', '.join(missing)}: pip install 'entitynlm[{EXTRA}]'"
        terminal.print(f"\n{needed}", markup=False)
    terminal.print(
        f"\nother language models: a folder, a .gguf file or a hub name; what is unpacked goes to {cache_folder()}"
    )
    languages = [{**asdict(one), "place": one.place and str(one.place)} for one in known]
    more: dict[str, Any] = {"default": {"model": default, "reason": reason}}
    more |= {"language_models": languages, "missing": missing, "cache": str(cache_folder())}
    terminal.write_json({"models": found, **more})


def _find_folders(folders: Sequence[Path]) -> list[Path]:
    """Those that are models, and the models right inside of the others."""
    found: list[Path] = []
    for folder in folders:
        inside = [folder] if (folder / "model.json").is_file() else sorted(folder.glob("*/"))
        models = [path for path in inside if (path / "model.json").is_file()]
        if not models:
            raise ModelError(f"{folder}: there is no model here or in a folder right below")
        found += models
    return found


def _describe_model(folder: Path, name: str, known: Sequence[KnownLanguageModel]) -> dict[str, Any]:
    """What a folder's configuration says; ``state`` is about the language model that it stands on."""
    row: dict[str, Any] = {"name": name, "folder": str(folder), "parts": []}
    row |= {"components": [], "language_model": None, "untrained": False, "state": "unreadable"}
    row["bytes"] = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    try:
        stored = read_json(folder / CONFIG_FILE)
        row["parts"], row["components"] = list(stored["parts"]), list(stored.get("components", {}))
        row["untrained"] = "untrained" in stored.get("notes", {})
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return row
    row["state"] = "ready"
    if (own := read_language_model(folder)) is not None:
        row["language_model"], row["state"] = own, _find_state(own["model"], own["digest"], known)
    return row


def _find_state(name: str, digest: str, known: Sequence[KnownLanguageModel]) -> str:
    """Whether a language model is here, as far as that is known without reading all of it."""
    for one in known:
        if one.name == name and one.place is not None:
            return "ready" if one.digest in (None, digest) else "another language model of this name is here"
    return "ready" if Path(name).exists() else "its language model is not here"


def _show_model(row: dict[str, Any]) -> tuple[str, str]:
    parts = ", ".join([*row["parts"], *row["components"]]) + (" (default)" if row["default"] else "")
    stands = "its own LSTM"
    if row["language_model"] is not None:
        stands = f"{print_path(row['language_model']['model'])} {row['language_model']['digest']}"
    remarks = ["entity side untrained"] * row["untrained"] + [row["state"]] * (row["state"] != "ready")
    return parts, "; ".join([stands, *remarks])


def _show_language_model(one: KnownLanguageModel) -> tuple[str, str, str]:
    here = "ready" if one.cached else "unpacked at first use" if one.place else f"no: {one.install}"
    return (
        one.licence or "see its card",
        one.digest or "",
        f"{here} ({BACKBONE_PREFIX}{one.name})" if one.place else here,
    )


def _show_size(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size else ""
