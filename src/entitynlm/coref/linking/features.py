"""What a mention's words say about who is meant: the evidence that a vocabulary of 16,000 words can't see.

Names of a new text are unknown words to a language model, all alike. Whether two mentions are spelt alike, whether "she" fits
someone who was called "he", whether "I" is said in the same quotation: all that can be read off the page. :func:`describe`
tells a mention's possible referents as rows of numbers, one per entity of the ``Cast`` and one
for "somebody new".
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from entitynlm.coref.linking.entity_memory import GENDERED, NOBODY, EntityMemory, EntityRecord, Place
from entitynlm.coref.ranker.attributes import NAME, NOUN, PRONOUN, MentionView
from entitynlm.text.english import DETERMINERS, UNKNOWN

NEAR, WIDE = 2, 12  # sentences back in which mentions are counted
DISAGREES = -0.3  # product of two leanings under which they contradict each other
BEING = frozenset("is was are were be been being am became become 's 're 'm".split())
COMMA, COPULA = ",", "to be"

FORMS = ("i", "you", "he", "she", "it", "we", "they", "this", "that", "who", NAME, NOUN)
DETERMINER_KINDS = ("definite", "indefinite", "demonstrative", "possessive", "none", "bare")
OF_MENTION = (
    *(f"form {name}" for name in FORMS),
    "form other",
    *(f"determiner {name}" for name in DETERMINER_KINDS),
    "quoted", "opens sentence", "length", "inside another", "objective", "possessive", "reflexive", "after preposition",
    "after comma", "leaning", "speaker known",
)  # fmt: skip
OF_OLD = (
    "distance", "same sentence", "sentence before", "two or three sentences", "ten sentences", "far",
    "mentions since", "last mentioned", "last but one", "last but two", "long since", "count", "most mentioned",
    "share of form", "has form", "last of form", "most of form", "gender agrees", "gender differs", "gender unknown",
    "number agrees", "number differs", "same text", "same head", "last of head", "shared words", "all words",
    "adds words", "other name", "other head", "has name", "pronouns only", "same quoting", "same quotation",
    "says I here", "says you here", "said I before", "said you before", "type agrees", "type differs",
    "last was pronoun", "last was name", "last opened sentence", "contains mention", "adjacent",
    "joined by comma", "joined by being", "leaning agrees", "leaning differs", "agreeing 1st", "agreeing 2nd", "agreeing 3rd",
    "agreeing later", "mentions near", "mentions wide", "share of wide", "share opened", "last after preposition",
    "last possessive", "last inside", "same clause", "speaks here", "spoke before", "spoke two before", "given names differ",
    "titles differ", "similar head", "very similar head", "most similar head",
)  # fmt: skip
OF_NEW = (
    "new", "new: text seen", "new: head seen", "new: word seen", "new: entities", "new: form seen", "new: agreeing",
    "new: speaker new", "new: joined by comma", "new: joined by being", "new: agreeing wide", "new: most similar",
)  # fmt: skip
FEATURES = (*OF_MENTION, *OF_OLD, *OF_NEW)


@dataclass(frozen=True)
class Described:
    """A mention's possible referents: entity numbers, the last one ``NOBODY`` for a new one, and a row of features each."""

    candidates: list[int]
    features: np.ndarray


@dataclass(frozen=True)
class _Field:
    """What is compared across all candidates of a mention."""

    members: list[EntityRecord]
    agrees: list[bool]
    wide: list[int]  # mentions in the last sentences
    similarities: list[float]
    most: int
    most_of_form: int
    most_similar: float
    all_wide: int
    turns: tuple[int | None, int | None]


def describe(cast: EntityMemory, view: MentionView, type: str | None = None) -> Described:
    """Rows for all entities that may be meant, the last mentioned first, and for a new one."""
    place = cast.locate(view)
    candidates = cast.find_candidates(view)
    field = _survey(cast, view, place, type, [cast.members[n] for n in candidates])
    table = np.zeros((len(candidates) + 1, len(FEATURES)), dtype=np.float32)
    table[:, : len(OF_MENTION)] = _describe_mention(cast, view, place)
    old = slice(len(OF_MENTION), len(OF_MENTION) + len(OF_OLD))
    earlier = 0
    for rank, member in enumerate(field.members):
        table[rank, old] = _describe_member(cast, view, type, member, rank, field) + _describe_fit(
            cast, view, place, member, rank, earlier, field
        )
        earlier += field.agrees[rank]
    table[-1, old.stop :] = _describe_new(cast, view, field)
    return Described([*candidates, NOBODY], table)


