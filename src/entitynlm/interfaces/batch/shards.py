"""Shards of a batch job: parts of the input that are worked on by themselves, cut the same way by whoever cuts them.

JSON lines and Parquet are cut into stretches of documents, texts are put together, and files of other formats (and packed ones)
are shards as they are. The input is read once for this: each shard has the hash of its bytes, by which it is known again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import STANDARD
from entitynlm.text.corpora.corpus import CARD, read_card
from entitynlm.text.formats import parquet
from entitynlm.text.formats.base import Source, strip_endings
from entitynlm.text.formats.brat.writer import SIDECAR
from entitynlm.text.formats.registry import SAMPLE_BYTES, parse_format, recognise_format

Kind = Literal["text", "lines", "rows", "file"]
LONGEST_LINE = 1 << 28  # bytes; more is not held in memory
BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Stretch:
    """A file, or some of it: bytes of JSON lines, rows of Parquet.

    :param path: absolute, since workers may stand elsewhere; :param name: as people know it, below the folder that was named.
    :param lines: how many are before it, :param documents: how many documents.
    """

    path: str
    name: str
    kind: Kind
    start: int = 0
    stop: int = 0
    lines: int = 0
    documents: int = 0


@dataclass(frozen=True, slots=True)
class Shard:
    """What one worker does at a time.

    :param name: of its outputs, without an ending.  :param digest: the SHA-256 of its input.
    :param documents: as far as they can be counted without being read; a file of another format counts as one.
    """

    name: str
    stretches: tuple[Stretch, ...]
    digest: str
    documents: int
    size: int


@dataclass(frozen=True)
class Limits:
    """How large a shard may become: whichever is reached first."""

    documents: int = 1000
    size: int = 1 << 20


def plan_shards(
    named: Sequence[str], limits: Limits, *, format: str | None = None, apart_from: Path | None = None
) -> list[Shard]:
    """The shards of files and folders, in their order; ``apart_from`` is the job's own folder."""
    shards: list[Shard] = []
    texts: list[tuple[Stretch, str]] = []
    groups = size = 0
    for path, name in list_files(named, apart_from):
        kind = choose_kind(path, format)
        if kind in ("lines", "rows"):
            cut = _cut_lines if kind == "lines" else _cut_rows
            shards += _number(list(cut(path, name, limits)))
            continue
        whole = Stretch(str(path.resolve()), name, kind, 0, path.stat().st_size if path.exists() else 0)
        digest = _hash_file(path, name)
        if kind == "file":
            shards.append(Shard(strip_endings(name), (whole,), digest, 1, whole.stop))
            continue
        if texts and (len(texts) == limits.documents or size + whole.stop > limits.size):
            shards.append(_join_texts(texts, groups))
            texts, size, groups = [], 0, groups + 1
        texts.append((whole, digest))
        size += whole.stop
    return _tell_apart([*shards, _join_texts(texts, groups)] if texts else shards)


def list_files(named: Sequence[str], apart_from: Path | None = None) -> Iterator[tuple[Path, str]]:
    """All files that are named, and all of folders that are named, sorted, with their names below the folder.

    But for hidden ones, and what says about a corpus of ours what it is.
    """
    for one in named:
        path = Path(one)
        if one == STANDARD:
            raise ConfigError("a batch job reads its input more than once: name files or folders, not '-'")
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ConfigError(
                f"a batch job reads its input more than once, and {path} is a pipe: name files or folders"
            )
        if not path.is_dir():
            yield path, path.name
            continue
        if apart_from is not None and path.resolve() == apart_from.resolve():
            raise DataError(
                "the input and --out are one folder", path=path, hint="Name another one for --out"
            )
        found = False
        for folder, below, files in os.walk(path):
            here = Path(folder)
            below[:] = sorted(
                name
                for name in below
                if name[0] != "." and (apart_from is None or (here / name).resolve() != apart_from.resolve())
            )
            annotated = {file[:-4] for file in files if file.endswith(".ann")}
            for file in sorted(files):
                stem, ending = Path(file).stem, Path(file).suffix
                of_brat = bool(annotated) and ending == ".conf"  # brat's settings
                of_brat = of_brat or (ending in (".txt", SIDECAR) and stem in annotated)
                device = (here / file).exists() and not (here / file).is_file()
                card = file == CARD and read_card(here) is not None
                if file[0] != "." and not of_brat and not device and not card:
                    found = True
                    yield here / file, str((here / file).relative_to(path))
        if not found:
            raise DataError("there is no file in this folder", path=path)


