"""The simplest baseline: a mention refers to the last mention with the same head; a pronoun, to the last that agrees."""

from collections.abc import Sequence

from entitynlm.coref.candidates.candidate_files import NO_ANTECEDENT, AntecedentScores, make_antecedent_scores
from entitynlm.coref.mention_table import PRONOUN, MentionTable, MentionWords
from entitynlm.discourse.discourse import read_discourse
from entitynlm.text.document import Document, Span
from entitynlm.text.english import FEMALE, HUMAN, MALE, UNKNOWN

PEOPLE = (MALE, FEMALE, HUMAN)


def match_heads(document: Document, spans: Sequence[Span], *, pronouns: bool = False) -> AntecedentScores:
    """Link each mention to the nearest earlier one with the same head (pronouns: the same citation form).

    :param spans: in text order.
    :param pronouns: also link third-person pronouns without such an antecedent to the nearest mention that
        agrees in gender and number.
    """
    words = MentionTable(read_discourse(document), spans).words
    latest: dict[tuple[str, str], int] = {}
    scores: list[list[tuple[int, float]]] = []
    for index, mention in enumerate(words):
        name = (PRONOUN, mention.form) if mention.kind == PRONOUN else ("", mention.lemma)
        antecedent = latest.get(name, NO_ANTECEDENT)
        if antecedent == NO_ANTECEDENT and pronouns and mention.form in ("he", "she", "it", "they"):
            apart = [other for other in range(index) if spans[other][1] <= spans[index][0]]
            agreeing = [other for other in apart if _agree(mention, words[other])]
            antecedent = agreeing[-1] if agreeing else NO_ANTECEDENT
        none = (NO_ANTECEDENT, 0.0)
        scores.append([(antecedent, 1.0), none] if antecedent != NO_ANTECEDENT else [none])
        latest[name] = index
    return make_antecedent_scores(document.id, spans, scores)


def _agree(one: MentionWords, other: MentionWords) -> bool:
    numbers, genders = {one.number, other.number}, {one.gender, other.gender}
    if len(numbers) == 2 and UNKNOWN not in numbers:
        return False
    return len(genders) == 1 or UNKNOWN in genders or (HUMAN in genders and genders <= set(PEOPLE))
