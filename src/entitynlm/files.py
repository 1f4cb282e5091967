"""Files: opened with readable errors, written beside their final place and renamed (never half-written)."""

from __future__ import annotations

import contextlib
import filecmp
import functools
import gzip
import hashlib
import io
import json
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, TextIO, cast

from entitynlm.errors import DataError

STANDARD = "-"  # the conventional name of standard input and standard output
MOST_JSON = 64 << 20  # bytes: ten times a vocabulary of a million words


CONTROLS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "\ufffd")


def make_printable(text: str) -> str:
    """The text without control characters, which a terminal would obey (a file may have them by accident or on purpose)."""
    return text.translate(CONTROLS)


class _Screen(io.TextIOBase):
    """Standard output where a terminal shows it; elsewhere a format's bytes are what they are."""

    def write(self, text: str) -> int:
        return sys.stdout.write(make_printable(text))


class Watcher(Protocol):
    """Is told about every file that is read and written here, and refuses a write by raising an error."""

    def reading(self, path: Path) -> None: ...
    def before_writing(self, path: Path) -> None: ...
    def before_renaming(self, made: Path, path: Path) -> None: ...


_watchers: list[Watcher] = []


@contextlib.contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Within the block, files are read and written under the eyes of ``watcher``: the command line's care for people's files."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


class _Pipe:
    """A pipe or device that is read once, and what was read of it so far in a temporary file without a name."""

    def __init__(self, path: Path) -> None:
        self._source = path.open("rb", buffering=0)
        self._copy = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the pipe)
        self._ended = False
        self.size = 0

    def read(self, place: int, count: int) -> bytes:
        """At most ``count`` bytes from a place on; none at the end."""
        while place >= self.size and self.read_on(max(count, io.DEFAULT_BUFFER_SIZE)):
            pass
        self._copy.seek(place)
        return self._copy.read(count)

    def read_on(self, count: int = 1 << 20) -> bool:
        """Copy what comes next; False at the end, which a terminal is not asked for twice."""
        block = b"" if self._ended else self._source.read(count) or b""
        self._ended = not block
        self._copy.seek(self.size)
        self.size += self._copy.write(block)
        return not self._ended

    def close(self) -> None:
        self._source.close()
        self._copy.close()


class _PipeReader(io.RawIOBase):
    """One reading of a pipe from its first byte on."""

    def __init__(self, pipe: _Pipe) -> None:
        self._pipe, self._place = pipe, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._pipe.read(self._place, len(buffer))
        buffer[: len(block)] = block
        self._place += len(block)
        return len(block)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        while whence == os.SEEK_END and self._pipe.read_on():
            pass
        origins = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._pipe.size}
        self._place = max(origins[whence] + offset, 0)
        return self._place


_pipes: dict[str, _Pipe] | None = None


@contextlib.contextmanager
def keeping_pipes() -> Iterator[None]:
    """Within the block, a pipe can be opened again and again: files are recognised, and their errors found, before they are read.

    What is read of it is kept on the disk until the block ends, and no more is read than is asked for.
    """
    global _pipes
    before, _pipes = _pipes, {}
    try:
        yield
    finally:
        for pipe in _pipes.values():
            pipe.close()
        _pipes = before


def has_name(path: str | Path) -> bool:
    """Whether a file is called anything: standard input and what a shell puts in place of ``<(command)`` are not."""
    return str(path) != STANDARD and not str(path).startswith(("/dev/", "/proc/"))


