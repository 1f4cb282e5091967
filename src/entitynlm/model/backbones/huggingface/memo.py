"""The last readings of a language model, so that parts of a model that share it do not run it twice over the same stretch."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from entitynlm.model.backbones.huggingface.carry import LanguageModelCarry

Reading = tuple[list[Tensor], LanguageModelCarry | None]
READINGS = 4
BYTES = 256 << 20


@dataclass(frozen=True)
class _Entry:
    key: bytes
    layers: tuple[int, ...]
    before: LanguageModelCarry | None
    reading: Reading


class ReadingMemo:
    """Some readings, the latest last; the latest one is kept whatever its size."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []

    def find(
        self,
        documents: Sequence[np.ndarray],
        layers: tuple[int, ...],
        before: LanguageModelCarry | None,
        keep: bool,
    ) -> Reading | None:
        """The reading of the same pieces after the same past, if it is here (with a carry, if that is wanted)."""
        key = digest_pieces(documents)
        for entry in self._entries:
            if entry.key == key and entry.layers == layers and entry.before is before:
                states, carry = entry.reading
                if carry is not None or not keep:
                    return list(states), carry
        return None

    def store(
        self,
        documents: Sequence[np.ndarray],
        layers: tuple[int, ...],
        before: LanguageModelCarry | None,
        reading: Reading,
    ) -> None:
        """Remember a reading and forget the oldest ones."""
        self._entries.append(_Entry(digest_pieces(documents), layers, before, reading))
        sizes = [_size(entry.reading) for entry in self._entries]
        while len(sizes) > 1 and (len(sizes) > READINGS or sum(sizes) > BYTES):
            del sizes[0], self._entries[0]

    def clear(self) -> None:
        """Forget all of them."""
        self._entries.clear()


def digest_pieces(documents: Sequence[np.ndarray]) -> bytes:
    """What documents are known again by."""
    digest = hashlib.blake2b(digest_size=16)
    for document in documents:
        digest.update(len(document).to_bytes(8, "little"))
        digest.update(np.asarray(document, dtype=np.int64).tobytes())
    return digest.digest()


def _size(reading: Reading) -> int:
    states, carry = reading
    return sum(own.numel() * own.element_size() for own in states) + (carry.size if carry is not None else 0)
