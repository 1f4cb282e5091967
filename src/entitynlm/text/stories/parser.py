"""A small dependency parser for the controlled English of the wordings, for the columns of the documents.

Wordings are written so that a few rules are enough: a subordinate clause ends at a comma or with the sentence, there are
no relative clauses, and every participant is one slot. Relations follow Universal Dependencies.
"""

from collections.abc import Sequence

from entitynlm.text.stories.lexicon import has_word

NOMINAL_TAGS = frozenset({"SLOT", "NN", "NNS", "NNP", "PRP", "WP", "DT", "CD", "EX"})
NOUN_TAGS = frozenset({"NN", "NNS", "NNP"})
ADJECTIVE_TAGS = frozenset({"JJ", "JJR", "JJS"})
FINITE_TAGS = frozenset({"VBD", "VBZ", "VBP", "MD"})
VERB_TAGS = FINITE_TAGS | {"VB", "VBN", "VBG"}
UNATTACHED = -2


class Tree:
    """The head of every item (-1 for the root), its relation to it, and its tag, which parsing may correct."""

    def __init__(self, tags: Sequence[str]) -> None:
        self.tags = list(tags)
        self.heads, self.relations = [UNATTACHED] * len(tags), [""] * len(tags)

    def attach(self, item: int, head: int, relation: str) -> None:
        """Attach one item to another, or make it the root (-1)."""
        self.heads[item], self.relations[item] = head, relation


def parse(tags: Sequence[str], lemmas: Sequence[str]) -> Tree:
    """Parse one wording, in which quoted speech is a sentence of its own that the verb of saying takes."""
    tree = Tree(tags)
    marks = [index for index, tag in enumerate(tags) if tag in ("``", "''")]
    if marks:
        if len(marks) != 2:
            raise ValueError("speech needs one opening and one closing quotation mark")
        opening, closing = marks
        spoken = _ClauseParser(tree, lemmas, range(opening + 1, closing)).parse()
        root = _ClauseParser(tree, lemmas, [*range(opening), *range(closing + 1, len(tags))]).parse()
        tree.attach(spoken, root, "ccomp")
        tree.attach(opening, spoken, "punct")
        tree.attach(closing, spoken, "punct")
    else:
        root = _ClauseParser(tree, lemmas, range(len(tags))).parse()
    tree.attach(root, -1, "root")
    return tree


