"""InScript stories in the columns that Modi et al. (2017) distribute; ``docs/formats.md`` describes the rows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.base import Source
from entitynlm.text.segmentation import find_spans, place_words

NOTHING = "O"
DRS_COLUMNS = ("verb_head", "verb", "pos", "label")
DRS_ROW = re.compile(r"(\d+)-(\d+)\t")
LABEL = re.compile(r"P\d+_(.+)", re.DOTALL)
SIX_COLUMNS = "six tab-separated columns: id, word, headVerbId_dependency, verbLemma, POS, participant"


@dataclass
class _Sentence:
    """A sentence whose rows are being read."""

    number: str = ""
    text: str | None = None
    words: list[str] = field(default_factory=list)
    rows: list[tuple[str | None, ...]] = field(default_factory=list)


def recognise(path: str, sample: bytes) -> bool:
    """Recognise a first line that opens a sentence or is a row of the table."""
    for line in sample.removeprefix(b"\xef\xbb\xbf").splitlines():
        if line.strip():
            is_row = re.match(rb"\d+-\d+\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]", line)
            return line.startswith((b"#id=", b"#text=")) or is_row is not None
    return path.removesuffix(".gz").endswith(".drs")


def read(source: Source) -> Iterator[Document]:
    """Read the one story of a file."""
    if sentences := list(_read_sentences(source)):
        yield _assemble(sentences, source.stem)
    else:
        source.report("the file has no story in it")


def _read_sentences(source: Source) -> Iterator[_Sentence]:
    sentence: _Sentence | None = None
    known = False
    for number, line in source.lines():
        if line.startswith("#id="):
            if sentence is not None and sentence.words:
                source.report("a sentence begins before a blank line ended the one before it", number)
                yield sentence
            sentence = _Sentence(line[4:].strip())
        elif line.startswith("#text="):
            sentence = sentence or _Sentence()
            sentence.text = line[6:].strip()
        elif line.strip():
            if not known and sentence is None and not DRS_ROW.match(line):
                raise source.error("this is not InScript", number, found=line, expected=SIX_COLUMNS)
            sentence = sentence or _Sentence()
            _add_row(sentence, line, source, number)
        elif sentence is not None:
            if sentence.words:
                yield sentence
            else:
                source.report(f"sentence {sentence.number} has no words", number)
            sentence = None
        known = known or sentence is not None
    if sentence is not None and sentence.words:
        yield sentence


def _add_row(sentence: _Sentence, line: str, source: Source, number: int) -> None:
    cells = line.split("\t")
    if len(cells) < 2 or not cells[1].strip():
        source.report(f"a row without a word was left out: {line[:60]!r}", number)
        return
    if len(cells) != 6:
        source.report(f"a row of {len(cells)} columns; {SIX_COLUMNS}", number)
        cells = (cells + [NOTHING] * 6)[:6] if len(cells) < 6 else [*cells[:5], cells[-1]]
    sentence.words.append(cells[1].strip())
    sentence.rows.append(tuple(None if cell.strip() in (NOTHING, "") else cell.strip() for cell in cells[2:]))


def _assemble(sentences: list[_Sentence], name: str) -> Document:
    offsets: list[Span] = []
    texts: list[str] = []
    rows: list[tuple[str | None, ...]] = []
    mentions: list[Mention] = []
    length = 0
    for sentence in sentences:
        start = len(rows)
        rows += sentence.rows
        for label, words in groupby(range(start, len(rows)), key=lambda token: rows[token][-1]):
            indices = list(words)
            if label is not None:
                mentions.append(Mention(indices[0], indices[-1] + 1, label))
        text, places = place_words(sentence.words, sentence.text)
        offsets += [(length + a, length + b) for a, b in places]
        texts.append(text)
        length += len(text) + 1
    labels = {mention.entity: LABEL.fullmatch(mention.entity) for mention in mentions}
    types = {entity: match[1] for entity, match in labels.items() if match is not None}
    scenario = re.fullmatch(r"(.+?)_\d+", name)
    return Document(
        id=name,
        tokens=tuple(word for sentence in sentences for word in sentence.words),
        sentences=find_spans([sentence.words for sentence in sentences]),
        mentions=tuple(mentions),
        entity_types={e: "NPart" if kind.startswith("NPart_") else kind for e, kind in types.items()},
        text="\n".join(texts),
        offsets=tuple(offsets),
        columns={column: tuple(row[index] for row in rows) for index, column in enumerate(DRS_COLUMNS)},
        meta={"scenario": scenario[1]} if scenario else {},
    )
