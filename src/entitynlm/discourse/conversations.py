"""Conversations: runs of quotations with the persons who may take part in them, described by features for speaker attribution.

A quotation and a participant are described by tags, genders, mentions beside the quotation, and vocatives; the step from one
quotation to the next by the text between them. "I" and "you" are no features, because they are resolved later, by the speaker.
"""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from entitynlm.discourse.quotation_marks import ENDS, MARKS
from entitynlm.discourse.records import PersonRecord
from entitynlm.discourse.speaker_features import Dialogue, describe_form
from entitynlm.discourse.speech_tags import FIRST_PERSON, NAME, PRONOUN, Tag, TagReader
from entitynlm.text.document import Mention
from entitynlm.text.english import FEMALE, MALE

CONVERSATION_GAP = 100
"""Most tokens between two quotations of one conversation."""
LONGEST_CONVERSATION = 48
"""Quotations after which a conversation is cut at the next paragraph."""
MONOLOGUE = "monologue"
"""The step to the next paragraph of a speech, whose paragraphs all open with a mark."""
PARTICIPANTS = 10
WINDOW_BEFORE, WINDOW_AFTER = 300, 60
"""Tokens before and after a conversation whose mentions may be participants."""
FARTHEST_MENTION = 600
"""Distances to the nearest mention above this number of tokens are not distinguished."""
FORM_WEIGHTS = {"name": 1.0, "pronoun": 0.7, "noun": 0.6, "object": 0.5, "possessive": 0.3}
"""Evidence of a mention's form that its entity takes part in the conversation beside it."""
NEIGHBOURS = ((0, "in it"), (-1, "before"), (1, "after"), (-2, "before last"), (2, "after next"))
LONGEST_PASSAGE = 10_000
"""Most tokens of a text that counts as a passage, not as a book."""
NARRATOR_SHARE = 0.002
"""A text has a narrator if "I" outside of quotations is at least this share of all tokens."""

FeatureValues = dict[str, float]


@dataclass(frozen=True)
class Conversation:
    """Quotations from number ``first`` on, with features of every participant for each, and of the step from the previous one."""

    first: int
    participants: Sequence[str]
    features: Sequence[Sequence[FeatureValues]]
    steps: Sequence[str]


