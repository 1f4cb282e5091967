"""Resolve the pronouns of a text: put the name of its entity in the place of each."""

from entitynlm.discourse.discourse import NARRATION, read_discourse
from entitynlm.discourse.naming import choose_names
from entitynlm.text.detokenization import join_tokens
from entitynlm.text.document import Document, Mention
from entitynlm.text.english import DETERMINERS, POSSESSIVE_PRONOUNS, PRONOUNS

RESOLVED_BY_DEFAULT = frozenset(("he", "she", "it", "they"))
FIRST_AND_SECOND = frozenset(("i", "you", "we"))
OWN_ENDINGS = frozenset(("'m", "’m", "'re", "’re", "'ve", "’ve"))
"""Short verbs that agree with a pronoun and with no name: "I'm" stays, because "Frank'm" is no English."""
AFTER_OBJECT = frozenset(
    "to and but in on at for with from of as that when while then so because by if up out again".split()
)
"""Words after "her" where it is an object: what it possesses would stand in their place."""


def resolve_text(document: Document, *, every_person: bool = False) -> str:
    """Replace pronouns by the names of their entities; reflexive ones stay, because "Ann hurt Ann" is about two people.

    :param every_person: replace "I", "you" and "we" too, and pronouns inside of quotations.
    """
    text, offsets = document.text, document.offsets
    if text is None or offsets is None:
        text, offsets = join_tokens(document.tokens)
    replaced = RESOLVED_BY_DEFAULT | (FIRST_AND_SECOND if every_person else frozenset())
    known = [quotation.span for quotation in document.quotations] or None
    quoted = [False] * len(document)
    if not every_person:
        quoted = [number != NARRATION for number in read_discourse(document, known).quotation_of]
    names = choose_names(document)
    pieces: list[str] = []
    written = 0
    for mention in document.mentions:
        word, named = document.tokens[mention.start], names[mention.entity]
        plain = word.lower()
        if len(mention) > 1 or PRONOUNS.get(plain) not in replaced or plain.endswith(("self", "selves")):
            continue
        if quoted[mention.start] or _is_pronoun(document, named) or named.start <= mention.start < named.end:
            continue
        if OWN_ENDINGS & {*document.tokens[mention.end : mention.end + 1]}:
            continue
        start, end = offsets[mention.start]
        name = _fit_name(document.words(*named.span), at_start=word[0].isupper() and word != "I")
        pieces += [text[written:start], name + ("'s" if _is_possessive(document, mention) else "")]
        written = end
    return "".join([*pieces, text[written:]])


def _is_pronoun(document: Document, mention: Mention) -> bool:
    return document.words(*mention.span).lower() in PRONOUNS


def _is_possessive(document: Document, mention: Mention) -> bool:
    word = document.tokens[mention.start].lower()
    if word != "her":
        return word in POSSESSIVE_PRONOUNS or word == "your"
    following = document.tokens[mention.end] if mention.end < len(document) else ""
    return following[:1].isalpha() and following.lower() not in AFTER_OBJECT


def _fit_name(name: str, *, at_start: bool) -> str:
    """Make "A tall man" into "the tall man", inside of a sentence; a name keeps its capital."""
    first, space, rest = " ".join(name.split()).partition(" ")
    if first.lower() in ("a", "an", "some", "another"):
        first = "the"
    elif first.lower() in DETERMINERS:
        first = first.lower()
    return (first[:1].upper() + first[1:] if at_start else first) + space + rest
