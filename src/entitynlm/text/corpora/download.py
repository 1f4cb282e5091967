"""Fetching corpora from their public source, a folder or an archive, each file checked by its SHA-256.

A corpus is assembled in a hidden folder beside its target and renamed when the last file is checked, so a folder of that name
is always complete. Files fetched before a failure stay there for the next try.
"""

import contextlib
import errno
import http.client
import shutil
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import IO, Any

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import hash_file
from entitynlm.text.corpora.catalogue import CatalogueEntry
from entitynlm.text.corpora.corpus import find_split_list

CHUNK = 1 << 16
ATTEMPTS = 4  # for one file whose connection breaks
TIMEOUT = 30.0  # seconds without a byte
WORKERS = 4  # files at a time
ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar")

OnFile = Callable[[str], None]
Fetch = Callable[[str, Path], None]  # bring the named file of the corpus to this place


def get_corpus(
    entry: CatalogueEntry,
    target: Path,
    *,
    url: str | None = None,
    source: Path | None = None,
    on_file: OnFile = lambda name: None,
) -> list[str]:
    """Bring a public corpus to the folder ``target``; returns the names of optional files that could not be fetched.

    ``source`` is a folder or an archive with the corpus; otherwise the files come from ``url`` (the address above the files, or
    that of an archive), by default the catalogue's.
    """
    if not entry.files:
        raise ConfigError(f"{entry.name} can't be fetched: {entry.how_to_get}")
    address = url or entry.url
    if source is None and address is None:
        raise ConfigError(f"{entry.name} has no direct download: {entry.how_to_get}")
    if _is_here_already(entry, target):
        return [name for name in entry.optional if not (target / name).is_file()]
    parts = target.with_name(f".{target.name}.part")
    with _readable_write_errors(target):
        parts.mkdir(parents=True, exist_ok=True)
        if source is not None:
            missing = _copy_files(entry, parts, source, on_file)
        elif address is not None and address.endswith(ARCHIVES):
            archive = target.with_name(f".{target.name}.archive")
            download_file(address, archive)
            try:
                missing = _copy_files(entry, parts, archive, on_file)
            finally:
                archive.unlink()
        else:
            base = (address or "").rstrip("/") + "/"

            def fetch(name: str, path: Path) -> None:
                url = base + urllib.parse.quote(entry.remote_path(name))
                download_file(url, path, sha256=entry.files[name])

            missing = _assemble(entry, parts, fetch, on_file, workers=WORKERS)
        for rest in parts.rglob("*.part"):
            rest.unlink()  # of a download that was killed, by another name
        if target.is_dir():
            target.rmdir()  # it is empty, see above
        parts.rename(target)
    return missing


def _copy_files(entry: CatalogueEntry, parts: Path, source: Path, on_file: OnFile) -> list[str]:
    try:
        with _open_source(source) as fetch:
            return _assemble(entry, parts, fetch, on_file, workers=1)
    except BaseException:
        shutil.rmtree(parts)  # a copy is quickly made again, a half one is only in the way
        raise


def check_corpus(entry: CatalogueEntry, folder: Path) -> Iterator[tuple[str, str]]:
    """The files of ``folder`` that differ from the catalogue's: name and what is wrong."""
    for name, digest in entry.files.items():
        path = folder / name
        if not path.is_file():
            if name not in entry.optional:
                yield name, "missing"
        elif hash_file(path) != digest:
            yield name, "other content"


def _assemble(
    entry: CatalogueEntry, parts: Path, fetch: Fetch, on_file: OnFile, *, workers: int
) -> list[str]:
    def bring(name: str) -> str | None:
        path = parts / name
        if not (path.is_file() and hash_file(path) == entry.files[name]):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                fetch(name, path)
            except DataError:
                if name in entry.optional:
                    return name
                raise
            verify_file(path, entry.files[name], origin=name)
        on_file(name)
        return None

    pool = ThreadPoolExecutor(max_workers=workers)
    try:
        return [name for name in pool.map(bring, entry.files) if name is not None]
    finally:
        pool.shutdown(cancel_futures=True)


