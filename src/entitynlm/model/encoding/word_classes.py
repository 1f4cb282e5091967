"""Word classes for the class-factored softmax: p(word) = p(class) · p(word | class).

About √V classes make both sums short (docs/decisions/006-word-classes.md). ``class_clustering`` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from entitynlm.errors import DataError
from entitynlm.model.encoding.preprocessing import IntArray

START_ID = 0  # <s> has the first id in every vocabulary; it is read, never predicted, and has no class


@dataclass(frozen=True, eq=False)
class WordClasses:
    """(V,) the class of each word: -1 for ``<s>``, which is never predicted, else 0, …, C - 1, none empty."""

    class_of: IntArray

    def __post_init__(self) -> None:
        class_of = np.asarray(self.class_of, dtype=np.int64)
        object.__setattr__(self, "class_of", class_of)
        if class_of.ndim != 1 or len(class_of) < 2 or class_of[START_ID] != -1 or (class_of[1:] < 0).any():
            raise DataError("word classes: every word but the first, <s>, has a class from 0 on")
        if class_of.max() >= len(class_of) or (np.bincount(class_of[1:]) == 0).any():
            raise DataError("word classes: a class is empty")

    def to_dict(self) -> dict[str, Any]:
        return {"class_of": self.class_of.tolist()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> WordClasses:
        try:
            return cls(np.array(values["class_of"], dtype=np.int64))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"word classes: this is not what was stored ({error!r})") from error
