"""The table of all formats; reading and writing by path, with the format recognised from the content."""

import gzip
import io
import itertools
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import STANDARD, open_binary, read_most, write_atomically
from entitynlm.text.document import Document
from entitynlm.text.formats import brat, conll2012, inscript, jsonlines, pandoc, plain_text
from entitynlm.text.formats.base import Format, ReportOddity, Source, ignore
from entitynlm.text.formats.conllu import reader as conllu_reader
from entitynlm.text.formats.conllu import writer as conllu_writer

SAMPLE_BYTES = 65536

# fmt: off
_TABLE = (  # the strictest test of content first; plain text takes what is left
    Format("conll2012", "CoNLL-2012 columns: OntoNotes, LitBank, official scorer", ".conll",
           conll2012.recognise, conll2012.read, conll2012.write),
    Format("conllu", "CoNLL-U with Entity= in MISC (OntoGUM, GUM, CorefUD)", ".conllu",
           conllu_reader.recognise, conllu_reader.read, conllu_writer.write),
    Format("inscript", "InScript stories with participant chains (.txt.drs columns)", ".txt.drs",
           inscript.recognise, inscript.read),
    Format("jsonl", "JSON lines of e2e-coref, fastcoref and this package", ".jsonl",
           jsonlines.recognise, jsonlines.read, jsonlines.write),
    Format("brat", "brat standoff: .ann files with their .txt", ".ann", brat.recognise, brat.read),
    Format("pandoc", "EPUB, DOCX, ODT, RTF, HTML and Markdown, as text", ".epub", pandoc.recognise, pandoc.read),
    Format("text", "plain text, split into words and sentences", ".txt",
           plain_text.recognise, plain_text.read),
)
# fmt: on
FORMATS: Mapping[str, Format] = {form.name: form for form in _TABLE}

ANNOTATED = (".conllu", ".conll", ".jsonl", ".jsonlines", ".drs")
"""Endings that name a format other than plain text."""


def get_format(name: str) -> Format:
    if name not in FORMATS:
        raise ConfigError(f"there is no format {name!r}; choose one of {', '.join(FORMATS)}")
    return FORMATS[name]


def get_writable(name: str) -> Format:
    form = get_format(name)
    if form.write is None:
        writable = ", ".join(name for name, form in FORMATS.items() if form.writable)
        raise ConfigError(f"format {name!r} can be read but not written; writable are {writable}")
    return form


def read_sample(path: str | Path) -> bytes:
    """Read the first bytes of a file, from which its format is recognised."""
    with open_binary(path) as stream:
        try:
            return stream.read(SAMPLE_BYTES)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"reading failed ({error})", path=path) from error


def recognise_format(path: str, sample: bytes) -> Format:
    """Recognise a file's format by its first bytes; a file with another format's ending is not read as plain text."""
    form = next((form for form in FORMATS.values() if form.recognise(path, sample)), None)
    if form is not None:
        ending = Path(path.removesuffix(".gz")).suffix
        if form.name == "text" and ending in ANNOTATED and sample.strip():
            raise DataError(
                f"this is called {ending}, but it does not look like a file of that format",
                path=path,
                found=sample[:40].decode("latin-1"),
                hint="If it is plain text, say so with --format text",
            )
        return form
    raise DataError(
        "the format can't be recognised",
        path=path,
        found=sample[:40].decode("latin-1"),
        expected=f"one of {', '.join(FORMATS)}",
        hint="Name the format with --format if you know it",
    )


def read_documents(
    path: str | Path, format: str | None = None, *, on_oddity: ReportOddity = ignore, words_only: bool = False
) -> Iterator[Document]:
    """Read the documents of one file (``-`` is standard input) one by one, in any format.

    The file is opened and recognised at the call, so that a wrong path fails here and not at the first ``next``. With
    ``words_only`` a reader may skip columns other than words and coreference, which takes half the time.
    """
    source = Source(str(path), open_binary(path), on_oddity, words_only=words_only)
    return _read(source, format)


def read_upload(
    content: bytes, name: str, *, most: int, on_oddity: ReportOddity = ignore
) -> Iterator[Document]:
    """Read the documents of a file in memory that unpacks to at most ``most`` bytes; no other file is opened."""
    if name.endswith(".gz"):
        try:
            content = read_most(gzip.GzipFile(fileobj=io.BytesIO(content)), most)
        except (OSError, ValueError) as error:
            raise DataError(f"it can't be unpacked ({error})", path=name) from error
    return _read(Source(name, io.BytesIO(content), on_oddity, most=most), None)


def _read(source: Source, format: str | None) -> Iterator[Document]:
    """Recognise the format of an open file, and stream its documents."""
    stream: io.BufferedReader[Any] = io.BufferedReader(cast(io.RawIOBase, source.stream), SAMPLE_BYTES)
    source.stream = stream
    try:
        form = get_format(format) if format else recognise_format(source.path, stream.peek(SAMPLE_BYTES))
    except (OSError, EOFError, zlib.error) as error:
        stream.close()
        raise source.error(f"reading failed ({error})") from error
    except BaseException:
        stream.close()
        raise
    return _stream(form, source)


def _stream(form: Format, source: Source) -> Iterator[Document]:
    with source.stream:
        yield from form.read(source)


def write_documents(documents: Iterable[Document], path: str | Path, format: str) -> int:
    """Write documents to ``path`` in the named format, atomically, and return their number.

    ``-`` is standard output, and a folder gets a file called ``documents``.
    """
    form = get_writable(format)
    assert form.write is not None
    written = itertools.count()
    counted = (document for document in documents if next(written) >= 0)
    if str(path) != STANDARD and (str(path).endswith(("/", os.sep)) or Path(path).is_dir()):
        path = Path(path) / f"documents{form.suffix}"
    with write_atomically(path) as stream:
        form.write(counted, stream)
    return next(written)
