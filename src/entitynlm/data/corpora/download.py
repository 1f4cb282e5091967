"""Corpora fetched from their public source or taken from a folder or archive, each file checked by its
SHA-256.

A corpus is assembled in a hidden folder beside its place and renamed when the last file is checked, so that
a folder of that name is always whole. What was fetched before a failure stays there, and the next try goes
on from it: whole files are not fetched again, and a file that was cut is continued where the server allows
it (``Range``).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import http.client
import shutil
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import IO, Any

from entitynlm.data.corpora.catalogue import Offer
from entitynlm.errors import ConfigError, DataError

CHUNK = 1 << 16
ATTEMPTS = 4  # for one file whose connection breaks
WORKERS = 4  # files at a time
TIMEOUT = 30.0  # seconds without a byte
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
        if source is None and address is not None and address.endswith(ARCHIVES):
            source = parts.with_name(f".{target.name}.archive{_archive_ending(address)}")
            download_file(address, source)
        if source is not None:
            with _open_source(source) as fetch:
                missing = _assemble(offer, parts, fetch, on_file, workers=1)
        else:
            base = (address or "").rstrip("/") + "/"
            missing = _assemble(offer, parts, _from_web(offer, base), on_file, workers=WORKERS)
        if target.is_dir():
            target.rmdir()  # it is empty, see above
        parts.rename(target)
    if source is not None and source.name.startswith(f".{target.name}.archive"):
        source.unlink()
    return missing


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
            _verify(path, offer.files[name], origin=name)
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


# -- one file from the web ---------------------------------------------------------------------------------


def download_file(
    url: str,
    path: Path,
    *,
    sha256: str | None = None,
    attempts: int = ATTEMPTS,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Fetch ``url`` to ``path``: continued where it was cut, checked, and renamed into place when it is
    whole.

    What was fetched is kept in ``path.part`` when the connection fails for good, so that a later call goes
    on. A wrong hash is fatal, except that a part from an earlier call is not trusted: it is fetched anew
    once.
    """
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise ConfigError(f"only http and https addresses can be fetched, not {url!r}")
    part = path.with_name(path.name + ".part")
    continued = part.is_file() and part.stat().st_size > 0
    _fetch_whole(url, part, attempts=attempts, pause=pause)
    if sha256 is not None and hash_file(part) != sha256 and continued:
        part.unlink()
        _fetch_whole(url, part, attempts=attempts, pause=pause)
    if sha256 is not None:
        _verify(part, sha256, origin=url)
    part.replace(path)


def _fetch_whole(url: str, part: Path, *, attempts: int, pause: Callable[[float], None]) -> None:
    for attempt in range(1, attempts + 1):
        try:
            _fetch_once(url, part)
            return
        except urllib.error.HTTPError as error:
            error.close()
            if (
                error.code == 416 and part.is_file()
            ):  # the part is as long as the file, or longer: begin again
                part.unlink()
            elif error.code < 500 and error.code != 429:
                raise DataError(
                    f"the server answers {error.code} {error.reason}",
                    path=url,
                    hint="The file may have moved: name another address with --url, or a copy with --from",
                ) from error
            reason: Exception = error
        except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
            reason = error
        if attempt < attempts:
            pause(0.5 * 2**attempt)
    size = part.stat().st_size if part.is_file() else 0
    raise DataError(
        f"the download failed {attempts} times, at last with {reason}",
        path=url,
        hint=f"{size:,} bytes are kept; the same command goes on from there",
    ) from reason


def _fetch_once(url: str, part: Path) -> None:
    have = part.stat().st_size if part.is_file() else 0
    headers = {"User-Agent": "entitynlm", **({"Range": f"bytes={have}-"} if have else {})}
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        goes_on = response.status == 206 and _range_start(response.headers.get("Content-Range")) == have
        with part.open("ab" if goes_on else "wb") as stream:
            received = 0
            while chunk := _receive(response):
                stream.write(chunk)
                received += len(chunk)
        promised = response.headers.get("Content-Length")
        if promised is not None and received < int(promised):
            raise http.client.IncompleteRead(b"", int(promised) - received)


def _receive(response: IO[bytes]) -> bytes:
    """The next bytes; whatever goes wrong here is the connection's fault, not the disk's."""
    try:
        return response.read(CHUNK)
    except OSError as error:
        raise ConnectionError(str(error)) from error


def _range_start(header: str | None) -> int | None:
    """The first byte of ``Content-Range: bytes 100-199/200``."""
    words = (header or "").removeprefix("bytes ").split("-")
    return int(words[0]) if words[0].isdigit() else None


def _from_web(offer: Offer, base: str) -> Fetch:
    def fetch(name: str, path: Path) -> None:
        url = base + urllib.parse.quote(offer.remote_path(name))
        download_file(url, path, sha256=offer.files[name])

    return fetch


# -- files from a folder or an archive ---------------------------------------------------------------------


@contextlib.contextmanager
def _open_source(source: Path) -> Iterator[Fetch]:
    if source.is_dir():
        files = {path.relative_to(source).as_posix(): path for path in source.rglob("*") if path.is_file()}
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
    pairs = zip(reversed(PurePosixPath(one).parts), reversed(PurePosixPath(other).parts), strict=False)
    return next(
        (count for count, (a, b) in enumerate(pairs) if a != b), min(one.count("/"), other.count("/")) + 1
    )


# -- checks ------------------------------------------------------------------------------------------------


def hash_file(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _verify(path: Path, expected: str, *, origin: str) -> None:
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


@contextlib.contextmanager
def _readable_write_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise DataError(f"the archive is damaged ({error})", path=target) from error
    except OSError as error:
        hint = (
            "Free some space and repeat the command: it goes on from here"
            if error.errno == errno.ENOSPC
            else None
        )
        raise DataError(f"can't be written ({error.strerror or error})", path=target, hint=hint) from error


def _archive_ending(address: str) -> str:
    return next(ending for ending in ARCHIVES if address.endswith(ending))
