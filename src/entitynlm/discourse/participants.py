"""Participants of quotations: speakers, addressees, the narrator, and the entities that follow from them.

"I" in a quotation is its speaker. "You" is the addressee: the person who is called by name in it, or the previous or next other
speaker of the same conversation.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from msgspec import structs

from entitynlm.discourse.conversations import CONVERSATION_GAP
from entitynlm.discourse.discourse import NARRATION, OTHER_VOICE, Discourse, read_discourse
from entitynlm.discourse.identity import find_tag_mentions
from entitynlm.discourse.letters import read_signature
from entitynlm.discourse.records import SURE_SHARE
from entitynlm.discourse.speaker_features import Dialogue, find_narrator
from entitynlm.discourse.speakers import find_speakers
from entitynlm.text.document import Document, Mention, Quotation, sort_mentions
from entitynlm.text.english import list_lemmas

NEAR, TURNS = 8, 6
"""Quotations before and after one among whose speakers the person who is called by name is, and its partner."""
FEWEST_ARTICLES = 2
"""Names with an article that a ship or an inn has at least."""


def add_quotations(document: Document) -> Document:
    """Add quotations to a document, each with its speaker and addressee where they are found among the entities."""
    dialogue = Dialogue.of_document(read_discourse(document), document)
    return document.with_quotations(attribute_quotations(dialogue))


def settle_entities(
    discourse: Discourse, mentions: Sequence[Mention], entity_types: Mapping[str, str]
) -> Document:
    """Correct entities by speech, and number them anew in text order.

    Quotations get speakers and addressees, the narrator gets the name that others use, and "I"
    and "you" in quotations become mentions of speakers and addressees.
    """
    mentions = resolve_writers(discourse, mentions)
    types = {**entity_types, **find_things(discourse, mentions, entity_types)}
    dialogue = Dialogue(discourse, mentions, types)
    quotations = attribute_quotations(dialogue)
    named = find_first_names(dialogue, quotations) | name_narrator(dialogue)
    quotations = [quotation.rename(lambda who: named.get(who, who)) for quotation in quotations]
    mentions = resolve_participants(dialogue, _rename(mentions, named), quotations)
    numbers: dict[str, str] = {}
    for mention in mentions:
        numbers.setdefault(mention.entity, str(len(numbers) + 1))
    return dataclasses.replace(
        discourse.document,
        mentions=_rename(mentions, numbers),
        entity_types={numbers[entity]: type for entity, type in types.items() if entity in numbers},
        quotations=tuple(quotation.rename(numbers.get) for quotation in quotations),
    )


def _rename(mentions: Sequence[Mention], names: Mapping[str, str]) -> tuple[Mention, ...]:
    return sort_mentions(
        structs.replace(m, entity=names[m.entity]) if m.entity in names else m for m in mentions
    )


def attribute_quotations(dialogue: Dialogue) -> list[Quotation]:
    """Find the speaker and the addressee of each quotation; for a letter in quotation marks, its writer and its reader."""
    speakers = find_speakers(dialogue)
    found = [
        Quotation(*span, speakers[number], _find_addressee(dialogue, number, speakers))
        for number, span in enumerate(dialogue.quotations)
    ]
    ending = {mention.end: mention.entity for mention in dialogue.mentions}
    for letter in dialogue.discourse.letters:
        writer = ending.get(letter.writer[1])
        if letter.reader is not None and letter.quoted and writer is not None:
            for number, quotation in enumerate(found):
                if letter.span[0] <= quotation.start < letter.span[1]:
                    found[number] = structs.replace(
                        quotation, speaker=writer, addressee=ending.get(letter.reader[1])
                    )
    return found


def _find_addressee(dialogue: Dialogue, number: int, speakers: Sequence[str | None]) -> str | None:
    """Find the person who is called by name in a quotation and speaks near it, else the previous or next other speaker.

    Where no other person speaks, it is the person who is called by name.
    """
    called = _find_called(dialogue, number, speakers)
    if called is not None and called in speakers[max(0, number - NEAR) : number + NEAR + 1]:
        return called
    return _find_partner(dialogue, number, speakers) or called


def _find_called(dialogue: Dialogue, number: int, speakers: Sequence[str | None]) -> str | None:
    names = dialogue.called[number].items()
    return next((who for who, addressed in names if addressed and who != speakers[number]), None)


def _find_partner(dialogue: Dialogue, number: int, speakers: Sequence[str | None]) -> str | None:
    """Find the nearest other speaker of the same conversation, before a quotation or else after it."""
    spans = dialogue.quotations
    for step in (-1, 1):
        for other in range(number + step, number + step * (TURNS + 1), step):
            low, high = sorted((other, other - step))
            if low < 0 or high >= len(spans) or spans[high][0] - spans[low][1] > CONVERSATION_GAP:
                break
            if speakers[other] not in (None, speakers[number]):
                return speakers[other]
    return None


def resolve_writers(discourse: Discourse, mentions: Sequence[Mention]) -> Sequence[Mention]:
    """Make "I" in a letter or a diary a mention of its writer, and "you" a mention of its reader."""
    ending = {mention.end: mention.entity for mention in mentions}
    said: dict[tuple[int, str], str] = {}
    for letter in discourse.letters:
        people = {"i": letter.writer, "you": letter.reader}
        for form, span in people.items():
            if span is not None and span[1] in ending:
                said |= {(token, form): ending[span[1]] for token in range(*letter.span)}

    def resolve(mention: Mention) -> Mention:
        form = discourse.reader.read(mention.span).form
        told = (
            discourse.voice_of[mention.start] == OTHER_VOICE
            and discourse.quotation_of[mention.start] == NARRATION
        )
        who = said.get((mention.start, form)) if told and form is not None else None
        return mention if who is None else structs.replace(mention, entity=who)

    return sort_mentions(map(resolve, mentions)) if said else mentions


def find_inner_speakers(dialogue: Dialogue, quotations: Sequence[Quotation]) -> dict[int, str | None]:
    """Find the speaker at each token of speech within speech, by its tag ("…," he said); "I said" is the outer speaker."""
    discourse = dialogue.discourse
    inner = Discourse(discourse.document, discourse.paragraphs, discourse.inner_quotations)
    found: dict[int, str | None] = {}
    for number, told in find_tag_mentions(inner, [mention.span for mention in dialogue.mentions]).items():
        start, end = inner.quotations[number]
        teller = min((dialogue.mentions[tag] for tag in told), key=lambda m: (m.start < start, m.start))
        outer = quotations[discourse.quotation_of[start]].speaker
        who = outer if dialogue.find_form(teller) == "i" else teller.entity
        found |= dict.fromkeys(range(start, end), who)
    return found


def resolve_participants(
    dialogue: Dialogue, mentions: Sequence[Mention], quotations: Sequence[Quotation]
) -> tuple[Mention, ...]:
    """Make "I" in quotations mentions of speakers, and "you" and addresses without a name ("sir") mentions of addressees."""
    tellers = find_inner_speakers(dialogue, quotations)

    def resolve(mention: Mention) -> Mention:
        number, form = dialogue.discourse.voice_of[mention.start], dialogue.find_form(mention)
        if number < 0:
            teller = tellers.get(mention.start) if form == "i" else None
            return mention if teller is None else structs.replace(mention, entity=teller)
        who = None
        if form == "i":
            who = quotations[number].speaker
        elif form == "you" or (
            form is None and dialogue.discourse.is_address(mention.span) and not dialogue.has_name(mention)
        ):
            who = quotations[number].addressee
            reading = dialogue.discourse.reader.read(mention.span)
            who = who if who is not None and dialogue.records[who].fits_gender(reading.gender) else None
        return mention if who is None else structs.replace(mention, entity=who)

    return sort_mentions(map(resolve, mentions))


def name_narrator(dialogue: Dialogue) -> dict[str, str]:
    """Find the entity that is the narrator under a name, as told by the narrator or in a signature; it maps to the narrator.

    A narrator whom others call by name is found while mentions are linked (``coref/people_rules.py``).
    """
    narrator = find_narrator(dialogue)
    if narrator is None:
        return {}
    told = next((m.entity for m in dialogue.outside if _is_own_name(dialogue, m)), narrator)
    return {} if told == narrator else {told: narrator}


def _is_own_name(dialogue: Dialogue, mention: Mention) -> bool:
    """Tell whether the narrator gives the name here as the narrator's own ("my name is …"), or signs a letter with it."""
    before = [token.lower() for token in dialogue.tokens[max(0, mention.start - 3) : mention.start]]
    if tuple(before[:2]) == ("my", "name") and before[-1] in ("is", "was"):
        return True
    return (
        not dialogue.is_pronoun(mention)
        and read_signature(dialogue.tokens, 0, len(dialogue.tokens)) == mention.span
    )


