"""What comes next: the generative story told forward, word by word, with wishes about who is in it.

Only a model that knows its entities can be asked for a continuation in which a given one appears next, in which no new ones come
up, or that starts with a cast. The wishes are constraints on the variables R and E; words follow from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from entitynlm.errors import ConfigError
from entitynlm.model.backbones.base import Carry
from entitynlm.model.batch.document_index import EntityHistory
from entitynlm.model.batch.scores import Carried, cut_windows, score_windows
from entitynlm.model.encoding.copying import EntityWords
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.features import QUANTITIES, FeatureSet, find_bucket, find_mention_positions
from entitynlm.model.noise import DrawnNoise

READ_AT_ONCE = 4_000  # words of a prompt per window


@dataclass(frozen=True)
class Constraints:
    """What the teller is asked for.

    :param temperature: of the words: below one the likely ones are preferred (entities are drawn as the model has them).
    :param top_p: words are drawn from the smallest set that has this probability.
    :param next_entity: number of the entity that the next mention shall be of.
    :param new_entities: whether new entities may come up.
    :param banned: ids of words that are never chosen (the unknown word, a number's stand-in).
    :param unknown_for: entities whose name is not in the vocabulary: inside their mentions the unknown word stands for it and
        may be chosen.
    :param names: the words that the first mention to come of an entity shall have, by the entity's number (0: the word that
        comes next outside of mentions).
    :param insist: a mention starts at the next word where one may.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    next_entity: int | None = None
    new_entities: bool = True
    banned: tuple[int, ...] = ()
    unknown: int | None = None
    unknown_for: frozenset[int] = frozenset()
    names: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    insist: bool = False

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise ConfigError(f"the temperature must be above zero, not {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ConfigError(f"top-p must be above zero and at most one, not {self.top_p}")


@dataclass(frozen=True)
class GenerationState:
    """The state of a story between two words: what was read, who is in it, and whether a mention is open.

    ``entities`` (N, D) are vectors in order of birth, ``past`` the layout's memory of when each was mentioned, ``open_kind`` and
    ``past.current`` belong to the mention that has ``past.remaining`` words to come, ``spoken`` is what mentions may repeat.
    """

    carry: Carry
    entities: Tensor
    past: EntityHistory
    e_current: Tensor
    sentence: int = 0
    open_type: int = 0
    spoken: EntityWords = field(default_factory=EntityWords)


@dataclass
class GeneratedWords:
    """What was told: one value per word, as in the paper's second figure."""

    x: list[int] = field(default_factory=list)
    r: list[int] = field(default_factory=list)
    e: list[int] = field(default_factory=list)
    l: list[int] = field(default_factory=list)

    def append(self, r: int, e: int, l: int, x: int) -> None:
        for values, value in zip((self.r, self.e, self.l, self.x), (r, e, l, x), strict=True):
            values.append(value)


class Generator:
    """Tells stories from a generative network."""

    def __init__(self, network: EntityNetwork, *, sentence_end: int, generator: torch.Generator) -> None:
        if network.config.mode != "generative" or network.config.restart_sentences:
            raise ConfigError("stories are told by a generative network that reads straight on")
        self.network = network.eval()
        self.sentence_end = sentence_end
        self.generator = generator
        self.noise = DrawnNoise(generator)

    @torch.no_grad()
    def listen(self, prompt: EncodedDocument | None) -> GenerationState:
        """The state after a prompt with its mentions (None: before the first word)."""
        net = self.network
        if prompt is None or len(prompt) == 0:
            zero = net.W_r.new_zeros(net.config.entity_dim)
            return GenerationState(
                net.backbone.start(), net.W_r.new_zeros(0, len(zero)), EntityHistory(), zero
            )
        carried: Carried | None = None
        windows = cut_windows(prompt, net, READ_AT_ONCE)
        for window in windows:
            after = score_windows(net, [window], noise=self.noise, carried=carried).carried
            carried = after.select(net.backbone, [0])
        assert carried is not None and windows[-1].index is not None
        past = windows[-1].index.future
        # A prompt may end inside a mention only if its annotation says so; the story then goes on from its end.
        past = replace(past, remaining=0)
        entities = carried.entities[0]
        zero = net.W_r.new_zeros(net.config.entity_dim)
        e_current = entities[past.current - 1] if past.current else zero
        ended = prompt.x[-1] == self.sentence_end
        spoken = EntityWords()
        for x, entity in zip(prompt.x.tolist(), prompt.e.tolist(), strict=True):
            spoken.read(x, entity)
        sentence = int(prompt.sentence[-1]) + int(ended)
        return GenerationState(carried.backbone, entities, past, e_current, sentence, spoken=spoken)

    @torch.no_grad()
    def introduce(
        self, story: GenerationState, words: Sequence[int], mention_type: int = 1
    ) -> GenerationState:
        """A member of the cast: an entity whose vector has read its name, though the story's words have not."""
        net = self.network
        reading = net.backbone.read([EncodedWords.of_ids(words)])
        vector = net.create_entity(
            torch.tensor([mention_type]), self.noise.draw(np.zeros(1), net.config.entity_dim)
        )[0]
        for row in reading.after[0]:
            vector = net.update(vector, net.project_state(reading.table[int(row)]))
        past = story.past
        far = -64  # as if last mentioned some time before the story
        spoken = story.spoken.copy()
        spoken.name(len(story.entities) + 1, list(words))
        return replace(
            story,
            entities=torch.cat([story.entities, vector[None]]),
            spoken=spoken,
            past=replace(
                past,
                mention_types=np.append(past.mention_types, mention_type),
                last_token=np.append(past.last_token, past.position + far),
                last_sentence=np.append(past.last_sentence, story.sentence - 3),
                last_mention=np.append(past.last_mention, past.mentions - 8),
                counts=np.append(past.counts, 1),
            ),
        )

    @torch.no_grad()
    def tell(self, story: GenerationState, words: int, constraints: Constraints) -> GeneratedWords:
        """At least ``words`` words, then on to the sentence's end (at most half as many again)."""
        generated = GeneratedWords()
        while len(generated.x) < words or (
            len(generated.x) < words * 1.5 and generated.x[-1] != self.sentence_end
        ):
            story, (r, e, l, x) = self.step(story, constraints)
            generated.append(r, e, l, x)
            constraints = settle(constraints, e, l)
        return generated

    def step(
        self, story: GenerationState, constraints: Constraints
    ) -> tuple[GenerationState, tuple[int, int, int, int]]:
        """One step of the generative story of section 2.2; returns the new state and (r, e, l, x)."""
        net, past = self.network, story.past
        state = net.backbone.state(story.carry)[0]
        h = net.project_state(state)
        entities, e_current = story.entities, story.e_current
        if past.remaining:  # 2. inside a mention everything but the word is settled
            r, e, l = story.open_type, past.current, past.remaining
        else:  # 1.
            r = self._choose_type(h, past, constraints)
            e, l = 0, 1
            if r:
                new_entity = net.create_entity(torch.tensor([r]), self.noise.draw(np.zeros(1), len(h)))
                e = self._choose_entity(h, torch.cat([entities, new_entity]), story, r, constraints)
                if e > len(entities):
                    entities = torch.cat([entities, new_entity])
                e_current = entities[e - 1]
                l = 1 + self._draw(net.log_prob_lengths(h, e_current))
                l = len(constraints.names[e]) if constraints.names.get(e) else l
                past = _start_mention(past, e, r)
        first = not story.past.remaining
        place = find_mention_positions(net.config, np.array([r]), np.array([l]), np.array([first]))
        x = self._choose_word(state, e_current, e, place, story.spoken, constraints)  # 3.
        if constraints.names.get(e):
            x = constraints.names[e][-l]
        carry = net.backbone.step(story.carry, torch.tensor([x], device=h.device))  # 4.
        if r:  # 5.
            e_current = net.update(entities[e - 1], net.project_state(net.backbone.state(carry)[0]))
            entities = entities.clone()
            entities[e - 1] = e_current
            past.last_token[e - 1], past.last_sentence[e - 1] = past.position, story.sentence
        past = replace(
            past, position=past.position + 1, current=e if r else past.current, remaining=l - 1 if r else 0
        )
        sentence = story.sentence + int(x == self.sentence_end)
        spoken = story.spoken.copy()
        spoken.read(x, e)
        return GenerationState(carry, entities, past, e_current, sentence, r, spoken), (r, e, l, x)

    # -- choices -----------------------------------------------------------------------------------------------------

    def _choose_type(self, h: Tensor, past: EntityHistory, constraints: Constraints) -> int:
        log_probs = self.network.log_prob_types(h).clone()
        for mention_type in range(1, len(log_probs)):
            wanted = (
                constraints.next_entity is None
                or past.mention_types[constraints.next_entity - 1] == mention_type
            )
            if not wanted or not (constraints.new_entities or mention_type in past.mention_types):
                log_probs[mention_type] = -torch.inf
        if constraints.insist and bool(torch.isfinite(log_probs[1:]).any()):
            log_probs[0] = -torch.inf
        return self._draw(log_probs)

    def _choose_entity(
        self, h: Tensor, vectors: Tensor, story: GenerationState, mention_type: int, constraints: Constraints
    ) -> int:
        """Among the entities of this kind and, last, the newborn; numbers count from 1."""
        if constraints.next_entity is not None:
            return constraints.next_entity
        past, net = story.past, self.network
        candidates = [n for n in range(past.entities) if past.mention_types[n] == mention_type]
        hot = [hot_buckets(net.feature_set, past, n, story.sentence) for n in candidates]
        if constraints.new_entities or not candidates:
            candidates.append(past.entities)
            hot.append([net.feature_set.size] * net.feature_set.width)
        scores = vectors[candidates] @ net.entity_query(h) + net.score_distance(
            torch.tensor(hot, device=h.device)
        )
        return candidates[self._draw(torch.log_softmax(scores, -1))] + 1

    def _choose_word(
        self,
        h: Tensor,
        e_current: Tensor,
        entity: int,
        place: np.ndarray,
        spoken: EntityWords,
        constraints: Constraints,
    ) -> int:
        net = self.network
        states = torch.from_numpy(place).to(h.device)
        log_probs = net.log_prob_words(h[None], net.project_entity(e_current)[None], states)[0]
        if net.config.copying and entity:
            log_probs = self._add_copies(log_probs, h, entity, spoken)
        banned = [
            x
            for x in constraints.banned
            if not (x == constraints.unknown and entity in constraints.unknown_for)
        ]
        if entity:
            banned.append(self.sentence_end)  # a mention does not run over a sentence's end
        log_probs[banned] = -torch.inf
        log_probs = torch.log_softmax(log_probs / constraints.temperature, -1)
        if constraints.top_p < 1:
            ordered, order = log_probs.sort(descending=True)
            before = ordered.exp().cumsum(-1) - ordered.exp()
            log_probs[order[before >= constraints.top_p]] = -torch.inf
        return self._draw(log_probs)

    def _add_copies(self, log_probs: Tensor, h: Tensor, entity: int, spoken: EntityWords) -> Tensor:
        """The distribution over all words (V,) with the chance to repeat one of the entity's."""
        copy_candidates = spoken.list_copy_candidates(entity)
        copies = torch.zeros(len(log_probs), device=h.device)
        copies.index_add_(
            0,
            torch.tensor(copy_candidates, dtype=torch.long, device=h.device),
            copies.new_ones(len(copy_candidates)),
        )
        scores = self.network.score_copying(h).expand(len(log_probs), -1)
        opens = torch.full_like(copies, spoken.opens(entity), dtype=torch.bool)
        return self.network.mix_copies(
            log_probs, scores, opens, torch.full_like(copies, len(copy_candidates)), copies
        )

    def _draw(self, log_probs: Tensor) -> int:
        probs = torch.softmax(log_probs.double().cpu(), -1)
        return int(torch.multinomial(probs, 1, generator=self.generator))


def settle(constraints: Constraints, entity: int, remaining: int) -> Constraints:
    """The wishes that are left after a word of a mention of ``entity`` (0: of nobody)."""
    if entity and entity == constraints.next_entity:
        constraints = replace(constraints, next_entity=None, insist=False)
    if entity in constraints.names and remaining == 1:
        constraints = replace(
            constraints, names={n: name for n, name in constraints.names.items() if n != entity}
        )
    return constraints


def hot_buckets(feature_set: FeatureSet, past: EntityHistory, entity: int, sentence: int) -> list[int]:
    """The hot buckets of f(e) for one entity (numbered from 0) at the next word, as the layout has them."""
    values = {
        "token": past.position - int(past.last_token[entity]),
        "sentence": sentence - int(past.last_sentence[entity]),
        "mention": past.mentions + 1 - int(past.last_mention[entity]),
        "count": int(past.counts[entity]),
    }
    return [
        int(offset) + find_bucket(quantity, values[quantity])
        for quantity, offset in zip(QUANTITIES, feature_set.offsets, strict=True)
        if offset >= 0
    ]


def _start_mention(past: EntityHistory, entity: int, mention_type: int) -> EntityHistory:
    """The memory with one more mention of an entity, which may be new."""
    new = entity > past.entities

    def grown(values: np.ndarray, fresh: int) -> np.ndarray:
        return np.append(values, fresh) if new else values.copy()

    mentions = past.mentions + 1
    last_mention, counts = grown(past.last_mention, mentions), grown(past.counts, 0)
    last_mention[entity - 1] = mentions
    counts[entity - 1] += 1
    return replace(
        past,
        mention_types=grown(past.mention_types, mention_type),
        last_token=grown(past.last_token, past.position),
        last_sentence=grown(past.last_sentence, 0),
        last_mention=last_mention,
        counts=counts,
        mentions=mentions,
    )
