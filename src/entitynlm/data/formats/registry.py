"""All formats in one table; reading and writing by path with the format found from the content."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from entitynlm.data.document import Document
from entitynlm.data.formats import (
    brat,
    conll2012,
    conllu,
    inscript,
    inscript_xml,
    jsonlines,
    plain_text,
    spacy_docs,
)
from entitynlm.data.formats.base import Format, Report, Source, ignore
from entitynlm.errors import ConfigError, DataError
from entitynlm.files import STANDARD, open_binary, write_atomically

SAMPLE_BYTES = 65536

# The strictest test of content first; plain text takes what is left.
FORMATS: Mapping[str, Format] = {
    form.name: form
    for form in (
        spacy_docs.FORMAT,
        inscript_xml.FORMAT,
        conll2012.FORMAT,
        conllu.FORMAT,
        inscript.FORMAT,
        jsonlines.FORMAT,
        brat.FORMAT,
        plain_text.FORMAT,
    )
}


def get_format(name: str) -> Format:
    """The format called ``name``, or an error that lists the names there are."""
    try:
        return FORMATS[name]
    except KeyError:
        raise ConfigError(f"there is no format {name!r}; choose one of {', '.join(FORMATS)}") from None


def recognise_format(path: str, sample: bytes) -> Format:
    """The first format whose test accepts the beginning of the file."""
    for form in FORMATS.values():
        if form.recognise(path, sample):
            return form
    raise DataError(
        "the format can't be recognised",
        path=path,
        found=sample[:40].decode("latin-1"),
        expected=f"one of {', '.join(FORMATS)}",
        hint="Name the format with --format if you know it",
    )


def read_documents(
    path: str | Path,
    format: str | None = None,
    *,
    on_oddity: Report = ignore,
    **options: Any,
) -> Iterator[Document]:
    """Stream the documents of one file (``-`` is standard input), whatever its format.

    The file is opened and its format settled at the call, so a wrong path fails here and not at the first
    ``next``.
    """
    name = str(path)
    stream: BinaryIO = open_binary(path)
    sample, rest = _take_sample(stream, name)
    form = get_format(format) if format else recognise_format(name, sample)
    return _stream(form, Source(name, rest, on_oddity, options), stream)


def _stream(form: Format, source: Source, stream: BinaryIO) -> Iterator[Document]:
    try:
        yield from form.read(source)
    finally:
        if source.path != STANDARD:
            stream.close()


class _Rejoined(io.RawIOBase):
    """A sample that was read ahead, followed by the rest of its stream (standard input can't seek)."""

    def __init__(self, sample: bytes, rest: BinaryIO) -> None:
        self._sample = io.BytesIO(sample)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._sample.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _take_sample(stream: BinaryIO, path: str) -> tuple[bytes, BinaryIO]:
    try:
        sample = stream.read(SAMPLE_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"reading failed ({error})", path=path) from error
    return sample, cast(BinaryIO, io.BufferedReader(_Rejoined(sample, stream), SAMPLE_BYTES))


def write_documents(documents: Iterable[Document], path: str | Path, format: str) -> None:
    """Write documents to ``path`` (``-`` is standard output) in the named format, all of them or nothing."""
    form = get_format(format)
    if form.write is None:
        writable = ", ".join(name for name, f in FORMATS.items() if f.write is not None)
        raise ConfigError(f"format {format!r} can be read but not written; writable are {writable}")
    with write_atomically(path, "wb" if form.binary else "w") as stream:
        form.write(documents, stream)