def _survey(
    cast: EntityMemory, view: MentionView, place: Place, type: str | None, members: list[EntityRecord]
) -> _Field:
    agrees = [_agrees(view, place, type, member) for member in members]
    wide = [_count_since(member, view.sentence - WIDE) for member in members]
    similarities = _compare_heads(cast, view, members)
    return _Field(
        members,
        agrees,
        wide,
        similarities,
        most=max((member.count for member in members), default=0),
        most_of_form=max((member.forms[view.form] for member in members), default=0),
        most_similar=max((s for s, fits in zip(similarities, agrees, strict=True) if fits), default=0.0),
        all_wide=max(1, sum(count for count, fits in zip(wide, agrees, strict=True) if fits)),
        turns=cast.find_turns(view.quote) if view.quote else (None, None),
    )


def _agrees(view: MentionView, place: Place, type: str | None, member: EntityRecord) -> bool:
    """Whether nothing speaks against it: type, number, gender."""
    if None not in (type, member.type) and type != member.type:
        return False
    if UNKNOWN not in (view.number, member.grammatical_number) and view.number != member.grammatical_number:
        return False
    if view.gender in GENDERED and member.gender not in (UNKNOWN, view.gender):
        return False
    return place.gender_preference * member.gender_preference > DISAGREES


def _count_since(member: EntityRecord, sentence: int) -> int:
    return len(member.sentences) - bisect_left(member.sentences, sentence)


def _compare_heads(cast: EntityMemory, view: MentionView, members: Sequence[EntityRecord]) -> list[float]:
    """For a noun, how near its vector is to those of each member's heads."""
    vector = cast.lexicon.find_vector(view.head) if view.kind == NOUN else None
    if vector is None:
        return [0.0] * len(members)
    return [max((float(other @ vector) for other in m.heads.values()), default=0.0) for m in members]


def _describe_mention(cast: EntityMemory, view: MentionView, place: Place) -> list[float]:
    first = cast.document.tokens[view.mention.start].lower()
    length = view.mention.end - view.mention.start
    determiner = DETERMINERS.get(first, "none") if length > 1 else "bare"
    return [
        *(view.form == form for form in FORMS),
        view.form not in FORMS,
        *(determiner == kind for kind in DETERMINER_KINDS),
        view.quote > 0,
        place.opened,
        math.log(length),
        place.inside,
        place.objective,
        place.possessive,
        place.reflexive,
        place.preposition,
        place.comma,
        abs(place.gender_preference),
        cast.voices.get(view.quote, NOBODY) != NOBODY,
    ]


def _describe_member(
    cast: EntityMemory, view: MentionView, type: str | None, member: EntityRecord, rank: int, field: _Field
) -> list[float]:
    """How far away, how often, how alike, who spoke."""
    last, place = member.view, member.place
    assert last is not None and place is not None
    distance = max(0, view.mention.start - last.mention.end + 1)
    sentences = view.sentence - last.sentence
    quoted, number = view.quote > 0, member.number
    return [
        math.log1p(distance) / 5,
        sentences == 0,
        sentences == 1,
        1 < sentences <= 3,
        3 < sentences <= 10,
        sentences > 10,
        math.log1p(cast.mentions + 1 - member.last) / 4,
        rank == 0,
        rank == 1,
        rank == 2,
        rank > 5,
        math.log(member.count) / 3,
        member.count >= field.most,
        member.forms[view.form] / member.count,
        view.form in member.forms,
        cast.last_form.get((view.form, quoted)) == number,
        0 < member.forms[view.form] >= field.most_of_form,
        *_compare_agreement(view, member),
        *_compare_words(cast, view, member),
        bool(member.names),
        not member.texts,
        quoted == (last.quote > 0),
        quoted and view.quote == last.quote,
        cast.find_talker("i", view.quote) == number,
        cast.find_talker("you", view.quote) == number,
        quoted and cast.find_earlier_talker("i", view.quote) == number,
        quoted and cast.find_earlier_talker("you", view.quote) == number,
        type is not None and type == member.type,
        None not in (type, member.type) and type != member.type,
        last.kind == PRONOUN,
        last.kind == NAME,
        place.opened,
        last.mention.end >= view.mention.end,
        0 < distance <= 2,
    ]


