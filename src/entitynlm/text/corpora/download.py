"""One file from the web: continued where it was cut, checked by its SHA-256, and then put in its place."""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO

from entitynlm.errors import ConfigError, DataError

CHUNK = 1 << 16
ATTEMPTS = 4  # for one file whose connection breaks
TIMEOUT = 30.0  # seconds without a byte


def download_file(
    url: str,
    path: Path,
    *,
    sha256: str | None = None,
    attempts: int = ATTEMPTS,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Fetch ``url`` to ``path``, which is there when it is whole and right, and not before.

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
        verify_file(part, sha256, origin=url)
    part.replace(path)


def _fetch_whole(url: str, part: Path, *, attempts: int, pause: Callable[[float], None]) -> None:
    for attempt in range(1, attempts + 1):
        try:
            _fetch_once(url, part)
            return
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416 and part.is_file():
                part.unlink()  # it is as long as the file, or longer: begin again
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
    kept = f"{size:,} bytes are kept; the same command goes on from there"
    raise DataError(
        f"the download failed {attempts} times, at last with {reason}",
        path=url,
        hint=kept if size else "Is there a connection? --from takes a copy that you have",
    ) from reason


def _fetch_once(url: str, part: Path) -> None:
    have = part.stat().st_size if part.is_file() else 0
    headers = {"User-Agent": "entitynlm", **({"Range": f"bytes={have}-"} if have else {})}
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        goes_on = response.status == 206
        if goes_on and _range_start(response.headers.get("Content-Range")) != have:
            part.unlink()
            raise http.client.HTTPException("the server sent another part of the file than was asked for")
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


def hash_file(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


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
