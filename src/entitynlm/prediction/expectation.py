"""A model's expectation at any word of a text: whether a mention starts, of which entity, how long it is, and the next word.

A :class:`Walk` uses only the words before the place (by a particle filter with weighted particles), or also the marked mentions
before it. Questions and answers are in tokens of the document.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from entitynlm.errors import ConfigError
from entitynlm.inference.prefix_states import MentionStates, PrefixStates, WeightedStates
from entitynlm.inference.story_state import StoryState, log_prob_pieces
from entitynlm.inference.weights import FloatArray
from entitynlm.model.encoding.preprocessing import unescape_word
from entitynlm.model.encoding.tokenizer import Tokenizer, Vocabulary
from entitynlm.model.pretrained import Pretrained
from entitynlm.results import Result
from entitynlm.text.document import Document

REFERENTS = 7
TOP_WORDS = 8
LENGTHS = 6
NEGLIGIBLE = 1e-12

WordProbs = tuple[tuple[str, float], ...]
"""The likeliest words (first pieces, where words have several) with their probabilities, the likeliest first."""


@dataclass(frozen=True)
class ExpectedReferent:
    """A referent that may be mentioned next.

    :param first: token of its first mention, and :param end: end of that mention; None for a new referent.
    :param probability: probability that it is the next word's referent, given that a mention starts there.
    :param length: expected length of the mention, in words.
    :param words: likeliest first words of the mention; empty for improbable referents.
    """

    first: int | None
    end: int | None
    probability: float
    length: float
    words: WordProbs


@dataclass(frozen=True, repr=False)
class ExpectedNext(Result):
    """The model's expectation at a word.

    :param starts: probability that a mention starts there, and :param inside: that a mention is open.
    :param referents: likeliest referents if a mention starts, a new one among them.
    :param open: referents of the open mention, as (first token, end of that first mention, probability).
    :param lengths: (LENGTHS,) probability of each length of a mention that starts; the last one is "or longer".
    :param words: likeliest words, and :param words_without: likeliest words without entities.
    """

    starts: float
    inside: float
    referents: tuple[ExpectedReferent, ...]
    open: tuple[tuple[int, int, float], ...]
    lengths: tuple[float, ...]
    words: WordProbs
    words_without: WordProbs


@dataclass
class _Way:
    """A continuation in which a mention of a referent starts; ``state`` is the likeliest state that chooses it."""

    probability: float = 0.0
    length: float = 0.0  # expected, times the probability
    best: float = 0.0
    state: StoryState | None = None


class Walk:
    """Gives the expectation at each token of a text.

    :param along_mentions: condition on the document's mentions before the token; otherwise on words alone.
    """

    def __init__(self, pretrained: Pretrained, document: Document, *, along_mentions: bool) -> None:
        self._tokenizer, self._network = pretrained.encoder.tokenizer, pretrained.get("generative")
        known = document if along_mentions else document.with_mentions(())
        encoded = self._encoded = pretrained.encoder.encode(known)
        self._word_of = {token: word for word, token in enumerate(encoded.origin.tolist()) if token >= 0}
        self._states: PrefixStates | MentionStates
        if along_mentions:
            self._states = MentionStates(self._network, encoded)
        elif "causal" not in pretrained.networks or pretrained.untrained:
            raise ConfigError(
                "this model can't tell from words alone who was mentioned: it has no trained causal proposal"
            )
        else:
            self._states = PrefixStates(self._network, pretrained.get("causal"), encoded)

    @property
    def on_pieces(self) -> bool:
        """Tell whether the words of answers are first pieces of words."""
        return not isinstance(self._tokenizer, Vocabulary)

    def count_missing(self, token: int) -> int:
        """Count the words that must be read first to answer a question about a token."""
        word = self._word_of.get(token)
        if word is None or not isinstance(self._states, PrefixStates):
            return 0
        return self._states.count_missing(word)

    def read_towards(self, token: int, words: int) -> None:
        """Read some words towards a token, for a caller that can't wait for all of them."""
        if (missing := self.count_missing(token)) and isinstance(self._states, PrefixStates):
            self._states.advance(self._word_of[token] - max(missing - words, 0))

    def expect(self, token: int) -> ExpectedNext | None:
        """Return the expectation at a token; None if the model does not read the token."""
        word = self._word_of.get(token)
        if word is None:
            return None
        before = self._states.before(word)
        inside, lengths = 0.0, np.zeros(LENGTHS)
        ways: dict[int | None, _Way] = {}
        open_: dict[int, float] = {}
        ends: dict[int, int] = {}
        for weight, state, spans in zip(before.weights, before.states, before.first_spans, strict=True):
            firsts = [int(self._encoded.origin[start]) for start in spans[:, 0]]
            last = self._encoded.origin[np.minimum(spans[:, 1], len(self._encoded)) - 1]
            ends.update(zip(firsts, (last + 1).tolist(), strict=True))
            if state.history.remaining:
                inside += weight
                first = firsts[state.history.current - 1]
                open_[first] = open_.get(first, 0.0) + float(weight)
            else:
                lengths += self._add_ways(ways, before, weight, state, firsts)
        starts = sum(way.probability for way in ways.values())
        ranked = sorted(ways, key=lambda first: -ways[first].probability)[:REFERENTS]
        without, words, of_ways = self._list_words(before, [ways[first] for first in ranked], starts)
        referents = [
            ExpectedReferent(
                first,
                None if first is None else ends[first],
                ways[first].probability / max(starts, NEGLIGIBLE),
                ways[first].length / max(ways[first].probability, NEGLIGIBLE),
                said,
            )
            for first, said in zip(ranked, of_ways, strict=True)
        ]
        found = sorted(((first, ends[first], p) for first, p in open_.items()), key=lambda one: -one[2])
        shares = lengths / max(float(lengths.sum()), NEGLIGIBLE)
        figures = min(1.0, starts), min(1.0, float(inside))
        return ExpectedNext(*figures, tuple(referents), tuple(found), tuple(shares.tolist()), words, without)

    @staticmethod
    def _add_ways(
        ways: dict[int | None, _Way],
        before: WeightedStates,
        weight: float,
        state: StoryState,
        firsts: Sequence[int],
    ) -> FloatArray:
        """Add the possible continuations of one state; returns (LENGTHS,) probabilities of the mention's length."""
        expectation = state.expect(before.tables, before.at)
        probs = weight * np.exp(expectation.log_probs)
        names = [*firsts, *[None] * (len(probs) - expectation.known)]
        for name, prob in zip(names, probs.tolist(), strict=True):
            ways.setdefault(name, _Way()).probability += prob
        likely = np.argsort(-probs, kind="stable")[:REFERENTS]
        by_length = np.exp(expectation.log_lengths(likely))  # (n, longest)
        means = by_length @ np.arange(1, by_length.shape[1] + 1)
        for number, mean, own in zip(likely.tolist(), means.tolist(), by_length, strict=True):
            way, prob = ways[names[number]], float(probs[number])
            way.length += prob * mean
            if prob > way.best:
                r, e = int(expectation.types[number]), min(number, expectation.known) + 1
                way.best, way.state = prob, state.choose(r, e, 1 + int(own.argmax()))
        every = probs[likely] @ by_length
        binned = np.zeros(LENGTHS)
        binned[: len(every[:LENGTHS])] = every[:LENGTHS]
        binned[-1] += every[LENGTHS:].sum()
        return binned

    def _list_words(
        self, before: WeightedStates, ways: Sequence[_Way], starts: float
    ) -> tuple[WordProbs, WordProbs, list[WordProbs]]:
        """List the likeliest words without entities, over all continuations, and at the start of each continuation."""
        heaviest = before.states[int(np.argmax(before.weights))]
        chosen = [(way.probability, way.state) for way in ways if way.state is not None]
        states = [StoryState(heaviest.network, heaviest.states), heaviest, *(state for _, state in chosen)]
        h = torch.from_numpy(before.tables.contexts[before.at : before.at + 1]).to(self._network.W_r.device)
        log_probs = log_prob_pieces(states, h)
        without, *probs = log_probs.double().exp().cpu().numpy()
        weights = np.array([max(0.0, 1.0 - starts), *(probability for probability, _ in chosen)])
        mixed = weights @ np.array(probs) / max(float(weights.sum()), NEGLIGIBLE)
        top = partial(list_top_words, self._tokenizer)
        tops = map(top, probs[1:])
        return (
            top(without),
            top(mixed),
            [() if way.state is None else next(tops) for way in ways],
        )


def list_top_words(tokenizer: Tokenizer, probs: FloatArray, most: int = TOP_WORDS) -> WordProbs:
    """List the likeliest words by their probabilities (V,)."""
    some = np.arange(len(probs))
    if len(probs) > most:
        some = np.argpartition(-probs, most)[:most]
    top = some[np.lexsort((some, -probs[some]))].tolist()
    return tuple((unescape_word(tokenizer.join((number,))), float(probs[number])) for number in top)
