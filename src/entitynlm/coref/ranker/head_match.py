"""The simplest baseline: a mention refers to the last mention with the same head; a pronoun, to the last that agrees."""

from __future__ import annotations

from collections.abc import Sequence

from entitynlm.coref.candidates.antecedents import NO_ANTECEDENT, AntecedentScores, make_antecedent_scores
from entitynlm.coref.ranker.attributes import PRONOUN, MentionView, view_mentions
from entitynlm.coref.ranker.syntax import CandidateMention
from entitynlm.text.document import Document
from entitynlm.text.english import FEMALE, HUMAN, MALE, UNKNOWN

PEOPLE = (MALE, FEMALE, HUMAN)


def match_heads(
    document: Document, mentions: Sequence[CandidateMention], *, pronouns: bool = False
) -> AntecedentScores:
    """Link each mention to the nearest earlier one with the same head (pronouns: the same citation form).

    :param pronouns: also link third-person pronouns without such an antecedent to the nearest mention that
        agrees in gender and number.
    """
    views = view_mentions(document, mentions)
    latest: dict[tuple[str, str], int] = {}
    candidates: list[list[tuple[int, float]]] = []
    for index, view in enumerate(views):
        name = (PRONOUN, view.form) if view.kind == PRONOUN else ("", view.lemma)
        antecedent = latest.get(name, NO_ANTECEDENT)
        if antecedent == NO_ANTECEDENT and pronouns and view.form in ("he", "she", "it", "they"):
            antecedent = _find_agreeing(views, index)
        none = (NO_ANTECEDENT, 0.0)
        candidates.append([(antecedent, 1.0), none] if antecedent != NO_ANTECEDENT else [none])
        latest[name] = index
    return make_antecedent_scores(document.id, [m.span for m in mentions], candidates)


def _find_agreeing(views: Sequence[MentionView], index: int) -> int:
    view = views[index]
    for other in range(index - 1, -1, -1):
        rival = views[other]
        overlaps = rival.mention.end > view.mention.start
        numbers = {view.number, rival.number}
        if not overlaps and (len(numbers) == 1 or UNKNOWN in numbers) and _agree(view.gender, rival.gender):
            return other
    return NO_ANTECEDENT


def _agree(one: str, other: str) -> bool:
    if UNKNOWN in (one, other) or one == other:
        return True
    return HUMAN in (one, other) and one in PEOPLE and other in PEOPLE