def find_first_names(dialogue: Dialogue, quotations: Sequence[Quotation]) -> dict[str, str]:
    """Find the first names of persons who are otherwise called by title and surname: Mr. Vale is Arthur."""
    speakers = [quotation.speaker for quotation in quotations]
    partners: dict[str, set[str | None]] = {}
    for mention in dialogue.mentions:
        number = dialogue.discourse.quotation_of[mention.start]
        if dialogue.has_name(mention):
            addressed = number != NARRATION and dialogue.discourse.is_address(mention.span)
            partner = _find_partner(dialogue, number, speakers) if addressed else None
            partners.setdefault(mention.entity, set()).add(partner)
    found: dict[str, str] = {}
    for called, whom in partners.items():
        partner = next(iter(whom))
        if len(whom) > 1 or partner is None or dialogue.counts[called] or called in speakers:
            continue
        own, other = dialogue.records[called], dialogue.records[partner]
        bare = all(name.title is None and not name.full for name in own.names)
        titled = other.names and all(name.title and not name.full for name in other.names)
        if own.names and bare and titled and other.gender is not None and other.gender == own.gender:
            found[called] = partner
    return found


def find_things(
    discourse: Discourse, mentions: Sequence[Mention], types: Mapping[str, str]
) -> dict[str, str]:
    """Find entities that were taken for persons but are ships or inns, with their types.

    Their names (nearly) always have an article and no common noun: "the Mary Ellen", but not "the White Rabbit".
    """
    found: dict[str, str] = {}
    people: dict[str, list[Mention]] = {}
    for mention in mentions:
        if types.get(mention.entity) == "person":
            people.setdefault(mention.entity, []).append(mention)
    for person, own in people.items():
        readings = [discourse.reader.read(mention.span) for mention in own]
        names = [reading.name for reading in readings if reading.name is not None]
        things = [
            name
            for name in names
            if name.has_article
            and (name.title or not any("NOUN" in list_lemmas(word) for word in name.words))
        ]
        if len(things) >= FEWEST_ARTICLES and len(things) >= SURE_SHARE * len(names):
            female = any(reading.form == "she" for reading in readings)
            found[person] = "vehicle" if female else "place"
    return found
