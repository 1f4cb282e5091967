"""Carries of a pretrained language model, from which it reads on, and its last readings.

Documents that have read equally many pieces keep their keys and values in one tensor without padding. Parts of a model that share
a language model do not run it twice over the same chunk: the last few readings are kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

READINGS = 4
READING_BYTES = 256 << 20


@dataclass(frozen=True)
class EqualReadings:
    """Documents that have read equally many pieces.

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

    def select(self, rows: Sequence[int]) -> EqualReadings:
        """Take some of the documents; nothing is copied where that is all of them in order."""
        if list(rows) == list(range(len(self.states))):
            return self
        index = torch.as_tensor(rows, dtype=torch.long, device=self.states.device)
        return replace(
            self,
            keys=tuple(keys[index] for keys in self.keys),
            values=tuple(values[index] for values in self.values),
            states=self.states[index],
            pieces=self.pieces[index],
        )


@dataclass(frozen=True, eq=False)
class LanguageModelCarry:
    """Keys, values and states after a reading of some documents; it is never changed in place, so that it may be used twice.

    :param layers: the layers whose states are asked for.
    :param groups: the documents by the number of pieces that they have read.
    :param places: per document, its group and its row there.
    """

    layers: tuple[int, ...]
    groups: tuple[EqualReadings, ...]
    places: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.places)

    @property
    def states(self) -> Tensor:
        """(documents, layers asked for · D) the states after all that was read."""
        rows = [row for _, row in self.places]
        if len(self.groups) == 1 and rows == list(range(len(self.groups[0].states))):
            return self.groups[0].states
        return torch.stack([self.groups[group].states[row] for group, row in self.places])

    @property
    def size(self) -> int:
        """The bytes that it holds."""
        return sum(
            tensor.nbytes
            for group in self.groups
            for tensor in (*group.keys, *group.values, group.states, group.pieces)
        )

    def members(self, group: int) -> list[int]:
        """List the documents of a group, in the order of its rows."""
        rows = [(row, document) for document, (own, row) in enumerate(self.places) if own == group]
        return [document for _, document in sorted(rows)]

    def select(self, documents: Sequence[int]) -> LanguageModelCarry:
        """Take some of the documents; one may be asked for several times."""
        groups: list[EqualReadings] = []
        places: dict[int, tuple[int, int]] = {}
        for number, group in enumerate(self.groups):
            wanted = [(i, self.places[d][1]) for i, d in enumerate(documents) if self.places[d][0] == number]
            if wanted:
                places.update({i: (len(groups), row) for row, (i, _) in enumerate(wanted)})
                groups.append(group.select([row for _, row in wanted]))
        return LanguageModelCarry(self.layers, tuple(groups), tuple(places[i] for i in range(len(documents))))


Reading = tuple[list[Tensor], LanguageModelCarry | None]
"""States per document, and the carry."""
_Key = tuple[bytes, tuple[int, ...], int | None]


class ReadingMemo:
    """The latest readings (the very latest whatever its size), and those of documents that were read ahead."""

    def __init__(self) -> None:
        self._latest: dict[_Key, tuple[Reading, LanguageModelCarry | None]] = {}
        self._ahead: dict[_Key, Reading] = {}

    def find(
        self,
        documents: Sequence[np.ndarray],
        layers: tuple[int, ...],
        before: LanguageModelCarry | None,
        keep: bool,
    ) -> Reading | None:
        """Find the reading of these pieces after this past, with a carry if that is wanted."""
        key = _make_key(documents, layers, before)
        reading = self._latest[key][0] if key in self._latest else self._ahead.get(key)
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

    def keep_ahead(
        self, documents: Sequence[np.ndarray], layers: tuple[int, ...], states: Sequence[Tensor]
    ) -> None:
        """Keep the states of documents that will be asked for one by one, and drop those of the last time."""
        pairs = zip(documents, states, strict=True)
        self._ahead = {_make_key([document], layers, None): ([own], None) for document, own in pairs}


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
