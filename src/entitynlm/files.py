"""Files: opened with readable errors, and written to a temporary file that is then renamed, so never half-written."""

import contextlib
import functools
import gzip
import hashlib
import io
import json
import os
import secrets
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO, cast

from filelock import FileLock, Timeout

from entitynlm.errors import ConfigError, DataError

STANDARD = "-"  # the conventional name of standard input and standard output
MOST_JSON = 64 << 20  # bytes: ten times a vocabulary of a million words
MOST_SETTINGS = 1 << 20  # bytes of a configuration or a list of hashes
MOST_PIPED = 2 << 30  # bytes that are copied from a pipe


CONTROLS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160), *range(0xD800, 0xE000)], "\ufffd")


def make_printable(text: str) -> str:
    """Replace control characters, which a terminal would execute, and lone surrogates, which file names may contain."""
    return text.translate(CONTROLS)


class _Screen(io.TextIOBase):
    """Standard output where a terminal shows it; elsewhere a format's bytes are what they are."""

    def write(self, text: str) -> int:
        return sys.stdout.write(make_printable(text))


Identity = tuple[int, int] | Path
HASH_LIST = "SHA256SUMS"
"""The name of the list of hashes in a folder, as ``sha256sum`` writes and checks it."""


def find_real(path: Path) -> Path:
    """Follow links to the file itself; a circle of links is an error."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise DataError("this link leads in a circle", path=path) from error


def identify(path: Path) -> Identity:
    """Identify a file by device and inode, because a link to a file is the same file; a file that does not exist by its path."""
    try:
        found = path.stat()
        return found.st_dev, found.st_ino
    except OSError:
        return find_real(path)


@dataclass
class CommandFiles:
    """The files of one command, which must not overwrite a file that it reads, nor other files without ``force``.

    Standard input and pipes are copied to temporary files, because a file is opened once to recognise its format and again to
    read it.

    :param folders: folders that belong to the command, such as a model's folder, in which files may be overwritten.
    """

    folders: Sequence[Path] = ()
    force: bool = False
    _read: set[Identity] = field(default_factory=set)
    _claimed: dict[Identity, tuple[str, Path]] = field(default_factory=dict)
    _copies: dict[str, Path] = field(default_factory=dict)

    def note_input(self, path: Path) -> None:
        """Remember a file that is read, by its device and inode: a link to it is the same file."""
        self._read.add(identify(path))

    def claim(self, path: Path, option: str) -> None:
        """Reserve a file for one output; two outputs to one file, also by another spelling or a link, are refused."""
        if self._claimed.setdefault(identify(path), (option, path)) != (option, path):
            raise ConfigError(f"{path}: two outputs can't go to one file")

    def check_output(self, path: Path) -> None:
        """Refuse an output that would destroy an input or an existing file."""
        path = find_real(path)
        if not path.is_file():
            return
        found = path.stat()
        if identify(path) in self._read:
            message = "this command reads that file, so it does not write over it"
            raise DataError(message, path=path, hint="Name another file for the output")
        kept = any(path.is_relative_to(find_real(folder)) for folder in self.folders)
        if found.st_size and not self.force and not kept:
            hint = "Name another file, or write over it with --force"
            raise DataError("there is such a file already", path=path, hint=hint)

    def copy_pipe(self, path: str | Path) -> Path:
        """Copy a pipe or standard input to a temporary file, once."""
        if str(path) not in self._copies:
            descriptor, name = tempfile.mkstemp(prefix="entitynlm-", suffix=Path(path).suffix)
            self._copies[str(path)] = Path(name)
            with os.fdopen(descriptor, "wb") as target, contextlib.ExitStack() as stack:
                standard = str(path) == STANDARD
                source = sys.stdin.buffer if standard else stack.enter_context(Path(path).open("rb"))
                while content := source.read(1 << 20):
                    if target.tell() > MOST_PIPED:
                        message = f"more than {MOST_PIPED >> 20:,} MB came from this pipe or device"
                        raise DataError(message, path=path, hint="Store it as a file first")
                    target.write(content)
        return self._copies[str(path)]

    def close(self) -> None:
        """Remove the copies of pipes."""
        for copy in self._copies.values():
            copy.unlink(missing_ok=True)


_command: CommandFiles | None = None


@contextlib.contextmanager
def guarding(files: CommandFiles) -> Iterator[None]:
    """Check all files that are opened and written in the block as files of one command; outside of it nothing is refused."""
    global _command
    before, _command = _command, files
    try:
        yield
    finally:
        _command = before
        files.close()


def has_name(path: str | Path) -> bool:
    """Tell whether an input has a file name: standard input and a shell's ``<(command)`` have none."""
    return str(path) != STANDARD and not str(path).startswith(("/dev/", "/proc/"))


def open_binary(path: str | Path) -> BinaryIO:
    """Open ``path`` (``-`` is standard input; ``.gz`` is unpacked) for reading bytes."""
    if str(path) == STANDARD and _command is None:
        return io.BytesIO(sys.stdin.buffer.read())
    try:
        place = Path(path)
        if str(path) != STANDARD and place.is_dir():
            raise DataError("this is a folder", path=path, hint="Name a file in it")
        if _command is not None and (str(path) == STANDARD or (place.exists() and not place.is_file())):
            place = _command.copy_pipe(path)
        elif _command is not None:
            _command.note_input(place)
        return io.BufferedReader(gzip.open(place, "rb")) if place.suffix == ".gz" else place.open("rb")
    except FileNotFoundError as error:
        raise DataError("there is no such file", path=path, hint="Check the spelling of the path") from error
    except OSError as error:
        raise DataError(f"can't be opened ({error.strerror or error})", path=path) from error


