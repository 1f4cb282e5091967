"""Carries of a pretrained language model, from which it reads on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class EqualReadings:
    """Documents that have read equally many pieces, so that their keys and values are one tensor without padding.

    :param position: how many pieces were read, the start piece among them.
    :param keys: per layer that is run, (B, heads, kept, size) keys of the pieces that can still be attended to.
    :param values: per layer that is run, their values.
    :param states: (B, layers asked for · D) the states after the last piece.
    :param pieces: (B, up to a window) the last pieces, for models that read them again.
    """

    position: int
    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]
    states: Tensor
    pieces: Tensor

    def cut(self, rows: slice, surplus: int, states: Tensor) -> EqualReadings:
        """Take some of the documents as they were so many pieces ago, with their ``states`` then."""
        kept = slice(0, -surplus if surplus else None)
        return EqualReadings(
            self.position - surplus,
            tuple(keys[rows, :, kept] for keys in self.keys),
            tuple(values[rows, :, kept] for values in self.values),
            states,
            self.pieces[rows, kept],
        )


@dataclass(frozen=True, eq=False)
class LanguageModelCarry:
    """Keys, values and states after a reading of some documents; it is never changed in place, so that it may be used twice.

    :param pasts: one per document.
    """

    pasts: tuple[EqualReadings, ...]

    @property
    def states(self) -> Tensor:
        """(documents, layers asked for · D) the states after all that was read."""
        return torch.cat([past.states for past in self.pasts])

    def select(self, documents: Sequence[int]) -> LanguageModelCarry:
        """Take some of the documents; one may be asked for several times."""
        return LanguageModelCarry(tuple(self.pasts[document] for document in documents))
