"""Corpora from their public source, a folder or an archive, each file checked by its SHA-256.

A corpus is assembled in a hidden folder beside its place and renamed when the last file is checked, so that
a folder of that name is always whole. What was fetched before a failure stays there, and the next try goes
on from it: whole files are not fetched again, and a file that was cut is continued where the server allows
it (``Range``).
"""

from __future__ import annotations

import contextlib
import errno
import shutil
import tarfile
import urllib.parse
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any

from entitynlm.errors import ConfigError, DataError
from entitynlm.text.corpora.catalogue import Offer
from entitynlm.text.corpora.download import CHUNK, download_file, hash_file, verify_file
from entitynlm.text.corpora.splits import find_split_list

WORKERS = 4  # files at a time
ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar")

OnFile = Callable[[str], None]
Fetch = Callable[[str, Path], None]  # bring the named file of the corpus to this place


def get_corpus(
    offer: Offer,
    target: Path,
    *,
    url: str | None = None,
    source: Path | None = None,
    on_file: OnFile = lambda name: None,
) -> list[str]:
    """Bring a public corpus to the folder ``target``; the names of optional files that could not be had.

    ``source`` is a folder or an archive with the corpus (laid out as here or as at its public place);
    otherwise the files come from ``url``, by default the catalogue's: the address above the files, or that
    of an archive.
    """
    if not offer.files:
        raise ConfigError(f"{offer.name} can't be fetched: {offer.how_to_get}")
    address = url or offer.url
    if source is None and address is None:
        raise ConfigError(f"{offer.name} has no direct download: {offer.how_to_get}")
    if _is_here_already(offer, target):
        return [name for name in offer.optional if not (target / name).is_file()]
    parts = target.with_name(f".{target.name}.part")
    with _readable_write_errors(target):
        parts.mkdir(parents=True, exist_ok=True)
        if source is not None:
            missing = _copy_files(offer, parts, source, on_file)
        elif address is not None and address.endswith(ARCHIVES):
            archive = target.with_name(f".{target.name}.archive")
            download_file(address, archive)
            try:
                missing = _copy_files(offer, parts, archive, on_file)
            finally:
                archive.unlink()
        else:
            base = (address or "").rstrip("/") + "/"
            missing = _assemble(offer, parts, _from_web(offer, base), on_file, workers=WORKERS)
        if target.is_dir():
            target.rmdir()  # it is empty, see above
        parts.rename(target)
    return missing


def _copy_files(offer: Offer, parts: Path, source: Path, on_file: OnFile) -> list[str]:
    try:
        with _open_source(source) as fetch:
            return _assemble(offer, parts, fetch, on_file, workers=1)
    except BaseException:
        shutil.rmtree(parts)  # a copy is quickly made again, a half one is only in the way
        raise


def check_corpus(offer: Offer, folder: Path) -> Iterator[tuple[str, str]]:
    """The files of ``folder`` that are not those of the catalogue: name and what is wrong with it."""
    for name, digest in offer.files.items():
        path = folder / name
        if not path.is_file():
            if name not in offer.optional:
                yield name, "missing"
        elif hash_file(path) != digest:
            yield name, "other content"


def _assemble(offer: Offer, parts: Path, fetch: Fetch, on_file: OnFile, *, workers: int) -> list[str]:
    def bring(name: str) -> str | None:
        path = parts / name
        if not (path.is_file() and hash_file(path) == offer.files[name]):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                fetch(name, path)
            except DataError:
                if name in offer.optional:
                    return name
                raise
            verify_file(path, offer.files[name], origin=name)
        on_file(name)
        return None

    if workers == 1:
        results = [bring(name) for name in offer.files]
    else:
        pool = ThreadPoolExecutor(max_workers=workers)
        try:
            results = list(pool.map(bring, offer.files))
        finally:
            pool.shutdown(cancel_futures=True)
    return [name for name in results if name is not None]


def _is_here_already(offer: Offer, target: Path) -> bool:
    """Whether a right copy is at ``target``; anything else that lies there is not ours to overwrite."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return False
    wrong = list(check_corpus(offer, target))
    if wrong:
        name, trouble = wrong[0]
        raise ConfigError(
            f"{target} exists already and is not a whole copy of {offer.name} ({len(wrong)} of {len(offer.files)} "
            f"files, the first is {name}: {trouble}); remove it or name another place with --out"
        )
    return True


# -- where the files come from ----------------------------------------------------------------------


def _from_web(offer: Offer, base: str) -> Fetch:
    def fetch(name: str, path: Path) -> None:
        url = base + urllib.parse.quote(offer.remote_path(name))
        download_file(url, path, sha256=offer.files[name])

    return fetch


@contextlib.contextmanager
def _open_source(source: Path) -> Iterator[Fetch]:
    if source.is_dir():
        files = {path.relative_to(source).as_posix(): path for path in source.rglob("*") if path.is_file()}
        split_list = find_split_list(source)  # GUM's may lie beside it
        if split_list is not None:
            files.setdefault(split_list.name, split_list)
        yield _from_members(source, {name: path.open for name, path in files.items()})
    elif zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            members = {info.filename: info for info in archive.infolist() if not info.is_dir()}
            yield _from_members(source, {n: _opener(archive.open, info) for n, info in members.items()})
    elif source.is_file() and tarfile.is_tarfile(source):
        with tarfile.open(source) as tar:
            entries = {info.name: info for info in tar.getmembers() if info.isfile()}
            yield _from_members(source, {n: _opener(tar.extractfile, info) for n, info in entries.items()})
    else:
        raise DataError("this is no folder and no zip or tar archive", path=source)


def _opener(open_member: Callable[[Any], Any], info: object) -> Callable[[str], Any]:
    return lambda mode: open_member(info)


def _from_members(source: Path, members: dict[str, Callable[[str], Any]]) -> Fetch:
    """Find ``data/a.txt`` also as ``download/data/a.txt``: archives and clones wrap a corpus in folders.

    The member that shares the longest tail with the wanted path is taken; its name alone has to match, and
    where several do equally well the shortest path wins. Whether it is the right one is for the hash to
    say.
    """
    by_name: dict[str, list[str]] = {}
    for member in members:
        by_name.setdefault(PurePosixPath(member).name, []).append(member)

    def fetch(name: str, path: Path) -> None:
        candidates = by_name.get(PurePosixPath(name).name, [])
        if not candidates:
            raise DataError(f"it has no file {name}", path=source, hint="Is this the right corpus?")
        best = max(candidates, key=lambda member: (_common_tail(member, name), -len(member), member))
        with members[best]("rb") as stream, path.open("wb") as copy:
            shutil.copyfileobj(stream, copy, CHUNK)

    return fetch


def _common_tail(one: str, other: str) -> int:
    """How many last parts two paths share."""
    pairs = zip(reversed(PurePosixPath(one).parts), reversed(PurePosixPath(other).parts), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


@contextlib.contextmanager
def _readable_write_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise DataError(f"the archive is damaged ({error})", path=target) from error
    except OSError as error:
        full = error.errno == errno.ENOSPC
        hint = "Free some space and repeat the command: it goes on from here" if full else None
        raise DataError(f"can't be written ({error.strerror or error})", path=target, hint=hint) from error
