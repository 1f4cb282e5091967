"""Plain text: one document a file; ``text`` is the file as it is, and offsets point into it."""

import codecs
import re
from collections.abc import Iterator

from entitynlm.text.document import Document
from entitynlm.text.formats.base import Source
from entitynlm.text.segmentation import segment_text

MARKED_UP = re.compile(
    r"\s*(?:(?P<HTML><(?:!doctype\s+html|html|head|body)\b)|(?P<XML><\?xml\b)|(?P<RTF>\{\\rtf)|(?P<PDF>%PDF-))",
    re.IGNORECASE,
)  # what would be read as words: tags, keywords and style sheets
PIECE_OF_PAGE = re.compile(
    r"\s*<(?:!--|(?:article|blockquote|br|center|div|h[1-6]|hr|img|meta|ol|p|pre|script|section|span|style|table|ul)(?:\s[^<>]*)?/?>)",
    re.IGNORECASE,
)  # HTML without a head
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def recognise(path: str, sample: bytes) -> bool:
    """Whatever has no zero byte in it, and what only its name calls a text (so that the error can say more)."""
    name = path.removesuffix(".gz")
    return b"\0" not in sample or sample.startswith(UTF_16) or name.endswith(".txt")


def read(source: Source) -> Iterator[Document]:
    """One document; a text without words is none and is reported."""
    text = "".join(_check_characters(source))
    cut = segment_text(text)
    if cut.tokens:
        yield Document(source.stem, cut.tokens, cut.sentences, text=text, offsets=cut.offsets)
    else:
        source.report("the file has no words in it" if text else "the file is empty")


def _refuse_markup(source: Source, start: str) -> None:
    """Tell what a file is that begins like a page or a document of a word processor."""
    if marked := MARKED_UP.match(start) or PIECE_OF_PAGE.match(start):
        kind = next((name for name, found in marked.groupdict().items() if found), "HTML")
        hint = f"Save the {kind} document as plain text (UTF-8) first"
        raise source.error(f"this is {kind}, not plain text", 1, found=marked[0].strip()[:80], hint=hint)


def _check_characters(source: Source) -> Iterator[str]:
    """The file's text, refused with the reason if it is no text."""
    line = 1
    for number, chunk in enumerate(source.text_chunks()):
        if number == 0:
            _refuse_markup(source, chunk)
        if "\0" in chunk:
            line += chunk.count("\n", 0, chunk.index("\0"))
            hint = "Save the document as plain text (UTF-8) first"
            raise source.error("this is not a text: there is a zero byte in it", line, hint=hint)
        line += chunk.count("\n")
        yield chunk
