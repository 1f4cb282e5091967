"""Cut the input of a batch job into shards, always in the same way.

Files of records (JSON lines, Parquet) are cut into ranges of documents; other files are put together. The input is read once
for this: a shard has the hash of its bytes, by which a changed input is found.
"""

import hashlib
import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import STANDARD, open_binary
from entitynlm.text.corpora.corpus import CARD, read_card
from entitynlm.text.formats import parquet
from entitynlm.text.formats.base import Report, Source, ignore, strip_endings
from entitynlm.text.formats.brat.writer import SIDECAR
from entitynlm.text.formats.registry import parse_format, read_sample, recognise_format

LONGEST_LINE = 1 << 28  # bytes; more is not held in memory


class FileRange(msgspec.Struct, frozen=True):
    """A file, or documents ``start`` to ``stop`` of a file of records.

    :param path: absolute, because workers may have another working folder.
    :param name: the file's name below the folder that was named on the command line.
    """

    path: str
    name: str
    start: int = 0
    stop: int | None = None

    def __str__(self) -> str:
        return self.name if self.stop is None else f"{self.name}[documents {self.start + 1}-{self.stop}]"


class Shard(msgspec.Struct, frozen=True):
    """The documents that one worker handles at a time.

    :param name: name of its outputs, without an ending.
    :param digest: SHA-256 of the input.
    :param documents: number of documents; a file that is not cut counts as one.
    """

    name: str
    ranges: tuple[FileRange, ...]
    digest: str
    documents: int
    size: int


class Limits(msgspec.Struct, frozen=True):
    """The largest shard: whichever is reached first closes it."""

    documents: int = 1000
    size: int = 1 << 20


def plan_shards(
    named: Sequence[str], limits: Limits, *, format: str | None = None, apart_from: Path | None = None
) -> list[Shard]:
    """Cut files and folders into shards, in their order, files that are put together last; ``apart_from`` is left out."""
    shards: list[Shard] = []
    files: list[Shard] = []
    for path, name in list_files(named, apart_from):
        whole = FileRange(str(path.resolve()), name)
        try:
            cut = list(cut_records(whole, limits, format)) if holds_records(path, format) else []
        except (DataError, OSError):  # a damaged file fails when its documents are read
            cut = []
        numbered = [msgspec.structs.replace(one, name=f"{one.name}-{n:05d}") for n, one in enumerate(cut)]
        shards += numbered if len(cut) > 1 else cut
        if not cut:
            size = path.stat().st_size if path.exists() else 0
            files.append(Shard(strip_endings(name), (whole,), hash_with_name(path, name), 1, size))
    return tell_apart([*shards, *join_files(files, limits)])


def join_files(files: Sequence[Shard], limits: Limits) -> list[Shard]:
    """Put small files together into shards."""
    groups: list[list[Shard]] = []
    for one in files:
        last = groups[-1] if groups else []
        if (
            not last
            or len(last) == limits.documents
            or sum(each.size for each in last) + one.size > limits.size
        ):
            groups.append([])
        groups[-1].append(one)
    joined = []
    for number, group in enumerate(groups):
        digest = hashlib.sha256("".join(one.digest for one in group).encode()).hexdigest()
        name = group[0].name if len(group) == 1 else f"texts-{number:05d}"
        ranges = tuple(one.ranges[0] for one in group)
        joined.append(Shard(name, ranges, digest, len(group), sum(one.size for one in group)))
    return joined


def tell_apart(shards: Sequence[Shard]) -> list[Shard]:
    """Number shards of one name."""
    taken: dict[str, int] = {}
    apart = []
    for shard in shards:
        count = taken[shard.name] = taken.get(shard.name, 0) + 1
        name = shard.name if count == 1 else f"{shard.name}-{count}"
        apart.append(msgspec.structs.replace(shard, name=name))
    return apart


