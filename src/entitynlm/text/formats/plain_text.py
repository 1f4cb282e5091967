"""Plain text and Markdown: one document a file, or several parts of a very long one; every character is kept.

Markdown is read without its syntax, but ``text`` is the file as it is, and offsets point into it.
"""

import codecs
import re
from collections.abc import Iterable, Iterator

from entitynlm.errors import ConfigError
from entitynlm.text.document import Document
from entitynlm.text.formats.base import Source
from entitynlm.text.formats.markdown import strip_markdown
from entitynlm.text.segmentation import segment_text

PART_SIZE = 4_000_000  # characters; the longest novels have three million
SMALLEST_PART = 1000
MARKDOWN = (".md", ".markdown")
MARKED_UP = re.compile(
    r"\s*(?:(?P<HTML><(?:!doctype\s+html|html|head|body)\b)|(?P<XML><\?xml\b)|(?P<RTF>\{\\rtf)|(?P<PDF>%PDF-))",
    re.IGNORECASE,
)  # what would be read as words: tags, keywords and style sheets
PIECE_OF_PAGE = re.compile(
    r"\s*<(?:!--|(?:article|blockquote|br|center|div|h[1-6]|hr|img|meta|ol|p|pre|script|section|span|style|table|ul)(?:\s[^<>]*)?/?>)",
    re.IGNORECASE,
)  # HTML without a head; Markdown may begin like this
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def recognise(path: str, sample: bytes) -> bool:
    """Whatever has no zero byte in it, and what only its name calls a text (so that the error can say more)."""
    name = path.removesuffix(".gz")
    return b"\0" not in sample or sample.startswith(UTF_16) or name.endswith((".txt", *MARKDOWN))


def read(source: Source) -> Iterator[Document]:
    """One document, or several parts of a very long text; a text without words is none and is reported."""
    choice = source.choose("markdown", ("auto", "yes", "no"))
    by_name = source.path.removesuffix(".gz").lower().endswith(MARKDOWN)
    markdown = choice == "yes" or (choice == "auto" and by_name)
    count = 0
    length = 0
    for number, text, is_last in _cut_parts(_check_characters(source, markdown), _choose_part_size(source)):
        name = source.stem if is_last and number == 1 else f"{source.stem}#{number}"
        meta = {} if name == source.stem else {"part": str(number), "text_start": str(length)}
        view = strip_markdown(text) if markdown else None
        cut = segment_text(view.text if view else text)
        offsets = tuple(view.locate(start, end) for start, end in cut.offsets) if view else cut.offsets
        length += len(text)
        if cut.tokens:
            count += 1
            yield Document(name, cut.tokens, cut.sentences, text=text, offsets=offsets, meta=meta)
    if not count:
        source.report("the file has no words in it" if length else "the file is empty")


def _choose_part_size(source: Source) -> int:
    given = str(source.options.get("part_size", PART_SIZE))
    if not (given.isascii() and given.isdigit() and len(given) < 19 and int(given) >= SMALLEST_PART):
        raise ConfigError(f"option part_size={given} makes no sense; give a number from {SMALLEST_PART} on")
    return int(given)


def _refuse_markup(source: Source, start: str, *, pieces: bool) -> None:
    """Tell what a file is that begins like a page or a document of a word processor."""
    if marked := MARKED_UP.match(start) or (PIECE_OF_PAGE.match(start) if pieces else None):
        kind = next((name for name, found in marked.groupdict().items() if found), "HTML")
        hint = f"Save the {kind} document as plain text (UTF-8) first"
        raise source.error(f"this is {kind}, not plain text", 1, found=marked[0].strip()[:80], hint=hint)


def _check_characters(source: Source, markdown: bool) -> Iterator[str]:
    """The file's text, refused with the reason if it is no text."""
    line = 1
    for number, chunk in enumerate(source.text_chunks()):
        if number == 0:
            _refuse_markup(source, chunk, pieces=not markdown)
        if "\0" in chunk:
            line += chunk.count("\n", 0, chunk.index("\0"))
            hint = "Save the document as plain text (UTF-8) first"
            raise source.error("this is not a text: there is a zero byte in it", line, hint=hint)
        line += chunk.count("\n")
        yield chunk


def _cut_parts(chunks: Iterable[str], size: int) -> Iterator[tuple[int, str, bool]]:
    """Numbered parts of the text, and whether each is the last: cut after a paragraph, else a line, else a word."""
    number, rest = 1, ""
    for chunk in chunks:
        rest += chunk
        while len(rest) > size:
            cut = _find_cut(rest, size)
            yield number, rest[:cut], False
            number, rest = number + 1, rest[cut:]
    if rest:
        yield number, rest, True


def _find_cut(text: str, size: int) -> int:
    half = size // 2
    for gaps in (("\n\n", "\n\r\n"), ("\n",), (" ", "\t", "\u3000", "。")):
        cut = max(text.rfind(gap, half, size) + len(gap) if gap in text[half:size] else -1 for gap in gaps)
        if cut > 0:
            return cut
    return size