class ConversationReader:
    """Read the conversations of a dialogue.

    :param narrator: the entity that is "I" outside of quotations, if there is one.
    """

    def __init__(self, dialogue: Dialogue, narrator: str | None = None) -> None:
        self.dialogue, self.quotations, self.narrator = dialogue, dialogue.quotations, narrator
        reader = TagReader(dialogue)
        self.tags = [self._name_narrator(reader.read(number)) for number in range(len(self.quotations))]
        self.tagged = Counter(
            tag.entity for tag in self.tags if tag and tag.entity and tag.form in (NAME, FIRST_PERSON)
        )
        self._places: dict[str, list[int]] = defaultdict(list)
        for mention in dialogue.outside:
            self._places[mention.entity].append(mention.start)
        paragraphs = dialogue.discourse.paragraphs if dialogue.discourse.has_paragraphs else ()
        self._borders = (*paragraphs, len(dialogue.tokens))
        self._paragraphs = [dialogue.discourse.paragraph_of(start) for start, _ in self.quotations]
        self._starts = [mention.start for mention in dialogue.speaking]

    def _name_narrator(self, tag: Tag | None) -> Tag | None:
        return replace(tag, entity=tag.entity or self.narrator) if tag and tag.form == FIRST_PERSON else tag

    def read(self) -> Iterator[Conversation]:
        """Read the conversations in text order."""
        last: list[str] = []
        for numbers in self._cut():
            weights = self._weigh(numbers, last)
            participants = sorted(weights, key=lambda who: (-weights[who], who))[:PARTICIPANTS]
            last = [who for who in participants if any(self._is_tagged(number, who) for number in numbers)]
            total = sum(weights[who] for who in participants)
            known = {who: self._describe_person(who, weights[who] / total, numbers) for who in participants}
            steps = ["start", *(self.describe_step(number) for number in numbers[1:])]
            features = [self._describe(number, numbers, known) for number in numbers]
            yield Conversation(numbers[0], participants, features, steps)

    def _cut(self) -> Iterator[range]:
        first = 0
        for number in range(1, len(self.quotations) + 1):
            if number == len(self.quotations) or self._ends_before(number, number - first):
                yield range(first, number)
                first = number

    def _ends_before(self, number: int, length: int) -> bool:
        gap = self.quotations[number][0] - self.quotations[number - 1][1]
        long = length >= LONGEST_CONVERSATION and self._paragraphs[number] != self._paragraphs[number - 1]
        return gap > CONVERSATION_GAP or (long and self.describe_step(number) != MONOLOGUE)

    def _is_tagged(self, number: int, who: str) -> bool:
        tag = self.tags[number]
        return tag is not None and tag.entity == who

    def _weigh(self, numbers: range, last: Sequence[str]) -> dict[str, float]:
        """Estimate for the persons mentioned near a conversation how likely they take part in it."""
        dialogue = self.dialogue
        low, high = self.quotations[numbers[0]][0], self.quotations[numbers[-1]][1]
        weights: dict[str, float] = defaultdict(float)
        begin, end = (bisect_left(self._starts, at) for at in (low - WINDOW_BEFORE, high + WINDOW_AFTER))
        for mention in dialogue.speaking[begin:end]:
            weights[mention.entity] += self._weigh_mention(mention, low)
        for number in numbers:
            tag = self.tags[number]
            if tag is not None and tag.entity is not None:
                weights[tag.entity] += 3.0
        for who in last:
            weights[who] += 0.5
        for who in weights:
            record = self.dialogue.records[who]
            if record.names:
                weights[who] = 1.5 * weights[who] + 0.3 * min(3.0, math.log1p(self.tagged[who]))
            if record.is_group:
                weights[who] *= 0.3
        if self.narrator is not None:
            weights[self.narrator] += 5.0
        return weights

    def _weigh_mention(self, mention: Mention, low: int) -> float:
        dialogue = self.dialogue
        if dialogue.discourse.quotation_of[mention.start] < 0:
            near = mention.start >= low - WINDOW_AFTER
            return FORM_WEIGHTS[describe_form(dialogue.tokens, mention)] * (1.0 if near else 0.5)
        if dialogue.is_pronoun(mention):
            return 0.05
        return 1.0 if dialogue.discourse.is_address(mention.span) and dialogue.has_name(mention) else 0.2

    def describe_step(self, number: int) -> str:
        """Describe the text between a quotation and the one before it."""
        dialogue, tokens = self.dialogue, self.dialogue.tokens
        start, end = self.quotations[number - 1][1], self.quotations[number][0]
        between = tokens[start:end]
        inside = ENDS.isdisjoint(between)
        tagged = ", tag" if self.tags[number] is not None else ""
        if not dialogue.discourse.has_paragraphs:
            long = "long" if len(between) > 25 else "sentence"
            return f"unknown, {'none' if not between else 'inside' if inside else long}{tagged}"
        before, after = dialogue.discourse.paragraph_of(start - 1), self._paragraphs[number]
        if before == after:
            kind = "none" if not between else "inside" if inside else ""
            return f"same, {kind or ('sentence' if len(between) <= 25 else 'long')}{tagged}"
        if not between and tokens[start - 1] not in MARKS:
            return MONOLOGUE
        if after - before == 1:
            head = ", head" if between and dialogue.discourse.paragraph_of(end - 1) == after else ""
            tail = ", tail" if between and dialogue.discourse.paragraph_of(start) == before else ""
            return f"next{tail}{head}{tagged}"
        if after - before == 2 and len(between) < WINDOW_AFTER:
            return f"gap, one{tagged}"
        return f"gap, {'short' if len(between) <= CONVERSATION_GAP // 2 else 'long'}{tagged}"

    def _describe_person(self, who: str, share: float, numbers: range) -> FeatureValues:
        """Describe a participant, whatever the quotation."""
        record = self.dialogue.records[who]
        here = [
            tag for tag in self.tags[numbers.start : numbers.stop] if tag is not None and tag.entity == who
        ]
        tags = sum(tag.form in (NAME, FIRST_PERSON) for tag in here)
        found = {
            "mentions": math.log1p(record.mentions) / 8,
            "pronouns": 1 - record.names.total() / max(1, record.mentions),
            "tags": math.log1p(self.tagged[who]) / 6,
            "share of tags": self.tagged[who] / (1 + self.tagged.total()),
            "share of mentions here": share,
            "share of tags here": tags / len(numbers),
        }
        traits = {
            "named": record.names,
            "tagged here": tags,
            "group": record.is_group,
            "narrator": who == self.narrator,
        }
        return found | {name: 1.0 for name, holds in traits.items() if holds}

    def _describe(
        self, number: int, numbers: range, known: Mapping[str, FeatureValues]
    ) -> list[FeatureValues]:
        """Describe each participant as the speaker of a quotation."""
        start, end = self.quotations[number]
        before = {who: self._measure_before(who, start) for who in known}
        order = sorted(known, key=lambda who: before[who])
        return [
            {
                **features,
                **self._describe_tag(number, who, order.index(who)),
                "last mention": math.log1p(before[who]) / 6.4,
                "next mention": math.log1p(self._measure_after(who, end)) / 6.4,
                **({"nearest before": 1.0} if order[0] == who and before[who] < FARTHEST_MENTION else {}),
                **dict.fromkeys(self._describe_paragraphs(number, who, known), 1.0),
                **dict.fromkeys(self._describe_neighbours(number, who, numbers), 1.0),
            }
            for who, features in known.items()
        ]

    def _describe_tag(self, number: int, who: str, rank: int) -> FeatureValues:
        """Describe a participant by the tag of a quotation; pronouns are trusted more in a short passage than in a book."""
        tag = self.tags[number]
        found = _compare_tag(tag, who, self.dialogue.records[who], rank)
        if tag is not None and len(self.dialogue.tokens) < LONGEST_PASSAGE:
            found[f"{'own' if tag.entity == who else 'other'} {tag.form} in a passage"] = 1.0
        return found

    def _measure_before(self, who: str, start: int) -> int:
        places = self._places.get(who, [])
        at = bisect_left(places, start)
        return min(FARTHEST_MENTION, start - places[at - 1]) if at else FARTHEST_MENTION

    def _measure_after(self, who: str, end: int) -> int:
        places = self._places.get(who, [])
        at = bisect_left(places, end)
        return min(FARTHEST_MENTION, places[at] - end) if at < len(places) else FARTHEST_MENTION

    def _count(self, who: str, low: int, high: int) -> int:
        places = self._places.get(who, [])
        return bisect_left(places, high) - bisect_left(places, low)

    def _describe_paragraphs(
        self, number: int, who: str, known: Mapping[str, FeatureValues]
    ) -> Iterator[str]:
        """Tell where a participant is mentioned outside of quotations: in the quotation's paragraph and the ones beside it."""
        if not self.dialogue.discourse.has_paragraphs:
            return
        at = self._paragraphs[number]
        low, high = self._borders[at - 1], self._borders[at]
        own = self._count(who, low, high)
        if own:
            yield "in paragraph"
            yield f"in paragraph {'twice' if own > 1 else 'once'}"
            if not any(self._count(other, low, high) for other in known if other != who):
                yield "alone in paragraph"
            if self._count(who, low, self.quotations[number][0]):
                yield "paragraph head"
        if at > 1 and self._count(who, self._borders[at - 2], low):
            yield "in paragraph before"
            if self.dialogue.discourse.quotation_of[self._borders[at - 2]] < 0:
                yield "in narration before"
        if at + 1 < len(self._borders) and self._count(who, high, self._borders[at + 1]):
            yield "in paragraph after"

    def _describe_neighbours(self, number: int, who: str, numbers: range) -> Iterator[str]:
        """Tell whether a participant is named or tagged in a quotation and in those beside it."""
        for distance, label in NEIGHBOURS:
            other = number + distance
            if other not in numbers:
                continue
            same = distance and self._paragraphs[other] == self._paragraphs[number]
            addressed = self.dialogue.called[other].get(who)
            if addressed is not None:
                where = ", same paragraph" if same and self.dialogue.discourse.has_paragraphs else ""
                yield f"{'addressed' if addressed else 'named'} {label}{where}"
            if distance and not same and self._is_tagged(other, who):
                yield f"tagged {label}"


