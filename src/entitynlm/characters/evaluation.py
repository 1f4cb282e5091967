"""Scores of quotations and their speakers against annotated ones, beside a baseline."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from entitynlm.discourse.discourse import read_discourse
from entitynlm.discourse.speaker_features import Dialogue
from entitynlm.discourse.speakers import find_speakers
from entitynlm.discourse.speech_tags import NAME, TagReader
from entitynlm.text.document import Document, Mention, Span

NEAREST = 8
"""Mentions on each side of a quotation among which the nearest one is looked for: mentions nest."""


@dataclass(frozen=True)
class QuotationScores:
    """Counts over documents; a quotation is found if its words are, marks and punctuation at its ends aside."""

    annotated: int = 0
    found: int = 0
    right: int = 0
    speakers: int = 0
    """Quotations that are found and whose speaker is right."""
    baseline: int = 0
    """Quotations that are found and whose speaker has the nearest name outside of the quotation."""

    def __add__(self, other: "QuotationScores") -> "QuotationScores":
        mine, theirs = vars(self), vars(other)
        return QuotationScores(**{name: mine[name] + theirs[name] for name in mine})

    @property
    def recall(self) -> float:
        return self.right / max(1, self.annotated)

    @property
    def precision(self) -> float:
        return self.right / max(1, self.found)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, self.annotated + self.found)

    @property
    def speaker_accuracy(self) -> float:
        return self.speakers / max(1, self.right)

    @property
    def baseline_accuracy(self) -> float:
        return self.baseline / max(1, self.right)


def score_quotations(document: Document, entities: Document | None = None) -> QuotationScores:
    """Score one annotated document; speakers are chosen among its own entities, or those of ``entities``.

    A system's entity is the right speaker if most of its mentions that are annotated are those of the annotated speaker.
    """
    known = entities or document
    gold = {strip_punctuation(document, q.span): q.speaker for q in document.quotations}
    discourse = read_discourse(document)
    found = {strip_punctuation(document, span): number for number, span in enumerate(discourse.quotations)}
    same = _map_entities(known, document)
    dialogue = Dialogue.of_document(discourse, known)
    speakers, nearest = find_speakers(dialogue), find_nearest_names(dialogue)
    pairs = [(gold[span], number) for span, number in found.items() if span in gold]
    return QuotationScores(
        annotated=len(gold),
        found=len(found),
        right=len(pairs),
        speakers=sum(same.get(speakers[number]) == speaker for speaker, number in pairs),
        baseline=sum(same.get(nearest[number]) == speaker for speaker, number in pairs),
    )


def strip_punctuation(document: Document, span: Span) -> Span:
    """Cut a span to its first and last word: annotators differ about the dash before and the full stop after a quotation."""
    start, end = span
    while start < end - 1 and not any(map(str.isalnum, document.tokens[start])):
        start += 1
    while end > start + 1 and not any(map(str.isalnum, document.tokens[end - 1])):
        end -= 1
    return start, end


def find_nearest_names(dialogue: Dialogue) -> list[str | None]:
    """Find a baseline's speakers: the entity whose name stands nearest to each quotation, outside of all."""
    tokens = dialogue.tokens
    named = [
        mention
        for mention in dialogue.outside
        if not dialogue.is_pronoun(mention)
        and any(word[0].isupper() for word in tokens[mention.start : mention.end])
    ]
    return find_nearest_mentions(dialogue, named)


def find_nearest_mentions(dialogue: Dialogue, mentions: Sequence[Mention] | None = None) -> list[str | None]:
    """Find a baseline's speakers: the entity that is mentioned nearest to each quotation, outside of all.

    :param mentions: those that count, in text order; all outside of quotations by default.
    """
    chosen = dialogue.outside if mentions is None else mentions
    starts = [mention.start for mention in chosen]
    found: list[str | None] = []
    for start, end in dialogue.quotations:
        place = bisect_left(starts, start)
        near = chosen[max(0, place - NEAREST) : place + NEAREST]
        distances = [(m.start - end if m.start >= end else start - m.end, m.entity) for m in near]
        found.append(min(distances, key=lambda pair: pair[0])[1] if distances else None)
    return found


def alternate_speakers(dialogue: Dialogue) -> list[str | None]:
    """Find a baseline's speakers: by a tag with a name; else two persons take turns from paragraph to paragraph."""
    reader = TagReader(dialogue)
    paragraphs = [dialogue.discourse.paragraph_of(start) for start, _ in dialogue.quotations]
    found: list[str | None] = []
    current: str | None = None
    other: str | None = None
    for number, paragraph in enumerate(paragraphs):
        tag = reader.read(number)
        named = tag.entity if tag is not None and tag.form == NAME else None
        goes_on = number > 0 and paragraph == paragraphs[number - 1]
        following = named or (current if goes_on else other or current)
        if following != current:
            current, other = following, current
        found.append(current)
    return found


def _map_entities(system: Document, key: Document) -> dict[str | None, str]:
    """Map each entity of a system to the annotated one that most of its mentions belong to."""
    if system is key:
        return {entity.id: entity.id for entity in key.entities}
    owners = {mention.span: mention.entity for mention in key.mentions}
    found: dict[str | None, str] = {}
    for entity in system.entities:
        votes = [owners[mention.span] for mention in entity.mentions if mention.span in owners]
        if votes:
            found[entity.id] = max(sorted(set(votes)), key=votes.count)
    return found
