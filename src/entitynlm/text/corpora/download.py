"""Fetch corpora from their public source by pooch, or from a folder or archive; each file is checked by its SHA-256.

A corpus is assembled in a hidden folder beside its target and renamed when the last file is checked, so a folder of that name
is always complete. Files fetched before a failure stay there for the next try.
"""

import contextlib
import errno
import shutil
import urllib.parse
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import hash_file
from entitynlm.text.corpora.catalogue import CatalogueEntry
from entitynlm.text.corpora.corpus import find_split_list

ATTEMPTS = 4  # for one file whose connection breaks
TIMEOUT = 30.0  # seconds without a byte
WORKERS = 4  # files at a time
LARGEST_ARCHIVE = 4 << 30  # unpacked, in bytes

Fetch = Callable[[str], None]  # bring the named file of the corpus to the folder where it is assembled


def get_corpus(
    entry: CatalogueEntry,
    target: Path,
    source: Path | None = None,
    *,
    on_file: Callable[[str], None] = lambda name: None,
) -> list[str]:
    """Bring a public corpus to the folder ``target``; returns the names of optional files that could not be fetched.

    ``source`` is a folder or a zip archive with the corpus; without it the files come from the catalogue's address.
    """
    if not entry.files:
        raise ConfigError(f"{entry.name} can't be fetched: {entry.how_to_get}")
    if source is None and entry.url is None:
        raise ConfigError(f"{entry.name} has no direct download: {entry.how_to_get}")
    if _is_here_already(entry, target):
        return [name for name in entry.optional if not (target / name).is_file()]
    parts = target.with_name(f".{target.name}.part")
    with _readable_write_errors(target):
        parts.mkdir(parents=True, exist_ok=True)
        unpacked = target.with_name(f".{target.name}.archive")
        shutil.rmtree(unpacked, ignore_errors=True)  # a command that was killed may have left it
        try:
            if source is None:
                missing = _assemble(entry, _fetch_by_address(entry, parts), on_file)
            else:
                missing = _copy_files(entry, parts, source, unpacked, on_file)
        finally:
            shutil.rmtree(unpacked, ignore_errors=True)
        if target.is_dir():
            target.rmdir()  # it is empty, see above
        parts.rename(target)
    return missing


def check_corpus(entry: CatalogueEntry, folder: Path) -> Iterator[tuple[str, str]]:
    """List the files of ``folder`` that differ from the catalogue's: name and what is wrong."""
    for name, digest in entry.files.items():
        path = folder / name
        if not path.is_file():
            if name not in entry.optional:
                yield name, "missing"
        elif hash_file(path) != digest:
            yield name, "other content"


def download_file(url: str, path: Path, sha256: str | None = None) -> None:
    """Fetch one file, again if the connection breaks; ``path`` exists only once it is complete and right."""
    import pooch  # here, because it takes half a second to load
    from requests import exceptions

    pooch.get_logger().setLevel("CRITICAL")
    store = pooch.create(path.parent, "", registry={path.name: sha256}, urls={path.name: url})
    store.retry_if_failed = ATTEMPTS - 1
    hint = "The file may have moved: name a copy that you have with --from"
    try:
        store.fetch(path.name, downloader=pooch.HTTPDownloader(timeout=TIMEOUT))
    except exceptions.HTTPError as error:
        raise DataError(f"the server answers {error}", path=url, hint=hint) from error
    except exceptions.RequestException as error:
        message = f"the download failed {ATTEMPTS} times, at last with {type(error).__name__}"
        hint = "Is there a connection? --from takes a copy that you have"
        raise DataError(message, path=url, hint=hint) from error
    except ValueError as error:  # the hash
        raise _complain_of_content(url) from error


def _fetch_by_address(entry: CatalogueEntry, parts: Path) -> Fetch:
    def fetch(name: str) -> None:
        remote = urllib.parse.quote(entry.remote_path(name))
        download_file(f"{(entry.url or '').rstrip('/')}/{remote}", parts / name, entry.files[name])

    return fetch


def _copy_files(
    entry: CatalogueEntry, parts: Path, source: Path, temporary: Path, on_file: Callable[[str], None]
) -> list[str]:
    """Copy the files out of a folder or an archive, wherever they lie in it: archives and clones wrap a corpus in folders."""
    folder = source if source.is_dir() else _unpack(source, temporary)
    wanted = {PurePosixPath(name).name for name in entry.files}
    beside = filter(None, [find_split_list(folder)])  # GUM's list may lie beside it
    named = [path for path in (*folder.rglob("*"), *beside) if path.name in wanted and path.is_file()]
    by_hash = {hash_file(path): path for path in named}

    def fetch(name: str) -> None:
        if (found := by_hash.get(entry.files[name])) is None:
            if any(path.name == PurePosixPath(name).name for path in named):
                raise _complain_of_content(name)
            raise DataError(f"it has no file {name}", path=source, hint="Is this the right corpus?")
        (parts / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, parts / name)

    try:
        return _assemble(entry, fetch, on_file)
    except BaseException:
        shutil.rmtree(parts)  # a copy is quickly made again, a half one is only in the way
        raise


def _assemble(entry: CatalogueEntry, fetch: Fetch, on_file: Callable[[str], None]) -> list[str]:
    """Bring all files; returns the optional ones that are not there."""

    def bring(name: str) -> str | None:
        try:
            fetch(name)
        except DataError:
            if name in entry.optional:
                return name
            raise
        on_file(name)
        return None

    pool = ThreadPoolExecutor(max_workers=WORKERS)
    try:
        return [name for name in pool.map(bring, entry.files) if name is not None]
    finally:
        pool.shutdown(cancel_futures=True)


def _is_here_already(entry: CatalogueEntry, target: Path) -> bool:
    """Tell whether a complete copy is at ``target``; anything else there is refused, because it is not ours to overwrite."""
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


def _unpack(archive: Path, folder: Path) -> Path:
    """Unpack a zip archive that is not larger than any corpus."""
    if not zipfile.is_zipfile(archive):
        raise DataError("this is no folder and no zip archive", path=archive)
    with zipfile.ZipFile(archive) as packed:
        size = sum(info.file_size for info in packed.infolist())
        if size > LARGEST_ARCHIVE:
            raise DataError(f"this archive has {size:,} bytes in it, more than any corpus", path=archive)
        packed.extractall(folder)
    return folder


def _complain_of_content(origin: str) -> DataError:
    message, expected = (
        "the content is not what this package knows under that name",
        "the catalogue's SHA-256",
    )
    hint = "It may be another release of the corpus, or a damaged copy"
    return DataError(message, path=origin, expected=expected, hint=hint)


@contextlib.contextmanager
def _readable_write_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, EOFError) as error:
        raise DataError(f"the archive is damaged ({error})", path=target) from error
    except OSError as error:
        full = error.errno == errno.ENOSPC
        hint = "Free some space and repeat the command: it goes on from here" if full else None
        raise DataError(f"can't be written ({error.strerror or error})", path=target, hint=hint) from error
