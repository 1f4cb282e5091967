"""Additions to the paper's equations: small modules beside the page (``entitynlm``), each off unless a configuration asks for it.

- :class:`Additions` (``mention_positions``): a word's probability depends on its place in its mention.
- :class:`SphereProjection` and :class:`LowRankEntity` (a pretrained backbone): states, which are larger than entity vectors and
  have very different scales by dimension, are standardised, projected and put on a sphere of a learned radius; W_e is a product
  of two thin matrices, because W_e e is multiplied with the output weights of fifty thousand pieces for every state of every
  particle.

``reference.SlowAdditions`` writes the same out word by word, for the slow twin.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from entitynlm.config import ModelConfig
from entitynlm.model.backbones.base import Backbone, draw_mask
from entitynlm.model.batch.scan import SMALLEST_NORM
from entitynlm.model.encoding.tokenizer import EncodedWords

if TYPE_CHECKING:
    from entitynlm.model.entitynlm import EntityNetwork

LARGEST_ACTIVATION = 1_000.0
CLIP = 5.0


class Standardisation(nn.Module):
    """(h - mean) / deviation of each dimension, clipped to ±5; mean 0 and deviation 1 until they are fitted.

    In states of a pretrained language model a single dimension may have 95 % of the squared norm, and the first pieces of a text
    have activations a thousand times larger than all others: means and deviations leave these out, and the rest is clipped.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("deviation", torch.ones(size))

    def forward(self, h: Tensor) -> Tensor:
        return ((h - self.mean) / self.deviation).clamp(-CLIP, CLIP)

    @torch.no_grad()
    def fit(self, states: Tensor) -> None:
        """Fit mean and deviation to states (N, size)."""
        usual = states[states.abs().amax(1) < LARGEST_ACTIVATION]
        usual = states if len(usual) < 2 else usual
        if len(usual) > 1:
            self.mean.copy_(usual.mean(0))
            self.deviation.copy_(usual.std(0).clamp_min(1e-6))


FIRST_RADIUS = 8.0
"""The radius of the sphere of projected states before it is learned."""
PROJECTION_UNITS = 256
"""Most units of the hidden layer in the projection onto the sphere, beside the linear map."""
ENTITY_RANK = 16
"""The rank of W_e on a pretrained backbone."""


class Additions(nn.Module):
    """The additions that a configuration asks for; without any, it changes nothing."""

    def __init__(self, config: ModelConfig, hidden_size: int) -> None:
        super().__init__()
        self.positions: Any = None  # a vector for each place in (or out of) a mention
        if config.mention_positions and config.mode == "generative":
            vectors = torch.empty(count_mention_positions(config), hidden_size)
            self.positions = nn.ParameterDict({"vectors": vectors})

    def add_positions(self, u: Tensor, positions: Tensor | None) -> Tensor:
        """Add the vector of each word's place in its mention to the input of equation 6: (N, D) → (N, D)."""
        if self.positions is None:
            return u
        assert positions is not None
        return u + F.embedding(positions, self.positions.vectors)


def count_mention_positions(config: ModelConfig) -> int:
    """Count the places in (or outside of) a mention that :func:`find_mention_positions` distinguishes."""
    return 1 + 2 * max(1, config.mention_positions) * config.mention_types


def find_mention_positions(
    config: ModelConfig, mention_type: np.ndarray, remaining: np.ndarray, first: np.ndarray
) -> np.ndarray:
    """Number the place of each word in its mention; the arguments may have any shape.

    It is 0 outside of mentions, else by type, first word or not, and remaining words (at most ``mention_positions``).
    """
    most = max(1, config.mention_positions)
    left = np.minimum(remaining, most) - 1
    place = 1 + ((mention_type.astype(np.int64) - 1) * 2 + first) * most + left
    return np.where(mention_type > 0, place, 0)


# -- seams: the state that is asked, and the rank of W_e --------------------------------------------------------------------


class UnprojectedStates(nn.Module):
    """The paper's case: h has the size of e, and equations 3, 4, 5 and 8 use h itself."""

    shared = True
    """True where choices and updates see one vector."""

    def project_state(self, h: Tensor) -> Tensor:
        return h

    def project_update(self, h: Tensor) -> Tensor:
        return h


class SphereProjection(nn.Module):
    """c · y / ‖y‖ with y = W z + W_outer relu(W_inner z) and z the standardised h; row 0 for choices, row 1 for updates."""

    shared = False

    def __init__(self, config: ModelConfig, state_size: int) -> None:
        super().__init__()
        d, S, units = config.hidden_size, state_size, min(PROJECTION_UNITS, state_size)
        self.rate = config.dropout
        self.linear = nn.ParameterList(torch.empty(d, S) for _ in range(2))
        self.inner = nn.ParameterList(torch.empty(units, S) for _ in range(2))
        self.outer = nn.ParameterList(torch.empty(d, units) for _ in range(2))
        self.radii = nn.Parameter(torch.empty(2))
        self.scaling = Standardisation(S)

    def project_state(self, h: Tensor) -> Tensor:
        return self._project(h, 0)

    def project_update(self, h: Tensor) -> Tensor:
        return self._project(h, 1)

    def _project(self, h: Tensor, row: int) -> Tensor:
        z = self._drop(self.scaling(h))
        hidden = self._drop(F.relu(F.linear(z, self.inner[row])))
        y = F.linear(z, self.linear[row]) + F.linear(hidden, self.outer[row])
        return self._drop(self.radii[row] * y / y.norm(dim=-1, keepdim=True).clamp_min(SMALLEST_NORM))

    def _drop(self, values: Tensor) -> Tensor:
        return values * draw_mask(values, self.rate) if self.training and self.rate else values


class FullRankEntity(nn.Module):
    """The paper's case: W_e has as many columns as e has numbers."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, e: Tensor) -> Tensor:
        return e


class LowRankEntity(nn.Module):
    """The first of two thin matrices whose product is W_e: (…, d) → (…, rank)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = min(ENTITY_RANK, size)
        self.weight = nn.Parameter(torch.empty(self.size, size))

    def forward(self, e: Tensor) -> Tensor:
        return F.linear(e, self.weight)


def make_projection(config: ModelConfig, backbone: Backbone) -> UnprojectedStates | SphereProjection:
    """Keep states that have the size of e, and project other states."""
    if backbone.state_size == config.hidden_size:
        return UnprojectedStates()
    return SphereProjection(config, backbone.state_size)


def make_entity_projection(config: ModelConfig, backbone: Backbone) -> FullRankEntity | LowRankEntity:
    """Make W_e of full rank where h has the size of e (or no word is predicted), and of low rank elsewhere."""
    if backbone.hidden_size == config.hidden_size or config.mode != "generative":
        return FullRankEntity(config.hidden_size)
    return LowRankEntity(config.hidden_size)


def start_at_zero(network: "EntityNetwork") -> None:
    """Initialise so that P(X) is a pretrained backbone's own: entities add zero to words. Radii start at the norm of states."""
    if isinstance(network.projection, SphereProjection):
        nn.init.constant_(network.projection.radii, FIRST_RADIUS)
    if network.backbone.pretrained and network.config.mode == "generative":
        nn.init.zeros_(network.W_e)
        if network.additions.positions is not None:
            nn.init.zeros_(network.additions.positions.vectors)


@torch.no_grad()
def fit_scaling(network: "EntityNetwork", documents: Sequence[EncodedWords]) -> None:
    """Fit the means and deviations of standardised states to documents."""
    if isinstance(network.projection, SphereProjection) and documents:
        network.projection.scaling.fit(network.backbone.read(documents).table)
