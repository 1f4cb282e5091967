"""The document type of the whole package: readers make it, writers and models take it.

A :class:`Document` is immutable and checked on construction, so that later code need not check it again. Spans are half-open
token ranges everywhere; formats that count otherwise convert when they read and write.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, overload

import msgspec

from entitynlm.errors import DataError

Span = tuple[int, int]
"""A half-open range: ``(start, end)`` holds start, …, end - 1."""


class Mention(msgspec.Struct, frozen=True, gc=False):
    """A span of tokens that refers to an entity; a struct, because a corpus has many and a dataclass takes ten times as long.

    ``head`` is the index of the head token; ``attributes`` are further fields of the format (CorefUD's information status, brat's
    label), kept for writing. A discontinuous mention is read from its first to its last word.
    """

    start: int
    end: int
    entity: str
    head: int | None = None
    attributes: tuple[tuple[str, str], ...] = ()

    @property
    def span(self) -> Span:
        return (self.start, self.end)

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Entity:
    """All mentions of one entity in one document, in text order, with the entity's type if known."""

    id: str
    mentions: tuple[Mention, ...]
    type: str | None = None

    def __repr__(self) -> str:
        return f"<Entity {self.id!r}: {self.type or 'no type'}, {len(self.mentions)} mentions>"


class Quotation(msgspec.Struct, frozen=True, omit_defaults=True):
    """A span of direct speech, quotation marks included; ``speaker`` and ``addressee`` are ids of entities."""

    start: int
    end: int
    speaker: str | None = None
    addressee: str | None = None

    @property
    def span(self) -> Span:
        return (self.start, self.end)

    def rename(self, find_name: Callable[[str], str | None]) -> Quotation:
        """Give the participants other ids; a participant without a new id is removed."""
        speaker, addressee = (who and find_name(who) for who in (self.speaker, self.addressee))
        return msgspec.structs.replace(self, speaker=speaker, addressee=addressee)


