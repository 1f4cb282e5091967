"""Carries of a pretrained language model, from which it reads on, and its last readings.

Parts of a model that share a language model do not run it twice over the same chunk: the last few readings are kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

READINGS = 4
READING_BYTES = 256 << 20


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

    @property
    def size(self) -> int:
        """The bytes that it holds."""
        return sum(
            tensor.nbytes
            for past in self.pasts
            for tensor in (*past.keys, *past.values, past.states, past.pieces)
        )

    def select(self, documents: Sequence[int]) -> LanguageModelCarry:
        """Take some of the documents; one may be asked for several times."""
        return LanguageModelCarry(tuple(self.pasts[document] for document in documents))


Reading = tuple[list[Tensor], LanguageModelCarry | None]
"""States per document, and the carry."""
_Key = tuple[bytes, tuple[int, ...], int | None]


class ReadingMemo:
    """Keep the latest readings, the very latest whatever its size, because P and Q ask for one text."""

    def __init__(self) -> None:
        self._latest: dict[_Key, tuple[Reading, LanguageModelCarry | None]] = {}

    def find(
        self,
        documents: Sequence[np.ndarray],
        layers: tuple[int, ...],
        before: LanguageModelCarry | None,
        keep: bool,
    ) -> Reading | None:
        """Find the reading of these pieces after this past, with a carry if that is wanted."""
        key = _make_key(documents, layers, before)
        reading = self._latest[key][0] if key in self._latest else None
        if reading is None or (keep and reading[1] is None):
            return None
        return list(reading[0]), reading[1]

    def store(
        self,
        documents: Sequence[np.ndarray],
        layers: tuple[int, ...],
        before: LanguageModelCarry | None,
        reading: Reading,
    ) -> None:
        """Keep a reading, with its past so that the past's identity stays its own, and forget the oldest ones."""
        self._latest[_make_key(documents, layers, before)] = (reading, before)
        sizes = {
            key: sum(own.nbytes for own in states) + (carry.size if carry is not None else 0)
            for key, ((states, carry), _) in self._latest.items()
        }
        for key in list(sizes)[:-1]:
            if len(sizes) > READINGS or sum(sizes.values()) > READING_BYTES:
                del sizes[key], self._latest[key]


def _make_key(
    documents: Sequence[np.ndarray], layers: tuple[int, ...], before: LanguageModelCarry | None
) -> _Key:
    return digest_pieces(documents), layers, None if before is None else id(before)


def digest_pieces(documents: Sequence[np.ndarray]) -> bytes:
    """Make the key that documents are known again by."""
    digest = hashlib.blake2b(digest_size=16)
    for document in documents:
        digest.update(len(document).to_bytes(8, "little"))
        digest.update(np.asarray(document, dtype=np.int64).tobytes())
    return digest.digest()