def open_binary(path: str | Path) -> BinaryIO:
    """Open ``path`` (``-`` is standard input; ``.gz`` is unpacked) for reading bytes."""
    if str(path) == STANDARD:
        return sys.stdin.buffer
    path = Path(path)
    try:
        if path.is_dir():
            raise DataError("this is a folder", path=path, hint="Name a file in it")
        for watcher in _watchers:
            watcher.reading(path)
        if _pipes is None or path.is_file():
            return io.BufferedReader(gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")
        pipe = _pipes.get(str(path)) or _pipes.setdefault(str(path), _Pipe(path))
        stream = io.BufferedReader(_PipeReader(pipe))
        return io.BufferedReader(gzip.open(stream)) if path.suffix == ".gz" else stream
    except FileNotFoundError as error:
        raise DataError("there is no such file", path=path, hint="Check the spelling of the path") from error
    except OSError as error:
        raise DataError(f"can't be opened ({error.strerror or error})", path=path) from error


def announce_writing(paths: Iterable[Path]) -> None:
    """Files that will be written when something long is done: whoever watches may refuse them now."""
    for path in paths:
        for watcher in _watchers:
            watcher.before_writing(path)


@contextlib.contextmanager
def write_atomically(path: str | Path, mode: str = "w", *, durable: bool = False) -> Iterator[IO[Any]]:
    """Open a temporary file beside ``path`` (``-``: standard output) and rename it when the block ends well, else remove it.

    A device or a pipe is written to as it is, and a link keeps pointing where it does: a rename would put a file in its place.

    :param durable: wait until the bytes are on the disk before the file that was there gives way (a power cut may follow).
    """
    if str(path) == STANDARD:
        screen = cast(TextIO, _Screen()) if sys.stdout.isatty() else sys.stdout
        yield sys.stdout.buffer if "b" in mode else screen
        return
    path = Path(path)
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "\n")
    announce_writing([path])
    try:
        path = path.resolve() if path.is_symlink() else path
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open(mode, encoding=encoding, newline=newline) as stream:
                yield stream
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        temporary = Path(name)
        try:
            os.fchmod(descriptor, 0o666 & ~_current_umask())
            with os.fdopen(descriptor, mode, encoding=encoding, newline=newline) as stream:
                yield stream
                if durable:
                    stream.flush()
                    os.fsync(stream.fileno())
            _rename(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"can't be written ({error.strerror or error})", path=path) from error


def _rename(made: Path, path: Path) -> None:
    """Put a file that is whole in its place; whoever watches is told first, so that a killed process leaves no unknown file."""
    for watcher in _watchers:
        watcher.before_renaming(made, path)
    made.replace(path)


def move_into_place(made: Path, folder: Path) -> None:
    """Move all files of a folder into another one; a file that is there already with the same content is left alone."""
    changed = [file for file in sorted(made.iterdir()) if not _is_same(file, folder / file.name)]
    announce_writing(folder / file.name for file in changed)
    for file in changed:
        for watcher in _watchers:
            watcher.before_renaming(file, folder / file.name)
        shutil.move(file, folder / file.name)


def _is_same(one: Path, other: Path) -> bool:
    return other.is_file() and filecmp.cmp(one, other, shallow=False)


def remove_unfinished(files: Iterable[Path]) -> None:
    """Remove those of the files that a killed process was writing by :func:`write_atomically`."""
    for path in files:
        if path.name.startswith(".") and path.suffix == ".part" and path.is_file():
            path.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, all of it or nothing."""
    with write_atomically(path) as stream:
        stream.write(text)


def _current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def decode_lines(stream: BinaryIO, path: str, longest: int | None = None) -> Iterator[tuple[int, str]]:
    """Numbered lines of UTF-8 text without their ends; a byte-order mark and Windows line ends are taken off.

    A line of more than ``longest`` bytes is refused before it is in memory.
    """
    number = 0
    lines = stream if longest is None else iter(functools.partial(stream.readline, longest + 1), b"")
    try:
        for number, raw in enumerate(lines, start=1):
            if longest is not None and len(raw) > longest:
                raise DataError(f"this line has more than {longest:,} bytes", path=path, line=number)
            if number == 1 and raw.startswith(b"\xef\xbb\xbf"):
                raw = raw[3:]
            yield number, raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(
            "this is not UTF-8 text",
            path=path,
            line=number,
            found=repr(error.object[error.start : error.start + 4]),
            hint="Convert the file to UTF-8 first",
        ) from error
    except (OSError, EOFError, zlib.error) as error:  # zlib: a damaged .gz
        raise DataError(f"reading failed ({error})", path=path, line=number + 1) from error


def read_json(path: Path) -> Any:
    """JSON that somebody else may have made (``.gz`` is unpacked); a huge one, or one nested without end, is a ValueError too."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        content = stream.read(MOST_JSON + 1)
    if len(content) > MOST_JSON:
        raise ValueError(f"it has more than {MOST_JSON:,} bytes, which are not read")
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def hash_file(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def as_text(stream: BinaryIO) -> TextIO:
    """A text layer over a binary stream, for writers."""
    return io.TextIOWrapper(stream, encoding="utf-8", newline="\n", write_through=True)
