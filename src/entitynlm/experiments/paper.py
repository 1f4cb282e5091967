"""Figures of the paper: its three tables' titles, corpora, systems and figures; and the settings that the package carries."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from entitynlm.config import load_toml

TABLE_TITLES = {
    "lm": "Table 1: language modelling (perplexity, lower is better)",
    "coref": "Table 2: reranking coreference (CoNLL F1, higher is better)",
    "entity": "Table 3: entity prediction (accuracy in percent, higher is better)",
}
CORPORA = {"lm": "CoNLL-2012 test", "coref": "CoNLL-2012 test", "entity": "InScript"}
COREF_F1: Mapping[str, Mapping[str, float]] = {
    "one best": {"muc": 72.66, "b3": 59.95, "ceafe": 56.18, "conll": 62.93},
    "P": {"muc": 73.44, "b3": 61.01, "ceafe": 57.55, "conll": 64.00},
    "P + baseline": {"muc": 73.47, "b3": 61.04, "ceafe": 57.61, "conll": 64.04},
}
PREDICTION_SYSTEMS = {
    "always-new": "Always new",
    "shallow": "Shallow features",
    "modi": "Modi et al. (2017)",
    "entitynlm": "EntityNLM",
    "ours": "Our predictor",
    "ensemble": "Our predictor and EntityNLM",
    "human": "Human",
}
"""The rows of Table 3 in their order, two of ours among the paper's."""


def load_packaged_settings(name: str) -> dict[str, Any]:
    """Load settings by ``section.key``: "inscript" is configs/paper-inscript.toml word for word."""
    sections = load_toml(Path(__file__).parents[1] / "resources" / "experiments" / f"{name}.toml")
    return {f"{section}.{key}": value for section, found in sections.items() for key, value in found.items()}
