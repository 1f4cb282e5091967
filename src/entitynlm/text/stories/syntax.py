"""Dependencies of templates: a small parser for the controlled English that the scripts are written in.

Scripts are written so that a few rules are enough: a subordinate clause ends at a comma or with the sentence, there are
no relative clauses, and whoever takes part is one slot. Relations follow Universal Dependencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from entitynlm.text.stories.chunks import Arcs, Chunks

PARTICLES = frozenset(
    {
        ("pick", "up"),
        ("take", "off"),
        ("put", "on"),
        ("put", "up"),
        ("dig", "up"),
        ("turn", "on"),
        ("turn", "off"),
        ("throw", "away"),
        ("pump", "up"),
        ("take", "out"),
        ("pull", "out"),
        ("blow", "out"),
        ("spit", "out"),
        ("stick", "out"),
        ("cut", "off"),
        ("set", "up"),
        ("set", "off"),
        ("give", "away"),
    }
)
CONTROL_VERBS = frozenset(
    "want begin try promise offer have start allow ask tell forget need like beg help".split()
)
ASPECT_VERBS = frozenset("start keep stop finish begin go come".split())
DEGREE = frozenset("very too so quite almost still just only far".split())
TIME_NOUNS = frozenset("day morning night evening time spring minute moment".split())
FIXED = frozenset(
    {("at", "last"), ("at", "first"), ("at", "once"), ("at", "all"), ("at", "home"), ("for", "free")}
)
SUBORDINATORS = frozenset({"when", "while", "because", "if", "that"})
CLAUSE_OPENERS = frozenset({"until", "after", "before", "so"})


@dataclass(frozen=True, eq=False)
class Tree:
    """The head of every item (-1 for the root), its relation to it, and its tag (now that particles are known)."""

    heads: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...]


def parse(tags: Sequence[str], lemmas: Sequence[str]) -> Tree:
    """Parse one template, in which quoted speech is a sentence of its own that the verb of saying takes."""
    arcs = Arcs(tags, lemmas)
    marks = [index for index, tag in enumerate(tags) if tag in ("``", "''")]
    if marks:
        opening, closing = marks
        spoken = _Clauses(arcs, range(opening + 1, closing)).scan()
        root = _Clauses(arcs, [*range(opening), *range(closing + 1, len(tags))]).scan()
        arcs.attach(spoken, root, "ccomp")
        arcs.attach(opening, spoken, "punct")
        arcs.attach(closing, spoken, "punct")
    else:
        root = _Clauses(arcs, range(len(tags))).scan()
    arcs.attach(root, -1, "root")
    return Tree(tuple(arcs.heads), tuple(arcs.relations), tuple(arcs.tags))


class _Clauses(Chunks):
    """The clauses of one stretch of items (the sentence, or what is said in it), read once from left to right; what
    belongs to a predicate that has not come yet waits for it."""

    def __init__(self, arcs: Arcs, stretch: Sequence[int]) -> None:
        super().__init__(arcs, stretch)
        self.root = -1
        self.predicate = -1  # of the clause that is being read
        self.finite = -1  # the last finite predicate, which a coordinated one joins
        self.waiting: list[tuple[int, str]] = []
        self.fronted: list[tuple[int, str]] = []
        self.link: tuple[str, int] = ("root", -1)
        self.outer: int = -1
        self.case: list[int] = []
        self.copula = False
        self.subject_seen = False
        self.objects: list[int] = []

    # -- the scan ------------------------------------------------------------------------------------------------

    def scan(self) -> int:
        """Attach everything and say what the root is."""
        position = 0
        while position < len(self.units):
            position = self.read(position)
        for item, relation in self.waiting + self.fronted:
            self.settle(item, relation)
        if self.root < 0:
            raise ValueError("there is no predicate")
        for item in self.stretch:
            if self.arcs.heads[item] == -2 and item != self.root:
                self.arcs.attach(item, self.root, "punct" if self.tags[item] in (",", ".", ":") else "dep")
        return self.root

    def settle(self, item: int, relation: str) -> None:
        if self.root < 0:
            self.root = item
        elif item != self.root:
            self.arcs.attach(item, self.root, relation)

    def read(self, position: int) -> int:
        """Read the unit at this position and say where to go on."""
        item = self.units[position]
        tag = self.tags[item]
        if tag == ",":
            self.close_subordinate()
        elif tag == "CC":
            return self.read_conjunction(position)
        elif self.opens_clause(position):
            self.open_subordinate(item)
        elif tag in ("IN", "TO"):
            self.read_preposition(position)
        elif tag == "EX":
            after = self.units[position + 1] if position + 1 < len(self.units) else -1
            if after >= 0 and self.lemmas[after] == "be":
                self.waiting.append((item, "expl"))
            else:
                self.tags[item] = "RB"
                self.read_adverb(position)
        elif self.is_nominal(item):
            self.read_nominal(position)
        elif tag in ("MD", "VBD", "VBZ", "VBP", "VB", "VBN", "VBG"):
            self.read_verb(position)
        elif tag in ("JJ", "JJR", "JJS"):
            self.read_adjective(item)
        elif tag in ("RB", "WRB", "RP"):
            self.read_adverb(position)
        elif tag == "UH":
            self.add(item, "discourse")
        elif tag not in (".", ":"):
            raise ValueError(f"no rule for item {item} with tag {tag}")
        return position + 1

    def add(self, item: int, relation: str) -> None:
        """Attach to the predicate of this clause, now or when it comes."""
        if self.predicate >= 0:
            self.arcs.attach(item, self.predicate, relation)
        else:
            self.waiting.append((item, relation))

    def set_predicate(self, item: int) -> None:
        relation, head = self.link
        if relation == "root":
            self.root = item
            for fronted, how in self.fronted:
                self.arcs.attach(fronted, item, how)
            self.fronted = []
        elif head >= 0:
            self.arcs.attach(item, head, relation)
        else:
            self.fronted.append((item, relation))
        passive = any(how == "aux:pass" for _, how in self.waiting)
        for other, how in self.waiting:
            self.arcs.attach(other, item, "nsubj:pass" if how == "nsubj" and passive else how)
        self.subject_seen = self.subject_seen or any(how == "nsubj" for _, how in self.waiting)
        finite = self.is_finite(item) or any(how in ("aux", "aux:pass", "cop") for _, how in self.waiting)
        self.waiting, self.predicate, self.copula, self.objects = [], item, False, []
        if finite:
            self.finite = item

    # -- clauses -------------------------------------------------------------------------------------------------

    def opens_clause(self, position: int) -> bool:
        item = self.units[position]
        lemma = self.lemmas[item].lower()
        follows = position + 1 < len(self.units) and self.is_nominal(self.units[position + 1])
        if self.tags[item] not in ("IN", "WRB", "DT") or not follows:
            return False
        if not self.finite_follows(position + 1):
            return False
        return lemma in SUBORDINATORS or lemma in CLAUSE_OPENERS

    def open_subordinate(self, item: int) -> None:
        lemma = self.lemmas[item].lower()
        if self.link[0] == "root" and self.predicate < 0 and lemma == "so":
            self.waiting.append((item, "advmod"))
            self.tags[item] = "RB"
            return
        self.outer = self.finite if self.predicate >= 0 else -1
        self.link = ("ccomp" if lemma in ("that", "if") and self.outer >= 0 else "advcl", self.outer)
        self.predicate, self.subject_seen = -1, False
        self.fronted += [(other, how) for other, how in self.waiting]
        self.waiting = [(item, "advmod" if self.tags[item] == "WRB" else "mark")]
        if self.tags[item] == "DT":
            self.tags[item] = "IN"

    def close_subordinate(self) -> None:
        if self.link[0] in ("advcl", "ccomp") and self.predicate >= 0 and self.root < 0:
            self.predicate, self.link, self.subject_seen = -1, ("root", -1), False
        elif self.link[0] in ("advcl", "ccomp", "xcomp") and self.outer >= 0:
            self.predicate = self.outer

    def read_conjunction(self, position: int) -> int:
        item = self.units[position]
        after = self.ahead(position)
        if self.root < 0 and self.predicate < 0 and not self.waiting:
            self.waiting.append((item, "cc"))
            return position + 1
        if after >= len(self.units):
            raise ValueError("a conjunction joins nothing")
        joined = self.units[after]
        if (
            self.predicate < 0
            and self.is_nominal(joined)
            and self.waiting[-1] == (self.units[position - 1], "nsubj")
        ):
            return self.join(item, joined, position, after)
        if self.is_nominal(joined) and not self.finite_follows(after) and self.tag_at(after) != "EX":
            return self.join(item, joined, position, after)
        if self.tags[joined] in ("JJ", "JJR", "JJS"):
            return self.join(item, joined, position, after)
        head = self.finite if self.is_finite(joined) or self.is_nominal(joined) else self.predicate
        if self.tags[joined] in ("IN", "WRB"):
            head = self.finite
        self.link = ("conj", head)
        self.predicate = -1
        self.subject_seen = not self.is_nominal(joined)
        self.waiting.append((item, "cc"))
        return position + 1

    def join(self, item: int, joined: int, position: int, after: int) -> int:
        """A coordinated nominal or adjective."""
        first = self.units[position - 1]
        self.arcs.attach(joined, first, "conj")
        self.arcs.attach(item, joined, "cc")
        for between in range(position + 1, after):
            self.arcs.attach(self.units[between], joined, "advmod")
        return after + 1

    # -- words ---------------------------------------------------------------------------------------------------

    def read_preposition(self, position: int) -> None:
        item = self.units[position]
        lemma = self.lemmas[item].lower()
        after = self.units[position + 1] if position + 1 < len(self.units) else -1
        previous = self.units[position - 1] if position else -1
        if previous >= 0 and lemma == "of" and self.lemmas[previous] == "because" and self.case:
            self.arcs.attach(item, previous, "fixed")
        elif after >= 0 and self.tags[item] == "TO" and self.tags[after] == "VB":
            governor = self.predicate
            verb = self.lemmas[governor] if governor >= 0 else ""
            self.link = (
                "xcomp" if verb in CONTROL_VERBS or self.tags[governor][:1] == "J" else "advcl",
                governor,
            )
            self.waiting.append((item, "mark"))
            self.outer = self.finite
            self.predicate = -1
        elif after >= 0 and (self.lemmas[item].lower(), self.lemmas[after]) in FIXED:
            self.case.append(item)
            self.like_nouns.add(after)
        elif after >= 0 and (self.is_nominal(after) or self.lemmas[after] == "of"):
            if previous >= 0 and (self.lemmas[previous], lemma) in PARTICLES:
                self.arcs.attach(item, previous, "compound:prt")
                self.tags[item] = "RP"
            else:
                self.case.append(item)
        elif lemma in ("inside", "outside"):
            self.tags[item] = "RB"
            self.add(item, "advmod")
        else:
            self.tags[item] = "RP"
            self.add(item, "compound:prt")

    def read_nominal(self, position: int) -> None:
        item = self.units[position]
        after = self.units[position + 1] if position + 1 < len(self.units) else -1
        if self.case:
            self.read_case_nominal(position)
        elif after >= 0 and self.lemmas[after] == "later" and self.tags[item] != "SLOT":
            self.arcs.attach(item, after, "obl:npmod")
        elif self.copula:
            self.set_predicate(item)
        elif self.predicate < 0 and (self.finite_follows(position) or self.inverted()):
            self.waiting.append((item, "nsubj"))
        elif self.predicate < 0:
            self.waiting.append((item, "obl:tmod"))
        elif (
            self.lemmas[item] in TIME_NOUNS
            and self.tags[item] != "SLOT"
            and self.lemmas[self.predicate] != "do"
        ):
            self.add(item, "obl:tmod")
        elif not self.subject_seen and self.tags[self.predicate] != "VB":
            self.add(item, "nsubj")
            self.subject_seen = True
        else:
            self.read_object(item)

    def inverted(self) -> bool:
        """Whether an auxiliary came before its subject."""
        return any(how in ("aux", "cop") for _, how in self.waiting)

    def read_object(self, item: int) -> None:
        if self.objects:
            self.arcs.relations[self.objects[-1]] = "iobj"
        self.arcs.attach(item, self.predicate, "obj")
        self.objects.append(item)

    def read_case_nominal(self, position: int) -> None:
        item = self.units[position]
        for case in self.case:
            self.arcs.attach(case, item, "case")
        of = self.lemmas[self.case[0]] == "of"
        before = self.units[position - 2] if position >= 2 else -1
        self.case = []
        if self.copula:
            self.set_predicate(item)
        elif of and before >= 0 and self.is_nominal(before) and self.arcs.relations[before] != "expl":
            self.arcs.attach(item, before, "nmod")
        else:
            self.add(item, "obl")

    def read_verb(self, position: int) -> None:
        item = self.units[position]
        tag, lemma = self.tags[item], self.lemmas[item]
        after = self.ahead(position)
        if self.inverts(position):
            after = self.ahead(after)
        target = self.tag_at(after)
        if lemma in ("be", "have", "do") or tag == "MD":
            if target in ("VB", "VBN", "VBG") and not (lemma == "have" and target == "VB"):
                self.waiting.append((item, "aux:pass" if lemma == "be" and target == "VBN" else "aux"))
                return
            there = any(how == "expl" for _, how in self.waiting)
            if lemma == "be" and not there and self.has_complement(after):
                self.waiting.append((item, "cop"))
                self.copula = True
                if self.inverts(position):
                    self.place_inverted_subject(position)
                return
        if tag == "VBG" and self.predicate >= 0:
            verb = self.lemmas[self.predicate]
            self.link = ("xcomp" if verb in ASPECT_VERBS else "advcl", self.predicate)
        elif tag == "VB" and self.predicate >= 0:
            self.link = ("xcomp", self.predicate)
        self.set_predicate(item)

    def inverts(self, position: int) -> bool:
        """Whether the verb here stands before its subject, as in questions."""
        before = [self.tags[unit] for unit in self.units[:position]]
        after = self.tag_at(self.ahead(position))
        asked = not before or before[-1] == "WRB"
        return asked and after in ("SLOT", "PRP", "DT", "NN")

    def place_inverted_subject(self, position: int) -> None:
        subject = self.units[self.ahead(position)]
        self.waiting.append((subject, "nsubj"))
        self.units.remove(subject)

    def has_complement(self, after: int) -> bool:
        """Whether an adjective, a nominal or a phrase with a preposition follows a form of be."""
        if after >= len(self.units) or self.tag_at(after) == "EX":
            return False
        if self.tag_at(after) == "IN":
            return after + 1 < len(self.units) and self.is_nominal(self.units[after + 1])
        return self.tag_at(after) in ("JJ", "JJR", "JJS") or self.is_nominal(self.units[after])

    def read_adjective(self, item: int) -> None:
        if self.copula or self.predicate < 0:
            self.set_predicate(item)
        else:
            self.arcs.attach(item, self.predicate, "xcomp")

    def is_gradable(self, position: int) -> bool:
        """Whether a degree word before it belongs to the unit here: too late, only a squirrel."""
        slot = self.tag_at(position) == "SLOT" and not self.finite_follows(position)
        return slot or self.tag_at(position) in ("JJ", "JJR", "RB")

    def read_adverb(self, position: int) -> None:
        item = self.units[position]
        after = self.units[position + 1] if position + 1 < len(self.units) else -1
        lemma = self.lemmas[item].lower()
        if after >= 0 and lemma in DEGREE and self.is_gradable(position + 1):
            self.arcs.attach(item, after, "advmod")
            return
        previous = self.units[position - 1] if position else -1
        if previous >= 0 and (self.lemmas[previous], lemma) in PARTICLES:
            self.tags[item] = "RP"
            self.arcs.attach(item, previous, "compound:prt")
        elif self.copula or (self.tags[item] == "WRB" and self.tag_at(position + 1) == "TO"):
            self.waiting.append((item, "advmod"))
        else:
            self.add(item, "advmod")
