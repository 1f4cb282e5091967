"""Templates: the wordings of events, compiled once into tagged words, slots for the cast, and dependencies.

``{guest}`` is a slot, ``{guest's}`` a possessive one, ``{guest:full}`` is never and ``{guest:pro}`` always a pronoun,
``(a|b|)`` are alternatives, ``left/VBD`` is a word with its tag where the lexicon would take another one.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cache

from entitynlm.text.stories.lexicon import Word, look_up_other, look_up_verb
from entitynlm.text.stories.plot import Event
from entitynlm.text.stories.syntax import Tree, parse

_ALTERNATIVES = re.compile(r"\(([^()]*)\)")
_SLOT = re.compile(r"\{(\w+)('s)?(?::(\w+))?\}")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a template for someone of the cast; ``form`` is ``""``, ``poss``, ``full`` or ``pro``."""

    role: str
    form: str
    quoted: bool


Item = Word | Slot


@dataclass(frozen=True, eq=False)
class Template:
    """One wording: its items, their tree, and for each finite verb the item that it agrees with."""

    items: tuple[Item, ...]
    tree: Tree
    subjects: dict[int, int]


def expand(text: str) -> list[str]:
    """All wordings of a template with alternatives."""
    pieces = _ALTERNATIVES.split(text)
    choices = [piece.split("|") if index % 2 else [piece] for index, piece in enumerate(pieces)]
    return [" ".join("".join(parts).split()) for parts in itertools.product(*choices)]


@cache
def compile_event(event: Event) -> tuple[tuple[float, Template], ...]:
    """The wordings of an event with their probabilities."""
    templates: list[tuple[float, Template]] = []
    for text in event.templates:
        wordings = expand(text)
        share = 1 / len(event.templates) / len(wordings)
        templates.extend((share, compile_wording(wording)) for wording in wordings)
    return tuple(templates)


def compile_wording(text: str) -> Template:
    """Tag and parse one wording."""
    items = _tag(text.split())
    tags = [
        "POSS" if isinstance(i, Slot) and i.form == "poss" else i.tag if isinstance(i, Word) else "SLOT"
        for i in items
    ]
    lemmas = [item.lemma if isinstance(item, Word) else "" for item in items]
    try:
        tree = parse(tags, lemmas)
    except ValueError as error:
        raise ValueError(f"the template {text!r} can't be parsed: {error}") from error
    return Template(tuple(items), tree, _find_subjects(tags, tree))


def _tag(pieces: list[str]) -> list[Item]:
    items: list[Item] = []
    quoted = False
    for piece in pieces:
        if piece == '"':
            items.append(Word('"', "''" if quoted else "``", '"'))
            quoted = not quoted
            continue
        slot = _SLOT.fullmatch(piece)
        if slot:
            items.append(Slot(slot[1], "poss" if slot[2] else slot[3] or "", quoted))
        else:
            items.append(_tag_word(piece, items, quoted))
    return items


def _tag_word(piece: str, before: list[Item], quoted: bool) -> Word:
    form, _, forced = piece.partition("/")
    verb = look_up_verb(form) or look_up_verb(form.lower())
    other = look_up_other(form)
    if forced:
        lemma = verb.get(forced) or (other[1] if other else form)
        return Word(form, forced, verb.get("VB", lemma) if forced == "VBP" else lemma)
    tag = _choose_tag(form, verb, other, before, quoted)
    if tag in verb:
        return Word(form, tag, verb[tag])
    if tag == "VBP":
        return Word(form, tag, verb["VB"])
    if other is None:
        raise ValueError(f"the word {form!r} is not in the lexicon of the stories")
    return Word(form, other[0], other[1])


def _choose_tag(
    form: str, verb: dict[str, str], other: tuple[str, str] | None, before: list[Item], quoted: bool
) -> str:
    """The reading that fits what comes before: an infinitive after to, a participle after be and have, …"""
    governor = next((i for i in reversed(before) if not isinstance(i, Word) or i.tag != "RB"), None)
    if not verb:
        return other[0] if other else ""
    subject = isinstance(governor, Slot) or (governor is not None and governor.tag == "PRP")
    if quoted and subject and _is_question(before):
        governor = next(
            (i for i in before if isinstance(i, Word) and i.tag in ("MD", "VBD", "VBZ", "VBP")), governor
        )
    governing = governor.lemma if isinstance(governor, Word) else ""
    if "VB" in verb and isinstance(governor, Word) and (governor.tag in ("TO", "MD") or governing == "do"):
        return "VB"
    if governing in ("be", "have") and "VBN" in verb:
        return "VBN" if other is None or governing == "have" else other[0]
    if other is not None and not (quoted and "VB" in verb and isinstance(governor, Slot)):
        return other[0]
    if "VBD" in verb:
        return "VBD"
    if "VB" in verb and quoted:
        return "VB" if isinstance(governor, Word) else "VBP"
    return next(iter(verb))


def _is_question(before: list[Item]) -> bool:
    """Whether a quotation has begun with an auxiliary, as in "Can you help me"."""
    for index, item in enumerate(before):
        if isinstance(item, Word) and item.tag == "``" and index + 1 < len(before):
            first = before[index + 1]
            if isinstance(first, Word) and first.tag in ("WRB", "WP") and index + 2 < len(before):
                first = before[index + 2]
            return isinstance(first, Word) and (first.tag == "MD" or first.lemma in ("do", "be"))
    return False


def _find_subjects(tags: list[str], tree: Tree) -> dict[int, int]:
    """For each finite verb that shows agreement, the item that it agrees with."""
    subjects: dict[int, int] = {}
    for index, tag in enumerate(tags):
        if tag not in ("VBD", "VBZ", "VBP"):
            continue
        clause = index
        if tree.relations[index] in ("aux", "aux:pass", "cop"):
            clause = tree.heads[index]
        while True:
            found = [
                child
                for child, head in enumerate(tree.heads)
                if head == clause and tree.relations[child].startswith("nsubj")
            ]
            if found:
                subjects[index] = found[0]
                break
            if tree.relations[clause] != "conj":
                break
            clause = tree.heads[clause]
    return subjects
