"""The slow twin: the generative story as a loop over words, one scalar factor at a time. The executable specification.

Nothing here is batched, cached, compiled or shared with the fast path but the parameters themselves: the LSTM cell, the features,
the softmax and the updates are written out again, as the paper states them, so that an error in one of the two shows. It serves
tests (everything fast equals this) and readers. Only dropout, windows and the look-ahead proposal are left out; a backbone other
than the LSTM is asked to go on piece by piece, and for its whole distribution at each.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from entitynlm.errors import ConfigError
from entitynlm.model.backbones.base import Carry
from entitynlm.model.backbones.lstm import LstmBackbone
from entitynlm.model.batch.scan import SMALLEST_NORM
from entitynlm.model.encoding.copying import KEPT, OPENING, get_rarity
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.tokenizer import RARE, EncodedWords
from entitynlm.model.entitynlm import COPY_EDGES, EntityNetwork
from entitynlm.model.features import EDGES, QUANTITIES, SETS, find_bucket
from entitynlm.model.noise import Noise
from entitynlm.model.softmax import ClassSoftmax
from entitynlm.model.standardisation import CLIP


@dataclass(eq=False)  # an entity is itself, whatever its vector
class _Entity:
    """One entity as the loop knows it."""

    mention_type: int
    vector: Tensor
    last_token: int = 0
    last_sentence: int = 0
    last_mention: int = 0
    count: int = 0
    words: tuple[tuple[int, int], ...] = ()  # the latest ones, each after its predecessor


@dataclass
class TokenScore:
    """log-probabilities of the choices at one word; a forced value contributes nothing."""

    r: Tensor
    e: Tensor
    l: Tensor
    x: Tensor


@dataclass
class _StoryState:
    """The state of the story between two words; ``carry`` is the backbone's: (h, c) of each layer of an LSTM."""

    carry: Carry
    h: Tensor
    entities: list[_Entity] = field(default_factory=list)
    e_current: Tensor | None = None
    remaining: int = 0
    mentions: int = 0
    last_word: int = OPENING

    def copy(self) -> _StoryState:
        return replace(self, entities=[_Entity(**vars(entity)) for entity in self.entities])


