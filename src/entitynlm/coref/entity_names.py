"""What to call an entity: the mention of it that names it best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from entitynlm.text.document import Document, Mention
from entitynlm.text.english import FUNCTION_WORDS, PRONOUNS

LONGEST_NAME = 60  # characters; a longer description is cut where it is shown


def choose_names(document: Document, mentions: Iterable[Mention] | None = None) -> dict[str, Mention]:
    """Each entity's best mention: with a name, or no pronoun; of equals the commonest words, then the first."""
    mentions = tuple(document.mentions if mentions is None else mentions)
    known = frozenset(document.tokens)
    uses = Counter((m.entity, _fold(document, m)) for m in mentions)
    best: dict[str, tuple[tuple[int, int], Mention]] = {}
    for mention in mentions:
        rating = (rate_name(document, mention, known), uses[mention.entity, _fold(document, mention)])
        if mention.entity not in best or rating > best[mention.entity][0]:
            best[mention.entity] = (rating, mention)
    return {entity: mention for entity, (_, mention) in best.items()}


def show_name(document: Document, mention: Mention) -> str:
    """A naming mention's words on one line, cut if they are many."""
    words = " ".join(document.words(*mention.span).split())
    return words if len(words) <= LONGEST_NAME else words[: LONGEST_NAME - 1] + "…"


def rate_name(document: Document, mention: Mention, known: frozenset[str]) -> int:
    """2: with a name, 1: without one, 0: a pronoun. A name's capital is not just that of a sentence's first word."""
    words = document.tokens[mention.start : mention.end]
    if " ".join(words).lower() in PRONOUNS:
        return 0
    capitals = (word.lower() for word in words if word[0].isupper())
    return 2 if any(word not in known and word not in FUNCTION_WORDS for word in capitals) else 1


def _fold(document: Document, mention: Mention) -> str:
    return " ".join(document.tokens[mention.start : mention.end]).lower()
