"""Word-processor documents, e-books and web pages (EPUB, DOCX, ODT, RTF, HTML, Markdown), converted to plain text by pandoc.

``text`` is the converted text, and offsets count its characters. ``meta["headings"]`` has the first token of each heading, so
that chapters are found whatever their headings say.
"""

import io
import re
import subprocess
import zipfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from entitynlm.errors import require
from entitynlm.text.document import Document
from entitynlm.text.formats.base import Source
from entitynlm.text.segmentation import segment_text

PROSE = Path(__file__).parents[2] / "resources" / "pandoc" / "prose.lua"
CONVERTED_ENDINGS = (".epub", ".docx", ".odt", ".rtf", ".html", ".htm", ".xhtml", ".md", ".markdown")
MARKDOWN_ENDINGS = (".md", ".markdown")
ZIP_START = b"PK\x03\x04"
WEB_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|article|blockquote|br|center|div|"
    rb"h[1-6]|hr|img|meta|ol|p|pre|script|section|span|style|table|ul)\b[^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
HEADING_SIGN = re.compile("^[\ue001-\ue006]", re.MULTILINE)  # the sign that prose.lua puts before a heading
# Without a space behind such a letter pandoc 3.9 skips two letters instead of one.
RTF_LETTER = re.compile(rb"(\\u-?\d+)(?=[^\d\\{}\s])")
MOST_IN_ARCHIVE = 1 << 30  # bytes of an archive
LONGEST_CONVERSION = 600.0  # seconds, and …
LONGEST_OF_UPLOADS = 30.0  # … of an upload


def recognise(path: str, sample: bytes) -> bool:
    """Recognise a zip archive, RTF or HTML by its first bytes, Markdown by its name."""
    name = path.removesuffix(".gz").lower()
    return (
        sample.startswith((ZIP_START, b"{\\rtf"))
        or WEB_PAGE.match(sample) is not None
        or name.endswith(MARKDOWN_ENDINGS)
    )


def read(source: Source) -> Iterator[Document]:
    """Convert a file to text, and read it as plain text."""
    data = b"".join(source.chunks())
    text, levels = _take_headings(_convert(data, _find_kind(data, source), source))
    cut = segment_text(text)
    if not cut.tokens:
        source.report("the file has no words in it")
        return
    starts = [start for start, _ in cut.offsets]
    headings = [str(bisect_left(starts, place)) for place in _choose_chapters(levels)]
    meta = {"headings": " ".join(headings)} if headings else {}
    yield Document(source.stem, cut.tokens, cut.sentences, text=text, offsets=cut.offsets, meta=meta)


def _find_kind(data: bytes, source: Source) -> str:
    """Find pandoc's name for the kind of a file."""
    if not data.startswith(ZIP_START):
        return "rtf" if data.startswith(b"{\\rtf") else "html" if WEB_PAGE.match(data) else "markdown"
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            size = sum(info.file_size for info in archive.infolist())
            kind = archive.read("mimetype")[:80].decode("latin-1") if "mimetype" in names else ""
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError) as error:
        raise source.error(f"this is a damaged zip archive ({error})") from error
    most = MOST_IN_ARCHIVE if source.most is None else source.most
    if size > most:
        raise source.error(f"it has more than {most >> 20} MB when it is unpacked")
    if "epub" in kind or "META-INF/container.xml" in names:
        return "epub"
    if "opendocument.text" in kind:
        return "odt"
    if "word/document.xml" in names:
        return "docx"
    found = ", ".join(sorted(names)[:3])
    hint = "Unpack it, and name the files in it"
    raise source.error("this is a zip archive, and no e-book or text document", found=found, hint=hint)


def _convert(data: bytes, kind: str, source: Source) -> str:
    pypandoc = require("pypandoc", extra="documents", purpose=f"reading {kind} files")
    # the sandbox lets pandoc read nothing but its input: a page may name files and addresses
    command = [pypandoc.get_pandoc_path(), "--sandbox", "--from", kind, "--to", "plain", "--wrap=none"]
    command += [f"--lua-filter={PROSE}", "+RTS", "-M2G", "-RTS"]
    if kind in ("html", "markdown"):
        data = source.decode(data).encode()
    elif kind == "rtf":
        data = RTF_LETTER.sub(rb"\1 ", data)
    most = LONGEST_CONVERSION if source.most is None else LONGEST_OF_UPLOADS
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=most, check=True)
    except subprocess.TimeoutExpired:
        raise source.error(f"pandoc did not convert it within {most:g} seconds") from None
    except (subprocess.CalledProcessError, OSError) as error:
        told = getattr(error, "stderr", b"") or str(error).encode()
        reason = " ".join(told.decode("utf-8", "replace").split())[:200]
        raise source.error(f"pandoc can't convert this {kind} file", found=reason) from error
    return done.stdout.decode("utf-8").replace("\r\n", "\n")


def _take_headings(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Remove the marks of headings from a text; returns the start of each heading, and its level."""
    found = [
        (match.start() - number, ord(match[0]) - 0xE000)
        for number, match in enumerate(HEADING_SIGN.finditer(text))
    ]
    return HEADING_SIGN.sub("", text), found


def _choose_chapters(levels: list[tuple[int, int]]) -> list[int]:
    """Choose the headings of the highest level that occurs at least twice, because a single one is the title."""
    counts = Counter(level for _, level in levels)
    level = min((level for level, count in counts.items() if count > 1), default=None)
    return [place for place, each in levels if each == level]
