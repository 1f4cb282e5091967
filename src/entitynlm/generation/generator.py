"""Generation: the generative story of section 2.2 sampled word by word, with constraints on who is mentioned.

A continuation can be asked to mention a given entity next, to have no new entities, or to have a given cast. These are
constraints on R and E; words follow from them.

Equation 6 knows the entity of a word and not whether a mention starts there, so R, E and X are drawn jointly given that the words
fit: a known entity counts with the probability of its possible expressions, and where a word does not fit, R and E are redrawn
too. Drawing R and E first and then a word that fits them would put "he" where no pronoun can stand.

Functions that read pieces are coroutines: they yield a piece with the carry before it and receive the carry after it, or yield a
state and receive the distribution over the next piece. So the language model reads and predicts several continuations, a
coroutine each, in one batch (:func:`run_together`).
"""

import math
from collections.abc import Callable, Collection, Sequence
from collections.abc import Generator as Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from entitynlm.generation.agreement import MentionAgreement
from entitynlm.generation.open_vocabulary import MOST_PIECES, OpenVocabulary
from entitynlm.inference.readings import make_row
from entitynlm.inference.story_state import Expectation, StoryState, create_entities, log_prob_pieces
from entitynlm.model.backbones.base import Backbone, Carry
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import DrawnNoise

MOST_DRAWS = 40  # of a word, all different, until one comes that is not banned
MOST_CHOICES = 20  # of R, E and a word, until the word fits; then a word in no mention is drawn
FALLBACK = "one"  # the word that is written where none was drawn that fits
LONGEST_PHRASE = 4  # words by which a new entity is introduced: longer mentions would be clauses
LEAST_PROBABLE = 1e-3  # rarer expressions are not read to their end, for each piece is a step of the network
LEAST = 1e-20  # weight of an impossible expression, so that one can be chosen where a mention is due

Words = tuple[int, ...]
"""Ids of the words of an expression."""
Result = TypeVar("Result")
Prediction = tuple[StoryState, Tensor, int]
"""A request for equation 6: a state, h (1, S) after the latest piece, and the place of the next one."""
Reading = Coroutine[tuple[Carry, int] | Prediction, Any, Result]
"""A coroutine that asks for pieces to be read and predicted."""
DrawnWord = tuple[int, Words, Carry]
"""A word, its pieces, and what the backbone carries after them."""
PieceTree = dict[tuple[int, ...], tuple[Carry, Tensor]]
"""By the first pieces of a word, what the backbone carries after them, and (V,) the weights by which the next piece is drawn."""


@dataclass(frozen=True)
class Constraints:
    """Constraints on the next word of a continuation.

    :param temperature: temperature of words; below one, likely words are preferred (entities are drawn from the model unchanged).
    :param top_p: words are drawn from the smallest set with this probability.
    :param due: numbers of entities one of which is mentioned, starting with the next word; empty: R and E are free.
    :param new_entities: whether new entities may be mentioned.
    :param in_phrase: whether an article stands before, so that a mention would be part of its phrase: none starts then.
    :param one_line: whether no word has a line break before it.
    :param quoting: whether a quotation is open, so that a straight mark closes it; None: marks are drawn freely.
    :param banned: keys of words that are not drawn, such as a closing bracket that nothing opened.
    :param form: all words of the open mention, where they were chosen at its start; else :param begun: its words so far.
    :param agreement: expressions of all entities, which restrict the first mention of a new entity.
    :param list_forms: lists the expressions by which a known entity may be mentioned.
    :param fits_outside_mentions: tells whether a word can stand outside of mentions; a name can't.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    due: Collection[int] = ()
    new_entities: bool = True
    in_phrase: bool = False
    one_line: bool = False
    quoting: bool | None = None
    banned: tuple[int, ...] = ()
    form: Words = ()
    begun: tuple[str, ...] = ()
    agreement: MentionAgreement | None = None
    list_forms: Callable[[int], Sequence[Words]] = field(default=lambda entity: ())
    fits_outside_mentions: Callable[[str], bool] = field(default=lambda word: True)


class GeneratedWord(NamedTuple):
    """A word with its variables, as in the paper's second figure.

    :param pieces: the pieces that the language model reads on with, where a word has several.
    :param ends_sentence: whether a sentence ends with it.  :param closes_sentence: whether it belongs to the sentence that has
        just ended, as a closing quotation mark after a full stop does.
    :param form: all words of its mention, where they were chosen at once.
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
    """Run coroutines to their ends; the pieces that they wait for are read in one batch, and predicted in one batch."""
    results: dict[int, Result] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(readings)))
    pieces: dict[int, tuple[Carry, int]] = {}
    while answers:
        predictions: dict[int, Prediction] = {}
        for number, answer in answers.items():
            try:
                request = readings[number].send(answer)
            except StopIteration as end:
                results[number] = end.value
                continue
            if len(request) == 2:
                pieces[number] = request
            else:
                predictions[number] = request
        if predictions:
            states, hidden, places = zip(*predictions.values(), strict=True)
            found = log_prob_pieces(states, torch.cat(hidden), torch.tensor(places))
            answers = dict(zip(predictions, found, strict=True))
        else:
            after = backbone.step_each(*zip(*pieces.values(), strict=True)) if pieces else []
            answers, pieces = dict(zip(pieces, after, strict=True)), {}
    return [results[number] for number in range(len(readings))]


