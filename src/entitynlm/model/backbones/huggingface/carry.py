"""What a pretrained language model needs to read on: keys and values of its attention, for documents of different lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class EqualReadings:
    """Documents that have read equally many pieces, so that their keys and values lie in one tensor without padding.

    :param position: how many pieces were read, the start piece among them.
    :param keys: per layer that is run, (B, heads, kept, size) keys of the pieces that can still be attended to.
    :param values: the same for values.
    :param states: (B, layers asked for · D) the states after the last piece.
    :param pieces: (B, up to a window) the last pieces, for models that read them again.
    """

    position: int
    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]
    states: Tensor
    pieces: Tensor

    def select(self, rows: Sequence[int]) -> EqualReadings:
        """Some of the documents; nothing is copied where that is all of them in order."""
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

    def detach(self) -> EqualReadings:
        """The same, cut off from the gradient of what is past."""
        if not self.states.requires_grad:
            return self
        return replace(
            self,
            keys=tuple(keys.detach() for keys in self.keys),
            values=tuple(values.detach() for values in self.values),
            states=self.states.detach(),
        )


@dataclass(frozen=True, eq=False)
class LanguageModelCarry:
    """What is left of a reading of some documents; it is never changed in place, so that it may be used twice.

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
        if len(self.groups) == 1 and [row for _, row in self.places] == list(
            range(len(self.groups[0].states))
        ):
            return self.groups[0].states
        return torch.stack([self.groups[group].states[row] for group, row in self.places])

    @property
    def size(self) -> int:
        """How many bytes it holds."""
        return sum(
            tensor.numel() * tensor.element_size()
            for group in self.groups
            for tensor in (*group.keys, *group.values, group.states, group.pieces)
        )

    def members(self, group: int) -> list[int]:
        """The documents of a group, in the order of its rows."""
        rows = [(row, document) for document, (own, row) in enumerate(self.places) if own == group]
        return [document for _, document in sorted(rows)]

    def select(self, documents: Sequence[int]) -> LanguageModelCarry:
        """The carry of some of the documents (one may be asked for several times), cut off from the gradient."""
        groups: list[EqualReadings] = []
        places: dict[int, tuple[int, int]] = {}
        for number, group in enumerate(self.groups):
            wanted = [(i, self.places[d][1]) for i, d in enumerate(documents) if self.places[d][0] == number]
            if wanted:
                places.update({i: (len(groups), row) for row, (i, _) in enumerate(wanted)})
                groups.append(group.select([row for _, row in wanted]).detach())
        return LanguageModelCarry(self.layers, tuple(groups), tuple(places[i] for i in range(len(documents))))
