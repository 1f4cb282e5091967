"""Quotations: direct speech between quotation marks or after a dash.

Marks differ from book to book, and one sign may open, close or be an apostrophe, so all marks of a text are paired together.
Words in marks that are neither spoken nor thought (titles, scare quotes) are not quotations.
"""

from bisect import bisect_right
from collections.abc import Sequence

from entitynlm.discourse.dash_dialogue import find_dash_dialogue
from entitynlm.discourse.quotation_marks import DASHES, ENDS, MARKS, STOPS, ends_clause, pair_marks
from entitynlm.text.document import Document, Span
from entitynlm.text.english import QUOTATION_VERBS

SHORT_QUOTATION = 5
"""Words in marks after a comma that are fewer than this may be an expression in the middle of a sentence."""
NAMING_VERBS = frozenset(("called", "calls", "call"))
NEGATIONS = frozenset(("not", "n't", "n’t", "never"))
WRITTEN = frozenset("inscription inscribed engraved motto handwriting epitaph carved painted printed".split())
"""Words beside an inscription, which is not spoken."""
UNSAID = "unsaid"
PHRASAL = frozenset(("went", "put"))
"""Verbs of speech only in phrases: "went on", "put in"."""
SPEECH_PRONOUNS = frozenset("i me my you your we us our".split())
BETWEEN_QUOTATIONS = frozenset(("and", "or", ",", *DASHES))
"""Between two quotations of one kind: "Come!" and "Go!"."""
ITALICS = "_"
TAG_REACH = 4
"""Tokens beside a quotation among which its verb of speech stands."""


def find_quotations(document: Document, paragraphs: Sequence[int]) -> list[Span]:
    """Find the spans of direct speech, marks included, in text order; speech of several paragraphs has a quotation for each.

    :param paragraphs: first token of each paragraph.
    """
    spans = sorted(pair_marks(document, paragraphs))
    found: list[Span] = []
    borders = (*paragraphs, len(document.tokens)) if len(paragraphs) > 1 else (0, len(document.tokens))
    for span in spans:
        number = bisect_right(borders, span[0])
        if _is_speech(document, span, found[-1] if found else None, borders[number - 1 : number + 1]):
            found.append(span)
    after_dashes = list(find_dash_dialogue(document, paragraphs))
    if len(after_dashes) <= len(found):
        return found
    spoken = {token for start, end in after_dashes for token in range(start, end)}
    return sorted([*after_dashes, *(span for span in found if not spoken.intersection(range(*span)))])


def strip_marks(document: Document, span: Span) -> Span:
    """Cut the marks off the ends of a quotation."""
    start, end = span
    while start < end - 1 and document.tokens[start] in MARKS:
        start += 1
    while end > start + 1 and document.tokens[end - 1] in MARKS:
        end -= 1
    return start, end


def _is_speech(document: Document, span: Span, last: Span | None, paragraph: Sequence[int]) -> bool:
    """Tell whether the words in marks are speech, from the tokens around them in their paragraph (given by start and end)."""
    tokens = document.tokens
    start, end = strip_marks(document, span)
    start += end - start > 1 and tokens[start] == ITALICS
    end -= end - start > 1 and tokens[end - 1] == ITALICS
    before = tokens[span[0] - 1] if span[0] else "."
    opens_sentence = span[0] == document.sentences[document.sentence_of[span[0]]][0]
    verb_before = _find_verb(tokens, range(span[0] - 1, max(paragraph[0] - 1, span[0] - 1 - TAG_REACH), -1))
    verb_after = _find_verb(tokens, range(span[1], min(paragraph[1], span[1] + TAG_REACH)))
    if verb_before == UNSAID or (verb_after == UNSAID and tokens[end - 1] == ","):
        return False
    if verb_before in NAMING_VERBS and before not in STOPS:
        return False
    between = tokens[last[1] : span[0]] if last else ()
    if between and BETWEEN_QUOTATIONS.issuperset(between):  # "Come!" and "Go!"
        return True
    if span[0] == paragraph[0] > 0 and span[1] == paragraph[1] and end - start > 1:
        return True  # a paragraph in marks, whose dash at the end was lost
    if not ends_clause(tokens[end - 1]):
        after = tokens[span[1]] if span[1] < len(tokens) else "."
        cut_off = after in DASHES or not SPEECH_PRONOUNS.isdisjoint(
            token.lower() for token in tokens[start:end]
        )
        unclosed = opens_sentence and (cut_off or tokens[span[1] - 1] not in MARKS)
        said = verb_before is not None and (before in STOPS or before.lower() == verb_before)
        return unclosed or said or (verb_after is not None and end - start > 1)
    if opens_sentence or before in MARKS or before[-1] in ".!?…)([":
        return True
    if not ends_clause(before):
        motto = span[1] < len(tokens) and tokens[span[1]] in DASHES
        exclaimed = verb_after is not None or (tokens[end - 1] in ("!", "?") and not motto)
        return before.lower() == verb_before or (exclaimed and tokens[start][0].isupper())
    if tokens[start][0].isupper() or verb_before is not None or verb_after is not None:
        return True
    unfinished = last is not None and tokens[strip_marks(document, last)[1] - 1] == ","
    goes_on = last is not None and (unfinished or not ENDS & set(between))
    return goes_on and end - start >= SHORT_QUOTATION


def _find_verb(tokens: Sequence[str], places: range) -> str | None:
    """Find the verb of speech between a quotation and the end of the sentence around it, searching outwards.

    The result is UNSAID where the words were written, or might have been said and were not.
    """
    for place in places:
        word = tokens[place].lower()
        if word in PHRASAL and tokens[place + 1 : place + 2] not in (("on",), ("in",)):
            continue
        if word in QUOTATION_VERBS:
            return (
                UNSAID if _is_unsaid([token.lower() for token in tokens[max(0, place - 2) : place]]) else word
            )
        if word in WRITTEN:
            return UNSAID
        if word in ENDS or word in MARKS:
            return None
    return None


def _is_unsaid(before: Sequence[str]) -> bool:
    """Tell from the words before a verb of speech that nothing was said: "did not say", "as much as to say", "used to say"."""
    return bool(before) and (
        before[-1] in NEGATIONS or (before[-1] == "to" and before[0] in ("as", "used", "well"))
    )
