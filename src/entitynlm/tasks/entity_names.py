"""What to call an entity: the mention of it that names it best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from entitynlm.baselines.ranker.english import PRONOUNS
from entitynlm.data.document import Document, Mention

LONGEST_NAME = 60  # characters; a longer description is cut where it is shown


def choose_names(document: Document, mentions: Iterable[Mention] | None = None) -> dict[str, Mention]:
    """The best naming mention of each entity, in order of first mention.

    A mention with a capital that is no pronoun is better than one without, and that better than a pronoun; among equals the
    words that are used most often, then those that come first.
    """
    mentions = tuple(document.mentions if mentions is None else mentions)
    uses = Counter((m.entity, _fold(document, m)) for m in mentions)
    best: dict[str, tuple[tuple[int, int], Mention]] = {}
    for mention in mentions:
        rating = (rate_name(document, mention), uses[mention.entity, _fold(document, mention)])
        if mention.entity not in best or rating > best[mention.entity][0]:
            best[mention.entity] = (rating, mention)
    return {entity: mention for entity, (_, mention) in best.items()}


def show_name(document: Document, mention: Mention) -> str:
    """A naming mention's words on one line, cut if they are many."""
    words = " ".join(document.words(*mention.span).split())
    return words if len(words) <= LONGEST_NAME else words[: LONGEST_NAME - 1] + "…"


def rate_name(document: Document, mention: Mention) -> int:
    """2: with a capital and no pronoun, 1: no pronoun, 0: a pronoun."""
    words = document.tokens[mention.start : mention.end]
    if " ".join(words).lower() in PRONOUNS:
        return 0
    return 2 if any(word[0].isupper() for word in words) else 1


def _fold(document: Document, mention: Mention) -> str:
    return " ".join(document.tokens[mention.start : mention.end]).lower()
