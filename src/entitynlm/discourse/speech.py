"""Quotations with their speakers, and what follows from them: who "I" and "you" are.

Inside of a quotation "I" is its speaker. "You" is whoever is addressed: by name, or because they speak before or after it in the
same conversation.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence

from entitynlm.discourse.quotations import find_quotations
from entitynlm.discourse.speaker_features import Dialogue
from entitynlm.discourse.speakers import find_speakers
from entitynlm.text.document import Document, Mention, Quotation, Span
from entitynlm.text.english import PRONOUNS

OFTEN = 5
"""Times that others call the narrator by a name, after which headings and wrong turns don't count against it."""
NEAR = 40
"""Tokens between two quotations of one conversation."""


def add_quotations(document: Document, spans: Sequence[Span] | None = None) -> Document:
    """The document with its quotations, each with a speaker and an addressee where they are found."""
    spans = find_quotations(document) if spans is None else spans
    speakers = find_speakers(document, spans)
    addressees = _find_addressees(document, spans, speakers)
    return document.with_quotations(
        Quotation(*span, *people) for span, *people in zip(spans, speakers, addressees, strict=True)
    )


def _find_addressees(
    document: Document, spans: Sequence[Span], speakers: Sequence[str | None]
) -> Iterator[str | None]:
    """Whoever is called by name in a quotation, or else whoever speaks before or after it."""
    dialogue = Dialogue(document, spans)
    for number in range(len(spans)):
        called = _find_called(dialogue, number, speakers)
        yield called or _find_partner(spans, number, speakers)


def _find_called(dialogue: Dialogue, number: int, speakers: Sequence[str | None]) -> str | None:
    names = dialogue.called[number].items()
    return next((who for who, addressed in names if addressed and who != speakers[number]), None)


def _find_partner(spans: Sequence[Span], number: int, speakers: Sequence[str | None]) -> str | None:
    """The nearest other speaker of the same conversation."""
    for other in (number - 1, number + 1, number - 2, number + 2):
        known = 0 <= other < len(spans) and speakers[other] not in (None, speakers[number])
        if known and _are_near(spans, number, other):
            return speakers[other]
    return None


def _are_near(spans: Sequence[Span], one: int, other: int) -> bool:
    low, high = sorted((one, other))
    gaps = (spans[number + 1][0] - spans[number][1] for number in range(low, high))
    return max(gaps) <= NEAR


def resolve_participants(document: Document) -> Document:
    """The same document with "I" and "you" in quotations given to speakers and addressees."""
    inside: dict[int, Quotation] = {}
    for quotation in document.quotations:
        inside.update(dict.fromkeys(range(quotation.start, quotation.end), quotation))

    def resolve(mention: Mention) -> Mention:
        quotation = inside.get(mention.start)
        form = PRONOUNS.get(" ".join(document.tokens[mention.start : mention.end]).lower())
        who = None
        if quotation is not None and form in ("i", "you"):
            who = quotation.speaker if form == "i" else quotation.addressee
        return mention if who is None else dataclasses.replace(mention, entity=who)

    return document.with_mentions(map(resolve, document.mentions))


def find_narrator(document: Document) -> str | None:
    """Who is "I" outside of quotations, most often."""
    quoted = {token for quotation in document.quotations for token in range(quotation.start, quotation.end)}
    votes = Counter(
        mention.entity
        for mention in document.mentions
        if mention.start not in quoted
        and PRONOUNS.get(" ".join(document.tokens[mention.start : mention.end]).lower()) == "i"
    )
    return votes.most_common(1)[0][0] if votes else None


def _may_narrate(document: Document, dialogue: Dialogue, entity: str, votes: int) -> bool:
    """Whether somebody is named in quotations alone; in a book that calls the narrator often, a heading may do so too."""
    told = sum(
        " ".join(document.tokens[mention.start : mention.end]).lower() not in PRONOUNS
        for mention in dialogue.outside
        if mention.entity == entity
    )
    if votes >= OFTEN:
        return told <= votes
    return not dialogue.counts[entity] and all(q.speaker != entity for q in document.quotations)


def name_narrator(document: Document) -> Document:
    """Give the narrator the name that others call them by, if that name is (nearly) never told outside of quotations."""
    narrator = find_narrator(document)
    if narrator is None:
        return document
    spans = [quotation.span for quotation in document.quotations]
    speakers = [quotation.speaker for quotation in document.quotations]
    dialogue = Dialogue(document, spans)
    votes: Counter[str] = Counter()
    for number, speaker in enumerate(speakers):
        called = _find_called(dialogue, number, speakers)
        if called is not None and speaker != narrator != called:
            votes[called] += _find_partner(spans, number, speakers) == narrator
    name = votes.most_common(1)[0][0] if votes.total() else None
    if name is None or not _may_narrate(document, dialogue, name, votes[name]):
        return document

    def rename(who: str | None) -> str | None:
        return narrator if who == name else who

    mentions = [dataclasses.replace(m, entity=narrator) if m.entity == name else m for m in document.mentions]
    quotations = [
        dataclasses.replace(q, speaker=rename(q.speaker), addressee=rename(q.addressee))
        for q in document.quotations
    ]
    return document.with_mentions(mentions).with_quotations(quotations)
