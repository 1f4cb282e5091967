"""Plain text: one document a file; ``text`` is the file unchanged, and offsets count its characters."""

import codecs
import re
from collections.abc import Iterator

from entitynlm.text.document import Document
from entitynlm.text.formats.base import Source
from entitynlm.text.segmentation import segment_text

NO_TEXT = re.compile(r"\s*(?:(?P<XML><\?xml\b)|(?P<PDF>%PDF-))", re.IGNORECASE)
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def recognise(path: str, sample: bytes) -> bool:
    """Accept a file without a zero byte; also a file with a text's name, for which the reader raises a helpful error."""
    name = path.removesuffix(".gz")
    return b"\0" not in sample or sample.startswith(UTF_16) or name.endswith(".txt")


def read(source: Source) -> Iterator[Document]:
    """Read one document; a text without words gives no document and is reported."""
    text = source.decode(b"".join(source.chunks()))
    if kind := NO_TEXT.match(text):
        hint = f"Save the {kind.lastgroup} document as plain text (UTF-8) first"
        raise source.error(f"this is {kind.lastgroup}, not plain text", 1, found=kind[0].strip(), hint=hint)
    if "\0" in text:
        line = 1 + text.count("\n", 0, text.index("\0"))
        hint = "Save the document as plain text (UTF-8) first"
        raise source.error("this is not a text: there is a zero byte in it", line, hint=hint)
    cut = segment_text(text)
    if cut.tokens:
        yield Document(source.stem, cut.tokens, cut.sentences, text=text, offsets=cut.offsets)
    else:
        source.report("the file has no words in it" if text else "the file is empty")
