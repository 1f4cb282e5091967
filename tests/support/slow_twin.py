"""The slow twin: the generative story as a loop over words, one scalar factor at a time. The executable specification.

Nothing here is batched, cached, compiled or shared with the fast path but the parameters themselves: the LSTM cell, the features,
the softmax and the updates are written out again, as the paper states them, so that an error in one of the two shows. Tests
compare everything fast with it. Only dropout and windows are left out; a backbone other
than the LSTM is asked to go on piece by piece, and for its whole distribution at each. What is not the paper's is written out in
:class:`SlowAdditions`, which is called at its seams.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from entitynlm.model.additions import CLIP, LowRankEntity, SphereProjection
from entitynlm.model.backbones.base import Carry
from entitynlm.model.backbones.lstm import LstmBackbone
from entitynlm.model.batch.scan import SMALLEST_NORM
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.features import BUCKET_EDGES, QUANTITIES, SETS
from entitynlm.model.noise import Noise


@dataclass(eq=False)  # two entities may have equal vectors
class TwinEntity:
    """An entity of the loop."""

    mention_type: int
    vector: Tensor
    last_token: int = 0
    last_sentence: int = 0
    last_mention: int = 0
    count: int = 0


@dataclass
class TokenScore:
    """log-probabilities of the choices at one word; a forced value contributes nothing."""

    r: Tensor
    e: Tensor
    l: Tensor
    x: Tensor


@dataclass
class TwinStory:
    """The state of the story between two words; ``carry`` is the backbone's: (h, c) of an LSTM."""

    carry: Carry
    h: Tensor
    entities: list[TwinEntity] = field(default_factory=list)
    e_current: Tensor | None = None
    remaining: int = 0
    mentions: int = 0


