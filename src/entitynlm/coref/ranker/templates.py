"""Feature templates, read from ``resources/ranker/templates.txt`` and compiled to numbers for the kernels."""

from collections.abc import Sequence
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from entitynlm.coref.ranker.attributes import ATTRIBUTES
from entitynlm.coref.ranker.relations import RELATIONS

WIDTH = 4  # parts of a template, at most
ANAPHOR, ANTECEDENT, RELATION = 0, 1, 2
OWNERS = {"m": ANAPHOR, "a": ANTECEDENT, "": RELATION}


def read_templates(section: str) -> tuple[str, ...]:
    """The templates of one section of the file: ``new``, ``pair`` or ``span``."""
    text = (resources.files("entitynlm") / "resources" / "ranker" / "templates.txt").read_text("utf-8")
    _, _, rest = text.partition(f"[{section}]\n")
    return tuple(rest.partition("\n[")[0].strip().split("\n"))


def compile_templates(
    templates: Sequence[str],
    attributes: Sequence[str] = ATTRIBUTES,
    relations: Sequence[str] = RELATIONS,
) -> NDArray[np.int64]:
    """Shape (templates, WIDTH, 2): owner and column of each part, -1 after the last; a wrong name is a ValueError."""
    table = np.full((len(templates), WIDTH, 2), -1, dtype=np.int64)
    for row, template in enumerate(templates):
        for part, name in enumerate(template.split()):
            owner, _, column = name.rpartition(".")
            table[row, part] = OWNERS[owner], (attributes if owner else relations).index(column)
    return table


NEW_TEMPLATES, PAIR_TEMPLATES = read_templates("new"), read_templates("pair")
