"""People's files are safe: no verb writes over a file that it reads, nor over one that is not ours unless ``--force`` is given.

A file is ours as long as it is, byte for byte, what a verb wrote to that place. So a table can be made again by the same command,
while an annotation that somebody has corrected since is theirs. A mark inside of files would not tell the two apart, and tables
for R have no place for one. The digests are kept in the folder for caches; without them a file counts as somebody else's.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from entitynlm.cache import cache_folder
from entitynlm.errors import DataError
from entitynlm.files import hash_file, write_atomically

MOST_RECORDS = 10_000  # the older half is forgotten beyond this


@dataclass
class OutputGuard:
    """Watches the files of one command (:class:`entitynlm.files.Watcher`)."""

    inputs: Sequence[str | Path] = ()  # files that were named to be read
    folders: Sequence[Path] = ()  # folders that the command keeps: a model's, an experiment's
    force: bool = False
    _read: set[tuple[int, int]] = field(default_factory=set)
    _written: set[Path] = field(default_factory=set)

    def __post_init__(self) -> None:
        for path in self.inputs:
            if Path(path).is_file():
                self.reading(Path(path))

    def reading(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            found = path.stat()
            self._read.add((found.st_dev, found.st_ino))

    def before_writing(self, path: Path) -> None:
        if not is_below(path.resolve(), [*self.folders, cache_folder()]):
            self.check([path])

    def before_renaming(self, made: Path, path: Path) -> None:
        path = path.resolve()
        if not is_below(path, [*self.folders, cache_folder()]):
            self._written.add(path)
            record(made, path)

    def check(self, outputs: Iterable[str | Path]) -> None:
        """Refuse outputs that can't be written later, before anything is computed."""
        for output in outputs:
            path = Path(output).resolve()
            if not path.is_file() or path in self._written:
                continue
            found = path.stat()
            if (found.st_dev, found.st_ino) in self._read:
                message = "this command reads that file, so it does not write over it"
                raise DataError(message, path=output, hint="Name another file for the output")
            if not (self.force or is_below(path, self.folders) or is_ours(path)):
                message = "there is such a file already, and it is not as entitynlm wrote it"
                raise DataError(message, path=output, hint="Name another file, or write over it with --force")


def is_below(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a path lies in one of the folders."""
    return any(path.is_relative_to(folder.resolve()) for folder in folders)


def is_ours(path: Path) -> bool:
    """Whether the file is what a verb wrote to this place, unchanged; an empty file is nobody's work."""
    if not path.stat().st_size:
        return True
    with contextlib.suppress(OSError):
        return hash_file(path) in find_record(path).read_text(encoding="ascii").split()
    return False


def record(made: Path, path: Path) -> None:
    """Remember what will be at ``path``, and what was there: a process may be killed before the one becomes the other.

    Where the folder for caches can't be written, the next run needs ``--force``.
    """
    with contextlib.suppress(OSError):
        target = find_record(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        before = target.read_text(encoding="ascii").split()[-1:] if target.exists() else []
        with write_atomically(target) as stream:
            stream.write("\n".join([*before, hash_file(made)]))
        records = [Path(entry) for entry in os.scandir(target.parent)]
        if len(records) > MOST_RECORDS:
            for old in sorted(records, key=lambda file: file.stat().st_mtime)[: MOST_RECORDS // 2]:
                old.unlink(missing_ok=True)


def find_record(path: Path) -> Path:
    """Where the digest of an output is kept."""
    return cache_folder() / "outputs" / hashlib.sha256(str(path).encode("utf-8", "replace")).hexdigest()[:32]
