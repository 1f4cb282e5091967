"""InScript's XML release (Modi et al. 2016), one story a file.

A story has a ``text`` (``content``, one tokenised sentence a line, and ``sentences`` with a ``token`` element
per word) and ``annotations``: ``participants``, a ``label`` per mention with its first and last token
(``from="4-2" to="4-3"``), and ``chains``, whose ``elements`` are the ids of labels that mean the same thing.
A label in no chain is an entity of its own. Entities are called as in the corpus's other release:
``P2_bathtub`` is the second bathtub of the story. Labels of events are passed over.

The parser is the standard library's, fed piece by piece; a file that declares entities (which can be made to
grow without end) is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.base import Format, Source
from entitynlm.text.segmentation import find_words, join_words

STORIES = ("story", "script", "document")
Attributes = Mapping[str, str]


@dataclass
class _Token:
    place: str
    word: str = ""
    pos: str | None = None
    lemma: str | None = None
    head: str | None = None
    deprel: str | None = None


@dataclass
class _Label:
    key: str
    start: str
    end: str
    name: str
    line: int


@dataclass
class _Chain:
    line: int
    elements: list[str] = field(default_factory=list)


@dataclass
class _Story:
    """What has been seen of a story; a name comes from an ``id`` of the story's element."""

    name: str | None = None
    content: list[str] = field(default_factory=list)
    sentences: list[list[_Token]] = field(default_factory=list)
    labels: list[_Label] = field(default_factory=list)
    chains: list[_Chain] = field(default_factory=list)

    @property
    def last_token(self) -> _Token | None:
        return self.sentences[-1][-1] if self.sentences and self.sentences[-1] else None

    def __bool__(self) -> bool:
        return bool("".join(self.content).strip() or any(self.sentences) or self.labels)


class _Parser:
    """Collects stories from the events of an XML parser."""

    def __init__(self, path: str) -> None:
        self.finished: list[_Story] = []
        self._path = path
        self._story = _Story()
        self._open: list[str] = []
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._add_text
        self._expat.EntityDeclHandler = self._refuse_entity

    def feed(self, chunk: bytes, is_last: bool) -> None:
        try:
            self._expat.Parse(chunk, is_last)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise DataError(
                f"this is not well-formed XML ({error})",
                path=self._path,
                line=self._expat.CurrentLineNumber,
                hint="Check that the file is complete",
            ) from error

    def _refuse_entity(self, name: str, *_: object) -> None:
        raise DataError(
            f"the file declares an entity ({name}), which stories have no need of",
            path=self._path,
            line=self._expat.CurrentLineNumber,
            hint="Take the DOCTYPE out of the file",
        )

    def _start(self, tag: str, attributes: Attributes) -> None:
        tag = tag.rpartition(":")[2].lower()
        story, line = self._story, self._expat.CurrentLineNumber
        if tag in STORIES and not any(each in STORIES for each in self._open):
            story.name = attributes.get("id") or attributes.get("name")
        elif tag == "sentence":
            story.sentences.append([])
        elif tag == "token":
            story.sentences = story.sentences or [[]]
            story.sentences[-1].append(_Token(attributes.get("id", ""), attributes.get("content", "")))
        elif tag in ("pos", "lemma", "dep") and self._open[-1:] == ["token"] and (token := story.last_token):
            self._describe_token(token, tag, attributes)
        elif tag == "chain":
            story.chains.append(_Chain(line, attributes.get("elements", "").split()))
        elif tag == "label" and "chain" in self._open and story.chains:
            story.chains[-1].elements.append(attributes.get("id") or attributes.get("from", ""))
        elif tag == "label" and ("participants" in self._open or attributes.get("type") == "participant"):
            start = attributes.get("from", "")
            key, end = attributes.get("id") or start, attributes.get("to") or start
            story.labels.append(_Label(key, start, end, attributes.get("name", ""), line))
        self._open.append(tag)

    def _describe_token(self, token: _Token, tag: str, attributes: Attributes) -> None:
        value = attributes.get("type") or attributes.get("value")
        if tag == "pos":
            token.pos = token.pos or value
        elif tag == "lemma":
            token.lemma = token.lemma or value
        else:
            token.head = token.head or attributes.get("head")
            token.deprel = token.deprel or value

    def _end(self, _: str) -> None:
        tag = self._open.pop()
        if not self._open or (tag in STORIES and not any(each in STORIES for each in self._open)):
            if self._story:
                self.finished.append(self._story)
            self._story = _Story()

    def _add_text(self, text: str) -> None:
        where = self._open[-1]
        if where in ("content", "text"):
            self._story.content.append(text)
        elif where == "token" and (token := self._story.last_token):
            token.word += text.strip()


def recognise(path: str, sample: bytes) -> bool:
    """Any XML: no other format of ours is."""
    start = sample.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"<?xml", b"\xff\xfe<\0?\0", b"\xfe\xff\0<\0?")):
        return True
    return start.startswith(b"<") and re.search(rb"<(annotations|participants|chains)\b", start) is not None


