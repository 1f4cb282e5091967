"""What a model expects at a word of a text: whether a mention starts, whom it is of, how long it is, and which word comes.

Two readers answer the same question. One knows the words before the place and nothing else (a particle filter, whose particles
are weighed). The other also knows the mentions before it as they are marked, and so answers corrections.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from entitynlm.discourse.naming import choose_names, show_name
from entitynlm.errors import ConfigError
from entitynlm.inference.prefix_states import Belief, MentionStates, PrefixStates
from entitynlm.inference.story_state import StoryState, log_prob_pieces
from entitynlm.inference.weights import FloatArray
from entitynlm.interfaces.explorer.models import Busy
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.preprocessing import SENTENCE_END, unescape
from entitynlm.model.encoding.vocabulary import Vocabulary
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document

By = Literal["words", "mentions"]
NEW = "new"
SHOWN_REFERENTS = 7
SHOWN_WORDS = 8
SHOWN_LENGTHS = 6
LONGEST_NAME = 4  # tokens, of a referent whose first mention is not marked
PATIENCE = 4.0  # seconds that a question about a far word may read on for
AT_ONCE = 32  # words that are read between two looks at the clock


@dataclass
class Candidate:
    """A referent that may come next.

    :param start: the token at which it was first mentioned; None: a new one.  :param probability: that the next word starts a
        mention of it.  :param way: a state in which it is chosen, for what would be said then.
    """

    start: int | None
    probability: float = 0.0
    length: float = 0.0  # expected, times the probability
    way: tuple[float, StoryState] | None = None


@dataclass
class Expected:
    """The answer, before names and words are looked up."""

    starts: float = 0.0
    inside: float = 0.0
    candidates: dict[int | None, Candidate] = field(default_factory=dict)
    lengths: FloatArray = field(default_factory=lambda: np.zeros(SHOWN_LENGTHS))
    open: dict[int | None, float] = field(default_factory=dict)  # who an open mention is of
    ends: dict[int, int] = field(
        default_factory=dict
    )  # where the first mentions of all these end, by their start

    def ranked(self) -> list[Candidate]:
        return sorted(self.candidates.values(), key=lambda one: -one.probability)


class Reader:
    """What both readers share: the text as the model's words."""

    def __init__(self, pretrained: Pretrained, document: Document, encoded: EncodedDocument) -> None:
        self.pretrained, self.document, self.encoded = pretrained, document, encoded
        self.network = pretrained.get("generative")
        self.word_of = {token: word for word, token in enumerate(encoded.origin.tolist()) if token >= 0}

    def believe(self, t: int) -> Belief:
        raise NotImplementedError

    def expect(self, t: int) -> tuple[Expected, Belief]:
        """What is expected at word t."""
        belief = self.believe(t)
        found = Expected()
        for weight, state, spans in zip(belief.weights, belief.states, belief.first_spans, strict=True):
            firsts = [int(self.encoded.origin[start]) for start in spans[:, 0]]
            ends = self.encoded.origin[np.minimum(spans[:, 1], len(self.encoded)) - 1]
            found.ends.update(zip(firsts, (ends + 1).tolist(), strict=True))
            if state.history.remaining:
                found.inside += weight
                who = firsts[state.history.current - 1]
                found.open[who] = found.open.get(who, 0.0) + weight
                continue
            self._add(found, belief, weight, state, firsts)
        return found, belief

    def _add(
        self, found: Expected, belief: Belief, weight: float, state: StoryState, firsts: Sequence[int]
    ) -> None:
        expectation = state.expect(belief.tables, belief.at)
        probs = weight * np.exp(expectation.log_probs)
        found.starts += float(probs.sum())
        likely = np.argsort(-probs, kind="stable")[:SHOWN_REFERENTS]
        lengths = np.exp(expectation.log_lengths(likely))
        found.lengths += self._bin(probs[likely] @ lengths)
        means = lengths @ np.arange(1, lengths.shape[1] + 1)
        for number, prob in enumerate(probs.tolist()):
            start = firsts[number] if number < expectation.known else None
            one = found.candidates.setdefault(start, Candidate(start))
            one.probability += prob
        for number, mean, by_length in zip(likely.tolist(), means.tolist(), lengths, strict=True):
            start = firsts[number] if number < expectation.known else None
            one, prob = found.candidates[start], float(probs[number])
            one.length += prob * mean
            if one.way is None or prob > one.way[0]:
                r, e = int(expectation.types[number]), min(number, expectation.known) + 1
                one.way = (prob, state.choose(r, e, 1 + int(by_length.argmax())))

    @staticmethod
    def _bin(lengths: FloatArray) -> FloatArray:
        binned = np.zeros(SHOWN_LENGTHS)
        binned[: min(len(lengths), SHOWN_LENGTHS)] = lengths[:SHOWN_LENGTHS]
        binned[-1] += lengths[SHOWN_LENGTHS:].sum()
        return binned


class AlongWords(Reader):
    """Knows the words before a place, and nothing else."""

    def __init__(self, pretrained: Pretrained, document: Document) -> None:
        super().__init__(pretrained, document, pretrained.encoder.encode(document.with_mentions(())))
        if "causal" not in pretrained.networks or pretrained.untrained:
            raise ConfigError(
                "this model can't tell from words alone who was mentioned: it has no trained causal proposal"
            )
        self._states = PrefixStates(self.network, pretrained.get("causal"), self.encoded)

    def believe(self, t: int) -> Belief:
        end = time.monotonic() + PATIENCE
        while (missing := self._states.count_missing(t)) > AT_ONCE:
            if time.monotonic() > end:
                raise Busy(
                    f"the model is reading the text word by word and is at word {t - missing}; try again soon"
                )
            self._states.advance(t - missing + AT_ONCE)
        return self._states.before(t)

    def prepare(self, t: int) -> None:
        """Read on to word t ahead of any question."""
        self._states.prepare(min(t, len(self.encoded)))


