"""The slow twin of ``additions``: each addition for one word, as its definition says, for ``reference`` to call at its seams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from entitynlm.model.additions import COPY_EDGES, Narrowing, SphereProjection
from entitynlm.model.encoding.copying import BOUNDS, NO_PREDECESSOR, RAREST
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.standardisation import CLIP

if TYPE_CHECKING:
    from entitynlm.model.entitynlm import EntityNetwork
    from entitynlm.model.reference import TwinEntity, TwinStory


class SlowAdditions:
    """The additions of a network; what its configuration leaves off changes nothing."""

    def __init__(self, network: EntityNetwork) -> None:
        self.network = network

    def project_state(self, h: Tensor) -> Tensor:
        """Give the state that equations 3, 4 and 5 are asked about."""
        return self._project(h, 0)

    def project_update(self, h: Tensor) -> Tensor:
        """Give the state that equation 8 updates an entity with."""
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

    def score_match(self, story: TwinStory, entity: TwinEntity, t: int, word: EncodedWords | None) -> Tensor:
        """Score how well a word that Q has read matches the entity's words, as ``encoding.copying`` numbers it."""
        matching = self.network.additions.string_match
        if matching is None or word is None:
            return entity.vector.new_zeros(())
        x = int(word.x[0])
        rarity = sum(x >= bound for bound in BOUNDS)
        previous = find_predecessor(story, entity, t)
        copy_candidates = [other for before, other in entity.words if before == previous]
        share = copy_candidates.count(x) / len(copy_candidates) if copy_candidates else 0.0
        match = 0 if share == 0 else 1 if share < 0.5 else 2
        known = rarity == RAREST and any(other == x for _, other in entity.words)
        return matching.weights[match + 3 * rarity + 9 * known]

    def mix_copies(
        self, log_x: Tensor, h: Tensor, x: int, story: TwinStory, entity: TwinEntity, t: int
    ) -> Tensor:
        """Let the mention repeat one of its entity's words with probability λ."""
        copying = self.network.additions.copying
        previous = find_predecessor(story, entity, t)
        copy_candidates = [word for before, word in entity.words if before == previous]
        if copying is None or not copy_candidates:
            return log_x
        row = 1 if previous == NO_PREDECESSOR else 0
        bucket = sum(1 for edge in COPY_EDGES if edge <= len(copy_candidates)) - 1
        share = torch.sigmoid(copying.weight[row] @ h + copying.bias[row, bucket])
        return torch.log((1 - share) * log_x.exp() + share * copy_candidates.count(x) / len(copy_candidates))


def find_predecessor(story: TwinStory, entity: TwinEntity, t: int) -> int:
    """Find the word before this one, if it was the entity's too."""
    return story.last_word if entity.words and entity.last_token == t - 1 else NO_PREDECESSOR