def _describe_fit(
    cast: EntityMemory,
    view: MentionView,
    place: Place,
    member: EntityRecord,
    rank: int,
    earlier: int,
    field: _Field,
) -> list[float]:
    """What joins the two, and how the entity stands among those that agree; ``earlier`` of them were mentioned later."""
    last = member.place
    assert last is not None
    joint = _find_joint(cast, view, member)
    gender_preference = place.gender_preference * member.gender_preference
    agrees, similarity = field.agrees[rank], field.similarities[rank]
    return [
        joint == COMMA,
        joint == COPULA,
        max(0.0, gender_preference),
        max(0.0, -gender_preference),
        agrees and earlier == 0,
        agrees and earlier == 1,
        agrees and earlier == 2,
        agrees and earlier > 2,
        math.log1p(_count_since(member, view.sentence - NEAR)) / 2,
        math.log1p(field.wide[rank]) / 3,
        agrees * field.wide[rank] / field.all_wide,
        member.openings / member.count,
        last.preposition,
        last.possessive,
        last.inside,
        _share_clause(cast, view, member),
        view.quote > 0 and cast.voices.get(view.quote) == member.number,
        field.turns[0] == member.number,
        field.turns[1] == member.number,
        _differs(place.given_name, member.given_names.get(place.surname or "")),
        _differs(place.title, member.titles.get(place.surname or "")),
        similarity,
        max(0.0, similarity - 0.5),
        0 < similarity >= field.most_similar,
    ]


def _differs(name: str | None, known: set[str] | None) -> bool:
    return name is not None and bool(known) and name not in (known or ())


def _find_joint(cast: EntityMemory, view: MentionView, member: EntityRecord) -> str | None:
    """Whether the last mention and this one are an apposition ("Anne, the maid") or a predicate ("Anne was the maid")."""
    assert member.view is not None
    between = cast.document.tokens[member.view.mention.end : view.mention.start]
    if not 0 < len(between) <= 3:
        return None
    if between == (",",):
        return COMMA
    return COPULA if any(token.lower() in BEING for token in between) else None


def _share_clause(cast: EntityMemory, view: MentionView, member: EntityRecord) -> bool:
    assert member.view is not None
    end, start = member.view.mention.end, view.mention.start
    return member.view.sentence == view.sentence and start >= end and cast.borders[start] == cast.borders[end]


def _compare_agreement(view: MentionView, member: EntityRecord) -> list[float]:
    gender, number = member.gender, member.grammatical_number
    known = view.gender in GENDERED and gender != UNKNOWN
    numbered = UNKNOWN not in (view.number, number)
    return [
        known and view.gender == gender,
        known and view.gender != gender,
        not known,
        numbered and view.number == number,
        numbered and view.number != number,
    ]


def _compare_words(cast: EntityMemory, view: MentionView, member: EntityRecord) -> list[float]:
    if view.kind == PRONOUN:
        return [0.0] * 8
    shared = len(view.content & member.words)
    return [
        view.text in member.texts,
        view.lemma in member.lemmas,
        cast.last_head.get(view.lemma) == member.number,
        shared / max(1, len(view.content)),
        bool(view.content) and view.content <= member.words,
        shared > 0 and not view.content <= member.words,
        view.kind == NAME and bool(member.names) and not view.content & member.names,
        bool(member.lemmas) and view.lemma not in member.lemmas,
    ]


def _describe_new(cast: EntityMemory, view: MentionView, field: _Field) -> list[float]:
    plain = view.kind != PRONOUN
    joints = {_find_joint(cast, view, member) for member in field.members[:4]}
    there = sum(fits and count > 0 for fits, count in zip(field.agrees, field.wide, strict=True))
    return [
        1.0,
        plain and any(view.text in member.texts for member in field.members),
        plain and view.lemma in cast.last_head,
        plain and any(word in cast.of_word for word in view.content),
        math.log1p(len(cast.members)) / 4,
        (view.form, view.quote > 0) in cast.last_form,
        math.log1p(sum(field.agrees)) / 4,
        view.quote > 0 and cast.voices.get(view.quote) == NOBODY,
        COMMA in joints,
        COPULA in joints,
        math.log1p(there) / 3,
        field.most_similar,
    ]