class _ClauseParser:
    """Reads the clauses of one stretch of items (the sentence, or what is said in it) once from left to right; what
    belongs to a predicate that has not come yet waits for it."""

    def __init__(self, tree: Tree, lemmas: Sequence[str], stretch: Sequence[int]) -> None:
        self.tree, self.tags, self.lemmas = tree, tree.tags, [lemma.lower() for lemma in lemmas]
        self.stretch = list(stretch)
        self.units = self.chunk()  # items that are not part of a noun phrase, and the heads of those that are
        self.like_nouns: set[int] = set()
        self.root = -1
        self.predicate = -1  # of the clause that is being read
        self.finite = -1  # the last finite predicate, which a coordinated one joins
        self.waiting: list[tuple[int, str]] = []
        self.fronted: list[tuple[int, str]] = []
        self.link: tuple[str, int] = ("root", -1)
        self.case: list[int] = []
        self.copula = False
        self.subject_seen = False
        self.objects: list[int] = []

    def chunk(self) -> list[int]:
        """Attach determiners, adjectives and numbers to the nouns after them; what is left are the units."""
        attached: set[int] = set()
        for position, item in enumerate(self.stretch):
            if self.tags[item] not in NOUN_TAGS:
                continue
            for other in reversed(self.stretch[:position]):
                relation = self.relate_to_noun(other)
                if relation is None:
                    break
                self.tree.attach(other, item, relation)
                attached.add(other)
        return [item for item in self.stretch if item not in attached]

    def relate_to_noun(self, other: int) -> str | None:
        """The relation of a word before a noun to it, if it belongs to the noun phrase."""
        tag, lemma = self.tags[other], self.lemmas[other]
        if tag == "DT":
            return "det:predet" if self.tags[other + 1] == "DT" else "det"
        if tag == "RB" and lemma in ("next", "first"):
            self.tags[other] = tag = "JJ"
        if tag in ADJECTIVE_TAGS:
            return "amod"
        return {"CD": "nummod", "POSS": "nmod:poss"}.get(tag)

    def tag_at(self, position: int) -> str:
        return self.tags[self.units[position]] if 0 <= position < len(self.units) else ""

    def lemma_at(self, position: int) -> str:
        return self.lemmas[self.units[position]] if 0 <= position < len(self.units) else ""

    def is_nominal(self, position: int) -> bool:
        return self.tag_at(position) in NOMINAL_TAGS or position in self.like_nouns

    def ahead(self, position: int) -> int:
        """The position of the next unit that is no adverb, or the end."""
        position += 1
        while self.tag_at(position) == "RB":
            position += 1
        return position

    def finite_follows(self, position: int) -> bool:
        """Whether the nominal here is a subject: a finite verb comes next."""
        return self.tag_at(self.ahead(position)) in FINITE_TAGS

    def is_particle(self, position: int) -> bool:
        """Whether the unit here is the particle of the verb before it: pick up, turn off."""
        verb, particle = self.lemma_at(position - 1), self.lemma_at(position)
        return has_word(f"{verb} {particle}", "particle_verbs", "grammar")

    def parse(self) -> int:
        """Attach everything and say what the root is."""
        position = 0
        while position < len(self.units):
            position = self.read(position)
        if self.root < 0 and self.waiting:  # a call without a verb: " Here ! "
            self.root = self.waiting[0][0]
        if self.root < 0:
            raise ValueError("there is no predicate")
        for item in self.stretch:
            if self.tree.heads[item] == UNATTACHED and item != self.root:
                if self.tags[item] not in (",", ".", ":"):
                    raise ValueError(f"no head for word {item + 1}")
                self.tree.attach(item, self.root, "punct")
        return self.root

    def read(self, position: int) -> int:
        """Read the unit at this position and say where to go on."""
        item, tag = self.units[position], self.tag_at(position)
        if tag == ",":
            self.close_subordinate()
        elif tag == "CC":
            return self.read_conjunction(position)
        elif self.opens_clause(position):
            self.open_subordinate(item)
        elif tag in ("IN", "TO"):
            self.read_preposition(position)
        elif tag == "EX" and self.lemma_at(position + 1) == "be":
            self.waiting.append((item, "expl"))
        elif tag == "EX":
            self.tags[item] = "RB"
            self.read_adverb(position)
        elif self.is_nominal(position):
            self.read_nominal(position)
        elif tag in VERB_TAGS:
            self.read_verb(position)
        elif tag in ADJECTIVE_TAGS:
            if self.copula:
                self.set_predicate(item)
            else:
                self.add(item, "xcomp")
        elif tag in ("RB", "WRB", "RP"):
            self.read_adverb(position)
        elif tag == "UH":
            self.add(item, "discourse")
        elif tag not in (".", ":"):
            raise ValueError(f"no rule for word {item + 1} with tag {tag}")
        return position + 1

    def add(self, item: int, relation: str) -> None:
        """Attach to the predicate of this clause, now or when it comes."""
        if self.predicate >= 0:
            self.tree.attach(item, self.predicate, relation)
        else:
            self.waiting.append((item, relation))

    def set_predicate(self, item: int) -> None:
        """Make an item the predicate of this clause and attach to it what has waited."""
        relation, head = self.link
        if relation == "root":
            self.root = item
            for fronted, how in self.fronted:
                self.tree.attach(fronted, item, how)
        elif head >= 0:
            self.tree.attach(item, head, relation)
        else:
            self.fronted.append((item, relation))
        relations = [how for _, how in self.waiting]
        for other, how in self.waiting:
            self.tree.attach(other, item, "nsubj:pass" if how == "nsubj" and "aux:pass" in relations else how)
        self.subject_seen = self.subject_seen or "nsubj" in relations
        if self.tags[item] in FINITE_TAGS or {"aux", "aux:pass", "cop"}.intersection(relations):
            self.finite = item
        self.waiting, self.predicate, self.copula, self.objects = [], item, False, []

    def opens_clause(self, position: int) -> bool:
        lemma = self.lemma_at(position)
        opener = has_word(lemma, "subordinators", "grammar") or has_word(lemma, "clause_openers", "grammar")
        return opener and self.is_nominal(position + 1) and self.finite_follows(position + 1)

    def open_subordinate(self, item: int) -> None:
        lemma = self.lemmas[item]
        if self.predicate < 0 and lemma == "so":
            self.waiting.append((item, "advmod"))
            self.tags[item] = "RB"
            return
        outer = self.finite if self.predicate >= 0 else -1
        self.link = ("ccomp" if lemma in ("that", "if") and outer >= 0 else "advcl", outer)
        self.predicate, self.subject_seen = -1, False
        self.fronted += self.waiting
        self.waiting = [(item, "advmod" if self.tags[item] == "WRB" else "mark")]
        if self.tags[item] == "DT":
            self.tags[item] = "IN"

    def close_subordinate(self) -> None:
        if self.predicate >= 0 and self.root < 0:
            self.predicate, self.link, self.subject_seen = -1, ("root", -1), False

    def read_conjunction(self, position: int) -> int:
        """Coordinate two nominals or adjectives, or open a coordinated clause."""
        item, after = self.units[position], self.ahead(position)
        if position == 0:
            self.waiting.append((item, "cc"))
            return position + 1
        if self.tag_at(after) in ("", "."):
            raise ValueError("a conjunction joins nothing")
        nominal = self.is_nominal(after)
        if (nominal and not self.finite_follows(after)) or self.tag_at(after) in ADJECTIVE_TAGS:
            self.tree.attach(self.units[after], self.units[position - 1], "conj")
            self.tree.attach(item, self.units[after], "cc")
            return after + 1
        self.link = ("conj", self.finite)
        self.predicate, self.subject_seen = -1, not nominal
        self.waiting.append((item, "cc"))
        return position + 1

    def read_preposition(self, position: int) -> None:
        item, lemma = self.units[position], self.lemma_at(position)
        if lemma == "of" and self.lemma_at(position - 1) == "because":
            self.tree.attach(item, self.units[position - 1], "fixed")
        elif self.tag_at(position) == "TO" and self.tag_at(position + 1) == "VB":
            controls = has_word(self.lemmas[self.predicate], "control_verbs", "grammar")
            adjective = self.tags[self.predicate] in ADJECTIVE_TAGS
            self.link = ("xcomp" if controls or adjective else "advcl", self.predicate)
            self.waiting.append((item, "mark"))
            self.predicate = -1
        elif has_word(f"{lemma} {self.lemma_at(position + 1)}", "fixed_phrases", "grammar"):
            self.case.append(item)
            self.like_nouns.add(position + 1)
        elif self.is_nominal(position + 1) or self.lemma_at(position + 1) == "of":
            if self.is_particle(position):
                self.tree.attach(item, self.units[position - 1], "compound:prt")
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
        inverted = any(how in ("aux", "cop") for _, how in self.waiting)  # the verb came before its subject
        if self.case:
            self.read_case_nominal(position)
        elif self.lemma_at(position + 1) == "later":
            self.tree.attach(item, self.units[position + 1], "obl:npmod")
        elif self.copula:
            self.set_predicate(item)
        elif self.predicate < 0:
            self.waiting.append((item, "nsubj" if self.finite_follows(position) or inverted else "obl:tmod"))
        elif has_word(self.lemmas[item], "time_nouns", "grammar") and self.lemmas[self.predicate] != "do":
            self.add(item, "obl:tmod")
        elif not self.subject_seen and self.tags[self.predicate] != "VB":
            self.add(item, "nsubj")
            self.subject_seen = True
        else:
            if self.objects:
                self.tree.relations[self.objects[-1]] = "iobj"
            self.tree.attach(item, self.predicate, "obj")
            self.objects.append(item)

    def read_case_nominal(self, position: int) -> None:
        item = self.units[position]
        for case in self.case:
            self.tree.attach(case, item, "case")
        of = self.lemmas[self.case[0]] == "of"
        self.case = []
        if self.copula:
            self.set_predicate(item)
        elif of and self.is_nominal(position - 2):
            self.tree.attach(item, self.units[position - 2], "nmod")
        else:
            self.add(item, "obl")

    def read_verb(self, position: int) -> None:
        item, tag, lemma = self.units[position], self.tag_at(position), self.lemma_at(position)
        after = self.ahead(position)
        inverts = self.inverts(position)
        if inverts:
            after = self.ahead(after)
        target = self.tag_at(after)
        if lemma in ("be", "have", "do") or tag == "MD":
            if target in ("VB", "VBN", "VBG"):
                self.waiting.append((item, "aux:pass" if lemma == "be" and target == "VBN" else "aux"))
                return
            there = any(how == "expl" for _, how in self.waiting)
            if lemma == "be" and not there and self.has_complement(after):
                self.waiting.append((item, "cop"))
                self.copula = True
                if inverts:
                    self.waiting.append((self.units.pop(self.ahead(position)), "nsubj"))
                return
        if tag == "VBG" and self.predicate >= 0:
            aspect = has_word(self.lemmas[self.predicate], "aspect_verbs", "grammar")
            self.link = ("xcomp" if aspect else "advcl", self.predicate)
        self.set_predicate(item)

    def inverts(self, position: int) -> bool:
        """Whether the verb here stands before its subject, as in questions."""
        asked = position == 0 or self.tag_at(position - 1) == "WRB"
        return asked and self.tag_at(self.ahead(position)) in ("SLOT", "PRP", "NN")

    def has_complement(self, after: int) -> bool:
        """Whether an adjective, a nominal or a phrase with a preposition follows a form of be."""
        if self.tag_at(after) == "IN":
            return self.is_nominal(after + 1)
        return self.tag_at(after) in ADJECTIVE_TAGS or (self.is_nominal(after) and self.tag_at(after) != "EX")

    def read_adverb(self, position: int) -> None:
        item = self.units[position]
        degree = has_word(self.lemma_at(position), "degree_adverbs", "grammar")
        if degree and self.tag_at(position + 1) in ("SLOT", "JJ", "JJR", "RB"):  # too late, only a squirrel
            self.tree.attach(item, self.units[position + 1], "advmod")
        elif self.is_particle(position):
            self.tags[item] = "RP"
            self.tree.attach(item, self.units[position - 1], "compound:prt")
        elif self.copula or (self.tags[item] == "WRB" and self.tag_at(position + 1) == "TO"):
            self.waiting.append((item, "advmod"))
        else:
            self.add(item, "advmod")
