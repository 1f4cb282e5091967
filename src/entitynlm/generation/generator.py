"""Generation: the generative story of section 2.2 sampled word by word, with constraints on who is mentioned.

A model with entities can be asked for a continuation in which a given entity appears next, in which no new entities come up, or
that starts with a given cast. These are constraints on the variables R and E; words follow from them.

What reads pieces is a coroutine: it yields a piece with the carry to read it after, and gets the carry after it. So several
continuations, each with its own coroutine, are read by the language model together (:func:`run_together`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Generator as Coroutine
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from entitynlm.generation.agreement import MentionAgreement
from entitynlm.generation.open_vocabulary import MOST_PIECES, OpenVocabulary
from entitynlm.inference.story_state import Expectation, StoryState, create_entities
from entitynlm.inference.words.word_tables import make_row
from entitynlm.model.backbones.base import Backbone, Carry
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import DrawnNoise

MOST_DRAWS = 40  # of a word, all different, until one comes that is not banned
FALLBACK = "it"  # where none came
LEAST = -50.0  # log-probability of an expression that is impossible here, so that one can be chosen anyway

Words = tuple[int, ...]
"""Ids of the words of an expression."""
Result = TypeVar("Result")
Reading = Coroutine[tuple[Carry, int], Carry, Result]
"""A coroutine that asks for pieces to be read."""
PieceTree = dict[tuple[int, ...], tuple[Carry, Tensor]]
"""By the first pieces of a word, what the backbone carries after them, and (V,) the weights by which the next piece is drawn."""


@dataclass(frozen=True)
class Constraints:
    """Conditions on the next words of a continuation.

    :param temperature: of the words: below one the likely ones are preferred (entities are drawn as the model has them).
    :param top_p: words are drawn from the smallest set that has this probability.
    :param next_entity: number of the entity that the next mention must be of.
    :param new_entities: whether new entities may come up.
    :param banned: keys of words that are not chosen, such as a closing bracket that nothing opened.
    :param banned_pieces: pieces that no word begins with.
    :param names: the words of the next mention of an entity, by the entity's number (0: the next word outside of mentions).
    :param agreement: the expressions of all entities: words that don't fit a new entity are not drawn, and
        :param list_forms: gives the words that a known one may be called by.
    :param mention: whether a mention starts at the next word where one may; None: that is drawn.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    next_entity: int | None = None
    new_entities: bool = True
    banned: tuple[int, ...] = ()
    banned_pieces: tuple[int, ...] = ()
    names: Mapping[int, Words] = field(default_factory=dict)
    agreement: MentionAgreement | None = None
    list_forms: Callable[[int], Sequence[Words]] = field(default=lambda entity: ())
    mention: bool | None = None

    def settle(self, entity: int, remaining: int) -> Constraints:
        """Drop the conditions that a word of a mention of ``entity`` (0: of none) has met."""
        left = self
        if entity and entity == self.next_entity:
            left = replace(left, next_entity=None, mention=None)
        if entity in self.names and remaining == 1:
            left = replace(left, names={n: name for n, name in self.names.items() if n != entity})
        return left


class GeneratedWord(NamedTuple):
    """A word with its variables, as in the paper's second figure.

    :param pieces: where it has several, those that the language model reads on with.
    :param ends_sentence: whether a sentence ends with it, and :param closes_sentence: whether it belongs to the sentence that has
        just ended: a closing quotation mark after a full stop.
    :param form: all words of its mention, where these were chosen at once.
    """

    r: int
    e: int
    l: int
    x: int
    pieces: tuple[int, ...] = ()
    ends_sentence: bool = False
    closes_sentence: bool = False
    form: tuple[int, ...] = ()


@torch.no_grad()
def run_together(backbone: Backbone, readings: Sequence[Reading[Result]]) -> list[Result]:
    """Run coroutines to their ends; the pieces that all of them wait for are read at once."""
    results: dict[int, Result] = {}
    carries: dict[int, Carry] = dict.fromkeys(range(len(readings)))
    while carries:
        waiting: dict[int, tuple[Carry, int]] = {}
        for number, carry in carries.items():
            try:
                waiting[number] = readings[number].send(carry)
            except StopIteration as end:
                results[number] = end.value
        found = backbone.step_each(*zip(*waiting.values(), strict=True)) if waiting else []
        carries = dict(zip(waiting, found, strict=True))
    return [results[number] for number in range(len(readings))]


