"""Rules that divide the files of a corpus into ``{"train": …, "dev": …, "test": …}``.

Files that a rule does not place are kept under ``other``; a corpus without any division has the one split ``all``.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from entitynlm.errors import DataError
from entitynlm.files import decode_lines, open_binary

Splits = Mapping[str, tuple[Path, ...]]

ALL, OTHER = "all", "other"
ORDER = ("train", "dev", "test")

_SPLIT_WORDS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("dev", "devel", "development", "valid", "validation"), "dev"),
    **dict.fromkeys(("test", "testing"), "test"),
}


def arrange_splits(placed: Iterable[tuple[str, Path]]) -> dict[str, tuple[Path, ...]]:
    """Group ``(split, file)`` pairs: train, dev and test first, then the others; files sorted by path."""
    groups: dict[str, list[Path]] = {}
    for split, path in placed:
        groups.setdefault(split, []).append(path)
    ranks = {name: rank for rank, name in enumerate(ORDER)}
    names = sorted(groups, key=lambda name: (ranks.get(name, len(ORDER)), name))
    return {name: tuple(sorted(groups[name], key=str)) for name in names}


def find_split_word(name: str) -> str | None:
    """The split that a file or folder name contains as a word: ``en-ud-train.conllu`` → train, ``development`` → dev.

    A name with the words of two splits has none. A split word followed by a bare number does not count, because InScript's
    stories such as ``train_040`` are about train rides.
    """
    if re.fullmatch(r"[A-Za-z]+[_-]?\d+(\.[\w.]+)?", name):
        return None
    words = re.split(r"[^a-z]+", name.lower())
    found = {_SPLIT_WORDS[word] for word in words if word in _SPLIT_WORDS}
    return found.pop() if len(found) == 1 else None


def split_by_name(files: Iterable[Path]) -> dict[str, tuple[Path, ...]]:
    """Files whose own names say their split; the rest is ``other``."""
    return arrange_splits((find_split_word(path.name) or OTHER, path) for path in files)


def split_every_ninth(files: Iterable[Path]) -> dict[str, tuple[Path, ...]]:
    """LitBank's rule (it has no official split): by name, index 8, 17, … is test, index 4, 13, … is dev."""
    names = {4: "dev", 8: "test"}
    ordered = sorted(files, key=lambda path: path.name)
    return arrange_splits((names.get(index % 9, "train"), path) for index, path in enumerate(ordered))


def split_by_list(
    files: Sequence[Path], listed: Mapping[str, Sequence[str]], name_of: Callable[[Path], str]
) -> dict[str, tuple[Path, ...]]:
    """Files placed by a published list of names; listed documents without a file are ignored."""
    place = {name: split for split, names in listed.items() for name in names}
    return arrange_splits((place.get(name_of(path), OTHER), path) for path in files)


def read_split_list(path: Path) -> dict[str, list[str]]:
    """GUM's ``splits.md``: a heading ``## dev`` per split and under it ``* GUM_name`` lines."""
    splits: dict[str, list[str]] = {}
    current: list[str] | None = None
    with open_binary(path) as stream:
        for number, line in decode_lines(stream, str(path)):
            heading = re.fullmatch(r"##\s*(\S+)\s*", line)
            item = re.fullmatch(r"\s*[*-]\s+(\S+)\s*", line)
            if heading:
                current = splits.setdefault(heading[1].lower(), [])
            elif item and current is not None:
                current.append(item[1])
            elif item:
                message, expected = (
                    "a document is listed before any split",
                    "a heading such as '## train' first",
                )
                raise DataError(message, path=path, line=number, found=line, expected=expected)
    if not splits:
        raise DataError("no splits are listed", path=path, expected="headings such as '## train'")
    return splits


def find_split_list(folder: Path) -> Path | None:
    """The nearest ``splits.md``: in the folder, up to three folders above it, or in a sibling ``ontogum``/``gum``.

    OntoGUM and GUM are two annotations of the same documents with one division, and the list may be in either of the two
    folders or at the root of a clone of the GUM repository.
    """
    folder = folder.resolve()
    above = [folder, *folder.parents][:4]
    beside = [place / name for place in above[1:3] for name in ("ontogum", "gum")]
    candidates = (place / "splits.md" for place in (*above, *beside))
    return next((candidate for candidate in candidates if candidate.is_file()), None)
