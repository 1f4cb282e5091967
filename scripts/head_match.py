"""The simplest baseline: a mention refers to the last mention with the same head; a pronoun, to the last that agrees."""

from __future__ import annotations

from collections.abc import Sequence

from entitynlm.coref.candidates.candidate_files import NO_ANTECEDENT, AntecedentScores, make_antecedent_scores
from entitynlm.coref.mention_table import PRONOUN
from entitynlm.coref.ranker.attributes import MentionAttributes, describe_mentions
from entitynlm.coref.ranker.mentions import CandidateMention
from entitynlm.text.document import Document
from entitynlm.text.english import FEMALE, HUMAN, MALE, UNKNOWN

PEOPLE = (MALE, FEMALE, HUMAN)


def match_heads(
    document: Document, candidates: Sequence[CandidateMention], *, pronouns: bool = False
) -> AntecedentScores:
    """Link each mention to the nearest earlier one with the same head (pronouns: the same citation form).

    :param pronouns: also link third-person pronouns without such an antecedent to the nearest mention that
        agrees in gender and number.
    """
    mentions = describe_mentions(document, candidates)
    latest: dict[tuple[str, str], int] = {}
    scores: list[list[tuple[int, float]]] = []
    for index, mention in enumerate(mentions):
        name = (PRONOUN, mention.form) if mention.kind == PRONOUN else ("", mention.lemma)
        antecedent = latest.get(name, NO_ANTECEDENT)
        if antecedent == NO_ANTECEDENT and pronouns and mention.form in ("he", "she", "it", "they"):
            antecedent = _find_agreeing(mentions, index)
        none = (NO_ANTECEDENT, 0.0)
        scores.append([(antecedent, 1.0), none] if antecedent != NO_ANTECEDENT else [none])
        latest[name] = index
    return make_antecedent_scores(document.id, [candidate.span for candidate in candidates], scores)


def _find_agreeing(mentions: Sequence[MentionAttributes], index: int) -> int:
    mention = mentions[index]
    for other in range(index - 1, -1, -1):
        rival = mentions[other]
        overlaps = rival.candidate.end > mention.candidate.start
        numbers = {mention.number, rival.number}
        if (
            not overlaps
            and (len(numbers) == 1 or UNKNOWN in numbers)
            and _agree(mention.gender, rival.gender)
        ):
            return other
    return NO_ANTECEDENT


def _agree(one: str, other: str) -> bool:
    if UNKNOWN in (one, other) or one == other:
        return True
    return HUMAN in (one, other) and one in PEOPLE and other in PEOPLE