class Generator:
    """Sample words from a generative network, piece by piece."""

    def __init__(self, network: EntityNetwork, words: OpenVocabulary, draws: torch.Generator) -> None:
        self.network, self.words = network, words
        self.generator, self.noise = draws, DrawnNoise(draws)

    def step(self, state: StoryState, constraints: Constraints) -> Reading[tuple[StoryState, GeneratedWord]]:
        """Take one step of the generative story of section 2.2; returns the new state and the word.

        Where no fitting word that continues a mention is probable, the mention ends early and the word is outside.
        """
        left, form = state.history.remaining, constraints.form
        read: DrawnWord | None
        if not left:
            chosen, form, read = yield from self._open(state, constraints)  # 1. to 4.
        elif form:
            chosen, read = state, (yield from self._put(state, form[-left]))
        else:
            fits = partial(self._introduces, constraints, left == 1)
            chosen, read = state, (yield from self._draw_word(state, constraints, fits))
        if read is None:  # the mention has ended with the word before, or nothing has fitted
            chosen = replace(state, history=replace(state.history, remaining=0), open_type=0)
            read = yield from self._draw_word(chosen, constraints, constraints.fits_outside_mentions)
        if read is None:  # none of the likely words fits
            every = replace(constraints, temperature=1.0, top_p=1.0)
            read = yield from self._draw_word(chosen, every, constraints.fits_outside_mentions)
        x, pieces, carry = read or (yield from self._put(chosen, self.words.learn(FALLBACK)))
        r, l = chosen.open_type, max(1, chosen.history.remaining)
        e = chosen.history.current if r else 0
        hidden = make_row(self.network, self.network.backbone.state(carry)[0])
        ends = self.words.ends_sentence(x, pieces, state.previous)
        closes = self.words.closes_sentence(pieces)
        following = chosen.read(x, hidden, 0, state.sentence + int(ends))  # 5. and 6.
        word = GeneratedWord(r, e, l, x, pieces, ends, closes, form)
        return replace(following, pieces=pieces, carry=carry, hidden=hidden), word

    def _open(
        self, state: StoryState, constraints: Constraints
    ) -> Reading[tuple[StoryState, Words, DrawnWord | None]]:
        """Draw R, E and X until they fit; returns the state, the expression where one was chosen, and the word."""
        trees: dict[int, PieceTree] = {}  # by entity, 0 is none
        assert state.hidden is not None
        (new,) = create_entities(self.network, self.noise.draw(np.zeros(1), state.hidden.means.shape[1]))
        expected = state.expect(state.hidden, 0, new)
        for _ in range(MOST_CHOICES):
            chosen = self._choose_mention(state, expected, constraints)
            e = chosen.history.current if chosen.open_type else 0
            tree, forms = trees.setdefault(e, {}), constraints.list_forms(e) if e else ()
            if not forms:
                introduces = partial(self._introduces, constraints, chosen.history.remaining == 1)
                fits = introduces if e else constraints.fits_outside_mentions
                _, read = yield from self._try_word(chosen, constraints, fits, tree)
                if read is not None:
                    return chosen, (), read
                continue
            weights = []
            for form in forms:
                weights.append((yield from self._weigh_form(chosen, form, constraints, tree)))
            if constraints.due or float(torch.rand((), generator=self.generator)) < sum(weights):
                form = forms[self._draw(torch.tensor(weights).clamp_min(LEAST).log())]
                chosen = state.choose(chosen.open_type, e, len(form))
                return chosen, form, (yield from self._put(chosen, form[0]))
        return state, (), None

    def _weigh_form(
        self, chosen: StoryState, form: Words, constraints: Constraints, tree: PieceTree
    ) -> Reading[float]:
        """Multiply the probabilities of an expression's pieces (equation 6), except for the END of its last word.

        Returns 0 for a rare expression.
        """
        weight, before = 1.0, chosen.pieces
        read: Words = ()
        for left, x in zip(range(len(form), 0, -1), form, strict=True):
            pieces = self.words.spell(x, before)
            for place in range(len(pieces) if left > 1 else max(1, len(pieces) - 1)):
                where = self.words.tokenizer.place(pieces[:place], before[-1] if before else None)
                probs = yield from self._look_up(chosen, read, where, constraints, tree, opens=not place)
                weight *= float(probs[pieces[place]])
                if weight < LEAST_PROBABLE:
                    return 0.0
                read = (*read, pieces[place])
            before = pieces
        return weight

    def _read_pieces(self, carry: Carry, pieces: Sequence[int]) -> Reading[Carry]:
        """Let the backbone read some pieces; returns its carry."""
        for piece in filter(self.network.backbone.reads, pieces):
            carry = yield carry, piece
        return carry

    def _choose_mention(
        self, state: StoryState, expected: Expectation, constraints: Constraints
    ) -> StoryState:
        """Draw R and E of the next word together (equations 3 and 4), then L (equation 5), given the constraints."""
        if constraints.in_phrase and not constraints.due:
            return state
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
        return state.choose(r, min(drawn, expected.known + 1), length, expected.new_entities[r - 1])

    def _put(self, state: StoryState, x: int) -> Reading[DrawnWord]:
        """Let the backbone read a word; returns it with its pieces and the backbone's carry."""
        pieces = self.words.spell(x, state.pieces)
        carry = yield from self._read_pieces(state.carry, pieces)
        return x, pieces, carry

    @staticmethod
    def _introduces(constraints: Constraints, last: bool, word: str) -> bool:
        agreement = constraints.agreement
        return agreement is None or agreement.introduces(word, constraints.begun, last=last)

    def _draw_word(
        self, state: StoryState, constraints: Constraints, fits: Callable[[str], bool]
    ) -> Reading[DrawnWord | None]:
        """Draw words until one fits; None if no fitting word is probable."""
        tree: PieceTree = {}
        for _ in range(MOST_DRAWS):
            pieces, read = yield from self._try_word(state, constraints, fits, tree)
            if read is not None:
                return read
            if not refuse_word(tree, pieces):
                break
        return None

    def _try_word(
        self, state: StoryState, constraints: Constraints, fits: Callable[[str], bool], tree: PieceTree
    ) -> Reading[tuple[Words, DrawnWord | None]]:
        """Draw a word piece by piece; returns None with its pieces where it does not fit, does not end or can't be shown."""
        tokenizer, in_mention = self.words.tokenizer, bool(state.open_type)
        last = state.pieces[-1] if state.pieces else None
        pieces: Words = ()
        while not pieces or (len(pieces) < MOST_PIECES and not tokenizer.ends_word(pieces[-1])):
            where, opens = tokenizer.place(pieces, last), in_mention and not pieces
            probs = yield from self._look_up(state, pieces, where, constraints, tree, opens=opens)
            pieces = (*pieces, int(torch.multinomial(probs, 1, generator=self.generator)))
        if not self.words.is_whole(pieces, state.pieces, one_line=in_mention or constraints.one_line):
            return pieces, None
        quoting = constraints.quoting
        if quoting is not None and not self.words.fits_quotation(pieces, state.pieces, quoting=quoting):
            return pieces, None
        x = self.words.learn(tokenizer.join(pieces))
        if x in constraints.banned or not fits(self.words[x]):
            return pieces, None
        carry = yield from self._read_pieces(tree[pieces[:-1]][0], pieces[-1:])
        return pieces, (x, pieces, carry)

    def _look_up(
        self,
        state: StoryState,
        read: Words,
        place: int,
        constraints: Constraints,
        tree: PieceTree,
        *,
        opens: bool,
    ) -> Reading[Tensor]:
        """Return the weights (V,) of the piece after the pieces read; a tree caches what earlier draws have read.

        :param opens: whether the piece begins a word of a mention.
        """
        if read not in tree:
            carry = state.carry
            if read:
                carry = yield from self._read_pieces(tree[read[:-1]][0], read[-1:])
            log_probs = yield state, self.network.backbone.state(carry), place
            log_probs = self.words.exclude(log_probs, opens_mention_word=opens)
            tree[read] = (carry, torch.softmax(sharpen(log_probs, constraints).double().cpu(), -1))
        return tree[read][1]

    def _draw(self, log_probs: Tensor) -> int:
        probs = torch.softmax(log_probs.double().cpu(), -1)
        return int(torch.multinomial(probs, 1, generator=self.generator))


def refuse_word(tree: PieceTree, pieces: Words) -> bool:
    """Remove a word from a tree, so that the next draw is from the others in their proportions; tell whether any is left."""
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
        # pieces below this probability have less than 1 - top_p together, so that the set needs none of them
        likely = (log_probs > math.log((1 - constraints.top_p) / len(log_probs))).nonzero()[:, 0]
        ordered, order = log_probs[likely].sort(descending=True)
        kept = likely[order[ordered.exp().cumsum(-1) - ordered.exp() < constraints.top_p]]
        log_probs = torch.full_like(log_probs, -torch.inf).index_copy(0, kept, log_probs[kept])
    return log_probs
