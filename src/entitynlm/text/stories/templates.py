"""Templates: the wordings of events, compiled once into tagged words, slots for participants, and dependencies.

``{guest}`` is a slot, ``{guest's}`` a possessive one, ``{guest:full}`` is never and ``{guest:pro}`` always a pronoun,
``(a|b|)`` are alternatives, ``left/VBD`` is a word with its tag where the lexicon would take another one.
"""

import itertools
import re
from dataclasses import dataclass
from functools import cache

from entitynlm.errors import DataError
from entitynlm.text.stories.lexicon import Word, look_up_other, look_up_verb
from entitynlm.text.stories.parser import FINITE_TAGS, Tree, parse
from entitynlm.text.stories.script import StoryEvent

SLOT = re.compile(r"\{(\w+)('s)?(?::(full|pro))?\}")
_ALTERNATIVES = re.compile(r"\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class TemplateSlot:
    """A place in a template for a participant; ``form`` is ``""``, ``poss``, ``full`` or ``pro``."""

    role: str
    form: str
    quoted: bool


Item = Word | TemplateSlot


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
def compile_event(event: StoryEvent) -> tuple[tuple[float, Template], ...]:
    """The templates of an event with their probabilities."""
    templates: list[tuple[float, Template]] = []
    for index, text in enumerate(event.wordings):
        wordings = expand(text)
        share = 1 / len(event.wordings) / len(wordings)
        try:
            templates.extend((share, compile_wording(wording)) for wording in wordings)
        except ValueError as error:
            line = event.lines[index] if event.lines else None
            raise DataError(str(error), path=event.path or None, line=line, found=text) from error
    return tuple(templates)


def compile_wording(text: str) -> Template:
    items = _tag(text.split())
    tags = [
        item.tag if isinstance(item, Word) else "POSS" if item.form == "poss" else "SLOT" for item in items
    ]
    lemmas = [item.lemma if isinstance(item, Word) else "" for item in items]
    try:
        tree = parse(tags, lemmas)
    except ValueError as error:
        raise ValueError(f"the wording can't be parsed, {error}") from error
    return Template(tuple(items), tree, _find_subjects(tree))


def _tag(pieces: list[str]) -> list[Item]:
    items: list[Item] = []
    quoted = False
    for piece in pieces:
        slot = SLOT.fullmatch(piece)
        if piece == '"':
            items.append(Word('"', "''" if quoted else "``", '"'))
            quoted = not quoted
        elif slot:
            items.append(TemplateSlot(slot[1], "poss" if slot[2] else slot[3] or "", quoted))
        else:
            items.append(_tag_word(piece, items, quoted))
    return items


def _tag_word(piece: str, before: list[Item], quoted: bool) -> Word:
    form, _, forced = piece.partition("/")
    verb = look_up_verb(form) or look_up_verb(form.lower())
    other = look_up_other(form)
    if forced:
        known = verb.get("VB" if forced == "VBP" else forced)
        return Word(form, forced, known or (other[1] if other else form))
    tag = _choose_tag(form, verb, other, before, quoted)
    if tag in verb:
        return Word(form, tag, verb[tag])
    if tag == "VBP":
        return Word(form, tag, verb["VB"])
    if other is None:
        raise ValueError(
            f"the word {form!r} is not in the lexicon of the stories; give it a Penn tag, as in {form}/NN"
        )
    return Word(form, other[0], other[1])


def _choose_tag(
    form: str, verb: dict[str, str], other: tuple[str, str] | None, before: list[Item], quoted: bool
) -> str:
    """The reading that fits what comes before: an infinitive after to, a participle after be and have, …"""
    governor = next((i for i in reversed(before) if not isinstance(i, Word) or i.tag != "RB"), None)
    if not verb:
        return other[0] if other else ""
    if quoted and (isinstance(governor, TemplateSlot) or (governor is not None and governor.tag == "PRP")):
        finite = (item for item in before if isinstance(item, Word) and item.tag in FINITE_TAGS)
        governor = next(finite, governor)  # as in "Can you help me"
    governing = governor.lemma if isinstance(governor, Word) else ""
    if "VB" in verb and isinstance(governor, Word) and (governor.tag in ("TO", "MD") or governing == "do"):
        return "VB"
    if governing in ("be", "have") and "VBN" in verb:
        return "VBN" if other is None or governing == "have" else other[0]
    if other is not None and not (quoted and "VB" in verb and isinstance(governor, TemplateSlot)):
        return other[0]
    if "VB" in verb and "VBD" not in verb:
        return "VB" if isinstance(governor, Word) else "VBP"
    return next(iter(verb))


def _find_subjects(tree: Tree) -> dict[int, int]:
    """For each finite verb that shows agreement, the item that it agrees with."""
    arcs = list(zip(tree.heads, tree.relations, strict=True))
    subject_of: dict[int, int] = {}
    for child, (head, relation) in enumerate(arcs):
        if relation.startswith("nsubj"):
            subject_of.setdefault(head, child)
    subjects: dict[int, int] = {}
    for index, tag in enumerate(tree.tags):
        if tag in ("VBD", "VBZ", "VBP"):
            clause = tree.heads[index] if tree.relations[index] in ("aux", "aux:pass", "cop") else index
            while clause not in subject_of and arcs[clause][1] == "conj":
                clause = arcs[clause][0]
            if clause in subject_of:
                subjects[index] = subject_of[clause]
    return subjects
