"""Pairing of quotation marks: which marks open a quotation and which close it.

A dynamic programme goes over the marks: each mark opens a quotation, closes one, or neither, and the assignment with the smallest
sum of costs wins. So a forgotten mark costs a little, and does not invert the rest of a book.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from entitynlm.text.document import Document, Span
from entitynlm.text.english import QUOTATION_VERBS

DOUBLE, SINGLE = "double", "single"
OPENERS = {"“": DOUBLE, "„": DOUBLE, "``": DOUBLE, "«": DOUBLE, "‘": SINGLE, "`": SINGLE, "‹": SINGLE}
CLOSERS = {"”": DOUBLE, "''": DOUBLE, "»": DOUBLE, "’": SINGLE, "›": SINGLE, "’”": DOUBLE, "'\"": DOUBLE}
STRAIGHT_MARKS = {'"': DOUBLE, "'": SINGLE}
MARK_KINDS = {**OPENERS, **CLOSERS, **STRAIGHT_MARKS}
MARKS = frozenset(MARK_KINDS)
DASHES = frozenset(("—", "--", "–", "―", "-", "----", "---"))
ENDS = frozenset((".", "!", "?", "...", "…", "....", ". . ."))
STOPS = frozenset((",", ";", ":", *ENDS, *DASHES))
"""Punctuation before a closing mark after speech."""
MINOR = 10
"""Tokens of an expression in marks inside of a quotation, at most."""
ELIDED = 4
"""Words with an apostrophe at their end are possessives in s, have lost a g, or are shorter than this: "th'", "wi'"."""
NEVER = 100.0
DOUBLE_IGNORED = 3.0
"""Cost of a double mark that neither opens nor closes a quotation: no mark costs more to ignore."""


def ends_clause(token: str) -> bool:
    """Tell whether a token may precede a closing mark as the end of speech: ".", ",", "?!", "P.M.", "--", "well--"."""
    return token in STOPS or not token.strip(".,;:!?…") or token.endswith(("--", "—", "…", "."))


@dataclass(frozen=True)
class _Assignment:
    """An assignment to the marks so far: its cost, the mark of the open quotation (-1: none), its pairs as a linked list."""

    cost: float
    opened: int
    pairs: tuple[Span, object] | None


class _Costs:
    """Costs of the roles that a mark can have, by the tokens around it."""

    def __init__(self, document: Document, borders: Sequence[int]) -> None:
        self.document, self.tokens = document, document.tokens
        self.paragraphs = frozenset(borders)
        self.sentences = frozenset(start for start, _ in document.sentences)
        self.minor = frozenset(self._find_minor())

    def _find_minor(self) -> Iterator[int]:
        """Find curved marks around a few words in the middle of a sentence, which are mostly no quotations."""
        for place, token in enumerate(self.tokens):
            if token in OPENERS and place not in self.sentences and self._before(place)[0].isalpha():
                for end in range(place + 2, min(place + MINOR, len(self.tokens))):
                    if CLOSERS.get(self.tokens[end]) == OPENERS[token]:
                        yield from (place, end)
                        break

    def _before(self, place: int) -> str:
        return self.tokens[place - 1] if place else "."

    def _follows_tag(self, place: int) -> bool:
        """Tell whether "said" or "he said" stands after a mark, which then can't open a quotation."""
        words = [token.lower() for token in self.tokens[place + 1 : place + 3]] or [""]
        return words[0] in QUOTATION_VERBS or (
            words[0] in ("he", "she", "they") and words[-1] in QUOTATION_VERBS
        )

    @staticmethod
    def _may_precede(token: str) -> bool:
        """Tell whether a quotation often opens after this token."""
        return ends_clause(token) or token in MARKS or token.lower() in QUOTATION_VERBS

    def open(self, place: int) -> float:
        token, before = self.tokens[place], self._before(place)
        if token in CLOSERS:
            return NEVER
        after = self.tokens[place + 1] if place + 1 < len(self.tokens) else "."
        begins = place in self.paragraphs or place in self.sentences
        cost = 0.0 if begins else 0.3 if self._may_precede(before) else 1.0
        if token in OPENERS:
            return 0.2 * cost
        cost += 2.0 * self._precedes_stop(place) + 1.5 * (begins and after[0].islower())
        cost += 1.5 * self._follows_tag(place)
        if STRAIGHT_MARKS[token] == SINGLE and cost >= 1.0:
            cost += 3.0
        return cost

    def _precedes_stop(self, place: int) -> bool:
        """Tell whether punctuation stands after a mark, where some writers put it."""
        after = self.tokens[place + 1] if place + 1 < len(self.tokens) else ""
        return after in STOPS or after.startswith(("--", "—"))

    def close(self, opened: int, place: int) -> float:
        token, before = self.tokens[place], self._before(place)
        if token in OPENERS or place == opened + 1:
            return NEVER
        stopped = ends_clause(before) or before in MARKS
        outside = self._precedes_stop(place)
        cost = 0.0 if stopped else 0.4
        if not (stopped or outside):
            cost += (place - opened) / 8  # titles and the like are short
        return cost

    def ignore(self, opened: int, place: int) -> float:
        token = self.tokens[place]
        if place in self.minor and opened not in self.minor:
            return 0.4
        if MARK_KINDS[token] == DOUBLE:
            return DOUBLE_IGNORED
        if token in OPENERS:
            return 2.0
        before = self._before(place)
        elided = before.endswith(("s", "n")) or (len(before) < ELIDED and not self._precedes_stop(place))
        return 0.0 if elided and not ends_clause(before) else 1.0

    def leave_open(self, opened: int, border: int) -> float:
        """Cost of a quotation that is open where a paragraph ends: small if the next paragraph begins with the same mark."""
        kind = MARK_KINDS[self.tokens[opened]]
        continued = border < len(self.tokens) and MARK_KINDS.get(self.tokens[border]) == kind
        return 0.5 if continued and self.tokens[border] not in CLOSERS else 3.0 if kind == DOUBLE else 4.0


