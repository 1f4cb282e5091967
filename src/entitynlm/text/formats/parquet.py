"""Parquet, a document a row: the columns are the keys of JSON lines (``text``, or ``sentences``, or ``tokens``, and a name)."""

import io
from collections.abc import Iterator
from typing import Any

from entitynlm.extras import require
from entitynlm.text.document import Document
from entitynlm.text.formats import jsonlines
from entitynlm.text.formats.base import Source
from entitynlm.text.formats.json_records import JsonObject

MAGIC = b"PAR1"
ROWS_AT_A_TIME = 64  # in memory at a time; a row may be a novel
READ_COLUMNS = (*jsonlines.NAMES, "text", "sentences", "tokens", "sentence_map", "speakers", "pos", "genre")


def recognise(path: str, sample: bytes) -> bool:
    """The first bytes say it."""
    return sample.startswith(MAGIC)


def read(source: Source) -> Iterator[Document]:
    """One document per row."""
    count = 0
    for count, record in read_rows(source):
        yield jsonlines.read_record(record, source, count, count)
    if not count:
        source.report("the file has no documents in it")


def read_rows(source: Source) -> Iterator[tuple[int, JsonObject]]:
    """Read rows with their numbers from 1 on."""
    file = open_file(source)
    wanted = [*READ_COLUMNS, str(source.options.get("clusters", "clusters"))]
    columns = [name for name in file.schema_arrow.names if name in wanted]
    if not {"text", "sentences", "tokens"}.intersection(columns):
        names = ", ".join(file.schema_arrow.names)[:80]
        raise source.error("no column has words", found=names, expected="a column text, sentences or tokens")
    number = 0
    try:
        for batch in file.iter_batches(ROWS_AT_A_TIME, columns=columns):
            for record in batch.to_pylist():
                number += 1
                yield number, record
    except Exception as error:  # a damaged file may fail in any way
        raise source.error(f"reading failed ({shorten(error)})", number + 1) from error


def open_file(source: Source) -> Any:
    """pyarrow's view of the file; what can't be read from anywhere (standard input, ``.gz``) is held in memory."""
    parquet = require("pyarrow.parquet", extra="parquet", purpose="Reading Parquet")
    stream = source.stream if source.stream.seekable() else io.BytesIO(b"".join(source.chunks()))
    try:
        return parquet.ParquetFile(stream)
    except Exception as error:  # the same
        raise source.error(f"this is not a Parquet file, or a damaged one ({shorten(error)})") from error


def shorten(error: Exception) -> str:
    """The first line of what pyarrow says."""
    return (str(error).splitlines() or [type(error).__name__])[0][:120]
