"""InScript's XML release (Modi et al. 2016), one story a file; ``docs/formats.md`` describes its elements.

Expat is fed piece by piece and emptied after each story; a file that declares XML entities (which can be made to grow without
end) is refused.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element
from xml.parsers import expat

from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.base import Format, Source
from entitynlm.text.segmentation import find_spans, place_words

STORIES = ("story", "script", "document")
LINE = "@line"  # our own attribute of every element, a name that XML does not allow


def _parse_stories(source: Source) -> Iterator[tuple[Element, str]]:
    """The elements of stories, each with the text of its ``content``."""
    finished: list[tuple[Element, str]] = []
    opened: list[Element] = []
    contents: list[str] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        line = str(parser.CurrentLineNumber)
        element = Element(tag.rpartition(":")[2].lower(), {**attributes, LINE: line})
        if opened:
            opened[-1].append(element)
        opened.append(element)

    def end(_: str) -> None:
        element = opened.pop()
        outermost = element.tag in STORIES and not any(around.tag in STORIES for around in opened)
        if outermost or not opened:
            finished.append((element, "".join(contents)))
            contents.clear()
            if opened:
                opened[-1].remove(element)

    def add_text(text: str) -> None:
        element = opened[-1]
        if element.tag in ("content", "text"):
            contents.append(text)
        elif element.tag == "token":
            element.text = (element.text or "") + text.strip()

    def refuse_entity(name: str, *_: object) -> None:
        message = f"the file declares an entity ({name}), which stories have no need of"
        raise source.error(message, parser.CurrentLineNumber, hint="Take the DOCTYPE out of the file")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = add_text, refuse_entity
    for chunk in itertools.chain(source.chunks(), (b"",)):
        try:
            parser.Parse(chunk, not chunk)
        except (expat.ExpatError, LookupError, ValueError) as error:
            message, hint = f"this is not well-formed XML ({error})", "Check that the file is complete"
            raise source.error(message, parser.CurrentLineNumber, hint=hint) from error
        yield from finished
        finished.clear()


def recognise(path: str, sample: bytes) -> bool:
    """Any XML: no other format of ours is."""
    start = sample.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"<?xml", b"\xff\xfe<\0?\0", b"\xfe\xff\0<\0?")):
        return True
    return start.startswith(b"<") and re.search(rb"<(annotations|participants|chains)\b", start) is not None


def read(source: Source) -> Iterator[Document]:
    """One document per story element (a file that is one story has one)."""
    count = 0
    for story, content in _parse_stories(source):
        if not content.strip() and story.find(".//token") is None and not _find_labels(story):
            continue
        count += 1
        name = (story.get("id") or story.get("name")) if story.tag in STORIES else None
        name = name or (source.stem if count == 1 else f"{source.stem}#{count}")
        with source.naming():
            document = _make_document(story, content, name, source)
        if document is not None:
            yield document
    if not count:
        expected = "InScript's elements: text with content or sentences, and annotations"
        raise source.error("there is no story in this XML file", expected=expected)


def _make_document(story: Element, content: str, name: str, source: Source) -> Document | None:
    sentences = _find_sentences(story, content, source)
    tokens = [token for sentence in sentences for token in sentence]
    if not tokens:
        source.report(f"story {name!r} has no words and was left out")
        return None
    keys = (
        token.get("id") or f"{number}-{index}"
        for number, sentence in enumerate(sentences, start=1)
        for index, token in enumerate(sentence, start=1)
    )
    positions = {key: position for position, key in enumerate(keys)}
    mentions, types = _find_mentions(story, positions, source)
    words = [_get_word(token) for token in tokens]
    text, offsets = place_words(words, content)
    scenario = re.fullmatch(r"([^\W\d]+(?:_[^\W\d]+)*?)_\d+(?:#\d+)?", name)
    columns = {
        name: tuple(_get_value(token, tag, "type", "value") for token in tokens)
        for name, tag in (("pos", "pos"), ("lemma", "lemma"), ("deprel", "dep"))
    }
    heads = [_get_value(token, "dep", "head") for token in tokens]
    return Document(
        id=name,
        tokens=tuple(words),
        sentences=find_spans(sentences),
        mentions=mentions,
        entity_types=types,
        text=text,
        offsets=offsets,
        columns={name: values for name, values in columns.items() if any(values)},
        heads=tuple(positions.get(head or "", -1) for head in heads) if any(heads) else None,
        meta={"scenario": scenario[1]} if scenario else {},
    )


def _get_word(token: Element) -> str:
    return token.get("content", "") + (token.text or "")


def _get_value(token: Element, tag: str, *names: str) -> str | None:
    """The first value of these attributes in a token's elements of this tag."""
    values = (next(filter(None, map(element.get, names)), None) for element in token.findall(tag))
    return next(filter(None, values), None)


