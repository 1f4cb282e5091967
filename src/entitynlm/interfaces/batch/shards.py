"""Cut the input of a batch job into shards, always in the same way, and read them: files, and so many JSON lines each."""

import hashlib
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from entitynlm.errors import ConfigError, DataError, MissingExtraError, ModelError
from entitynlm.files import hash_file, open_binary
from entitynlm.interfaces.inputs import distinguish, list_texts
from entitynlm.text.document import Document
from entitynlm.text.formats import jsonlines
from entitynlm.text.formats.base import Source, strip_endings
from entitynlm.text.formats.registry import get_format, read_documents, read_sample, recognise_format

FATAL = (ConfigError, ModelError, MissingExtraError)  # every other document would fail as well


class Shard(msgspec.Struct, frozen=True):
    """The documents that one worker handles at a time: those of a file, or of consecutive lines of one."""

    name: str  # of its outputs, without an ending
    path: bytes  # absolute, because workers may have another working folder; a name need not be UTF-8
    file: str  # the file's name below the folder that was named on the command line
    digest: str = ""  # SHA-256 of the input, by which a changed input is found
    start: int = 0  # the byte at which lines begin …
    line: int = 0  # … after so many other lines …
    number: int = 0  # … with so many documents
    lines: int | None = None  # None: the whole file


def plan_shards(
    named: Sequence[str], documents: int = 1000, *, format: str | None = None, out: Path | None = None
) -> list[Shard]:
    """Cut files and folders into shards of at most so many JSON lines, in their order; the folder ``out`` is left out."""
    shards: list[Shard] = []
    texts = [(path, file.encode("utf-8", "replace").decode()) for path, file in list_texts(named, out)]
    for (path, file), name in zip(texts, distinguish(strip_endings(file) for _, file in texts), strict=True):
        whole = Shard(name, os.fsencode(path.resolve()), file)
        try:
            packed = path.suffix == ".gz" or find_format(path, format) != "jsonl"
            cut = [] if packed else list(cut_lines(whole, documents))
        except (DataError, OSError):  # a damaged file fails when its documents are read
            cut = []
        shards += cut if len(cut) > 1 else [replace(whole, digest=hash_input(path, file))]
    return shards


def find_format(path: str | Path, format: str | None) -> str:
    """Name the format of a file: the one that is given, or that its content shows."""
    return (get_format(format) if format else recognise_format(str(path), read_sample(path))).name


def hash_input(path: Path, file: str) -> str:
    """Hash a file and its name, after which documents are called; brat's annotation has its text beside it."""
    files = (path, path.with_suffix(".txt")) if path.suffix == ".ann" else (path,)
    hashes = [hash_file(one) if os.access(one, os.R_OK) else "" for one in files]
    return hashlib.sha256("\0".join([file, *hashes]).encode()).hexdigest()


def cut_lines(whole: Shard, documents: int) -> Iterator[Shard]:
    """Cut a file of JSON lines after every so many documents; an empty line is none."""
    line = number = 0
    with Path(os.fsdecode(whole.path)).open("rb") as stream:
        for count in itertools.count():
            start, lines, found = stream.tell(), 0, 0
            digest = hashlib.sha256(f"{whole.file}\0{line}\0{number}\0".encode())
            while found < documents and (content := stream.readline()):
                digest.update(content)
                lines, found = lines + 1, found + bool(content.strip())
            if not lines:
                return
            name = f"{whole.name}-{count:05d}"
            yield Shard(name, whole.path, whole.file, digest.hexdigest(), start, line, number, lines)
            line, number = line + lines, number + found


def read_shard(shard: Shard, format: str | None, fail: Callable[..., None]) -> Iterator[Document]:
    """Read the documents of a shard; ``fail`` is told of a file or record that can't be read, and reading goes on."""
    path = os.fsdecode(shard.path)
    try:
        if find_format(path, format) != "jsonl":
            yield from read_documents(path, format)
            return
        with open_binary(path) as stream:
            stream.seek(shard.start)
            source = Source(shard.file, stream)
            lines = enumerate(itertools.islice(stream, shard.lines), shard.line + 1)
            documents = (pair for pair in lines if pair[1].strip())
            for count, (number, line) in enumerate(documents, shard.number + 1):
                record: dict[str, Any] = {}
                try:
                    record = jsonlines.parse_line(line.decode("utf-8-sig"))
                    yield jsonlines.read_record(record, source, number, count)
                except Exception as error:
                    fail(jsonlines.find_name(record) or f"{source.stem}#{count}", error, number)
    except FATAL:
        raise
    except Exception as error:  # a damaged file may fail in any way
        fail(shard.file, error)
