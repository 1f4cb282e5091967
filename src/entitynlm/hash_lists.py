"""Lists of SHA-256 hashes, as ``sha256sum`` writes and checks them: of the files of a model's folder and of a corpus."""

from collections.abc import Iterable
from pathlib import Path

from entitynlm.errors import DataError
from entitynlm.files import hash_file, write_atomically

HASH_LIST = "SHA256SUMS"
"""The name of the list in a folder."""


def read_hash_list(text: str) -> dict[str, str]:
    """Read a list: path → hash."""
    files = {}
    for number, line in enumerate(text.splitlines(), start=1):
        digest, separator, name = line.partition("  ")
        if not separator or len(digest) != 64:
            message = "not a line of a SHA-256 list"
            raise DataError(message, line=number, found=line, expected="'<hash>  <path>'")
        files[name] = digest
    return files


def write_hash_list(folder: Path, names: Iterable[str]) -> None:
    """List the hashes of a folder's files, when all of them are there."""
    lines = [f"{hash_file(folder / name)}  {name}\n" for name in sorted(names)]
    with write_atomically(folder / HASH_LIST) as stream:
        stream.write("".join(lines))
