"""Choose the model where none is named: ``ENTITYNLM_MODEL``, else the best packaged model that can be used here."""

import os
from pathlib import Path

from entitynlm.model.language_models import SMOLLM2, list_installs
from entitynlm.model.packaged import ON_SMOLLM2, SMALL

MODEL_VARIABLE = "ENTITYNLM_MODEL"


def explain_default() -> tuple[str, str]:
    """Name the default model, and say why it is the default."""
    if chosen := os.environ.get(MODEL_VARIABLE):
        return chosen, f"{MODEL_VARIABLE} names it"
    if commands := list_installs():
        return SMALL, f"{ON_SMOLLM2} needs a language model that is not installed: {' && '.join(commands)}"
    return ON_SMOLLM2, f"the language model {SMOLLM2} is installed"


def choose_model(model: str | Path | None) -> str:
    """Return the named model, or the default where none is named."""
    return str(model) if model else explain_default()[0]
