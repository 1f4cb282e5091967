"""Cut the input of a batch job into shards, always in the same way, and read them.

A file is a shard; JSON lines are cut after every so many documents. The input is read once for this: a shard has the hash of
its bytes, by which a changed input is found.
"""

import hashlib
import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from entitynlm.errors import ConfigError, DataError, MissingExtraError, ModelError
from entitynlm.files import hash_file, open_binary
from entitynlm.interfaces.inputs import list_texts
from entitynlm.text.document import Document
from entitynlm.text.formats import jsonlines
from entitynlm.text.formats.base import Source, strip_endings
from entitynlm.text.formats.registry import parse_format, read_documents, read_sample, recognise_format

FATAL = (ConfigError, ModelError, MissingExtraError)  # every other document would fail as well


class Shard(msgspec.Struct, frozen=True):
    """The documents that one worker handles at a time: those of a file, or of consecutive lines of one.

    :param name: name of its outputs, without an ending.
    :param path: absolute, because workers may have another working folder.
    :param file: the file's name below the folder that was named on the command line.
    :param digest: SHA-256 of the input.
    :param start: the byte at which lines begin, after ``line`` other lines with ``number`` documents.
    :param lines: number of lines; None: the whole file.
    """

    name: str
    path: str
    file: str
    digest: str
    size: int
    start: int = 0
    line: int = 0
    number: int = 0
    lines: int | None = None


def plan_shards(
    named: Sequence[str], documents: int = 1000, *, format: str | None = None, out: Path | None = None
) -> list[Shard]:
    """Cut files and folders into shards of at most so many JSON lines, in their order; the folder ``out`` is left out."""
    shards: list[Shard] = []
    taken: Counter[str] = Counter()
    for path, file in list_texts(named, out):
        name = strip_endings(file)
        taken[name] += 1
        name = name if taken[name] == 1 else f"{name}-{taken[name]}"
        try:
            packed = path.suffix == ".gz" or find_format(path, format) != "jsonl"
            cut = [] if packed else list(cut_lines(path, file, name, documents))
        except (DataError, OSError):  # a damaged file fails when its documents are read
            cut = []
        if len(cut) > 1:
            shards += cut
        else:
            shards.append(Shard(name, str(path.resolve()), file, hash_input(path, file), path.stat().st_size))
    return shards


def find_format(path: str | Path, format: str | None) -> str:
    """Name the format of a file: the one that is given, or that its content shows."""
    return (parse_format(format)[0] if format else recognise_format(str(path), read_sample(path))).name


def hash_input(path: Path, file: str) -> str:
    """Hash a file and its name, after which documents are called; brat's annotation has its text beside it."""
    files = (path, path.with_suffix(".txt")) if path.suffix == ".ann" else (path,)
    hashes = [hash_file(one) if os.access(one, os.R_OK) else "" for one in files]
    return hashlib.sha256("\0".join([file, *hashes]).encode("utf-8", "surrogateescape")).hexdigest()


def cut_lines(path: Path, file: str, name: str, documents: int) -> Iterator[Shard]:
    """Cut a file of JSON lines after every so many documents; an empty line is none."""
    start = line = number = 0
    with path.open("rb") as stream:
        for count in itertools.count():
            digest = hashlib.sha256(f"{file}\0{line}\0{number}\0".encode("utf-8", "surrogateescape"))
            read = found = 0
            while found < documents and (content := stream.readline()):
                digest.update(content)
                read, found = read + 1, found + bool(content.strip())
            if not read:
                return
            size, own = stream.tell() - start, f"{name}-{count:05d}"
            yield Shard(own, str(path.resolve()), file, digest.hexdigest(), size, start, line, number, read)
            start, line, number = start + size, line + read, number + found


def read_shard(shard: Shard, format: str | None, fail: Callable[..., None]) -> Iterator[Document]:
    """Read the documents of a shard; ``fail`` is told of a file or record that can't be read, and reading goes on."""
    try:
        if find_format(shard.path, format) != "jsonl":
            yield from read_documents(shard.path, format)
            return
        with open_binary(shard.path) as stream:
            source = Source(shard.file, stream, options=parse_format(format)[1] if format else {})
            for number, count, line in read_records(shard, source):
                record: dict[str, Any] = {}
                try:
                    record = jsonlines.parse_line(line.decode("utf-8-sig"))
                    document = jsonlines.read_record(record, source, number, count)
                except Exception as error:
                    fail(jsonlines.find_name(record) or f"{source.stem}#{count}", error, number)
                    continue
                yield document
    except FATAL:
        raise
    except Exception as error:  # a damaged file may fail in any way
        fail(shard.file, error)


def read_records(shard: Shard, source: Source) -> Iterator[tuple[int, int, bytes]]:
    """Read JSON lines with their number and that of the document in the file."""
    source.stream.seek(shard.start)
    lines = enumerate(itertools.islice(source.stream, shard.lines), shard.line + 1)
    documents = (pair for pair in lines if pair[1].strip())
    yield from ((number, count, line) for count, (number, line) in enumerate(documents, shard.number + 1))
