"""Chunks: the arcs of a template's tree, and its words with plain noun phrases taken together."""

from __future__ import annotations

from collections.abc import Sequence

NOMINAL_TAGS = frozenset({"SLOT", "NN", "NNS", "NNP", "PRP", "WP"})


class Arcs:
    """Heads and relations as far as they are known (-2 is unknown), and tags, which parsing may correct."""

    def __init__(self, tags: Sequence[str], lemmas: Sequence[str]) -> None:
        self.tags, self.lemmas = list(tags), list(lemmas)
        self.heads, self.relations = [-2] * len(tags), [""] * len(tags)

    def attach(self, item: int, head: int, relation: str) -> None:
        """Hang one item on another, or make it the root (-1)."""
        if item == head:
            raise ValueError(f"item {item} can't be its own head")
        self.heads[item], self.relations[item] = head, relation


class Chunks:
    """A stretch of items as units: nouns with what belongs to them, slots, and all other words."""

    def __init__(self, arcs: Arcs, stretch: Sequence[int]) -> None:
        self.arcs, self.tags, self.lemmas = arcs, arcs.tags, arcs.lemmas
        self.stretch = list(stretch)
        self.like_nouns: set[int] = set()
        self.units = self.chunk()

    def chunk(self) -> list[int]:
        """Attach determiners, adjectives and numbers to the nouns after them; what is left are the units."""
        attached: set[int] = set()
        for position, item in enumerate(self.stretch):
            if self.tags[item] not in ("NN", "NNS", "NNP"):
                continue
            before = position - 1
            while before >= 0:
                other = self.stretch[before]
                relation = self.premodify(other)
                if relation is None or other != item - (position - before):
                    break
                self.arcs.attach(other, item, relation)
                attached.add(other)
                before -= 1
        return [item for item in self.stretch if item not in attached]

    def premodify(self, other: int) -> str | None:
        tag, lemma = self.tags[other], self.lemmas[other]
        if tag == "DT":
            return "det:predet" if lemma == "all" and self.tags[other + 1] == "DT" else "det"
        if tag == "RB" and lemma in ("next", "first"):
            self.tags[other] = tag = "JJ"
        if tag in ("JJ", "JJR", "JJS"):
            return "amod"
        return {"CD": "nummod", "POSS": "nmod:poss"}.get(tag)

    def is_nominal(self, item: int) -> bool:
        return (
            self.tags[item] in NOMINAL_TAGS
            or self.tags[item] in ("DT", "CD", "EX")
            or item in self.like_nouns
        )

    def is_finite(self, item: int) -> bool:
        return self.tags[item] in ("VBD", "VBZ", "VBP", "MD")

    # -- looking ahead -------------------------------------------------------------------------------------------

    def ahead(self, position: int) -> int:
        """The position of the next unit that is no adverb, or the end."""
        position += 1
        while position < len(self.units) and self.tags[self.units[position]] == "RB":
            position += 1
        return position

    def tag_at(self, position: int) -> str:
        return self.tags[self.units[position]] if position < len(self.units) else ""

    def finite_follows(self, position: int) -> bool:
        """Whether the nominal here is a subject: a finite verb comes next, perhaps after another nominal with and."""
        after = self.ahead(position)
        if (
            self.tag_at(after) == "CC"
            and after + 1 < len(self.units)
            and self.is_nominal(self.units[after + 1])
        ):
            after = self.ahead(after + 1)
        return after < len(self.units) and self.is_finite(self.units[after])
