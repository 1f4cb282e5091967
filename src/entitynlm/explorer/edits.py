"""Corrections of an analysis: each makes a new version from the version that is shown."""

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from entitynlm.errors import ConfigError
from entitynlm.explorer.schemas import NEW_ENTITY, Edit
from entitynlm.explorer.texts import Version
from entitynlm.text.document import Document, Mention, Span


def edit(version: Version, wanted: Edit) -> Version:
    """Return the document after a correction."""
    document, span, entity = version.document, (wanted.start, wanted.end), wanted.entity
    if wanted.action == "rename":  # the mentions stay, and so does whether the model found them
        name = " ".join(wanted.name.split())
        if not name:
            raise ConfigError("a name has one character at least")
        labels = {**version.labels, _check_entity(document, entity): name}
        return replace(version, labels=labels, what=f"call it “{name}”")
    if wanted.action == "add":
        corrected = _mark(document, document.mentions, span, entity)
    elif wanted.action == "remove":
        corrected = document.with_mentions(_leave_out(document, span, entity))
    elif wanted.action == "change":
        start, end = wanted.to_start, wanted.to_end
        to_span = wanted.start if start is None else start, wanted.end if end is None else end
        corrected = _mark(document, _leave_out(document, span, entity), to_span, wanted.to_entity or entity)
    elif wanted.action == "split":
        corrected = _split(document, span, entity)
    else:
        corrected = _merge(document, entity, wanted.to_entity or entity)
    if corrected.mentions == document.mentions:
        raise ConfigError("this correction changes nothing")
    what = "merge two entities" if wanted.action == "merge" else f"{wanted.action} {_show(document, span)}"
    return replace(version, document=corrected, found=False, what=what)


def _check_entity(document: Document, entity: str) -> str:
    if not any(mention.entity == entity for mention in document.mentions):
        raise ConfigError(f"there is no entity {entity!r} in this analysis")
    return entity


def _make_entity(document: Document) -> str:
    taken = {mention.entity for mention in document.mentions}
    number = len(taken) + 1
    while str(number) in taken:
        number += 1
    return str(number)


def _show(document: Document, span: Span) -> str:
    words = " ".join(document.words(*span).split())
    return f"“{words if len(words) <= 30 else words[:29] + '…'}”"


def _mark(document: Document, others: Sequence[Mention], span: Span, entity: str) -> Document:
    """Add a mention to a list of mentions."""
    start, end = span
    if not 0 <= start < end <= len(document):
        raise ConfigError(
            f"a mention has one word at least and lies within the {len(document)} words, not at {span}"
        )
    who = _make_entity(document) if entity == NEW_ENTITY else _check_entity(document, entity)
    if any(mention.span == span and mention.entity == who for mention in others):
        raise ConfigError(f"{_show(document, span)} is a mention of this entity already")
    return document.with_mentions([*others, Mention(*span, who)])


def _leave_out(document: Document, span: Span, entity: str) -> list[Mention]:
    """List all mentions except the entity's mention at a span."""
    rest = [mention for mention in document.mentions if (mention.span, mention.entity) != (span, entity)]
    if len(rest) == len(document.mentions):
        raise ConfigError(f"there is no mention of {entity!r} at {span}")
    return rest


def _split(document: Document, span: Span, entity: str) -> Document:
    """Give an entity's mentions from a span on to a new entity of the same type."""
    own = [mention for mention in document.mentions if mention.entity == entity]
    places = [mention.span for mention in own]
    if span not in places[1:]:
        raise ConfigError("an entity is split at one of its mentions after the first")
    moved, new, types = {*own[places.index(span) :]}, _make_entity(document), document.entity_types
    mentions = [
        structs.replace(mention, entity=new) if mention in moved else mention for mention in document.mentions
    ]
    return document.with_mentions(mentions, {**types, new: types[entity]} if entity in types else types)


def _merge(document: Document, entity: str, into: str) -> Document:
    """Give the mentions and the quotations of an entity to another entity."""
    names = {_check_entity(document, entity): _check_entity(document, into)}
    moved = [
        structs.replace(mention, entity=names.get(mention.entity, mention.entity))
        for mention in document.mentions
    ]
    once = {(mention.span, mention.entity): mention for mention in moved}
    types = document.entity_types
    said = [quotation.rename(lambda who: names.get(who, who)) for quotation in document.quotations]
    merged = document.with_mentions(
        once.values(), {into: types[entity], **types} if entity in types else types
    )
    return merged.with_quotations(said)
