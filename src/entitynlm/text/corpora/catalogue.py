"""The catalogue of known corpora (``resources/catalogue.toml``): source, licence, and the SHA-256 of every file.

The hashes are those of the copies that this package was developed and measured with. They are checked after every download
and every copy, so that results reported on "OntoGUM" are results on the same bytes.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from entitynlm.config import load_toml
from entitynlm.errors import ConfigError
from entitynlm.files import read_hash_list


@dataclass(frozen=True)
class CatalogueEntry:
    """One corpus of the catalogue.

    :param url: the address above the single files; ``None`` when a person has to fetch the corpus from ``home``.
    :param remote: maps a prefix of a local path to the prefix at the source.
    :param optional: files without which a copy of the corpus still counts as complete.
    """

    name: str
    description: str
    documents: int
    licence: str
    home: str
    url: str | None = None
    remote: Mapping[str, str] = field(default_factory=dict)
    optional: Collection[str] = ()
    generated: bool = False

    @cached_property
    def files(self) -> Mapping[str, str]:
        """SHA-256 by local path; empty for a corpus that is not public or that is generated."""
        manifest = CATALOGUE_FOLDER / "manifests" / f"{self.name}.sha256"
        return read_hash_list(manifest.read_text(encoding="utf-8")) if manifest.is_file() else {}

    def remote_path(self, local: str) -> str:
        """Give the address of the file ``local`` under ``url``."""
        for here, there in self.remote.items():
            if local.startswith(here):
                return there + local[len(here) :]
        return local

    @property
    def how_to_get(self) -> str:
        """One line for a person."""
        if self.generated:
            return f"entitynlm data get {self.name} --documents 2000 --seed 1"
        if self.url:
            return f"entitynlm data get {self.name}"
        if self.files:
            return f"download it from {self.home}, then: entitynlm data get {self.name} --from FILE.zip"
        return f"licensed, see {self.home}; then name your folder"


CATALOGUE_FOLDER = Path(__file__).parents[2] / "resources"
CATALOGUE: Mapping[str, CatalogueEntry] = {
    name: CatalogueEntry(name, **fields)
    for name, fields in load_toml(CATALOGUE_FOLDER / "catalogue.toml").items()
}


def get_entry(name: str) -> CatalogueEntry:
    if name not in CATALOGUE:
        raise ConfigError(f"there is no corpus {name!r} in the catalogue; it has {', '.join(CATALOGUE)}")
    return CATALOGUE[name]