class AlongMentions(Reader):
    """Knows the words and the marked mentions before a place."""

    def __init__(self, pretrained: Pretrained, document: Document) -> None:
        super().__init__(pretrained, document, pretrained.encoder.encode(document))
        self._states = MentionStates(self.network, self.encoded)

    def believe(self, t: int) -> Belief:
        return self._states.before(t)


class Named(NamedTuple):
    """What a referent is called, from what stands before a place."""

    name: str
    entity: str | None  # of the analysis on the page, where the two agree


class Answers:
    """Puts what is expected into words, for one analysis."""

    def __init__(self, reader: Reader, document: Document) -> None:
        self.reader, self.document = reader, document
        self.pretrained = reader.pretrained
        self.tokenizer = self.pretrained.encoder.tokenizer

    def answer(self, token: int, *, by: By) -> dict[str, Any]:
        """What is expected at a token, and what came."""
        t = self.reader.word_of.get(token)
        if t is None:
            return {"at": token, "by": by, "read": False}
        expected, belief = self.reader.expect(t)
        named = self._name(expected, token, by)
        shown = expected.ranked()[:SHOWN_REFERENTS]
        words = self._list_words(belief, [one.way[1] for one in shown if one.way])
        of_ways = iter(words.ways)
        referents = [
            {
                "name": named[one.start].name,
                "entity": named[one.start].entity,
                "new": one.start is None,
                "first": one.start,
                "probability": one.probability / max(expected.starts, 1e-12),
                "length": one.length / max(one.probability, 1e-12),
                "words": next(of_ways) if one.way else [],
            }
            for one in shown
        ]
        total = max(float(expected.lengths.sum()), 1e-12)
        return {
            "at": token,
            "by": by,
            "read": True,
            "starts": min(1.0, expected.starts),
            "inside": min(1.0, expected.inside),
            "open": [
                {"name": named[start].name, "entity": named[start].entity, "probability": min(1.0, weight)}
                for start, weight in sorted(expected.open.items(), key=lambda pair: -pair[1])[:3]
            ],
            "referents": referents,
            "lengths": (expected.lengths / total).tolist(),
            "words": self._mix_words(expected, shown, words),
            "words_without": words.without,
            "pieces": not isinstance(self.tokenizer, Vocabulary),
        }

    # -- names ---------------------------------------------------------------------------------------------------------

    def _name(self, expected: Expected, token: int, by: By) -> dict[int | None, Named]:
        """Names from the words before a token; of mentions that are marked, those that start before it."""
        before = [mention for mention in self.document.mentions if mention.start < token]
        names = choose_names(self.document, (m for m in before if m.end <= token))
        named: dict[int | None, Named] = {None: Named("someone or something new", None)}
        for start in {*expected.candidates, *expected.open} - {None}:
            assert start is not None
            around = [m for m in before if m.start <= start < m.end]
            mention = max(around, key=lambda m: (m.start == start, -len(m))) if around else None
            if mention is None:
                end = min(max(expected.ends[start], start + 1), start + LONGEST_NAME, token)
                named[start] = Named(self.document.words(start, end), None)
            elif by == "mentions" and mention.entity in names:
                named[start] = Named(show_name(self.document, names[mention.entity]), mention.entity)
            else:  # what it was called first: who is who among these is what the reader is not sure of
                named[start] = Named(self.document.words(start, min(mention.end, token)), mention.entity)
        return named

    # -- words ---------------------------------------------------------------------------------------------------------

    def _list_words(self, belief: Belief, ways: Sequence[StoryState]) -> _Words:
        """The likeliest words outside of mentions, in a mention of each referent, and without any entity."""
        heaviest = belief.states[int(np.argmax(belief.weights))]
        nobody = StoryState(heaviest.network, heaviest.states)
        states = [nobody, heaviest, *ways]
        h = torch.from_numpy(belief.tables.contexts[belief.at : belief.at + 1]).to(
            self.reader.network.W_r.device
        )
        log_probs = log_prob_pieces(states, h)
        if isinstance(self.tokenizer, Vocabulary):  # with pieces, a copied word is not one of them
            log_probs = torch.stack(
                [state.mix_copies(row, h) for state, row in zip(states, log_probs, strict=True)]
            )
        without, *probs = log_probs.double().exp().cpu().numpy()
        return _Words(np.array(probs), [self._top(row) for row in probs[1:]], self._top(without))

    def _mix_words(
        self, expected: Expected, shown: Sequence[Candidate], words: _Words
    ) -> list[dict[str, Any]]:
        """The likeliest words whoever comes next: the ways to go on, weighed."""
        free = max(0.0, 1.0 - expected.starts)
        weights = [free, *(one.probability for one in shown if one.way)]
        mixed = np.asarray(weights) @ words.probs / max(sum(weights), 1e-12)
        return self._top(mixed)

    def _top(self, probs: np.ndarray) -> list[dict[str, Any]]:
        some = (
            np.argpartition(-probs, SHOWN_WORDS)[:SHOWN_WORDS]
            if len(probs) > SHOWN_WORDS
            else np.arange(len(probs))
        )
        top = some[np.lexsort((some, -probs[some]))]
        return [{"word": self._show(int(number)), "probability": float(probs[number])} for number in top]

    def _show(self, number: int) -> str:
        word = unescape(self.tokenizer.join((number,)))
        return "(end of sentence)" if word == SENTENCE_END else word


class _Words(NamedTuple):
    probs: np.ndarray  # (1 + ways, V)
    ways: list[list[dict[str, Any]]]
    without: list[dict[str, Any]]
