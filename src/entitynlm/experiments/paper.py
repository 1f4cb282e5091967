"""The paper's three tables (titles, corpora, systems and figures), and the settings that the package carries."""

from pathlib import Path
from typing import Any

from entitynlm.config import load_toml

TABLE_TITLES = {
    "lm": "Table 1: language modelling (perplexity, lower is better)",
    "coref": "Table 2: reranking coreference (CoNLL F1, higher is better)",
    "entity": "Table 3: entity prediction (accuracy in percent, higher is better)",
}
CORPORA = {"lm": "CoNLL-2012 test", "coref": "CoNLL-2012 test", "entity": "InScript"}
COREF_F1 = {"one best": 62.93, "P": 64.00, "P + baseline": 64.04}  # CoNLL
PREDICTION_SYSTEMS = ("always-new", "shallow", "modi", "entitynlm", "ours", "ensemble", "human")
"""The rows of Table 3 in their order, two of ours among the paper's."""


def load_packaged_settings(name: str) -> dict[str, Any]:
    """Load packaged settings by ``section.key``: "inscript" is configs/paper-inscript.toml word for word."""
    sections = load_toml(Path(__file__).parents[1] / "resources" / "experiments" / f"{name}.toml")
    return {f"{section}.{key}": value for section, found in sections.items() for key, value in found.items()}