def read(source: Source) -> Iterator[Document]:
    """One document per story element (a file that is one story has one)."""
    parser = _Parser(source.path)
    count = 0
    is_over = False
    chunks = source.chunks()
    while not is_over:
        chunk = next(chunks, b"")
        is_over = not chunk
        parser.feed(chunk, is_over)
        for story in parser.finished:
            count += 1
            name = story.name or (source.stem if count == 1 else f"{source.stem}#{count}")
            with source.naming():
                document = _assemble(story, name, source)
            if document is not None:
                yield document
        parser.finished.clear()
    if not count:
        raise DataError(
            "there is no story in this XML file",
            path=source.path,
            expected="InScript's elements: text with content or sentences, and annotations",
        )


def _assemble(story: _Story, name: str, source: Source) -> Document | None:
    content = "".join(story.content)
    sentences = _find_sentences(story, content, source)
    tokens = [token for sentence in sentences for token in sentence]
    if not tokens:
        source.report(f"story {name!r} has no words and was left out")
        return None
    places: dict[str, int] = {}
    spans: list[Span] = []
    for number, sentence in enumerate(sentences, start=1):
        start = spans[-1][1] if spans else 0
        spans.append((start, start + len(sentence)))
        for index, token in enumerate(sentence):
            places[token.place or f"{number}-{index + 1}"] = start + index
    mentions, types = _find_mentions(story, tokens, places, source)
    words = [token.word for token in tokens]
    offsets = find_words(words, content)
    text, offsets = (content, offsets) if offsets is not None else join_words(words)
    scenario = re.fullmatch(r"([^\W\d]+(?:_[^\W\d]+)*?)_\d+(?:#\d+)?", name)
    return Document(
        id=name,
        tokens=tuple(words),
        sentences=tuple(spans),
        mentions=mentions,
        entity_types=types,
        text=text,
        offsets=offsets,
        columns=_find_columns(tokens),
        heads=_find_heads(tokens, places),
        meta={"scenario": scenario[1]} if scenario else {},
    )


def _find_sentences(story: _Story, content: str, source: Source) -> list[list[_Token]]:
    """The words as tokens, from their elements or else from the lines of the content."""
    if not any(story.sentences):
        lines = [line.split() for line in content.split("\n") if line.strip()]
        return [[_Token("", word) for word in words] for words in lines]
    sentences = []
    for sentence in story.sentences:
        kept = [token for token in sentence if token.word.strip()]
        if len(kept) < len(sentence):
            source.report(f"{len(sentence) - len(kept)} tokens without a word were left out")
        if kept:
            sentences.append(kept)
    return sentences


def _find_columns(tokens: list[_Token]) -> dict[str, tuple[str | None, ...]]:
    columns = {
        "pos": tuple(token.pos for token in tokens),
        "lemma": tuple(token.lemma for token in tokens),
        "deprel": tuple(token.deprel for token in tokens),
    }
    return {name: values for name, values in columns.items() if any(value is not None for value in values)}


def _find_heads(tokens: list[_Token], places: dict[str, int]) -> tuple[int, ...] | None:
    if not any(token.head for token in tokens):
        return None
    return tuple(places.get(token.head or "", -1) for token in tokens)


def _find_mentions(
    story: _Story, tokens: list[_Token], places: dict[str, int], source: Source
) -> tuple[tuple[Mention, ...], dict[str, str]]:
    """A mention per label; labels of one chain share an entity, which is numbered per type in text order."""
    chain_of: dict[str, int] = {}
    known = {label.key for label in story.labels}
    for number, chain in enumerate(story.chains):
        for key in chain.elements:
            if key not in known:
                source.report(f"a chain names the label {key!r}, which there is not", chain.line)
            elif chain_of.setdefault(key, number) != number:
                source.report(f"the label {key!r} is in two chains; it stays in the first", chain.line)
    placed: list[tuple[int, int, _Label]] = []
    for label in story.labels:
        start, last = places.get(label.start), places.get(label.end)
        if start is None or last is None or last < start:
            source.report(
                f"the label {label.name!r} from {label.start!r} to {label.end!r} has no place", label.line
            )
        else:
            placed.append((start, last + 1, label))
    placed.sort(key=lambda mention: (mention[0], -mention[1]))
    names: dict[object, str] = {}
    numbers: Counter[str] = Counter()
    types: dict[str, str] = {}
    mentions: list[Mention] = []
    for start, end, label in placed:
        entity = chain_of.get(label.key, label.key)
        if entity not in names:
            kind = label.name.removeprefix("ScrPart_") or "participant"
            numbers[kind] += 1
            names[entity] = f"P{numbers[kind]}_{kind}"
            types[names[entity]] = kind
        attributes = (("label", label.name),) if label.name else ()
        mentions.append(Mention(start, end, names[entity], attributes=attributes))
    return tuple(mentions), types


FORMAT = Format(
    name="inscript-xml",
    description="InScript's XML release",
    suffix=".xml",
    recognise=recognise,
    read=read,
)
