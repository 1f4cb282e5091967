"""The slow twin of ``additions``: each addition for one word, by its definition, for ``reference`` to call."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from entitynlm.model.additions import CLIP, Narrowing, SphereProjection

if TYPE_CHECKING:
    from entitynlm.model.entitynlm import EntityNetwork


class SlowAdditions:
    """The additions of a network; an addition that its configuration does not ask for changes nothing."""

    def __init__(self, network: "EntityNetwork") -> None:
        self.network = network

    def project_state(self, h: Tensor) -> Tensor:
        """Return the state that equations 3, 4 and 5 use."""
        return self._project(h, 0)

    def project_update(self, h: Tensor) -> Tensor:
        """Return the state with which equation 8 updates an entity."""
        return self._project(h, 1)

    def _project(self, h: Tensor, row: int) -> Tensor:
        """Standardise, project and put on a sphere."""
        sphere = self.network.projection
        if not isinstance(sphere, SphereProjection):
            return h
        values = []
        for value, mean, deviation in zip(h, sphere.scaling.mean, sphere.scaling.deviation, strict=True):
            values.append(((value - mean) / deviation).clamp(-CLIP, CLIP))
        z = torch.stack(values)
        y = sphere.linear[row] @ z + sphere.outer[row] @ (sphere.inner[row] @ z).clamp_min(0)
        return sphere.radii[row] * y / torch.sqrt((y * y).sum())

    def narrow_entity(self, e: Tensor) -> Tensor:
        """Multiply an entity's vector by the first of two matrices whose product is W_e."""
        narrowing = self.network.narrow_entity
        return narrowing.weight @ e if isinstance(narrowing, Narrowing) else e

    def add_position(self, u: Tensor, r: int, first: bool, l: int) -> Tensor:
        """Add the vector of a word's place: of type r, the first word of its mention or not, with l words remaining."""
        positions = self.network.additions.positions
        if positions is None:
            return u
        most = self.network.config.mention_positions
        row = 0 if r == 0 else 1 + (r - 1) * 2 * most + (most if first else 0) + min(l, most) - 1
        return u + positions.vectors[row]
