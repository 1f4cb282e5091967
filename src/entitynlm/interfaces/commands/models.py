"""``entitynlm models``: the packaged models, and whether the language model of the larger one is installed."""

from typing import Any

from rich.markup import escape

from entitynlm.cache import cache_folder
from entitynlm.default_model import MODEL_VARIABLE, explain_default
from entitynlm.errors import MissingExtraError, ModelError
from entitynlm.files import read_json
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.model.language_models import SMOLLM2, check_language_model, list_installs
from entitynlm.model.packaged import CONFIG_FILE, PACKAGED_MODELS, list_models, read_language_model


def models(*, terminal: Terminal) -> None:
    """List the packaged models, and how to install the language model that one of them needs.

    The default model of all verbs is the one that the environment variable ENTITYNLM_MODEL names, else
    entitynlm-en-smollm2 where its language model is installed, else entitynlm-en. --model huggingface:NAME is a language
    model with an untrained entity side; train --backbone NAME trains the entity side.
    """
    from entitynlm.interfaces.views import draw_table

    default, reason = explain_default()
    found = [{"name": name, "default": name == default, **_describe(name)} for name in list_models()]
    terminal.print(draw_table(("model", "parts", "built on", "size"), map(_show, found), right=("size",)))
    chosen = f"used where no --model is given: {print_path(default)} ({reason}); {MODEL_VARIABLE}=NAME chooses another"
    terminal.print(f"\n{chosen}\n", markup=False)
    installs = list_installs()
    state = f"can be installed: {' && '.join(installs)}" if installs else "is installed"
    terminal.print(f"the language model {SMOLLM2} {state}; cache folder: {cache_folder()}", markup=False)
    more = {"default": {"model": default, "reason": reason}, "cache": str(cache_folder())}
    terminal.write_json({"models": found, "language_model": {"name": SMOLLM2, "install": installs}, **more})


def _describe(name: str) -> dict[str, Any]:
    """Describe a model by its configuration; ``state`` says whether its language model is installed."""
    folder = PACKAGED_MODELS / name
    stored, own = read_json(folder / CONFIG_FILE), read_language_model(folder)
    state = "ready"
    if own is not None:
        try:
            check_language_model(own["model"])
        except (MissingExtraError, ModelError):
            state = "its language model is not here"
    return {
        "folder": str(folder),
        "parts": list(stored["parts"]),
        "components": list(stored["components"]),
        "language_model": own,
        "state": state,
        "bytes": sum(path.stat().st_size for path in folder.iterdir() if path.is_file()),
    }


def _show(row: dict[str, Any]) -> tuple[str, ...]:
    parts = ", ".join([*row["parts"], *row["components"]]) + (" (default)" if row["default"] else "")
    own = row["language_model"]
    stands = "its own LSTM" if own is None else f"{own['model']} {own['digest']}"
    told = stands if row["state"] == "ready" else f"{stands}; {row['state']}"
    return tuple(map(escape, (row["name"], parts, told, f"{row['bytes'] / 1e6:,.0f} MB")))