def _is_here_already(entry: CatalogueEntry, target: Path) -> bool:
    """Whether a complete copy is at ``target``; anything else there is an error, because it is not ours to overwrite."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return False
    wrong = list(check_corpus(entry, target))
    if wrong:
        name, trouble = wrong[0]
        raise ConfigError(
            f"{target} exists already and is not a whole copy of {entry.name} ({len(wrong)} of {len(entry.files)} "
            f"files, the first is {name}: {trouble}); remove it or name another place with --out"
        )
    return True


@contextlib.contextmanager
def _open_source(source: Path) -> Iterator[Fetch]:
    if source.is_dir():
        files = {path.relative_to(source).as_posix(): path for path in source.rglob("*") if path.is_file()}
        split_list = find_split_list(source)  # GUM's may lie beside it
        if split_list is not None:
            files.setdefault(split_list.name, split_list)
        yield _from_members(source, {name: partial(path.open, "rb") for name, path in files.items()})
    elif zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            infos = (info for info in archive.infolist() if not info.is_dir())
            yield _from_members(source, {info.filename: partial(archive.open, info) for info in infos})
    elif source.is_file() and tarfile.is_tarfile(source):
        with tarfile.open(source) as tar:
            entries = (entry for entry in tar.getmembers() if entry.isfile())
            yield _from_members(source, {entry.name: partial(tar.extractfile, entry) for entry in entries})
    else:
        raise DataError("this is no folder and no zip or tar archive", path=source)


def _from_members(source: Path, members: Mapping[str, Callable[[], Any]]) -> Fetch:
    """Find ``data/a.txt`` also as ``download/data/a.txt``, since archives and clones wrap a corpus in folders.

    The member that shares the longest tail with the wanted path is taken; the hash will tell whether it is the right one.
    """
    by_name: dict[str, list[str]] = {}
    for member in members:
        by_name.setdefault(PurePosixPath(member).name, []).append(member)

    def fetch(name: str, path: Path) -> None:
        candidates = by_name.get(PurePosixPath(name).name, [])
        if not candidates:
            raise DataError(f"it has no file {name}", path=source, hint="Is this the right corpus?")
        best = max(candidates, key=lambda member: (_common_tail(member, name), -len(member), member))
        with members[best]() as stream, path.open("wb") as copy:
            shutil.copyfileobj(stream, copy, CHUNK)

    return fetch


def _common_tail(one: str, other: str) -> int:
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


def download_file(url: str, path: Path, *, sha256: str | None = None) -> None:
    """Fetch ``url`` to ``path``, which exists only once it is complete and right."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise ConfigError(f"only http and https addresses can be fetched, not {url!r}")
    part = path.with_name(path.name + ".part")
    try:
        _fetch(url, part)
        if sha256 is not None:
            verify_file(part, sha256, origin=url)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _fetch(url: str, path: Path) -> None:
    request = urllib.request.Request(url, headers={"User-Agent": "entitynlm"})
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response, path.open("wb") as stream:
                while chunk := _receive(response):
                    stream.write(chunk)
                if response.length:  # bytes that were promised and did not come
                    raise http.client.IncompleteRead(b"", response.length)
            return
        except urllib.error.HTTPError as error:
            error.close()
            if error.code < 500 and error.code != 429:
                message = f"the server answers {error.code} {error.reason}"
                hint = "The file may have moved: name another address with --url, or a copy with --from"
                raise DataError(message, path=url, hint=hint) from error
            reason: Exception = error
        except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
            reason = error
        if attempt < ATTEMPTS:
            time.sleep(0.5 * 2**attempt)
    message = f"the download failed {ATTEMPTS} times, at last with {reason}"
    raise DataError(
        message, path=url, hint="Is there a connection? --from takes a copy that you have"
    ) from reason


def _receive(response: IO[bytes]) -> bytes:
    """The next bytes; an ``OSError`` here is the connection's, not the disk's."""
    try:
        return response.read(CHUNK)
    except OSError as error:
        raise ConnectionError(str(error)) from error


def verify_file(path: Path, expected: str, *, origin: str) -> None:
    """Remove a file whose content is not the expected one, and say so."""
    found = hash_file(path)
    if found != expected:
        path.unlink()
        raise DataError(
            "the content is not what this package knows under that name",
            path=origin,
            found=f"SHA-256 {found[:16]}…",
            expected=f"SHA-256 {expected[:16]}…",
            hint="It may be another release of the corpus, or a damaged copy",
        )