class SlowTwin:
    """EntityNLM, one word at a time."""

    def __init__(self, network: EntityNetwork, noise: Noise | None = None) -> None:
        if network.config.mode == "lookahead":
            raise ConfigError(
                "the slow twin is for P and the causal Q; the look-ahead proposal does not go from left to right"
            )
        self.network = network
        self.noise = noise

    def score(self, document: EncodedDocument) -> list[TokenScore]:
        """log-probabilities of a document's variables, word by word."""
        story = self.begin()
        scores = []
        for t in range(len(document)):
            word = document.words[t : t + 1]
            values = (int(document.r[t]), int(document.e[t]), int(document.l[t]), word)
            new_sentence = t > 0 and document.sentence[t] != document.sentence[t - 1]
            sentence = int(document.sentence[t])
            score = self.step(story, t, values, sentence, t_end=len(document), new_sentence=new_sentence)
            scores.append(score)
        return scores

    def begin(self) -> _StoryState:
        """Before the first word: an LSTM has read the start symbol."""
        backbone = self.network.backbone
        if not isinstance(backbone, LstmBackbone):
            carry = backbone.start()
            return _StoryState(carry, backbone.state(carry)[0])
        zero = self.network.W_r.new_zeros(backbone.hidden_size)
        story = _StoryState([(zero, zero)] * self.network.config.layers, zero)
        self._read(story, backbone.start_word)
        return story

    def step(
        self,
        story: _StoryState,
        t: int,
        values: tuple[int, int, int, EncodedWords],
        sentence: int,
        *,
        t_end: int,
        new_sentence: bool = False,
    ) -> TokenScore:
        """One step of section 2.2 with the given outcome (r, e, l, x); advances ``story``."""
        net = self.network
        r, e, l, word = values
        x = int(word.x[0])
        if new_sentence and net.config.restart_sentences:
            fresh = self.begin()
            story.carry, story.h = fresh.carry, fresh.h
        discriminative = net.config.mode == "causal"
        if discriminative:
            for piece in word.all_pieces.tolist():
                self._read(story, piece)  # Q: step 4 moves before step 1, so h below is h_t
        h = self._project(story.h)
        zero = h.new_zeros(())
        score = TokenScore(zero, zero, zero, zero)
        first = story.remaining == 0

        if first:  # 1. not continuing a mention
            score.r = self.type_log_probs(h)[r]
            if r > 0:
                candidates, log_probs = self.entity_log_probs(story, h, t, r, sentence, word)
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
            before = net.backbone.output_states(story.h)
            places = [0] if word.piece_places is None else word.piece_places.tolist()
            for place, piece in zip(places, word.all_pieces.tolist(), strict=True):
                score.x = score.x + self.piece_log_prob(story, piece, place, (r, first, l))  # 3.
                self._read(story, piece)  # 4.
            if net.config.copying and r > 0:
                score.x = self._copy(score.x, before, x, story, story.entities[e - 1], t)
        if r > 0:  # 5.
            entity = story.entities[e - 1]
            entity.vector = self._update(entity.vector, self._project(story.h, update=True))
            entity.words = (*entity.words, (self._find_predecessor(story, entity, t), x))[-KEPT:]
            entity.last_token, entity.last_sentence = t, sentence
            story.e_current = entity.vector
            story.remaining -= 1
        story.last_word = x
        return score  # 6. every other entity stays as it was

    # -- equations, written out --------------------------------------------------------------------------------------

    def _read(self, story: _StoryState, piece: int) -> None:
        """Eq. 2: the LSTM cell, gate by gate."""
        backbone = self.network.backbone
        if not isinstance(backbone, LstmBackbone):
            story.carry = backbone.step(story.carry, torch.tensor([piece]))
            story.h = backbone.state(story.carry)[0]
            return
        lstm, size = backbone.lstm, backbone.hidden_size
        value = backbone.embedding.weight[piece]
        layers = []
        for k, (h, c) in enumerate(story.carry):
            z = (
                getattr(lstm, f"weight_ih_l{k}") @ value
                + getattr(lstm, f"bias_ih_l{k}")
                + getattr(lstm, f"weight_hh_l{k}") @ h
                + getattr(lstm, f"bias_hh_l{k}")
            )
            i, f, g, o = z[:size], z[size : 2 * size], z[2 * size : 3 * size], z[3 * size :]
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            value = torch.sigmoid(o) * torch.tanh(c)
            layers.append((value, c))
        story.carry, story.h = layers, value

    def _project(self, h: Tensor, *, update: bool = False) -> Tensor:
        """h in the size of e; that of equation 8 may have a projection of its own."""
        net = self.network
        own = update and net.W_update is not None
        weight = net.W_update if own else net.W_state
        if weight is None or net.config.projection == "linear":
            return h if weight is None else weight @ h
        values = []
        for value, mean, deviation in zip(h, net.scaling.mean, net.scaling.deviation, strict=True):
            values.append(((value - mean) / deviation).clamp(-CLIP, CLIP))
        z, which = torch.stack(values), 1 if own else 0
        y = weight @ z
        if net.W_inner:
            y = y + net.W_outer[which] @ (net.W_inner[which] @ z).clamp_min(0)
        return net.radii[which] * y / torch.sqrt((y * y).sum())

    def type_log_probs(self, h: Tensor) -> Tensor:
        """Eq. 3."""
        net = self.network
        scores = [h @ net.W_r @ r for r in net.type_embeddings]
        return torch.log_softmax(torch.stack(scores), 0)

    def entity_log_probs(
        self,
        story: _StoryState,
        h: Tensor,
        t: int,
        mention_type: int,
        sentence: int,
        word: EncodedWords | None = None,
    ) -> tuple[list[_Entity], Tensor]:
        """Eq. 4: every entity of this type so far, then a new one. Q has read ``word`` and may compare it with their words."""
        net = self.network
        candidates = [entity for entity in story.entities if entity.mention_type == mention_type]
        scores = []
        for entity in candidates:
            f = self._features(entity, story, t, sentence)
            score = h @ net.W_entity @ entity.vector + net.w_dist @ f
            if net.string_match_weights is not None and word is not None:
                score = score + net.string_match_weights[self._compare(story, entity, t, word)]
            scores.append(score)
        new_entity = _Entity(mention_type, self._create_entity(mention_type, t))
        scores.append(h @ net.W_entity @ new_entity.vector)
        return [*candidates, new_entity], torch.log_softmax(torch.stack(scores), 0)

    def _features(self, entity: _Entity, story: _StoryState, t: int, sentence: int) -> Tensor:
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
                offset += len(EDGES[quantity])
        return f

    def length_log_probs(self, h: Tensor, e: Tensor) -> Tensor:
        """Eq. 5."""
        scores = [w @ torch.cat([h, e]) for w in self.network.W_length]
        return torch.log_softmax(torch.stack(scores), 0)

    def piece_log_prob(
        self, story: _StoryState, x: int, place: int, position: tuple[int, bool, int]
    ) -> Tensor:
        """Eq. 6 for a word, or a piece at a place of one; before any mention e_current is zero. ``position`` is (r, first word?,
        l).
        """
        net = self.network
        u = net.backbone.output_states(story.h)
        if story.e_current is not None:
            W_e = net.W_e if net.W_thin is None else net.W_e @ net.W_thin
            u = u + W_e @ story.e_current
        if net.config.mention_positions:
            r, first, l = position
            buckets = net.config.mention_positions
            row = 0 if r == 0 else 1 + (r - 1) * 2 * buckets + (buckets if first else 0) + min(l, buckets) - 1
            u = u + net.position_embeddings[row]
        backbone = net.backbone
        if not isinstance(backbone, LstmBackbone):
            return backbone.log_probs(u[None], place)[0, x]
        words = backbone.softmax
        assert words is not None
        if isinstance(words, ClassSoftmax):
            c = int(words.class_of[x])
            weights, members = words.weights(backbone.embedding.weight), words.class_of[words.word_of] == c
            classes = torch.log_softmax(words.class_weight @ u + words.class_bias, 0)
            within = weights[members] @ u + words.word_bias[members]
            slot = int(words.slot_of[x]) - int(members.nonzero()[0])
            return classes[c] + within[slot] - torch.logsumexp(within, 0)
        weight = words.weight if words.weight is not None else backbone.embedding.weight
        logits = weight @ u + words.bias
        possible = torch.arange(len(logits)) != words.unpredictable
        return logits[x] - torch.logsumexp(logits[possible], 0)

    @staticmethod
    def _find_predecessor(story: _StoryState, entity: _Entity, t: int) -> int:
        """The word before this one, if it was the entity's too."""
        return story.last_word if entity.words and entity.last_token == t - 1 else OPENING

    def _compare(self, story: _StoryState, entity: _Entity, t: int, word: EncodedWords) -> int:
        """How well a word matches the entity's words, as ``encoding.copying`` numbers it."""
        x, rarity = int(word.x[0]), int(get_rarity(word)[0])
        previous = self._find_predecessor(story, entity, t)
        copy_candidates = [other for before, other in entity.words if before == previous]
        share = copy_candidates.count(x) / len(copy_candidates) if copy_candidates else 0.0
        match = 0 if share == 0 else 1 if share < 0.5 else 2
        known = rarity == RARE and any(other == x for _, other in entity.words)
        return match + 3 * rarity + 9 * known

    def _copy(self, log_x: Tensor, h: Tensor, x: int, story: _StoryState, entity: _Entity, t: int) -> Tensor:
        """Beside eq. 6, ours: the mention repeats one of its entity's words with probability λ."""
        net = self.network
        previous = self._find_predecessor(story, entity, t)
        copy_candidates = [word for before, word in entity.words if before == previous]
        if not copy_candidates:
            return log_x
        row = 1 if previous == OPENING else 0
        bucket = sum(1 for edge in COPY_EDGES if edge <= len(copy_candidates)) - 1
        share = torch.sigmoid(net.w_copy[row] @ h + net.copy_bias[row, bucket])
        return torch.log((1 - share) * log_x.exp() + share * copy_candidates.count(x) / len(copy_candidates))

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
