"""Key and response chains with numbered mentions, by the conventions of the official CoNLL scorer (v8.01).

All metrics work on an :class:`Alignment`, so that these conventions are applied once:

- A mention is a span, and two mentions are the same if their spans are.
- A span that the key has twice stays twice, with one number; "the chain of a mention" is the last chain with that span.
- A span of the response that matches the key counts at its first occurrence; repetitions are removed, and so is a chain that
  becomes empty. Repetitions of spans that are not in the key stay.
- Singletons count like any other chain, and twinless mentions stay in their chains.

Chains and mentions are in the order in which the official scorer meets them in a file. This order decides which repetition is
"first", and in which order fractions are added, hence the last printed digit of a score.
"""

import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from entitynlm.text.document import Document

Chains = Sequence[Sequence[Hashable]]
"""Entities as sequences of mention keys: anything hashable that is equal for equal mentions, mostly spans."""


MANY = sys.maxsize
MOST_DIGITS = 19  # of a number that orders entities


@dataclass(frozen=True)
class Alignment:
    """Numbered chains (equal numbers are the same mention), how many distinct mentions they have, and how many repetitions."""

    key: tuple[tuple[int, ...], ...]
    response: tuple[tuple[int, ...], ...]
    key_mentions: int
    response_mentions: int
    common_mentions: int
    repeated_in_key: int = 0
    repeated_in_response: int = 0

    @cached_property
    def key_chain_of(self) -> dict[int, int]:
        """The index of each key mention's chain; the last chain if several contain it."""
        return {mention: index for index, chain in enumerate(self.key) for mention in chain}

    @cached_property
    def response_chain_of(self) -> dict[int, int]:
        """The index of each response mention's chain, which is unique for mentions that are in the key."""
        return {mention: index for index, chain in enumerate(self.response) for mention in chain}

    @cached_property
    def has_repetitions(self) -> bool:
        """Tell whether the aligned key or the aligned response has a mention more than once."""
        return any(
            sum(map(len, chains)) != len(index)
            for chains, index in ((self.key, self.key_chain_of), (self.response, self.response_chain_of))
        )

    @cached_property
    def overlaps(self) -> dict[tuple[int, int], int]:
        """Count the distinct mentions in both key chain i and response chain j, for all pairs (i, j) that share a mention."""
        table: dict[tuple[int, int], int] = {}
        response_chain_of = self.response_chain_of
        for index, chain in enumerate(self.key):
            for mention in set(chain) if self.repeated_in_key else chain:
                other = response_chain_of.get(mention)
                if other is not None:
                    table[index, other] = table.get((index, other), 0) + 1
        return table


def align_chains(key: Chains, response: Chains) -> Alignment:
    """Number the mentions of two sets of chains that are in the order of their file."""
    numbers: dict[Hashable, int] = {}
    for chain in key:
        for mention in chain:
            numbers.setdefault(mention, len(numbers))
    key_mentions = len(numbers)
    found: set[int] = set()
    aligned: list[tuple[int, ...]] = []
    repeated = 0
    for chain in response:
        kept: list[int] = []
        for mention in chain:
            number = numbers.setdefault(mention, len(numbers))
            if number < key_mentions and number in found:
                repeated += 1
                continue
            found.add(number)
            kept.append(number)
        if kept:
            aligned.append(tuple(kept))
    key_chains = tuple([tuple([numbers[mention] for mention in chain]) for chain in key if chain])
    return Alignment(
        key=key_chains,
        response=tuple(aligned),
        key_mentions=key_mentions,
        response_mentions=len(found),
        common_mentions=key_mentions + len(found) - len(numbers),
        repeated_in_key=sum(map(len, key_chains)) - key_mentions,
        repeated_in_response=repeated,
    )


def list_chains(text: Document) -> list[Sequence[Hashable]]:
    """List a document's entities in the order in which the official scorer would meet them in a CoNLL file.

    It numbers an entity when it first opens (on one line, one-token mentions come before longer ones) and notes a mention when
    it closes (on one line, the one that opened last comes first).
    """
    grouped: dict[str, list[tuple[int, int]]] = {}
    for mention in text.mentions:
        grouped.setdefault(mention.entity, []).append((mention.end, -mention.start))
    ordered = [sorted(places) for _, places in sorted(grouped.items(), key=_opening)]
    return [[(-start, end) for end, start in places] for places in ordered]


def align_documents(key: Document, response: Document) -> Alignment:
    return align_chains(list_chains(key), list_chains(response))


def _opening(item: tuple[str, Sequence[tuple[int, int]]]) -> tuple[int, int, int, str]:
    """Order entities by their first bracket; ``places`` are in text order, so the longest of the first mentions comes first."""
    entity, places = item
    end, opened = places[0]
    longest_first = -MANY if (1 - opened, opened) in places else -opened - end
    return (
        -opened,
        longest_first,
        int(entity) if entity.isdecimal() and len(entity) < MOST_DIGITS else -1,
        entity,
    )
