"""Readers who guess, at each mention, whom the story is about to mention: the one who knows the scripts, and three
simple ones who do not.

The knowing reader sees what anyone may see at a slot (the words and mentions before it, and that a mention starts
here) and knows the scripts and where in them the story stands. It goes through all sentences that could come next with
their probabilities, keeps those that begin like the one it is reading, and adds up who would be mentioned here. It
knows nothing of the choices that are still to be drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from entitynlm.text.document import Document, Mention
from entitynlm.text.stories.detours import DETOURS
from entitynlm.text.stories.generator import OPENER_PROBABILITY, Beat, Telling, can_open
from entitynlm.text.stories.plot import Event, Plot, enumerate_events
from entitynlm.text.stories.templates import Slot, Template, compile_event

NEW = "new"
FIRST_SENTENCE = 2
"""Slots are counted from the third sentence on, as in the protocol of entity prediction on InScript."""


@dataclass(frozen=True, slots=True)
class Guess:
    """The distribution over old entities and ``new`` at one slot, by role, and what came."""

    probabilities: dict[str, float]
    truth: str

    @property
    def right(self) -> bool:
        best = max(self.probabilities.items(), key=lambda item: item[1])[0]
        return best == self.truth


@dataclass(frozen=True, slots=True)
class _Continuation:
    probability: float
    plot: Plot
    template: Template


def find_outermost(document: Document) -> list[Mention]:
    """The mentions that lie in no other one, in text order: those that entity prediction is about."""
    outermost: list[Mention] = []
    for mention in document.mentions:  # sorted: enclosing ones first
        if not outermost or mention.start >= outermost[-1].end:
            outermost.append(mention)
    return outermost


def read_knowingly(telling: Telling) -> Iterator[Guess]:
    """The guesses of the reader who knows the scripts, slot by slot."""
    seen: set[str] = set()
    for number, beat in enumerate(telling.beats):
        if number < FIRST_SENTENCE:
            seen.update(beat.slots)
            continue
        yield from _read_sentence(beat, seen)


def _read_sentence(beat: Beat, seen: set[str]) -> Iterator[Guess]:
    alive = list(_continue(beat))
    filled = 0
    position = 0
    for index, item in enumerate(beat.template.items):
        if not isinstance(item, Slot):
            continue
        alive = [c for c in alive if _matches(c, beat, position, index)]
        position = index
        truth = beat.slots[filled]
        yield Guess(_add_up(alive, index, seen), truth if truth in seen else NEW)
        seen.add(truth)
        filled += 1


def _continue(beat: Beat) -> Iterator[_Continuation]:
    """All sentences that could come, given the plot and whether a linking phrase was read."""
    for probability, plot in enumerate_events(beat.before, DETOURS):
        event = plot.agenda[0]
        assert isinstance(event, Event)
        for weight, template in compile_event(event):
            opens = OPENER_PROBABILITY if can_open(event, template) else 0.0
            share = opens if beat.opened else 1 - opens
            if share > 0:
                yield _Continuation(probability * weight * share, plot, template)


def _matches(continuation: _Continuation, beat: Beat, start: int, end: int) -> bool:
    """Whether a continuation says the same between two positions and has a mention at the second."""
    items, told = continuation.template.items, beat.template.items
    if len(items) <= end or not isinstance(items[end], Slot):
        return False
    for index in range(start, end):
        item, other = items[index], told[index]
        if isinstance(item, Slot):
            if not isinstance(other, Slot):
                return False
            if continuation.plot.resolve(item.role) != beat.plot.resolve(other.role):
                return False
        elif isinstance(other, Slot) or item.form != other.form:
            return False
    return True


def _add_up(alive: Sequence[_Continuation], index: int, seen: set[str]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for continuation in alive:
        item = continuation.template.items[index]
        assert isinstance(item, Slot)
        role = continuation.plot.resolve(item.role)
        referent = role if role in seen else NEW
        sums[referent] = sums.get(referent, 0.0) + continuation.probability
    total = sum(sums.values())
    return {referent: value / total for referent, value in sums.items()}


# -- readers who know nothing ------------------------------------------------------------------------------------


def guess_always_new(before: Sequence[str]) -> str:
    """Always a new entity."""
    return NEW


def guess_most_recent(before: Sequence[str]) -> str:
    """The entity of the mention before."""
    return before[-1] if before else NEW


def guess_most_frequent(before: Sequence[str]) -> str:
    """The entity with most mentions so far, of several the one mentioned last."""
    if not before:
        return NEW
    last = {entity: position for position, entity in enumerate(before)}
    return max(last, key=lambda entity: (before.count(entity), last[entity]))
