"""Trained components: what a model has beside its networks, such as the resolver of ``annotate``.

A component knows how to turn itself into tensors and JSON settings and back; ``Pretrained`` stores them in the model's folder and
builds each at most once. The model itself knows none by type, so a task adds its own in its own room.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import torch

if TYPE_CHECKING:
    from typing_extensions import Self

StoredComponent = tuple[dict[str, torch.Tensor], dict[str, Any]]
"""Tensors (``NAME.safetensors``) and settings (JSON) of a component."""


class Component(Protocol):
    """A trained part of a model that is stored in its folder as ``NAME.safetensors`` and settings in ``model.json``."""

    component_name: ClassVar[str]

    def to_stored(self) -> StoredComponent:
        """Tensors and JSON-able settings from which :meth:`from_stored` makes an equal component."""
        ...

    @classmethod
    def from_stored(cls, tensors: Mapping[str, torch.Tensor], settings: Mapping[str, Any]) -> Self:
        """The component that :meth:`to_stored` described."""
        ...