def _find_sentences(story: Element, content: str, source: Source) -> list[list[Element]]:
    """The words as ``token`` elements, those of the file or else of the words in the content's lines."""
    sentences: list[list[Element]] = []
    for element in story.iter():
        if element.tag == "sentence" or (element.tag == "token" and not sentences):
            sentences.append([])
        if element.tag == "token":
            sentences[-1].append(element)
    if not any(sentences):
        lines = (line.split() for line in content.split("\n"))
        return [[Element("token", content=word) for word in words] for words in lines if words]
    kept = [[token for token in sentence if _get_word(token).strip()] for sentence in sentences]
    for words, sentence in zip(kept, sentences, strict=True):
        if len(words) < len(sentence):
            source.report(f"{len(sentence) - len(words)} tokens without a word were left out")
    return [words for words in kept if words]


def _find_labels(story: Element) -> list[Element]:
    chained = {label for chain in story.iter("chain") for label in chain.iter("label")}
    listed = {label for group in story.iter("participants") for label in group.iter("label")}
    return [
        label
        for label in story.iter("label")
        if label not in chained and (label in listed or label.get("type") == "participant")
    ]


def _find_chains(story: Element, known: set[str], source: Source) -> dict[str, int]:
    """The number of the chain that each label is in."""
    chain_of: dict[str, int] = {}
    for number, chain in enumerate(story.iter("chain")):
        for key in chain.get("elements", "").split() + [_get_key(label) for label in chain.iter("label")]:
            if key not in known:
                source.report(f"a chain names the label {key!r}, which there is not", _get_line(chain))
            elif chain_of.setdefault(key, number) != number:
                source.report(f"the label {key!r} is in two chains; it stays in the first", _get_line(chain))
    return chain_of


def _get_key(label: Element) -> str:
    return label.get("id") or str(label.get("from", ""))


def _get_line(element: Element) -> int:
    return int(element.get(LINE, 0))


def _find_mentions(
    story: Element, positions: dict[str, int], source: Source
) -> tuple[tuple[Mention, ...], dict[str, str]]:
    """A mention per label; labels of one chain share an entity, which is numbered per type in text order."""
    placed: list[tuple[int, int, str, str]] = []
    labels = _find_labels(story)
    for label in labels:
        start = label.get("from", "")
        key, last, name = _get_key(label), label.get("to") or start, label.get("name", "")
        a, b = positions.get(start, -1), positions.get(last, -1)
        if 0 <= a <= b:
            placed.append((a, b + 1, key, name))
        else:
            source.report(f"the label {name!r} from {start!r} to {last!r} has no place", _get_line(label))
    chain_of = _find_chains(story, {_get_key(label) for label in labels}, source)
    names: dict[object, str] = {}
    numbers: Counter[str] = Counter()
    types: dict[str, str] = {}
    mentions: list[Mention] = []
    for start_token, end, key, name in sorted(placed, key=lambda label: (label[0], -label[1])):
        entity = chain_of.get(key, key)
        if entity not in names:
            kind = name.removeprefix("ScrPart_") or "participant"
            numbers[kind] += 1
            names[entity] = f"P{numbers[kind]}_{kind}"
            types[names[entity]] = kind
        attributes = (("label", name),) if name else ()
        mentions.append(Mention(start_token, end, names[entity], attributes=attributes))
    return tuple(mentions), types


FORMAT = Format("inscript-xml", "InScript's XML release", ".xml", recognise, read)
