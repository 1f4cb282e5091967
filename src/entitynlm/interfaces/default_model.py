"""Which model is used where nobody names one: ``ENTITYNLM_MODEL``, else the best model of the package that can be used here."""

from __future__ import annotations

import os
from pathlib import Path

from entitynlm.model.packaged import choose_default

VARIABLE = "ENTITYNLM_MODEL"


def explain_default() -> tuple[str, str]:
    """The name of the default model, and why it is the default."""
    if chosen := os.environ.get(VARIABLE):
        return chosen, f"{VARIABLE} names it"
    return choose_default()


def choose_model(model: str | Path | None) -> str:
    """The model that was asked for, or the default."""
    return str(model) if model else explain_default()[0]
