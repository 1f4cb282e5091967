"""Where a row is right and where not: by newness, distance, number of candidates, scenario and kind of word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Protocol

from entitynlm.prediction.contexts import PRONOUNS
from entitynlm.prediction.slots import Slot, SlottedStory

DISTANCES = ((1, "1-5"), (6, "6-10"), (11, "11-20"), (21, "21-40"), (41, "41-80"), (81, "81 and more"))
CANDIDATES = ((0, "0-3"), (4, "4-6"), (7, "7-9"), (10, "10-14"), (15, "15 and more"))


class Judged(Protocol):
    """An answer that is right or wrong."""

    @property
    def story(self) -> SlottedStory: ...

    @property
    def slot(self) -> Slot: ...

    @property
    def is_right(self) -> bool: ...


def break_down(answers: Sequence[Judged]) -> dict[str, dict[str, dict[str, Any]]]:
    """Accuracy (percent) and number of slots, by each property."""
    counts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for answer in answers:
        for name, value in _describe(answer).items():
            found = counts[name][value]
            found[0] += answer.is_right
            found[1] += 1
    return {
        name: {
            value: {"accuracy": round(100 * right / total, 2), "slots": total}
            for value, (right, total) in sorted(values.items(), key=lambda item: _rank(name, item[0]))
        }
        for name, values in counts.items()
    }


def _describe(answer: Judged) -> dict[str, str]:
    story, slot = answer.story.story, answer.slot
    before = [mention for mention in story.mentions if mention.start < slot.position]
    own = [mention for mention in before if mention.entity == slot.entity]
    word = story.tokens[slot.position].lower()
    return {
        "newness": "new" if slot.is_new else "old",
        "distance": _find_bucket(DISTANCES, slot.position - own[-1].end + 1) if own else "new",
        "candidates": _find_bucket(CANDIDATES, len({mention.entity for mention in before})),
        "scenario": story.meta.get("scenario", "unknown"),
        "form": ("new " if slot.is_new else "old ") + ("pronoun" if word in PRONOUNS else "noun"),
    }


def _find_bucket(buckets: Sequence[tuple[int, str]], value: int) -> str:
    return [name for edge, name in buckets if edge <= max(value, buckets[0][0])][-1]


def _rank(name: str, value: str) -> tuple[int, str]:
    """Buckets in their own order, all else by name."""
    order = {"distance": DISTANCES, "candidates": CANDIDATES}.get(name, ())
    names = [bucket for _, bucket in order]
    return (names.index(value) if value in names else len(names), value)
