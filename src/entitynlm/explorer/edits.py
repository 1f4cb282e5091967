"""Corrections of an analysis: each makes a new version of it from the one that is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from msgspec import structs

from entitynlm.errors import ConfigError
from entitynlm.explorer.texts import Version
from entitynlm.text.document import Document, Mention, Span

Action = Literal["add", "remove", "change", "merge", "split", "rename"]
LONGEST_LABEL = 80


def edit(
    version: Version,
    action: Action,
    *,
    span: Span | None = None,
    entity: str | None = None,
    to_span: Span | None = None,
    to_entity: str | None = None,
    name: str | None = None,
) -> Version:
    """The version after a correction.

    ``add``: a mention at ``span`` of ``entity`` (None: of a new one). ``remove``: the mention of ``entity`` at ``span``.
    ``change``: that mention gets ``to_span`` and ``to_entity`` (the name "new": a new one). ``merge``: all mentions of ``entity``
    become mentions of ``to_entity``. ``split``: those of ``entity`` from ``span`` on become a new entity.
    ``rename``: ``entity`` is called ``name``.
    """
    make: dict[Action, Callable[[], Version]] = {
        "add": lambda: _add(version, _need(span, "span"), entity),
        "remove": lambda: _remove(version, _need(span, "span"), _need(entity, "entity")),
        "change": lambda: _change(version, _need(span, "span"), _need(entity, "entity"), to_span, to_entity),
        "merge": lambda: _merge(version, _need(entity, "entity"), _need(to_entity, "to_entity")),
        "split": lambda: _split(version, _need(entity, "entity"), _need(span, "span")),
        "rename": lambda: _rename(version, _need(entity, "entity"), _need(name, "name")),
    }
    return make[action]()


def _need(value: Span | str | None, name: str) -> Any:
    if value is None:
        raise ConfigError(f"this correction needs the field {name}")
    return value


def _put(
    version: Version, mentions: Iterable[Mention], what: str, types: Mapping[str, str] | None = None
) -> Version:
    known = version.document.entity_types if types is None else types
    return replace(version, document=version.document.with_mentions(mentions, known), found=False, what=what)


def _check_span(document: Document, span: Span) -> Span:
    start, end = span
    if not 0 <= start < end <= len(document):
        raise ConfigError(
            f"a mention has one word at least and lies within the {len(document)} words, not at {span}"
        )
    return span


def _check_entity(document: Document, entity: str) -> str:
    if not any(mention.entity == entity for mention in document.mentions):
        raise ConfigError(f"there is no entity {entity!r} in this analysis")
    return entity


def _find(document: Document, span: Span, entity: str) -> Mention:
    for mention in document.mentions:
        if mention.span == span and mention.entity == entity:
            return mention
    raise ConfigError(f"there is no mention of {entity!r} at {span}")


def _make_entity(document: Document) -> str:
    taken = {mention.entity for mention in document.mentions}
    number = len(taken) + 1
    while str(number) in taken:
        number += 1
    return str(number)


def _show(document: Document, span: Span) -> str:
    words = " ".join(document.words(*span).split())
    return f"“{words if len(words) <= 30 else words[:29] + '…'}”"


def _add(version: Version, span: Span, entity: str | None) -> Version:
    document = version.document
    _check_span(document, span)
    who = _make_entity(document) if entity is None else _check_entity(document, entity)
    if any(mention.span == span and mention.entity == who for mention in document.mentions):
        raise ConfigError(f"{_show(document, span)} is a mention of this entity already")
    return _put(version, [*document.mentions, Mention(*span, who)], f"mark {_show(document, span)}")


def _remove(version: Version, span: Span, entity: str) -> Version:
    mention = _find(version.document, span, entity)
    rest = [one for one in version.document.mentions if one is not mention]
    return _put(version, rest, f"remove {_show(version.document, span)}")


def _change(
    version: Version, span: Span, entity: str, to_span: Span | None, to_entity: str | None
) -> Version:
    document = version.document
    mention = _find(document, span, entity)
    to_span = _check_span(document, to_span or span)
    if to_entity is None:
        who = entity
    else:
        who = _make_entity(document) if to_entity == "new" else _check_entity(document, to_entity)
    if (to_span, who) == (span, entity):
        raise ConfigError("this correction changes nothing")
    changed = Mention(*to_span, who)
    rest = [one for one in document.mentions if one is not mention]
    if any(one.span == to_span and one.entity == who for one in rest):
        raise ConfigError(f"{_show(document, to_span)} is a mention of this entity already")
    return _put(version, [*rest, changed], f"change {_show(document, span)}")


def _merge(version: Version, entity: str, into: str) -> Version:
    document = version.document
    _check_entity(document, entity), _check_entity(document, into)
    if entity == into:
        raise ConfigError("an entity can't be merged with itself")
    taken = {mention.span for mention in document.mentions if mention.entity == into}
    moved = [
        structs.replace(mention, entity=into) if mention.entity == entity else mention
        for mention in document.mentions
        if not (mention.entity == entity and mention.span in taken)
    ]
    types = {**document.entity_types}
    if into not in types and entity in types:
        types[into] = types[entity]
    said = [
        structs.replace(
            quotation,
            speaker=into if quotation.speaker == entity else quotation.speaker,
            addressee=into if quotation.addressee == entity else quotation.addressee,
        )
        for quotation in document.quotations
    ]
    merged = _put(version, moved, "merge two entities", types)
    return replace(merged, document=merged.document.with_quotations(said))


def _split(version: Version, entity: str, span: Span) -> Version:
    document = version.document
    first = _find(document, span, entity)
    own = [mention for mention in document.mentions if mention.entity == entity]
    if first is own[0]:
        raise ConfigError("the entity would be left without a mention; split it at a later one")
    new = _make_entity(document)
    moved = set(map(id, own[own.index(first) :]))
    mentions = [structs.replace(one, entity=new) if id(one) in moved else one for one in document.mentions]
    types = {**document.entity_types}
    if entity in types:
        types[new] = types[entity]
    return _put(version, mentions, f"split an entity at {_show(document, span)}", types)


def _rename(version: Version, entity: str, name: str) -> Version:
    """Only what it is called; the mentions stay as they are, and so does whether the model found them."""
    _check_entity(version.document, entity)
    name = " ".join(name.split())
    if not 0 < len(name) <= LONGEST_LABEL:
        raise ConfigError(f"a name has 1 to {LONGEST_LABEL} characters")
    return replace(version, labels={**version.labels, entity: name}, what=f"call it “{name}”")