def check_outputs(paths: Iterable[Path]) -> None:
    """Refuse outputs before anything is computed, if the command may not write them later."""
    for path in paths:
        if _command is not None:
            _command.claim(path, "out")
            _command.check_output(path)


@contextlib.contextmanager
def write_atomically(path: str | Path, mode: str = "w", *, durable: bool = False) -> Iterator[IO[Any]]:
    """Open a temporary file beside ``path`` (``-``: standard output), and rename it when the block ends without an error.

    Devices and pipes are written directly, and a link stays a link, because a rename would replace it by a file.

    :param durable: wait until the bytes are on the disk before the old file is replaced (a power cut may follow).
    """
    if str(path) == STANDARD:
        screen = cast(TextIO, _Screen()) if sys.stdout.isatty() else sys.stdout
        if isinstance(screen, io.TextIOWrapper):  # formats are UTF-8 wherever they go
            screen.reconfigure(encoding="utf-8", errors="replace")
        yield sys.stdout.buffer if "b" in mode else screen
        return
    path = Path(path)
    layout: dict[str, Any] = (
        {} if "b" in mode else {"encoding": "utf-8", "newline": "\n", "errors": "replace"}
    )
    if _command is not None:
        _command.check_output(path)
    try:
        path = find_real(path) if path.is_symlink() else path
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open(mode, **layout) as stream:
                yield stream
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        try:
            with temporary.open(mode.replace("w", "x"), **layout) as stream:
                yield stream
                if durable:
                    stream.flush()
                    os.fsync(stream.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"can't be written ({error.strerror or error})", path=path) from error


def remove_unfinished(files: Iterable[Path]) -> None:
    """Remove temporary files of :func:`write_atomically` that a killed process left."""
    for path in files:
        if path.name.startswith(".") and path.suffix == ".part" and path.is_file():
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def lock_folder(folder: Path, told: str) -> Iterator[None]:
    """Make a folder and lock it for this process; raise the error ``told`` if another process has locked it.

    Temporary files that a killed process left are removed, before and after.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock", timeout=0):
            remove_unfinished(folder.rglob(".*.part"))
            try:
                yield
            finally:
                remove_unfinished(folder.rglob(".*.part"))
    except Timeout as error:
        raise DataError(told, path=folder) from error
    except (FileExistsError, NotADirectoryError) as error:
        raise DataError(f"this can't be a folder ({error.strerror})", path=folder) from error


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically."""
    with write_atomically(path) as stream:
        stream.write(text)


def decode_lines(
    stream: BinaryIO, path: str, longest: int | None = None, first: int = 1
) -> Iterator[tuple[int, str]]:
    """Read numbered lines of UTF-8 text without line ends; byte-order mark and Windows line ends are removed.

    A line of more than ``longest`` bytes is refused before it is in memory. The numbers begin with ``first``.
    """
    number = first - 1
    lines = stream if longest is None else iter(functools.partial(stream.readline, longest + 1), b"")
    try:
        for number, raw in enumerate(lines, start=first):
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
            hint="Convert the file to UTF-8 first, say: iconv -f cp1252 -t utf-8",
        ) from error
    except (OSError, EOFError, zlib.error) as error:  # zlib: a damaged .gz
        raise DataError(f"reading failed ({error})", path=path, line=number + 1) from error


def read_bounded(path: Path, most: int = MOST_SETTINGS) -> bytes:
    """Read a small file (``.gz`` is unpacked), which may be untrusted or a device: more than ``most`` bytes are a ValueError."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        return read_most(stream, most)


def read_most(stream: BinaryIO | io.BufferedIOBase, most: int) -> bytes:
    """Read a stream to its end; more than ``most`` bytes, or a damaged .gz, are a ValueError."""
    try:
        content = stream.read(most + 1)
    except (EOFError, zlib.error) as error:
        raise ValueError(str(error)) from error
    if len(content) > most:
        raise ValueError(f"it has more than {most:,} bytes, which are not read")
    return content


def read_json(path: Path) -> Any:
    """Read JSON from an untrusted file; a huge or very deeply nested file is a ValueError."""
    content = read_bounded(path, MOST_JSON)
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def hash_file(path: Path) -> str:
    """Compute the SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def read_hash_list(text: str) -> dict[str, str]:
    """Read a list of SHA-256 hashes: path → hash."""
    files = {}
    for number, line in enumerate(text.splitlines(), start=1):
        digest, separator, name = line.partition("  ")
        if not separator or len(digest) != 64:
            message = "not a line of a SHA-256 list"
            raise DataError(message, line=number, found=line, expected="'<hash>  <path>'")
        files[name] = digest
    return files


def write_hash_list(folder: Path, names: Iterable[str]) -> None:
    """Write the list of hashes of a folder's files, after all of them are written."""
    lines = [f"{hash_file(folder / name)}  {name}\n" for name in sorted(names)]
    write_text(folder / HASH_LIST, "".join(lines))
