"""The name of an entity in all outputs: the mention that names it best.

Reports, the explorer, casts and generation all call an entity by what :func:`choose_names` chooses.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from entitynlm.discourse.names import find_common_words, parse_name
from entitynlm.text.document import Document, Mention
from entitynlm.text.english import PRONOUNS

PRONOUN_RANK, DESCRIPTION_RANK, NAME_RANK = 0, 1, 2
LONGEST_SHOWN_NAME = 60
"""Characters of a name where it is shown; a longer description is cut."""
USUAL_SHARE = 5
"""A name is usual if the commonest name of its entity is used at most this many times as often."""
NAME_LENGTH = 3
"""Words of a name up to which a longer name is better: "Ida Vale" before "Ida"."""


@dataclass
class _Form:
    """A way of mentioning an entity, capitals included: its first use, its rank, and how often it is used."""

    mention: Mention
    rank: int
    count: int = 0


def choose_names(document: Document, mentions: Iterable[Mention] | None = None) -> dict[str, Mention]:
    """Choose the mention that names each entity best: names before descriptions, descriptions before pronouns.

    Among names the longest usual one is chosen, among the rest the commonest; the first mention decides between equals.

    :param mentions: those that may be chosen; all of the document by default.
    """
    common = find_common_words(document)
    entities: dict[str, dict[str, _Form]] = {}
    for mention in document.mentions if mentions is None else mentions:
        words = document.tokens[mention.start : mention.end]
        forms, text = entities.setdefault(mention.entity, {}), " ".join(words)
        if text not in forms:
            forms[text] = _Form(mention, rank_words(words, common))
        forms[text].count += 1
    return {entity: _choose_form(forms).mention for entity, forms in entities.items()}


def rank_words(words: Sequence[str], common: Container[str]) -> int:
    """Rank the words of a mention: a pronoun, a description, or a name."""
    if " ".join(words).lower() in PRONOUNS:
        return PRONOUN_RANK
    return DESCRIPTION_RANK if parse_name(words, common) is None else NAME_RANK


def _choose_form(forms: Mapping[str, _Form]) -> _Form:
    rank = max(form.rank for form in forms.values())
    best = {text: form for text, form in forms.items() if form.rank == rank}
    counts: Counter[str] = Counter()
    for text, form in best.items():
        counts[text.lower()] += form.count
    most = max(counts.values())

    def rate(text: str) -> tuple[int, int, int]:
        count, words = counts[text.lower()], sum(word[0].isalnum() for word in text.split())
        usual = rank == NAME_RANK and USUAL_SHARE * count >= most
        return min(NAME_LENGTH, words) if usual else 0, count, best[text].count

    return best[max(best, key=rate)]


def show_name(document: Document, mention: Mention) -> str:
    """Show the words of a naming mention on one line, cut if they are many."""
    words = " ".join(document.words(*mention.span).split())
    return words if len(words) <= LONGEST_SHOWN_NAME else words[: LONGEST_SHOWN_NAME - 1] + "…"