def sort_mentions(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Sort mentions by start, enclosing ones before enclosed ones, then by entity id, so that the order is total."""
    return tuple(sorted(mentions, key=lambda m: (m.start, -m.end, m.entity)))


@dataclass(frozen=True, repr=False)
class Document:
    """A tokenised text with sentences, mentions and further columns of its file.

    :param id: unique within a corpus; the parts of a CoNLL-2012 document are ``name``, ``name#001``, …
    :param tokens: words as they stand in the text.
    :param sentences: half-open token ranges that follow each other without gaps and cover all tokens.
    :param mentions: any spans; they may nest, cross and repeat, as in annotated files.
    :param entity_types: type of an entity (person, place, …) by entity id, where the corpus has types.
    :param text: raw text, if known; with ``offsets``, ``text[a:b]`` is the token of offset ``(a, b)``.
    :param offsets: half-open character range of each token; ranges don't overlap and don't run backwards.
    :param columns: by name, one value per token: ``pos`` (Penn-style), ``upos``, ``lemma``, ``deprel``, ``speaker``, and others
        of the format; ``None`` where a token has no value.
    :param heads: index of each token's syntactic head in the document, -1 for a root.
    :param meta: document-level fields of the format (genre, title, …).
    :param quotations: direct speech; speakers that are no entities of the document are left out.
    """

    id: str
    tokens: tuple[str, ...]
    sentences: tuple[Span, ...] = ()
    mentions: tuple[Mention, ...] = ()
    entity_types: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    offsets: tuple[Span, ...] | None = None
    columns: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    heads: tuple[int, ...] | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    quotations: tuple[Quotation, ...] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "tokens", tuple(self.tokens))
        sentences = tuple(self.sentences) or (((0, len(self.tokens)),) if self.tokens else ())
        put(self, "sentences", sentences)
        put(self, "columns", MappingProxyType({k: tuple(v) for k, v in self.columns.items()}))
        put(self, "meta", MappingProxyType(dict(self.meta)))
        self._check_tokens()
        self._check_sentences()
        self._settle_mentions(self.mentions, self.entity_types, self.quotations)
        self._check_offsets()
        self._check_columns()

    def _settle_mentions(
        self, mentions: Iterable[Mention], types: Mapping[str, str], quotations: Iterable[Quotation]
    ) -> None:
        """Sort and check mentions, types and quotations; the text was checked before."""
        put = object.__setattr__
        put(self, "mentions", sort_mentions(mentions))
        named = {mention.entity: mention.entity for mention in self.mentions}
        put(self, "entity_types", MappingProxyType({e: kind for e, kind in types.items() if e in named}))
        kept = (quotation.rename(named.get) for quotation in quotations)
        put(self, "quotations", tuple(sorted(kept, key=_place)))
        self._check_mentions()

    def __getstate__(self) -> dict[str, object]:
        """Return the fields for pickle, with plain dictionaries in place of read-only views."""
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in self._fields()}

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, MappingProxyType(value) if isinstance(value, dict) else value)

    def _fields(self) -> Iterator[tuple[str, object]]:
        return ((each.name, getattr(self, each.name)) for each in dataclasses.fields(self))

    def _fail(self, message: str) -> DataError:
        return DataError(f"document {self.id!r}: {message}")

    def _check_tokens(self) -> None:
        if not self.id:
            raise DataError("a document needs an id that is not empty")
        if not all(self.tokens):
            raise self._fail(f"token {[bool(token) for token in self.tokens].index(False)} is empty")

    def _check_sentences(self) -> None:
        expected = 0
        for start, end in self.sentences:
            if start != expected or end <= start:
                raise self._fail(
                    f"sentence ({start}, {end}) should start at token {expected} and not be empty"
                )
            expected = end
        if expected != len(self.tokens):
            raise self._fail(f"the sentences cover {expected} of {len(self.tokens)} tokens")

    def _check_mentions(self) -> None:
        for quotation in self.quotations:
            if not 0 <= quotation.start < quotation.end <= len(self.tokens):
                raise self._fail(f"quotation {quotation.span} is not within its {len(self.tokens)} tokens")
        length = len(self.tokens)
        for mention in self.mentions:
            start, end, head = mention.start, mention.end, mention.head
            if not 0 <= start < end <= length:
                raise self._fail(f"mention {mention.span} is not within its {length} tokens")
            if not mention.entity:
                raise self._fail(f"mention {mention.span} has no entity")
            if head is not None and not start <= head < end:
                raise self._fail(f"the head {head} of mention {mention.span} lies outside of it")

    def _check_offsets(self) -> None:
        if self.offsets is None:
            return
        object.__setattr__(self, "offsets", tuple(self.offsets))
        if len(self.offsets) != len(self.tokens):
            raise self._fail(f"{len(self.offsets)} character offsets for {len(self.tokens)} tokens")
        previous = 0
        for start, end in self.offsets:
            if start < previous or end < start:
                raise self._fail(f"character offset ({start}, {end}) runs backwards")
            previous = end
        if self.text is not None and previous > len(self.text):
            raise self._fail(f"character offset {previous} is beyond the text's {len(self.text)} characters")

    def _check_columns(self) -> None:
        for name, values in self.columns.items():
            if len(values) != len(self.tokens):
                raise self._fail(f"column {name!r} has {len(values)} values for {len(self.tokens)} tokens")
        if self.heads is not None:
            object.__setattr__(self, "heads", tuple(self.heads))
            if len(self.heads) != len(self.tokens):
                raise self._fail(f"{len(self.heads)} heads for {len(self.tokens)} tokens")
            for index, head in enumerate(self.heads):
                if not -1 <= head < len(self.tokens):
                    raise self._fail(f"the head {head} of token {index} is not a token")

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        counts = f"{len(self.tokens)} tokens, {len(self.mentions)} mentions, {len(self.entities)} entities"
        return f"<Document {self.id!r}: {counts}>"

    @cached_property
    def entities(self) -> tuple[Entity, ...]:
        """The entities, in order of their first mention."""
        grouped: dict[str, list[Mention]] = {}
        for mention in self.mentions:
            grouped.setdefault(mention.entity, []).append(mention)
        return tuple(Entity(e, tuple(ms), self.entity_types.get(e)) for e, ms in grouped.items())

    @overload
    def clusters(self, *, as_strings: Literal[False] = False) -> tuple[tuple[Span, ...], ...]: ...

    @overload
    def clusters(self, *, as_strings: Literal[True]) -> tuple[tuple[str, ...], ...]: ...

    def clusters(self, *, as_strings: bool = False) -> tuple[tuple[Span | str, ...], ...]:
        """List the mentions of each entity as token spans or, with ``as_strings``, as the text has them."""
        show: Callable[[Span], Span | str] = (
            (lambda span: self.words(*span)) if as_strings else (lambda span: span)
        )
        return tuple(tuple(show(m.span) for m in entity.mentions) for entity in self.entities)

    @cached_property
    def sentence_of(self) -> tuple[int, ...]:
        """For each token, the index of its sentence."""
        return tuple(i for i, (start, end) in enumerate(self.sentences) for _ in range(start, end))

    def words(self, start: int, end: int) -> str:
        """Return the words of a token span: cut from the raw text if known, else joined by spaces."""
        if self.text is not None and self.offsets is not None and start < end:
            return self.text[self.offsets[start][0] : self.offsets[end - 1][1]]
        return " ".join(self.tokens[start:end])

    def column(self, name: str) -> tuple[str | None, ...]:
        """Return a column by name; its values are ``None`` if the document does not have it."""
        values = self.columns.get(name)
        return (None,) * len(self.tokens) if values is None else values

    def to_dict(self) -> dict[str, Any]:
        """Describe the document by plain values, as in JSON lines."""
        from entitynlm.text.formats.jsonlines import make_record

        plain: dict[str, Any] = msgspec.to_builtins(make_record(self))
        return plain

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Document:
        """Make the document that :meth:`to_dict` described."""
        from entitynlm.text.formats.jsonlines import restore_document

        return restore_document(dict(record), lambda _: None)

    def to_json(self) -> str:
        """Describe the document as a line of JSON without its end."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Document:
        """Make the document that :meth:`to_json` described."""
        from entitynlm.text.formats.jsonlines import parse_line

        return cls.from_dict(parse_line(line))

    def to_spacy(self, vocab: Any = None) -> Any:
        """Make a spaCy ``Doc`` with the words of the document and a span group for each entity."""
        from entitynlm.text.formats.spacy_docs import to_spacy

        return to_spacy(self, vocab)

    def resolved_text(self, *, every_person: bool = False) -> str:
        """Replace third-person pronouns outside of quotations by names; with ``every_person``, all pronouns."""
        from entitynlm.discourse.naming import resolve_text

        return resolve_text(self, every_person=every_person)

    def with_mentions(
        self, mentions: Iterable[Mention], entity_types: Mapping[str, str] | None = None
    ) -> Document:
        """Copy the document with other mentions, such as a system's analysis in place of the annotation."""
        types = self.entity_types if entity_types is None else entity_types
        return self._change(mentions, types, self.quotations)

    def with_clusters(self, clusters: Sequence[Sequence[Span]]) -> Document:
        """Copy the document with entities 1, 2, … given as bare spans."""
        numbered = enumerate(clusters, start=1)
        return self.with_mentions((Mention(*span, str(n)) for n, spans in numbered for span in spans), {})

    def with_quotations(self, quotations: Iterable[Quotation]) -> Document:
        """Copy the document with other quotations."""
        return self._change(self.mentions, self.entity_types, quotations)

    def _change(
        self, mentions: Iterable[Mention], types: Mapping[str, str], quotations: Iterable[Quotation]
    ) -> Document:
        """Copy the document with another annotation, without checking its text again."""
        made = object.__new__(Document)
        for name, value in self._fields():
            object.__setattr__(made, name, value)
        made._settle_mentions(mentions, types, quotations)
        return made


def _place(quotation: Quotation) -> tuple[int, int, str, str]:
    return quotation.start, -quotation.end, quotation.speaker or "", quotation.addressee or ""
