"""Generation: the generative story of section 2.2 sampled word by word, with constraints on who is mentioned.

A model with entities can be asked for a continuation in which a given entity appears next, in which no new entities come up, or
that starts with a given cast. These are constraints on the variables R and E; words follow from them.

What reads pieces is a coroutine: it yields a piece with the carry to read it after, and gets the carry after it. So several
continuations, each with its own coroutine, are read by the language model together (:func:`run_together`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from collections.abc import Generator as Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from entitynlm.generation.agreement import MentionAgreement
from entitynlm.generation.open_vocabulary import MOST_PIECES, OpenVocabulary
from entitynlm.inference.story_state import StoryState, create_entities
from entitynlm.inference.words.word_tables import make_row
from entitynlm.model.backbones.base import Backbone, Carry
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import DrawnNoise

MOST_DRAWS = 40  # of a word, all different, until one comes that is not banned
FALLBACK = "one"  # where none came
LONGEST_PHRASE = 4  # words by which a new entity is introduced: longer mentions would be clauses
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
    """Conditions on the next word of a continuation.

    :param temperature: of the words: below one the likely ones are preferred (entities are drawn as the model has them).
    :param top_p: words are drawn from the smallest set that has this probability.
    :param due: numbers of entities: a mention of one of them starts with the next word; empty: R and E are free.
    :param new_entities: whether new entities may come up.
    :param banned: keys of words that are not chosen, such as a closing bracket that nothing opened.
    :param form: all words of the open mention, where these were chosen at its start.
    :param agreement: the expressions of all entities: words that can't introduce a new entity are not drawn, and
        :param list_forms: gives the words that a known one may be called by.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    due: Collection[int] = ()
    new_entities: bool = True
    banned: tuple[int, ...] = ()
    form: Words = ()
    agreement: MentionAgreement | None = None
    list_forms: Callable[[int], Sequence[Words]] = field(default=lambda entity: ())


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
        """Take one step of the generative story of section 2.2; returns the new state and the word.

        A mention ends early, and the word is in none, where no word that could go on with it is probable.
        """
        first = not state.history.remaining
        chosen = self._choose_mention(state, constraints) if first else state  # 1. and 2.
        r, l = chosen.open_type, max(1, chosen.history.remaining)
        e = chosen.history.current if r else 0
        form = constraints.form
        if e and first and (forms := constraints.list_forms(e)):
            form = self._draw_form(chosen, forms, constraints.temperature)
            l = len(form)
            chosen = state.choose(r, e, l)
        read = None
        if form:
            read = yield from self._put(chosen, form[-l])  # 3. and 4.
        elif e:
            read = yield from self._draw_word(
                chosen, constraints, partial(self._introduces, constraints, first, l == 1)
            )
            if read is None and not first:  # the mention has ended with the word before
                state = replace(state, history=replace(state.history, remaining=0), open_type=0)
        if read is None:  # no mention, or no word that may introduce an entity is probable
            r, e, l, chosen = 0, 0, 1, state
            read = yield from self._draw_word(chosen, constraints, lambda word: True)
        x, pieces, carry = read or (yield from self._put(chosen, self.words.learn(FALLBACK)))
        hidden = make_row(self.network, self.network.backbone.state(carry)[0])
        ends = self.words.ends_sentence(x, pieces, state.previous)
        closes = self.words.closes_sentence(pieces)
        following = chosen.read(x, hidden, 0, state.sentence + int(ends))  # 5. and 6.
        word = GeneratedWord(r, e, l, x, pieces, ends, closes, form)
        return replace(following, pieces=pieces, carry=carry, hidden=hidden), word

    def _draw_form(self, chosen: StoryState, forms: Sequence[Words], temperature: float) -> Words:
        """Draw one of the expressions for an entity by the probability of their first pieces (equation 6)."""
        place = self.words.tokenizer.place((), chosen.pieces[-1] if chosen.pieces else None)
        log_probs = chosen.log_prob_pieces(self.network.backbone.state(chosen.carry), place)
        first = [self.words.spell(form[0], chosen.pieces)[0] for form in forms]
        return forms[self._draw(log_probs[first].double().clamp_min(LEAST) / temperature)]

    @staticmethod
    def _read_pieces(carry: Carry, pieces: Sequence[int]) -> Reading[Carry]:
        """Let the backbone read some pieces; returns what it carries on."""
        for piece in pieces:
            carry = yield carry, piece
        return carry

    def _choose_mention(self, state: StoryState, constraints: Constraints) -> StoryState:
        """Draw R and E of the next word together (equations 3 and 4), then L (equation 5), given the constraints."""
        assert state.hidden is not None
        size = state.hidden.means.shape[1]
        (new_entities,) = create_entities(self.network, self.noise.draw(np.zeros(1), size))
        expected = state.expect(state.hidden, 0, new_entities)
        # (1 + N + K,) no mention comes first
        log_probs = np.append(expected.log_types[0], expected.log_probs)
        if constraints.due:
            log_probs[[n for n in range(len(log_probs)) if n not in constraints.due]] = -np.inf
        elif not constraints.new_entities:
            log_probs[1 + expected.known :] = -np.inf
        drawn = self._draw(torch.from_numpy(log_probs))
        if not drawn:
            return state
        r = int(expected.types[drawn - 1])
        lengths = expected.log_lengths(np.array([drawn - 1]))[0, :LONGEST_PHRASE]
        length = 1 + self._draw(torch.from_numpy(lengths))
        return state.choose(r, min(drawn, expected.known + 1), length, new_entities[r - 1])

    def _put(self, state: StoryState, x: int) -> Reading[tuple[int, Words, Carry]]:
        """Let the backbone read a word; returns it with its pieces and what the backbone carries on."""
        pieces = self.words.spell(x, state.pieces)
        carry = yield from self._read_pieces(state.carry, pieces)
        return x, pieces, carry

    @staticmethod
    def _introduces(constraints: Constraints, first: bool, last: bool, word: str) -> bool:
        agreement = constraints.agreement
        return agreement is None or agreement.introduces(word, first=first, last=last)

    def _draw_word(
        self, state: StoryState, constraints: Constraints, may_stand: Callable[[str], bool]
    ) -> Reading[tuple[int, Words, Carry] | None]:
        """Draw a word piece by piece; a word that may not stand here, does not end or can't be shown is drawn again.

        None: no word that may stand here is probable.
        """
        tree: PieceTree = {}
        entity = state.history.current if state.open_type else 0
        for _ in range(MOST_DRAWS):
            pieces = yield from self._draw_pieces(state, entity, constraints, tree)
            if self.words.is_whole(pieces, in_mention=bool(entity)):
                x = self.words.learn(self.words.tokenizer.join(pieces))
                if x not in constraints.banned and may_stand(self.words[x]):
                    carry = yield from self._read_pieces(tree[pieces[:-1]][0], pieces[-1:])
                    return x, pieces, carry
            if not refuse_word(tree, pieces):
                break
        return None

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