def choose_kind(path: Path, format: str | None) -> Kind:
    """How a file is cut; one that is in no known format counts as a text, and is told of when it is read."""
    if format is not None:
        name = parse_format(format)[0].name
    else:
        try:
            with path.open("rb") as stream:
                name = recognise_format(str(path), stream.read(SAMPLE_BYTES)).name
        except (DataError, OSError):
            return "text"
    if path.suffix == ".gz":
        return "file"
    kinds: dict[str, Kind] = {"text": "text", "jsonl": "lines", "parquet": "rows"}
    return kinds.get(name, "file")


def read_lines(stream: Any) -> Iterator[bytes]:
    """Lines of any length, of which no more than the first bytes are kept (and no end, so that such a line shows)."""
    while line := stream.readline(LONGEST_LINE):
        kept = line
        while len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            line = stream.readline(LONGEST_LINE)
        yield kept


def _cut_lines(path: Path, name: str, limits: Limits) -> Iterator[Shard]:
    """Stretches of whole lines."""
    start = lines = documents = 0
    with path.open("rb") as stream:
        digest, stop, count, number = _start_hash(name), 0, 0, 0

        def close() -> Shard:
            stretch = Stretch(str(path.resolve()), name, "lines", start, stop, lines, documents)
            return Shard(strip_endings(name), (stretch,), digest.hexdigest(), count, stop - start)

        for line in read_lines(stream):
            stop, number = stream.tell(), number + 1
            digest.update(line)
            count += bool(line.strip())
            if count == limits.documents or stop - start >= limits.size:
                yield close()
                start, lines, documents = stop, number, documents + count
                digest, count = _start_hash(f"{name}\0{lines}\0{documents}"), 0
        if stop > start or not start:
            yield close()


def _cut_rows(path: Path, name: str, limits: Limits) -> Iterator[Shard]:
    """Stretches of rows, whose sizes are estimated from the file's mean; a damaged file is one shard, told of when it is read."""
    whole = _hash_file(path, name)
    try:
        with path.open("rb") as stream:
            table = parquet.open_file(Source(name, stream)).metadata
    except DataError:
        yield Shard(strip_endings(name), (Stretch(str(path.resolve()), name, "file"),), whole, 1, 0)
        return
    size = sum(table.row_group(group).total_byte_size for group in range(table.num_row_groups))
    rows = max(1, min(limits.documents, limits.size * table.num_rows // max(size, 1)))
    for start in range(0, max(table.num_rows, 1), rows):
        stop = min(start + rows, table.num_rows)
        stretch = Stretch(str(path.resolve()), name, "rows", start, stop, start, start)
        digest = hashlib.sha256(f"{whole}\0{start}\0{stop}".encode()).hexdigest()
        share = size * (stop - start) // max(table.num_rows, 1)
        yield Shard(strip_endings(name), (stretch,), digest, stop - start, share)


def _join_texts(texts: Sequence[tuple[Stretch, str]], number: int) -> Shard:
    stretches = tuple(stretch for stretch, _ in texts)
    digest = hashlib.sha256("".join(each for _, each in texts).encode()).hexdigest()
    name = strip_endings(stretches[0].name) if len(texts) == 1 else f"texts-{number:05d}"
    return Shard(name, stretches, digest, len(texts), sum(stretch.stop for stretch in stretches))


def _start_hash(name: str) -> Any:
    return hashlib.sha256(f"{name}\0".encode("utf-8", "surrogateescape"))


def _hash_file(path: Path, name: str) -> str:
    """The hash of a file and of what its documents are called after; annotation of brat's has its text beside it."""
    digest = _start_hash(name)
    for file in (path, path.with_suffix(".txt")) if path.suffix == ".ann" else (path,):
        try:
            with file.open("rb") as stream:
                while block := stream.read(BLOCK):
                    digest.update(block)
        except OSError as error:  # told of when the file is read
            digest.update(str(error.errno).encode())
    return str(digest.hexdigest())


def _number(shards: list[Shard]) -> list[Shard]:
    """The shards of one file, numbered where there are several."""
    if len(shards) == 1:
        return shards
    return [_rename(shard, f"{shard.name}-{number:05d}") for number, shard in enumerate(shards)]


def _tell_apart(shards: Sequence[Shard]) -> list[Shard]:
    """The same with names of which no two are equal."""
    taken: set[str] = set()
    apart = []
    for shard in shards:
        name, number = shard.name, 1
        while name in taken:
            number += 1
            name = f"{shard.name}-{number}"
        taken.add(name)
        apart.append(_rename(shard, name))
    return apart


def _rename(shard: Shard, name: str) -> Shard:
    return Shard(name, shard.stretches, shard.digest, shard.documents, shard.size)