def list_files(named: Sequence[str], apart_from: Path | None = None) -> Iterator[tuple[Path, str]]:
    """List the named files and all files in the named folders, sorted, with their names below the folder.

    Hidden files, the texts of brat's annotations and the card of a corpus of ours are left out.
    """
    own = apart_from.resolve() if apart_from else None
    for path in map(Path, named):
        if str(path) == STANDARD or (path.exists() and not path.is_file() and not path.is_dir()):
            told = f"a batch job reads its input more than once, and {path} is a pipe: name files or folders"
            raise ConfigError(told)
        if not path.is_dir():
            yield path, path.name
            continue
        if path.resolve() == own:
            raise DataError(
                "the input and --out are one folder", path=path, hint="Name another one for --out"
            )
        found = False
        for folder, below, files in os.walk(path):
            here = Path(folder)
            below[:] = sorted(name for name in below if name[0] != "." and (here / name).resolve() != own)
            annotated = {file[:-4] for file in files if file.endswith(".ann")}
            beside = {stem + ending for stem in annotated for ending in (".txt", SIDECAR)}
            for file in sorted(set(files) - beside):
                settings = file.endswith(".conf") and annotated
                device = (here / file).exists() and not (here / file).is_file()
                card = file == CARD and read_card(here) is not None
                if file[0] != "." and not settings and not device and not card:
                    found = True
                    yield here / file, str((here / file).relative_to(path))
        if not found:
            raise DataError("there is no file in this folder", path=path)


def holds_records(path: Path, format: str | None) -> bool:
    """Tell whether a file has a document in each line or row."""
    form = parse_format(format)[0] if format else recognise_format(str(path), read_sample(path))
    return form.name in ("jsonl", "parquet")


def read_records(
    one: FileRange, format: str | None, on_oddity: Report = ignore
) -> Iterator[tuple[Source, int, bytes]]:
    """Read the JSON lines or rows (as JSON) of a range, with their numbers in the file; empty lines are left out."""
    with open_binary(one.path) as stream:
        source = Source(one.name, stream, on_oddity, parse_format(format)[1] if format else {})
        if stream.read(len(parquet.MAGIC)) == parquet.MAGIC:
            for number, row in parquet.read_rows(source, one.start, one.stop):
                yield source, number, msgspec.json.encode(row)
            return
        stream.seek(0)
        lines = (
            (source, number, line) for number, line in enumerate(read_lines(stream), start=1) if line.strip()
        )
        yield from itertools.islice(lines, one.start, one.stop)


def read_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Read lines of any length; of one that is too long, only the beginning is kept."""
    while line := stream.readline(LONGEST_LINE):
        kept = line
        while len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            line = stream.readline(LONGEST_LINE)
        yield kept


def cut_records(one: FileRange, limits: Limits, format: str | None) -> Iterator[Shard]:
    """Cut a file of records between two documents."""
    start = stop = size = 0
    digest = start_hash(one.name)

    def close() -> Shard:
        found = msgspec.structs.replace(one, start=start, stop=stop)
        return Shard(strip_endings(one.name), (found,), digest.hexdigest(), stop - start, size)

    for _, number, record in read_records(one, format):
        stop, size = stop + 1, size + len(record)
        digest.update(b"%d\0%d\0%b" % (number, stop, record))
        if stop - start == limits.documents or size >= limits.size:
            yield close()
            start, size, digest = stop, 0, start_hash(one.name)
    if stop > start or not start:
        yield close()


def start_hash(name: str) -> Any:
    """Begin a hash with a file's name, after which documents without a name are called."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape"))


def hash_with_name(path: Path, name: str) -> str:
    """Hash a file and its name; brat's annotation has its text beside it."""
    digest = start_hash(name)
    for file in (path, path.with_suffix(".txt")) if path.suffix == ".ann" else (path,):
        try:
            with file.open("rb") as stream:
                while content := stream.read(1 << 20):
                    digest.update(content)
        except OSError as error:  # reported when the file is read
            digest.update(str(error.errno).encode())
    return str(digest.hexdigest())