def pair_marks(document: Document, borders: Sequence[int]) -> list[Span]:
    """Find the spans between paired marks, without spans inside of others."""
    costs = _Costs(document, borders)
    kinds = [MARK_KINDS.get(token) for token in document.tokens]
    double, single = ([n for n, own in enumerate(kinds) if own == kind] for kind in (DOUBLE, SINGLE))
    speaking = sum(ends_clause(document.tokens[place - 1]) for place in single if place) // 2
    order = (double, single) if len(double) // 2 >= speaking else (single, double)
    found: list[Span] = []
    for marks in order:
        covered = {place for start, end in found for place in range(start, end)}
        found += _pair(
            [place for place in marks if place not in covered], costs, borders, len(document), covered
        )
    return found


def pair_inner_marks(document: Document, borders: Sequence[int], quotations: Sequence[Span]) -> list[Span]:
    """Find the spans of quotations inside of quotations, in marks of the other kind."""
    costs, found = _Costs(document, borders), list[Span]()
    for start, end in quotations:
        inner = SINGLE if MARK_KINDS.get(document.tokens[start]) == DOUBLE else DOUBLE
        marks = [
            place for place in range(start + 1, end - 1) if MARK_KINDS.get(document.tokens[place]) == inner
        ]
        found += _pair(marks, costs, (0,), end, set())
    return found


def _pair(
    marks: Sequence[int], costs: _Costs, borders: Sequence[int], length: int, covered: set[int]
) -> list[Span]:
    readings = [_Assignment(0.0, -1, None)]
    ends = iter((*borders[1:], length)) if len(borders) > 1 else iter((length,))
    end = next(ends)
    for place in marks:
        while place >= end:
            readings = _end_paragraph(readings, costs, end)
            end = next(ends)
        readings = _step(readings, costs, place)
    best = min(_end_paragraph(readings, costs, end), key=lambda reading: reading.cost)
    found: list[Span] = []
    pairs: object = best.pairs
    while isinstance(pairs, tuple):
        found.append(pairs[0])
        pairs = pairs[1]
    return [span for span in reversed(found) if not (span[0] in covered or span[1] - 1 in covered)]


def _step(readings: Sequence[_Assignment], costs: _Costs, place: int) -> list[_Assignment]:
    """Let a mark open or close a quotation or do neither in each assignment, and keep the best for each open mark.

    The assignment without an open quotation can follow any other by ignoring a closing mark, so that assignments which cost more
    than this never win and are dropped.
    """
    following = []
    for reading in readings:
        cost, opened, pairs = reading.cost, reading.opened, reading.pairs
        following.append(_Assignment(cost + costs.ignore(opened, place), opened, pairs))
        if opened < 0:
            following.append(_Assignment(cost + costs.open(place), place, pairs))
        else:
            closing = cost + costs.close(opened, place)
            following.append(_Assignment(closing, -1, ((opened, place + 1), pairs)))
            reopened = cost + costs.open(place) + 1.5  # the one before was never closed: it ends here
            following.append(_Assignment(reopened, place, ((opened, place), pairs)))
    best: dict[int, _Assignment] = {}
    for reading in sorted(following, key=lambda reading: reading.cost):
        best.setdefault(reading.opened, reading)
    return [reading for reading in best.values() if reading.cost <= best[-1].cost + DOUBLE_IGNORED]


def _end_paragraph(readings: Sequence[_Assignment], costs: _Costs, border: int) -> list[_Assignment]:
    """Close the open quotation of each assignment where a paragraph ends, and keep the best."""
    closed = []
    for reading in readings:
        if reading.opened < 0:
            closed.append(reading)
        else:
            cost = reading.cost + costs.leave_open(reading.opened, border)
            closed.append(_Assignment(cost, -1, ((reading.opened, border), reading.pairs)))
    return [min(closed, key=lambda reading: reading.cost)]
