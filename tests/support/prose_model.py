"""A model that writes prose: random parameters on a tiny random language model, whose pieces say where white space is."""

from pathlib import Path
from typing import Any

from entitynlm.model.additions import fit_scaling
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document
from entitynlm.training.recipe import fit_encoder, make_network
from entitynlm.training.settings import load_settings
from support.tiny_language_models import save_model

DOCUMENT = Document("x", ("Anna", "lost", "her", "key", "."))


def make_prose_model(folder: Path, **changes: Any) -> Pretrained:
    """Make a model with the generative network alone, whose language model is stored in ``folder``."""
    language_model = save_model(folder, "llama", context=64)
    options = {"model.hidden_size": 4, "model.mention_positions": 2, **changes}
    settings = load_settings(None, options, language_model=str(language_model))
    pretrained = Pretrained(fit_encoder([DOCUMENT], settings), None)
    network, _ = make_network(pretrained, "generative", settings, seed=1)
    fit_scaling(network, [pretrained.encoder.encode(DOCUMENT).words])
    network.eval()
    return pretrained
