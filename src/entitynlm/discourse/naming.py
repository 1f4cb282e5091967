"""The display name of an entity: the shortest proper name in its mentions that no other entity has.

Reports, the explorer, casts and generation all show an entity by :func:`name_entities`; :func:`resolve_text` replaces pronouns by
this name.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from msgspec import structs

from entitynlm.discourse.discourse import NARRATION, read_discourse
from entitynlm.discourse.names import NAME_AGES, find_common_words, parse_name
from entitynlm.text.detokenization import join_tokens
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.english import DETERMINERS, POSSESSIVE_PRONOUNS, PRONOUNS

REPLACED_PRONOUNS = frozenset(("he", "she", "it", "they"))
OWN_ENDINGS = frozenset(("'m", "’m", "'re", "’re", "'ve", "’ve"))
"""Short verbs that agree with a pronoun and with no name: "I'm" stays, because "Frank'm" is no English."""
AFTER_OBJECT = frozenset(
    "to and but in on at for with from of as that when while then so because by if up out again".split()
)
"""Words after "her" where it is an object: what it possesses would stand in their place."""
PRONOUN_RANK, DESCRIPTION_RANK, NAME_RANK = 0, 1, 2
LONGEST_SHOWN_NAME = 60
"""Most characters of a name in outputs; a longer description is cut."""
OWN_SHARE = 0.8
"""The least share of a name's uses in one entity for which the name is this entity's: stray mentions elsewhere don't count."""
USUAL_SHARE = 2
"""A name is usual if the commonest name of its entity is used at most this many times as often."""


@dataclass
class _Form:
    """An expression of an entity, whatever its capitals: its first use, its rank, and its frequency."""

    mention: Mention
    rank: int
    count: int = 0


def choose_names(document: Document, mentions: Iterable[Mention] | None = None) -> dict[str, Mention]:
    """Choose the words that name each entity best, as a mention: names before descriptions, descriptions before pronouns.

    A name is reduced to its core: "Mr. Vale" of "dear Mr. Vale, who slept". Among frequent names the shortest that no other
    entity has is chosen, among the rest the commonest; the first mention decides between equals.

    :param mentions: candidate mentions; by default all of the document.
    """
    common = find_common_words(document)
    entities: dict[str, dict[str, _Form]] = {}
    for mention in document.mentions if mentions is None else mentions:
        forms = entities.setdefault(mention.entity, {})
        for (start, end), rank in _list_forms(document, mention, common):
            text = " ".join(document.tokens[start:end]).lower()
            form = forms.setdefault(text, _Form(structs.replace(mention, start=start, end=end), rank))
            form.count += 1
    uses: Counter[str] = Counter()
    for forms in entities.values():
        uses.update({text: form.count for text, form in forms.items()})
    return {entity: _choose_form(forms, uses).mention for entity, forms in entities.items()}


def _list_forms(document: Document, mention: Mention, common: Container[str]) -> Iterable[tuple[Span, int]]:
    """List the spans of a mention that can serve as its entity's name, with their ranks."""
    words = document.tokens[mention.start : mention.end]
    name = parse_name(words, common)
    if name is None:
        yield mention.span, PRONOUN_RANK if " ".join(words).lower() in PRONOUNS else DESCRIPTION_RANK
        return
    start, end = (mention.start + place for place in name.core)
    yield (start, end), NAME_RANK
    if (
        document.tokens[start].lower() in NAME_AGES and end - start > 1
    ):  # Old Samuel, unless there is a Young Samuel
        yield (start + 1, end), NAME_RANK


def _choose_form(forms: Mapping[str, _Form], uses: Mapping[str, int]) -> _Form:
    """Choose the expression that names an entity; ``uses`` counts expressions over all entities."""
    rank = max(form.rank for form in forms.values())
    best = {text: form for text, form in forms.items() if form.rank == rank}
    most = max(form.count for form in best.values())

    def rate(text: str) -> tuple[bool, bool, int, int, bool]:
        count = best[text].count
        usual = rank == NAME_RANK and USUAL_SHARE * count >= most
        shown = -len(text.split()) if usual else 0
        return count >= OWN_SHARE * uses[text], usual, shown, count, not text.startswith("your ")

    return best[max(best, key=rate)]


def name_entities(document: Document, mentions: Iterable[Mention] | None = None) -> dict[str, str]:
    """Name every entity: by the words that name it best, on one line, cut if they are many.

    :param mentions: candidate mentions; by default all of the document.
    """
    chosen = choose_names(document, mentions)
    shown = {who: " ".join(document.words(*mention.span).split()) for who, mention in chosen.items()}
    return {
        who: words if len(words) <= LONGEST_SHOWN_NAME else words[: LONGEST_SHOWN_NAME - 1] + "…"
        for who, words in shown.items()
    }


def resolve_text(document: Document, *, every_person: bool = False) -> str:
    """Replace third-person pronouns outside of quotations by the names of their entities.

    Reflexive ones stay, because "Ann hurt Ann" is about two people.

    :param every_person: replace "I", "you" and "we" too, and pronouns inside of quotations.
    """
    text, offsets = document.text, document.offsets
    if text is None or offsets is None:
        text, offsets = join_tokens(document.tokens)
    known = [quotation.span for quotation in document.quotations] or None
    quoted = [
        number != NARRATION and not every_person for number in read_discourse(document, known).quotation_of
    ]
    replaced = REPLACED_PRONOUNS | ({"i", "you", "we"} if every_person else set())
    names = choose_names(document)
    pieces: list[str] = []
    written = 0
    for mention in document.mentions:
        word, named = document.tokens[mention.start], names[mention.entity]
        plain, name = word.lower(), document.words(*named.span)
        if len(mention) > 1 or PRONOUNS.get(plain) not in replaced or plain.endswith(("self", "selves")):
            continue
        if quoted[mention.start] or name.lower() in PRONOUNS or named.start <= mention.start < named.end:
            continue
        if OWN_ENDINGS & {*document.tokens[mention.end : mention.end + 1]}:
            continue
        start, end = offsets[mention.start]
        fitting = _fit_name(name, at_start=word[0].isupper() and word != "I")
        pieces += [text[written:start], fitting + ("'s" if _is_possessive(document, mention) else "")]
        written = end
    return "".join([*pieces, text[written:]])


def _is_possessive(document: Document, mention: Mention) -> bool:
    word = document.tokens[mention.start].lower()
    if word != "her":
        return word in POSSESSIVE_PRONOUNS or word == "your"
    following = document.tokens[mention.end] if mention.end < len(document) else ""
    return following[:1].isalpha() and following.lower() not in AFTER_OBJECT


def _fit_name(name: str, *, at_start: bool) -> str:
    """Turn "A tall man" into "the tall man" inside of a sentence; a name keeps its capital."""
    first, space, rest = " ".join(name.split()).partition(" ")
    if first.lower() in ("a", "an", "some", "another"):
        first = "the"
    elif first.lower() in DETERMINERS:
        first = first.lower()
    return (first[:1].upper() + first[1:] if at_start else first) + space + rest
