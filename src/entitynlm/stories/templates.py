"""Templates: the wordings of events, compiled once into words and slots for participants.

``{guest}`` is a slot, ``{guest's}`` a possessive one, ``{guest:full}`` is never and ``{guest:pro}`` always a pronoun,
``(a|b|)`` are alternatives.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from entitynlm.stories.lexicon import has_word

SLOT = re.compile(r"\{(\w+)('s)?(?::(full|pro))?\}")
_ALTERNATIVES = re.compile(r"\(([^()]*)\)")
SUBJECT, OBJECT, POSSESSIVE = "subject", "object", "possessive"


@dataclass(frozen=True)
class TemplateSlot:
    """A place in a template for a participant.

    :param form: ``""``, ``poss``, ``full`` or ``pro``.
    :param relation: subject, object (also after a preposition) or possessive, which decide case and salience of a pronoun.
    :param verb: the item that agrees with this slot in number and person, if there is one.
    """

    role: str
    form: str
    quoted: bool
    relation: str = OBJECT
    verb: int | None = None


Item = str | TemplateSlot
Template = tuple[Item, ...]


def expand(text: str) -> list[str]:
    """List all wordings of a template with alternatives."""
    pieces = _ALTERNATIVES.split(text)
    choices = [piece.split("|") if index % 2 else [piece] for index, piece in enumerate(pieces)]
    return [" ".join("".join(parts).split()) for parts in itertools.product(*choices)]


@cache
def compile_wordings(wordings: tuple[str, ...]) -> tuple[tuple[float, Template], ...]:
    """Compile the wordings of an event, each with its probability."""
    found: list[tuple[float, Template]] = []
    for text in wordings:
        expanded = expand(text)
        share = 1 / len(wordings) / len(expanded)
        found += [(share, compile_wording(wording)) for wording in expanded]
    return tuple(found)


def compile_wording(text: str) -> Template:
    """Compile one wording, whose words and marks have spaces around them."""
    items: list[Item] = []
    quoted = False
    for piece in text.split():
        slot = SLOT.fullmatch(piece)
        quoted ^= piece == '"'
        items.append(TemplateSlot(slot[1], "poss" if slot[2] else slot[3] or "", quoted) if slot else piece)
    return tuple(
        _relate(items, index, item) if isinstance(item, TemplateSlot) else item
        for index, item in enumerate(items)
    )


def _relate(items: Sequence[Item], index: int, slot: TemplateSlot) -> TemplateSlot:
    """Find a slot's grammatical relation by the word before it, because wordings are short main clauses."""
    before = items[index - 1] if index else '"'
    after = items[index + 1]
    if slot.form == "poss":
        return replace(slot, relation=POSSESSIVE)
    if isinstance(before, TemplateSlot):
        return replace(slot, form=slot.form or "full")  # a second object: gave her it is no English
    before = before.lower()
    if before == "and" and after in (".", ","):
        return slot
    start = index - 2 < 0 or items[index - 2] == '"'
    if has_word(before, "subject_openers"):
        follows = next(i for i in range(index + 1, len(items)) if not has_word(str(items[i]), "adverbs"))
        return replace(slot, relation=SUBJECT, verb=follows)
    if has_word(before, "auxiliaries") and (start or has_word(str(items[index - 2]).lower(), "questions")):
        return replace(slot, relation=SUBJECT, verb=index - 1)
    return slot