def _compare_tag(tag: Tag | None, who: str, record: PersonRecord, rank: int) -> FeatureValues:
    """Describe a participant by a tag: whether it names this or another participant, and whether genders agree."""
    recency = f"recency {min(rank, 4)}"
    if tag is None:
        return {"no tag": 1.0, f"no tag, {recency}": 1.0}
    own = tag.entity == who
    found = {f"tag {tag.kind} {tag.form} {'own' if own else 'other'}": 1.0}
    if tag.gender is None:
        return found
    kind = "pronoun" if tag.form == PRONOUN else "noun"
    agreement = _compare_genders(record.genders, tag.gender)
    found["tag's gender"] = agreement
    told = "agrees" if agreement > 0.3 else "differs" if agreement < -0.3 else "is unclear"
    found[f"tag's gender, {kind} {told}"] = 1.0
    if record.name_genders.total():
        agreement = _compare_genders(record.name_genders, tag.gender)
        found["tag's gender and names"] = agreement
        found[f"tag's gender, names {'agree' if agreement > 0 else 'differ'}"] = 1.0
    if not own:
        found[f"tag of another, {recency}"] = 1.0
    return found


def _compare_genders(evidence: Counter[str], gender: str) -> float:
    """Compare two gender estimates: from -1 (disagree) to 1 (agree)."""
    other = FEMALE if gender == MALE else MALE
    return (evidence[gender] - evidence[other]) / (evidence.total() + 1.0)