class Generator:
    """Sample words from a generative network, piece by piece."""

    def __init__(self, network: EntityNetwork, words: OpenVocabulary, draws: torch.Generator) -> None:
        self.network, self.words = network, words
        self.generator, self.noise = draws, DrawnNoise(draws)

    def step(self, state: StoryState, constraints: Constraints) -> Reading[tuple[StoryState, GeneratedWord]]:
        """Take one step of the generative story of section 2.2; returns the new state and the word."""
        first = not state.history.remaining
        chosen = self._choose_mention(state, constraints) if first else state  # 1. and 2.
        r, l = chosen.open_type, max(1, chosen.history.remaining)
        e = chosen.history.current if r else 0
        named = constraints.names.get(e)
        unfit: set[str] = set()
        if e and not named and first and (forms := constraints.list_forms(e)):
            named, _ = self._draw_form(chosen, forms, constraints.temperature)
            l = len(named)
            chosen = state.choose(r, e, l)
        elif e and not named and constraints.agreement is not None:
            unfit = constraints.agreement.list_unfit(first=first, last=l == 1)
        if named:
            x, pieces, carry = yield from self._put(chosen, named[-l])  # 3. and 4.
        else:
            x, pieces, carry = yield from self._draw_word(chosen, e, constraints, unfit)
        hidden = make_row(self.network, self.network.backbone.state(carry)[0])
        ends = self.words.ends_sentence(x, pieces, state.previous)
        closes = self.words.closes_sentence(pieces)
        following = chosen.read(x, hidden, 0, state.sentence + int(ends))  # 5. and 6.
        word = GeneratedWord(r, e, l, x, pieces, ends, closes, named or ())
        return replace(following, pieces=pieces, carry=carry, hidden=hidden), word

    @torch.no_grad()
    def choose_words(
        self, state: StoryState, entity: int, choices: Sequence[Words], constraints: Constraints
    ) -> tuple[float, Words]:
        """Draw one of several expressions for an entity, and tell how probable any of them is at the next word.

        That is log p(R, E) by equations 3 and 4 plus the logarithm of the pieces' probabilities by equation 6.
        """
        assert state.hidden is not None
        chosen = state.choose(int(state.history.mention_types[entity - 1]), entity, 1)
        best, log_prob = self._draw_form(chosen, choices, constraints.temperature)
        return float(state.expect(state.hidden, 0).log_probs[entity - 1]) + log_prob, best

    def _draw_form(
        self, chosen: StoryState, forms: Sequence[Words], temperature: float
    ) -> tuple[Words, float]:
        """Draw one of the expressions for an entity by the probability of their first pieces (equation 6).

        The log-probability that is returned with it is that of all of them together.
        """
        place = self.words.tokenizer.place((), chosen.pieces[-1] if chosen.pieces else None)
        log_probs = chosen.log_prob_pieces(self.network.backbone.state(chosen.carry), place)
        first = [self.words.spell(form[0], chosen.pieces)[0] for form in forms]
        scores = log_probs[first].double().clamp_min(LEAST)
        best = forms[self._draw(scores / temperature)]
        return best, float(log_probs[sorted(set(first))].logsumexp(0))

    @staticmethod
    def _read_pieces(carry: Carry, pieces: Sequence[int]) -> Reading[Carry]:
        """Let the backbone read some pieces; returns what it carries on."""
        for piece in pieces:
            carry = yield carry, piece
        return carry

    def _choose_mention(self, state: StoryState, constraints: Constraints) -> StoryState:
        """Draw R, E and L of the next word."""
        assert state.hidden is not None
        r = self._choose_type(state, constraints)
        if not r:
            return state
        size = state.hidden.means.shape[1]
        (new_entities,) = create_entities(self.network, self.noise.draw(np.zeros(1), size))
        expected = state.expect(state.hidden, 0, new_entities)
        candidate = self._choose_entity(expected, r, constraints)
        length = 1 + self._draw(torch.from_numpy(expected.log_lengths(np.array([candidate]))[0]))
        e = min(candidate, expected.known) + 1
        length = len(constraints.names[e]) if constraints.names.get(e) else length
        return state.choose(r, e, length, new_entities[r - 1])

    def _choose_type(self, state: StoryState, constraints: Constraints) -> int:
        assert state.hidden is not None
        if constraints.mention is False:
            return 0
        log_probs = torch.from_numpy(state.hidden.log_types[0].copy())
        known = state.history.mention_types
        for mention_type in range(1, len(log_probs)):
            wanted = constraints.next_entity is None or known[constraints.next_entity - 1] == mention_type
            if not wanted or not (constraints.new_entities or mention_type in known):
                log_probs[mention_type] = -torch.inf
        if constraints.mention and bool(torch.isfinite(log_probs[1:]).any()):
            log_probs[0] = -torch.inf
        return self._draw(log_probs)

    def _choose_entity(self, expected: Expectation, mention_type: int, constraints: Constraints) -> int:
        """Draw one of the candidates of a type, by its place; the new entity of the type is the last of them."""
        if constraints.next_entity is not None:
            return constraints.next_entity - 1
        candidates = np.flatnonzero(expected.types == mention_type)
        if len(candidates) > 1 and not constraints.new_entities:
            candidates = candidates[:-1]
        return int(candidates[self._draw(torch.from_numpy(expected.log_entities[candidates]))])

    def _put(self, state: StoryState, x: int) -> Reading[tuple[int, Words, Carry]]:
        """Let the backbone read a word; returns it with its pieces and what the backbone carries on."""
        pieces = self.words.spell(x, state.pieces)
        carry = yield from self._read_pieces(state.carry, pieces)
        return x, pieces, carry

    def _draw_word(
        self, state: StoryState, entity: int, constraints: Constraints, unfit: Collection[str]
    ) -> Reading[tuple[int, Words, Carry]]:
        """Draw a word piece by piece; a word that is banned, does not end or can't be shown is drawn again."""
        tree: PieceTree = {}
        for _ in range(MOST_DRAWS):
            pieces = yield from self._draw_pieces(state, entity, constraints, tree)
            if self.words.is_whole(pieces, in_mention=bool(entity)):
                x = self.words.learn(self.words.tokenizer.join(pieces))
                if x not in constraints.banned and self.words[x].lower() not in unfit:
                    carry = yield from self._read_pieces(tree[pieces[:-1]][0], pieces[-1:])
                    return x, pieces, carry
            if not refuse_word(tree, pieces):
                break
        # no word that may stand here is probable
        return (yield from self._put(state, self.words.learn(FALLBACK)))

    def _draw_pieces(
        self, state: StoryState, entity: int, constraints: Constraints, tree: PieceTree
    ) -> Reading[Words]:
        """Draw the pieces of a word, or its first ones where it has too many; what was read for earlier draws is in the tree."""
        tokenizer, backbone = self.words.tokenizer, self.network.backbone
        last = state.pieces[-1] if state.pieces else None
        pieces: Words = ()
        while not pieces or (len(pieces) < MOST_PIECES and not tokenizer.ends_word(pieces[-1])):
            if pieces not in tree:
                carry = state.carry
                if pieces:
                    carry = yield from self._read_pieces(tree[pieces[:-1]][0], pieces[-1:])
                log_probs = state.log_prob_pieces(backbone.state(carry), tokenizer.place(pieces, last))
                opens = bool(entity) and not pieces
                log_probs = self.words.exclude(log_probs, opens_mention_word=opens)
                if not pieces or (tokenizer.write(pieces) or "-").isspace():  # a word may follow a line's end
                    log_probs[list(constraints.banned_pieces)] = -torch.inf
                probs = torch.softmax(sharpen(log_probs, constraints).double().cpu(), -1)
                tree[pieces] = (carry, probs)
            drawn = torch.multinomial(tree[pieces][1], 1, generator=self.generator)
            pieces = (*pieces, int(drawn))
        return pieces

    def _draw(self, log_probs: Tensor) -> int:
        probs = torch.softmax(log_probs.double().cpu(), -1)
        return int(torch.multinomial(probs, 1, generator=self.generator))


def refuse_word(tree: PieceTree, pieces: Words) -> bool:
    """Take a word out of a tree, so that the next draw is one of the others in their proportions; tell whether any is left."""
    left = 0.0  # the share of the branch that other words have
    for place in reversed(range(len(pieces))):
        weights = tree[pieces[:place]][1]
        before = float(weights.sum())
        weights[pieces[place]] *= left
        left = float(weights.sum()) / before
    return left > 1e-9


def sharpen(log_probs: Tensor, constraints: Constraints) -> Tensor:
    """Apply the temperature, and cut the distribution to the smallest set that has the probability ``top_p``."""
    log_probs = torch.log_softmax(log_probs / constraints.temperature, -1)
    if constraints.top_p < 1:
        ordered, order = log_probs.sort(descending=True)
        before = ordered.exp().cumsum(-1) - ordered.exp()
        log_probs[order[before >= constraints.top_p]] = -torch.inf
    return log_probs
