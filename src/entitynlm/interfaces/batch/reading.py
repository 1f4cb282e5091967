"""The documents of a shard, one at a time; what can't be read is told of and left out, and the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from entitynlm.errors import ConfigError, DataError, MissingExtraError, ModelError
from entitynlm.files import open_binary
from entitynlm.interfaces.batch.shards import LONGEST_LINE, Shard, Stretch, read_lines
from entitynlm.text.document import Document
from entitynlm.text.formats import jsonlines, parquet
from entitynlm.text.formats.base import Report, Source, ignore
from entitynlm.text.formats.json_records import JsonObject
from entitynlm.text.formats.registry import parse_format, read_documents

FATAL = (ConfigError, ModelError, MissingExtraError)
"""What is wrong with the job and not with a document: every other document would fail as well."""


@dataclass(frozen=True)
class Failure:
    """A document that could not be read or worked on, and why; where its id is not known, that is the file's name."""

    id: str
    file: str
    line: int | None
    reason: str


Fail = Callable[[Failure], None]


def read_shard(
    shard: Shard, fail: Fail, *, format: str | None = None, on_oddity: Report = ignore
) -> Iterator[tuple[Stretch, Document]]:
    """The documents with the stretches that they are from."""
    for stretch in shard.stretches:
        try:
            if stretch.kind in ("lines", "rows"):
                documents = _read_records(stretch, format, fail, on_oddity)
            else:
                documents = _read_file(stretch, format, on_oddity)
            for document in documents:
                yield stretch, document
        except FATAL:
            raise
        except Exception as error:  # a damaged file may fail in any way
            line = error.line if isinstance(error, DataError) else None
            fail(Failure(stretch.name, stretch.name, line, describe(error)))


def describe(error: Exception) -> str:
    """The reason in words; an error that is nobody's wording has its type with it."""
    if isinstance(error, DataError):
        return str(replace(error, path=None, line=None))
    if isinstance(error, MemoryError):
        return "there is not enough memory for it"
    return f"{type(error).__name__}: {error}"


def _read_file(stretch: Stretch, format: str | None, on_oddity: Report) -> Iterator[Document]:
    yield from read_documents(
        stretch.path, format, on_oddity=lambda oddity: on_oddity(replace(oddity, path=stretch.name))
    )


def _read_records(stretch: Stretch, format: str | None, fail: Fail, on_oddity: Report) -> Iterator[Document]:
    """Lines or rows, of which each may be broken by itself."""
    with open_binary(stretch.path) as stream:
        source = Source(stretch.name, stream, on_oddity, parse_format(format)[1] if format else {})
        if stretch.kind == "rows":
            items: Iterator[tuple[int, bytes | JsonObject]] = parquet.read_rows(
                source, stretch.start, stretch.stop
            )
        else:
            stream.seek(stretch.start)
            items = enumerate(_read_until(stream, stretch.stop), start=stretch.lines + 1)
        count = stretch.documents
        for number, item in items:
            if isinstance(item, bytes) and not item.strip():
                continue
            count += 1
            record: JsonObject = {}
            try:
                record = item if isinstance(item, dict) else _parse(item)
                document = jsonlines.read_record(record, source, number, count)
            except FATAL:
                raise
            except Exception as error:
                name = jsonlines.find_name(record) or f"{source.stem}#{count}"
                fail(Failure(name, stretch.name, number, describe(error)))
            else:
                yield document


def _read_until(stream: BinaryIO, stop: int) -> Iterator[bytes]:
    """The lines before the byte ``stop``."""
    lines = read_lines(stream)
    while stream.tell() < stop and (line := next(lines, None)) is not None:
        yield line


def _parse(line: bytes) -> JsonObject:
    if len(line) >= LONGEST_LINE:
        raise DataError(f"this line has more than {LONGEST_LINE >> 20} MB")
    try:
        text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError("this is not UTF-8 text", hint="Convert the file to UTF-8 first") from error
    return jsonlines.parse_line(text)


def group_documents(
    documents: Iterator[tuple[Stretch, Document]], most: int = 64, tokens: int = 16_384
) -> Iterator[list[tuple[Stretch, Document]]]:
    """Groups of consecutive documents that may be in memory together; a long one is a group of its own."""
    group: list[tuple[Stretch, Document]] = []
    size = 0
    for pair in documents:
        if group and (len(group) == most or size + len(pair[1]) > tokens):
            yield group
            group, size = [], 0
        group.append(pair)
        size += len(pair[1])
    if group:
        yield group
