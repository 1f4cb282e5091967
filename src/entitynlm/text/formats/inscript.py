"""InScript stories in the columns that Modi et al. (2017) distribute; ``docs/formats.md`` describes the rows."""

import re
from collections.abc import Iterator
from itertools import groupby

from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.base import NumberedLine, Source
from entitynlm.text.segmentation import find_spans, place_words

NOTHING = "O"
DRS_COLUMNS = ("verb_head", "verb", "pos", "label")
DRS_ROW = re.compile(r"(\d+)-(\d+)\t")
LABEL = re.compile(r"P\d+_(.+)", re.DOTALL)
SIX_COLUMNS = "six tab-separated columns: id, word, headVerbId_dependency, verbLemma, POS, participant"


Cells = list[str | None]
Sentence = tuple[str | None, list[Cells]]
"""The text of a sentence, where the file has it, and the cells of its words."""


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


def _read_sentences(source: Source) -> Iterator[Sentence]:
    known = False
    for line, comments, rows in source.blocks():
        if not (known or comments or DRS_ROW.match(rows[0][1])):
            number, found = rows[0]
            raise source.error("this is not InScript", number, found=found, expected=SIX_COLUMNS)
        known = True
        words = [cells for row in rows if (cells := _split_row(row, source)) is not None]
        if words:
            yield comments.get("text"), words
        else:
            source.report(f"sentence {comments.get('id', '')} has no words", line)


def _split_row(row: NumberedLine, source: Source) -> Cells | None:
    """Split a row into its six cells; cells without a value are None."""
    number, line = row
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) < 2 or not cells[1]:
        source.report(f"a row without a word was left out: {line[:60]!r}", number)
        return None
    if len(cells) != 6:
        source.report(f"a row of {len(cells)} columns; {SIX_COLUMNS}", number)
        cells = (cells + [NOTHING] * 6)[:6] if len(cells) < 6 else [*cells[:5], cells[-1]]
    return [*cells[:2], *(None if cell in (NOTHING, "") else cell for cell in cells[2:])]


def _assemble(sentences: list[Sentence], name: str) -> Document:
    offsets: list[Span] = []
    texts: list[str] = []
    rows: list[Cells] = []
    mentions: list[Mention] = []
    length = 0
    for given, words in sentences:
        start = len(rows)
        rows += words
        for label, places in groupby(range(start, len(rows)), key=lambda token: rows[token][-1]):
            indices = list(places)
            if label is not None:
                mentions.append(Mention(indices[0], indices[-1] + 1, label))
        text, spans = place_words([str(cells[1]) for cells in words], given)
        offsets += [(length + a, length + b) for a, b in spans]
        texts.append(text)
        length += len(text) + 1
    _, tokens, *columns = zip(*rows, strict=True)
    labels = {mention.entity: LABEL.fullmatch(mention.entity) for mention in mentions}
    types = {entity: match[1] for entity, match in labels.items() if match is not None}
    scenario = re.fullmatch(r"(.+?)_\d+", name)
    return Document(
        id=name,
        tokens=tokens,
        sentences=find_spans([words for _, words in sentences]),
        mentions=tuple(mentions),
        entity_types={e: "NPart" if kind.startswith("NPart_") else kind for e, kind in types.items()},
        text="\n".join(texts),
        offsets=tuple(offsets),
        columns=dict(zip(DRS_COLUMNS, columns, strict=True)),
        meta={"scenario": scenario[1]} if scenario else {},
    )
