"""The catalogue of known corpora (``resources/catalogue.toml``): source, licence, and the SHA-256 of every file.

The hashes are those of the copies that this package was developed and measured with. They are checked after every download and
every copy, so that results on "OntoGUM" are results on the same bytes.
"""

import urllib.parse
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from entitynlm.config import load_toml
from entitynlm.errors import ConfigError, DataError
from entitynlm.files import hash_file, lock_folder, read_hash_list
from entitynlm.progress import SILENT, Progress, track


@dataclass(frozen=True)
class CatalogueEntry:
    """One corpus of the catalogue.

    :param url: address above the single files; ``None`` if the corpus has to be fetched by hand from ``home``.
    :param remote: maps a prefix of a local path to the prefix at the source.
    """

    name: str
    description: str
    documents: int
    licence: str
    home: str
    url: str | None = None
    remote: Mapping[str, str] = field(default_factory=dict)
    generated: bool = False

    @cached_property
    def files(self) -> Mapping[str, str]:
        """SHA-256 by local path; empty for a corpus that is not public or that is generated."""
        manifest = CATALOGUE_FOLDER / "manifests" / f"{self.name}.sha256"
        return read_hash_list(manifest.read_text(encoding="utf-8")) if manifest.is_file() else {}

    def remote_path(self, local: str) -> str:
        """Return the address of the file ``local`` under ``url``."""
        for here, there in self.remote.items():
            if local.startswith(here):
                return there + local[len(here) :]
        return local

    @property
    def how_to_get(self) -> str:
        """Describe in one line how to get the corpus."""
        if self.generated:
            return f"entitynlm data get {self.name} --documents 2000 --seed 1"
        if self.url:
            return f"entitynlm data get {self.name}"
        return f"download it from {self.home}{'' if self.files else ' (licensed)'}; then name its folder"


CATALOGUE_FOLDER = Path(__file__).parents[2] / "resources"
CATALOGUE: Mapping[str, CatalogueEntry] = {
    name: CatalogueEntry(name, **fields)
    for name, fields in load_toml(CATALOGUE_FOLDER / "catalogue.toml").items()
}


def get_entry(name: str) -> CatalogueEntry:
    if name not in CATALOGUE:
        raise ConfigError(f"there is no corpus {name!r} in the catalogue; it has {', '.join(CATALOGUE)}")
    return CATALOGUE[name]


ATTEMPTS = 4  # for one file whose connection breaks
TIMEOUT = 30.0  # seconds without a byte
WORKERS = 4  # files at a time


def get_corpus(entry: CatalogueEntry, target: Path, progress: Progress = SILENT) -> None:
    """Bring a public corpus to the folder ``target``.

    A file is written when it is complete and its hash is right, and kept when it exists, so the same call continues after a
    failure.
    """
    if entry.url is None:
        raise ConfigError(f"{entry.name} has no direct download: {entry.how_to_get}")
    address = entry.url.rstrip("/")
    for name, digest in entry.files.items():
        if (target / name).is_file() and hash_file(target / name) != digest:
            told = f"{target / name} exists already and is not that of {entry.name}"
            raise ConfigError(f"{told}; remove it or name another place with --out")

    def bring(name: str) -> None:
        if not (target / name).is_file():
            remote = urllib.parse.quote(entry.remote_path(name))
            download_file(f"{address}/{remote}", target / name, entry.files[name])

    try:
        with lock_folder(target, "another command is writing into this folder"):
            pool = ThreadPoolExecutor(max_workers=WORKERS)
            try:
                list(track(progress, f"getting {entry.name}", pool.map(bring, entry.files), len(entry.files)))
            finally:
                pool.shutdown(cancel_futures=True)
    except OSError as error:
        hint = "Repeat the command when there is room: it goes on from here"
        raise DataError(f"can't be written ({error.strerror or error})", path=target, hint=hint) from error


def download_file(url: str, path: Path, digest: str) -> None:
    """Download one file, again if the connection breaks; ``path`` exists only once the file is complete and its hash right."""
    import pooch  # here, because it takes half a second to load
    from requests import exceptions

    pooch.get_logger().setLevel("CRITICAL")
    store = pooch.create(path.parent, "", registry={path.name: digest}, urls={path.name: url})
    store.retry_if_failed = ATTEMPTS - 1
    hint = "The file may have moved: a copy that you have is used by the name of its folder"
    try:
        store.fetch(path.name, downloader=pooch.HTTPDownloader(timeout=TIMEOUT))
    except exceptions.HTTPError as error:
        raise DataError(f"the server answers {error}", path=url, hint=hint) from error
    except exceptions.RequestException as error:
        message = f"the download failed {ATTEMPTS} times, at last with {type(error).__name__}"
        raise DataError(message, path=url, hint="Is there a connection?") from error
    except ValueError as error:  # the hash
        message = "the content is not what this package knows under that name"
        hint = "It may be another release of the corpus, or a damaged copy"
        raise DataError(message, path=url, expected="the catalogue's SHA-256", hint=hint) from error
