"""Letters and diaries in a text, whose "I" is the writer and not the text's narrator.

A letter goes from a salutation ("My dear Ida,") to a signature ("Yours ever, Nora"), a diary from a heading ("Nora Vale's
Journal") to the next heading.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from entitynlm.discourse.quotation_marks import DASHES, ENDS, MARKS, OPENERS, STRAIGHT_MARKS
from entitynlm.text.document import Document, Span

DEAR = frozenset("dear dearest beloved".split())
GREETINGS = frozenset(("my", "sir", "madam", *DEAR))
LONGEST_GREETING = 8
LONGEST_LETTER = 60
"""Paragraphs of a letter, at most."""
LONGEST_SIGNATURE, SIGNATURE = 5, 8
"""Tokens of the name under a letter, and tokens before it among which one of these stands:"""
SIGNING = frozenset(
    "your yours sincerely faithfully truly love affectionately affectionate loving devoted obedient".split()
)
DIARIES = frozenset(("diary", "journal"))
SECTION_WORDS = frozenset(("chapter", "book", "part", "letter"))
HEADING_TOKENS = 12


@dataclass(frozen=True)
class Letter:
    """A letter, or a diary up to the next heading.

    :param writer: words that name the person who is "I" in it.  :param reader: words of the salutation.
    :param quoted: whether it stands in quotation marks.
    """

    span: Span
    writer: Span
    reader: Span | None = None
    quoted: bool = False


def find_letters(document: Document, paragraphs: Sequence[int]) -> list[Letter]:
    """Find letters and diaries in text order; none where the whole text is one, since its writer is the narrator."""
    tokens, spans = document.tokens, list(pairwise((*paragraphs, len(document))))
    found: list[Letter] = []
    for number, (start, end) in enumerate(spans):
        greeting, writer = read_greeting(tokens, start, end), _read_diary(tokens, start, end)
        if greeting is not None:
            signature = _find_signature(tokens, spans[number : number + LONGEST_LETTER])
            if signature is not None:
                found.append(Letter((start, signature[1]), signature, greeting, tokens[start] in MARKS))
        elif writer is not None:
            stop = next(
                (one for one, end in spans[number + 1 :] if _opens_section(tokens, one, end)), len(tokens)
            )
            found.append(Letter((end, stop), writer))
    around = len(tokens) - sum(letter.span[1] - letter.span[0] for letter in found)
    return [] if len(found) == 1 and around <= HEADING_TOKENS and not found[0].quoted else found


def read_greeting(tokens: Sequence[str], start: int, end: int) -> Span | None:
    """Read the salutation with which a paragraph begins: "My dear Ida"."""
    start += start < end and tokens[start] in MARKS
    stop = next(
        (
            place
            for place in range(start, min(end, start + LONGEST_GREETING))
            if tokens[place] in (",", ":", "!", *DASHES) or tokens[place] in ENDS
        ),
        start,
    )
    words = [token.lower() for token in tokens[start:stop]]
    greets = words[:1] and words[0] in GREETINGS and (len(words) == 1 or not DEAR.isdisjoint(words[:2]))
    greets = greets and words[-1] not in ("my", "me")
    return (start, stop) if greets and tokens[start][0].isupper() else None


def _find_signature(tokens: Sequence[str], paragraphs: Sequence[Span]) -> Span | None:
    """Find the name under the first paragraph with a signature, before the next salutation or section."""
    first = paragraphs[0][0]
    for number, (start, end) in enumerate(paragraphs):
        if number and (_opens_section(tokens, start, end) or read_greeting(tokens, start, end)):
            return None
        found, quoted = read_signature(tokens, first, end), tokens[end - 1] in MARKS
        if found is not None and quoted <= (tokens[first] in MARKS):
            return found
        if quoted and tokens[first] in MARKS:  # a mark that closes before the signature is that of dialogue
            return None
    return None


def read_signature(tokens: Sequence[str], start: int, end: int) -> Span | None:
    """Read the name with which a letter is signed at its end: "Yours ever, Nora"."""
    while end > start and (tokens[end - 1] in MARKS or tokens[end - 1] in (".", "_")):
        end -= 1
    first = end
    while first > max(start, end - LONGEST_SIGNATURE) and tokens[first - 1][0].isupper():
        first -= 1
    last = first - (first > start and tokens[first - 1] in {**OPENERS, **STRAIGHT_MARKS})
    closing = {token.lower() for token in tokens[max(start, last - SIGNATURE) : last]}
    signed = start < last < end and tokens[last - 1] in (",", *ENDS, *DASHES, "_")
    return (first, end) if signed and not SIGNING.isdisjoint(closing) else None


def _read_diary(tokens: Sequence[str], start: int, end: int) -> Span | None:
    """Read the writer's name from a heading of a diary."""
    for place in range(start + 1, min(end, start + HEADING_TOKENS) - 1):
        if tokens[place].lower() in ("'s", "’s") and tokens[place + 1].lower() in DIARIES:
            named = end - start <= HEADING_TOKENS and all(token[0].isupper() for token in tokens[start:place])
            return (start, place) if named else None
    return None


def _opens_section(tokens: Sequence[str], start: int, end: int) -> bool:
    section = end - start <= HEADING_TOKENS and tokens[start].lower() in SECTION_WORDS
    return section or _read_diary(tokens, start, end) is not None
