"""Candidate mentions of a document from its dependency trees.

Candidates favour recall: every nominal head has a few spans, and the ranker leaves most of them unlinked.
"""

from typing import NamedTuple

from entitynlm.text.document import Document, Span


class CandidateMention(NamedTuple):
    """A span with its head token; ``variant`` tells how it was cut from the head's subtree (0: the whole subtree)."""

    span: Span
    head: int
    variant: int = 0


def has_syntax(document: Document) -> bool:
    """Tell whether a document has the part-of-speech tags and dependencies from which mentions are found."""
    tagged = "pos" in document.columns or "upos" in document.columns
    return tagged and document.heads is not None and any(head >= 0 for head in document.heads)


NOMINAL_TAGS = frozenset(("NN", "NNS", "NNP", "NNPS", "PRP", "PRP$", "CD", "FW"))
NOMINAL_CLASSES = frozenset(("PRON", "NOUN", "PROPN", "NUM"))
INNER_RELATIONS = frozenset(("flat", "nummod", "amod", "nmod:desc", "goeswith", "fixed", "dep", "expl"))
# Dependents that are no part of the noun phrase (a preposition before it, the subject of a nominal predicate, …).
OUTER_RELATIONS = frozenset(
    "case cc mark cop punct discourse vocative reparandum parataxis orphan expl advcl advmod aux aux:pass nsubj nsubj:pass "
    "nsubj:outer csubj csubj:pass".split()
)
VARIANTS = (frozenset[str](), frozenset(("conj",)), frozenset(("conj", "appos", "list", "dislocated")))
CLOSING = {"(": ")", "[": "]", "{": "}", "“": "”", "‘": "’", '"': '"', "'": "'", "``": "''"}


def find_by_dependencies(document: Document) -> list[CandidateMention]:
    """Find for each nominal head its subtree without material outside the phrase; also without conjuncts and appositions."""
    tree = _Tree(document)
    found: dict[Span, CandidateMention] = {}
    for head in range(len(document)):
        if tree.is_nominal(head):
            for variant, left_out in enumerate(VARIANTS):
                span = tree.cut_phrase(head, left_out)
                found.setdefault(span, CandidateMention(span, head, variant))
    return list(found.values())


class _Tree:
    """A document's dependency trees with the extent of every subtree."""

    def __init__(self, document: Document) -> None:
        assert document.heads is not None
        size = len(document)
        self.document = document
        self.tags, self.classes = document.column("pos"), document.column("upos")
        self.relations = document.column("deprel")
        self.children: list[list[int]] = [[] for _ in range(size)]
        self.starts, self.ends = list(range(size)), list(range(1, size + 1))
        for token, head in enumerate(document.heads):
            if head >= 0:
                self.children[head].append(token)
        top_down = [token for token, head in enumerate(document.heads) if head < 0]
        for token in top_down:
            top_down.extend(self.children[token])
        for token in reversed(top_down):
            for child in self.children[token]:
                self.starts[token] = min(self.starts[token], self.starts[child])
                self.ends[token] = max(self.ends[token], self.ends[child])

    def is_nominal(self, token: int) -> bool:
        tag, kind, relation = self.tags[token], self.classes[token], self.relations[token] or ""
        if relation in INNER_RELATIONS or (relation == "compound" and tag not in ("NNP", "NNPS")):
            return False
        if tag in NOMINAL_TAGS or kind in NOMINAL_CLASSES:
            return True
        return kind == "DET" and tag == "DT" and relation != "det"

    def cut_phrase(self, head: int, left_out: frozenset[str]) -> Span:
        start, end = head, head + 1
        tokens = self.document.tokens
        for child in self.children[head]:
            relation = self.relations[child] or ""
            is_genitive = relation == "case" and self.tags[child] == "POS"
            if relation in left_out or (relation in OUTER_RELATIONS and not is_genitive):
                if tokens[child] in CLOSING or tokens[child] in CLOSING.values():
                    start, end = min(start, child), max(end, child + 1)
            else:
                start, end = min(start, self.starts[child]), max(end, self.ends[child])
        return self._trim(start, end, head)

    def _trim(self, start: int, end: int, head: int) -> Span:
        """Take punctuation off the borders: a pair of brackets as a pair, and never half of one."""
        tokens, classes = self.document.tokens, self.classes
        while True:
            if start < head < end - 1 and CLOSING.get(tokens[start]) == tokens[end - 1]:
                start, end = start + 1, end - 1
                continue
            opened = {CLOSING.get(token) for token in tokens[start : end - 1]}
            if end > head + 1 and classes[end - 1] == "PUNCT" and tokens[end - 1] not in opened:
                end -= 1
            elif (
                start < head
                and classes[start] == "PUNCT"
                and CLOSING.get(tokens[start]) not in tokens[start + 1 : end]
            ):
                start += 1
            else:
                return start, end