class SlowTwin:
    """EntityNLM, one word at a time."""

    def __init__(self, network: EntityNetwork, noise: Noise | None = None) -> None:
        self.network = network
        self.noise = noise
        self.additions = SlowAdditions(network)

    def score(self, document: EncodedDocument) -> list[TokenScore]:
        """log-probabilities of a document's variables, word by word."""
        story = self.begin()
        scores = []
        for t in range(len(document)):
            word = document.words[t : t + 1]
            values = (int(document.r[t]), int(document.e[t]), int(document.l[t]), word)
            scores.append(self.step(story, t, values, int(document.sentence[t]), t_end=len(document)))
        return scores

    def begin(self) -> TwinStory:
        """Return the state before the first word: an LSTM has read the start symbol."""
        backbone = self.network.backbone
        if not isinstance(backbone, LstmBackbone):
            carry = backbone.start()
            return TwinStory(carry, backbone.state(carry)[0])
        zero = self.network.W_r.new_zeros(backbone.hidden_size)
        story = TwinStory((zero, zero), zero)
        self._read(story, backbone.start_word)
        return story

    def step(
        self,
        story: TwinStory,
        t: int,
        values: tuple[int, int, int, EncodedWords],
        sentence: int,
        *,
        t_end: int,
    ) -> TokenScore:
        """Take one step of section 2.2 with the given outcome (r, e, l, x); advances ``story``."""
        net = self.network
        r, e, l, word = values
        discriminative = net.config.mode == "causal"
        if discriminative:
            for piece in word.all_pieces.tolist():
                self._read(story, piece)  # Q: step 4 moves before step 1, so h below is h_t
        h = self.additions.project_state(story.h)
        zero = h.new_zeros(())
        score = TokenScore(zero, zero, zero, zero)
        first = story.remaining == 0

        if first:  # 1. not continuing a mention
            score.r = self.type_log_probs(h)[r]
            if r > 0:
                candidates, log_probs = self.entity_log_probs(story, h, t, r, sentence)
                new_entity = candidates[-1]
                if e == len(story.entities) + 1:
                    score.e = log_probs[-1]
                    story.entities.append(new_entity)
                else:
                    score.e = log_probs[candidates.index(story.entities[e - 1])]
                entity = story.entities[e - 1]
                story.e_current = entity.vector
                lengths = self.length_log_probs(h, entity.vector)
                if t + l >= t_end:  # the text's end may have cut it: "at least l"
                    score.l = torch.logsumexp(lengths[l - 1 :], 0)
                else:
                    score.l = lengths[l - 1]
                story.mentions += 1
                entity.last_mention = story.mentions
                entity.count += 1
                story.remaining = l
        # 2. otherwise r, e and l are forced

        if not discriminative:
            places = [0] if word.piece_places is None else word.piece_places.tolist()
            for place, piece in zip(places, word.all_pieces.tolist(), strict=True):
                score.x = score.x + self.piece_log_prob(story, piece, place, (r, first, l))  # 3.
                self._read(story, piece)  # 4.
        if r > 0:  # 5.
            entity = story.entities[e - 1]
            entity.vector = self._update(entity.vector, self.additions.project_update(story.h))
            entity.last_token, entity.last_sentence = t, sentence
            story.e_current = entity.vector
            story.remaining -= 1
        return score  # 6. every other entity stays as it was

    # -- equations, written out --------------------------------------------------------------------------------------

    def _read(self, story: TwinStory, piece: int) -> None:
        """Eq. 2: the LSTM cell, gate by gate."""
        backbone = self.network.backbone
        if not isinstance(backbone, LstmBackbone):
            story.carry = backbone.step(story.carry, torch.tensor([piece]))
            story.h = backbone.state(story.carry)[0]
            return
        lstm, size = backbone.lstm, backbone.hidden_size
        W_ih, W_hh, b_ih, b_hh = lstm.parameters()
        h, c = story.carry
        z = W_ih @ backbone.embedding.weight[piece] + b_ih + W_hh @ h + b_hh
        i, f, g, o = z[:size], z[size : 2 * size], z[2 * size : 3 * size], z[3 * size :]
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        story.h = torch.sigmoid(o) * torch.tanh(c)
        story.carry = (story.h, c)

    def type_log_probs(self, h: Tensor) -> Tensor:
        """Eq. 3."""
        net = self.network
        scores = [h @ net.W_r @ r for r in net.type_embeddings]
        return torch.log_softmax(torch.stack(scores), 0)

    def entity_log_probs(
        self, story: TwinStory, h: Tensor, t: int, mention_type: int, sentence: int
    ) -> tuple[list[TwinEntity], Tensor]:
        """Eq. 4: every entity of this type so far, then a new one."""
        net = self.network
        candidates = [entity for entity in story.entities if entity.mention_type == mention_type]
        scores = []
        for entity in candidates:
            f = self._features(entity, story, t, sentence)
            scores.append(h @ net.W_entity @ entity.vector + net.w_dist @ f)
        new_entity = TwinEntity(mention_type, self._create_entity(mention_type, t))
        scores.append(h @ net.W_entity @ new_entity.vector)
        return [*candidates, new_entity], torch.log_softmax(torch.stack(scores), 0)

    def _features(self, entity: TwinEntity, story: TwinStory, t: int, sentence: int) -> Tensor:
        f = torch.zeros_like(self.network.w_dist)
        values = {
            "token": t - entity.last_token,
            "sentence": sentence - entity.last_sentence,
            "mention": story.mentions + 1 - entity.last_mention,
            "count": entity.count,
        }
        offset = 0
        for quantity in QUANTITIES:
            if quantity in SETS[self.network.config.features]:
                f[offset + find_bucket(quantity, values[quantity])] = 1
                offset += len(BUCKET_EDGES[quantity])
        return f

    def length_log_probs(self, h: Tensor, e: Tensor) -> Tensor:
        """Eq. 5."""
        scores = [w @ torch.cat([h, e]) for w in self.network.W_length]
        return torch.log_softmax(torch.stack(scores), 0)

    def piece_log_prob(self, story: TwinStory, x: int, place: int, position: tuple[int, bool, int]) -> Tensor:
        """Eq. 6 for a word, or a piece at a place of one; before any mention e_current is zero. ``position`` is (r, first word?,
        l).
        """
        net = self.network
        u = net.backbone.output_states(story.h)
        if story.e_current is not None:
            u = u + net.W_e @ self.additions.narrow_entity(story.e_current)
        u = self.additions.add_position(u, *position)
        backbone = net.backbone
        if not isinstance(backbone, LstmBackbone):
            return backbone.log_probs(u[None], place)[0, x]
        words = backbone.softmax
        assert words is not None
        c = int(words.class_of[x])
        weights, members = words.weights(backbone.embedding.weight), words.class_of[words.word_of] == c
        classes = torch.log_softmax(words.class_weight @ u + words.class_bias, 0)
        within = weights[members] @ u + words.word_bias[members]
        slot = int(words.slot_of[x]) - int(members.nonzero()[0])
        return classes[c] + within[slot] - torch.logsumexp(within, 0)

    def _create_entity(self, mention_type: int, t: int) -> Tensor:
        """Eq. 7."""
        net = self.network
        mean = net.type_embeddings[mention_type]
        if net.config.new_entity == "zero":
            return torch.zeros_like(mean)
        if self.noise is None:
            return mean / mean.norm().clamp_min(SMALLEST_NORM)
        u = mean + net.config.sigma * self.noise.draw(np.array([t]), len(mean))[0].to(mean)
        return u / u.norm().clamp_min(SMALLEST_NORM)

    def _update(self, e: Tensor, h: Tensor) -> Tensor:
        """Eq. 8."""
        delta = torch.sigmoid(h @ self.network.W_delta @ e)
        u = delta * e + (1 - delta) * h
        return u / u.norm().clamp_min(SMALLEST_NORM)


class SlowAdditions:
    """The additions of a network; an addition that its configuration does not ask for changes nothing."""

    def __init__(self, network: EntityNetwork) -> None:
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
        return narrowing.weight @ e if isinstance(narrowing, LowRankEntity) else e

    def add_position(self, u: Tensor, r: int, first: bool, l: int) -> Tensor:
        """Add the vector of a word's place: of type r, the first word of its mention or not, with l words remaining."""
        positions = self.network.additions.positions
        if positions is None:
            return u
        most = self.network.config.mention_positions
        row = 0 if r == 0 else 1 + (r - 1) * 2 * most + (most if first else 0) + min(l, most) - 1
        return u + positions.vectors[row]


def find_bucket(quantity: str, value: int) -> int:
    """Find the bucket of a distance by search; the fast path looks it up in a table."""
    return int(np.searchsorted(np.asarray(BUCKET_EDGES[quantity]), value, side="right")) - 1
