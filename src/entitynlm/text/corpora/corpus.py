"""A corpus: a name and files in splits, recognised from the contents of a folder, read as a stream of documents."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import STANDARD, decode_lines, has_name, open_binary, read_json
from entitynlm.text.document import Document
from entitynlm.text.formats.base import ReportOddity, ignore
from entitynlm.text.formats.pandoc import CONVERTED_ENDINGS
from entitynlm.text.formats.registry import read_documents

Splits = Mapping[str, tuple[Path, ...]]

ALL, OTHER = "all", "other"
SPLIT_ORDER = ("train", "dev", "test")

_SPLIT_WORDS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("dev", "devel", "development", "valid", "validation"), "dev"),
    **dict.fromkeys(("test", "testing"), "test"),
}

CARD = "corpus.json"  # a corpus that this package wrote says its name (and that it is generated) in this file

ANNOTATED_ENDINGS = (
    "_conll", ".conll", ".conllu", ".drs", ".jsonl", ".jsonlines", ".json", ".ann",
)  # fmt: skip
TEXT_ENDINGS = (".txt", ".text", *CONVERTED_ENDINGS)
_NOT_DATA = re.compile(
    r"(readme|licen[cs]e|copying|changelog|citation|splits)\b.*"
    r"|corpus\.json|dataSplit\.json|humanPredictions\.json",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Corpus:
    """Files in splits. ``rule`` describes how the splits were found."""

    name: str
    path: Path
    splits: Splits
    format: str | None = None
    rule: str = ""

    def __repr__(self) -> str:
        files = ", ".join(f"{len(paths)} {split}" for split, paths in self.splits.items())
        return f"<Corpus {self.name!r}: {files}>"

    def files(self, split: str | None = None) -> tuple[Path, ...]:
        if split is None:
            return tuple(path for paths in self.splits.values() for path in paths)
        if split not in self.splits:
            known = ", ".join(self.splits)
            raise ConfigError(f"{self.path}: there is no split {split!r}; this corpus has {known}")
        return self.splits[split]

    def documents(
        self, split: str | None = None, *, on_oddity: ReportOddity = ignore, words_only: bool = False
    ) -> Iterator[Document]:
        """Stream the documents of one split or of all, one in memory at a time, as :func:`read_documents` does."""
        for path in self.files(split):
            yield from read_documents(path, self.format, on_oddity=on_oddity, words_only=words_only)


Recognised = tuple[str, Splits, str]  # name, splits, rule
Recogniser = Callable[[Path], "Recognised | None"]


def open_corpus(path: str | Path, *, format: str | None = None) -> Corpus:
    """Recognise the corpus at ``path``; ``format`` overrides the recognition of each file's format, not that of the folder."""
    if str(path) == STANDARD:
        return Corpus("standard input", Path(STANDARD), {ALL: (Path(STANDARD),)}, format, "one stream")
    path = Path(path)
    if path.exists() and not path.is_dir():
        split = find_split_word(path.name) or ALL
        return Corpus(path.name if has_name(path) else "pipe", path, {split: (path,)}, format, "one file")
    if not path.is_dir():
        raise DataError("there is no such file or folder", path=path, hint="Check the spelling of the path")
    for recognise in _RECOGNISERS:
        found = recognise(path)
        if found is not None:
            name, splits, rule = found
            return Corpus(read_card(path) or name, path, splits, format, rule)
    raise DataError(
        "no corpus is recognised in this folder",
        path=path,
        expected="; ".join((recognise.__doc__ or "").rstrip(".") for recognise in _RECOGNISERS),
        hint=_suggest_folders(path),
    )


# -- recognisers: the first line of each says what it looks for, and stands in the error message -----------


def _recognise_inscript(folder: Path) -> Recognised | None:
    """InScript's data/trainFiles, devFiles and testFiles with *.drs."""
    files = ((split, folder / "data" / f"{split}Files") for split in SPLIT_ORDER)
    placed = [(split, path) for split, place in files for path in place.rglob("*.drs")]
    return ("inscript", arrange_splits(placed), "InScript's own folders") if placed else None


def _recognise_gum(folder: Path) -> Recognised | None:
    """OntoGUM's or GUM's *.conllu (in conllu/ or right here) with a splits.md."""
    for place in (folder / "conllu", folder):
        files = sorted(place.glob("*.conllu"))
        if not files:
            continue
        split_list = find_split_list(place)
        listed = read_split_list(split_list) if split_list else {}
        place_of = {name: split for split, names in listed.items() for name in names}
        splits = arrange_splits((place_of.get(path.stem, OTHER), path) for path in files)
        if set(splits) != {OTHER}:
            return _name_gum(files[0]), splits, "GUM's splits.md"
        if place != folder:  # no list, or one of other documents
            return folder.resolve().name, {ALL: tuple(files)}, "no splits.md"
    return None


def _recognise_litbank(folder: Path) -> Recognised | None:
    """LitBank's *_brat.conll in conll/ (or *_brat.ann in brat/)."""
    rule = "every 9th file by name, from index 8 test, from 4 dev"
    places = ("conll/*_brat.conll", "*_brat.conll", "brat/*_brat.ann", "*_brat.ann")
    found = next((files for place in places if (files := sorted(folder.glob(place)))), None)
    return ("litbank", split_every_ninth(found), rule) if found else None


def _recognise_conll2012(folder: Path) -> Recognised | None:
    """CoNLL-2012's train, development and test folders with *_gold_conll or *_auto_conll anywhere below."""
    chosen: dict[tuple[str, str], tuple[bool, int, Path]] = {}
    for path in sorted(folder.rglob("*_conll")):
        kind = re.fullmatch(r"(.*?)\.?(v\d+)?_(gold|auto)_conll", path.name)
        inner = path.relative_to(folder).parent.parts
        splits = [word for word in map(find_split_word, inner) if word]
        if kind is None or not splits:
            continue
        rank = (kind[3] == "gold", int((kind[2] or "v0")[1:]), path)  # gold before auto, the latest version
        below = inner.index("annotations") + 1 if "annotations" in inner else 1  # what names the document
        key = (splits[0], "/".join((*inner[below:], kind[1])))
        chosen[key] = max(chosen.get(key, rank), rank)
    placed = [(split, path) for (split, _), (_, _, path) in chosen.items()]
    if not placed:
        return None
    english = [(split, path) for split, path in placed if "english" in path.parts]
    return "conll2012", arrange_splits(english or placed), "CoNLL-2012's folders, gold before auto"


def _recognise_split_files(folder: Path) -> Recognised | None:
    """files called train, dev and test in any format."""
    files = _choose_files(folder.iterdir())
    splits = arrange_splits((find_split_word(path.name) or OTHER, path) for path in files)
    if OTHER in splits or len(splits) < (2 if len(files) > 1 else 1):
        return None
    return folder.resolve().name, splits, "file names"


def _recognise_split_folders(folder: Path) -> Recognised | None:
    """folders called train, dev and test with files in any format."""
    placed = [
        (split, path)
        for inner in sorted(folder.iterdir())
        if inner.is_dir() and (split := find_split_word(inner.name)) and inner.name.lower().startswith(split)
        for path in _choose_files(inner.rglob("*"))
    ]
    return (folder.resolve().name, arrange_splits(placed), "folder names") if placed else None


def _recognise_plain_folder(folder: Path) -> Recognised | None:
    """any folder of annotated files or of texts."""
    files = _choose_files(folder.iterdir())
    return (folder.resolve().name, {ALL: tuple(files)}, "no splits") if files else None


_RECOGNISERS: tuple[Recogniser, ...] = (
    _recognise_inscript,
    _recognise_litbank,
    _recognise_gum,
    _recognise_conll2012,
    _recognise_split_files,
    _recognise_split_folders,
    _recognise_plain_folder,
)


def _choose_files(paths: Iterable[Path]) -> list[Path]:
    """Return the annotated files, or the texts if there are none (a text beside a brat file belongs to the annotation)."""
    files = [path for path in paths if path.is_file()]
    usable = [path for path in files if not path.name.startswith(".") and not _NOT_DATA.fullmatch(path.name)]
    for endings in (ANNOTATED_ENDINGS, TEXT_ENDINGS):
        chosen = sorted(path for path in usable if path.name.removesuffix(".gz").endswith(endings))
        if chosen:
            return chosen
    return []


def _name_gum(path: Path) -> str:
    """Distinguish OntoGUM, whose files declare only entity numbers, from GUM with its richer scheme."""
    with path.open("rb") as stream:
        for raw in stream:
            if not raw.startswith(b"#"):
                break
            if raw.startswith(b"# global.Entity"):
                return "ontogum" if raw.split(b"=", 1)[1].strip() == b"GRP" else "gum"
    return path.resolve().parent.name


def read_card(folder: Path) -> str | None:
    """Read the name of a corpus that this package wrote."""
    try:
        card = read_json(folder / CARD)
        return str(card["corpus"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _suggest_folders(folder: Path) -> str:
    """List the subfolders that are corpora, for an error about a folder one level too high."""
    inner = [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    names = sorted(path.name for path in inner if any(recognise(path) for recognise in _RECOGNISERS[:3]))
    return f"Name one of the folders in it: {', '.join(names)}" if names else "Name a folder of these kinds"


# -- rules that divide the files of a corpus; what a rule does not place is kept under ``other`` ----------------


def arrange_splits(placed: Iterable[tuple[str, Path]]) -> dict[str, tuple[Path, ...]]:
    """Group ``(split, file)`` pairs: train, dev and test first, then the others; files sorted by path."""
    groups: dict[str, list[Path]] = {}
    for split, path in placed:
        groups.setdefault(split, []).append(path)
    ranks = {name: rank for rank, name in enumerate(SPLIT_ORDER)}
    names = sorted(groups, key=lambda name: (ranks.get(name, len(SPLIT_ORDER)), name))
    return {name: tuple(sorted(groups[name], key=str)) for name in names}


def find_split_word(name: str) -> str | None:
    """Find the split that a file or folder name contains as a word: ``en-ud-train.conllu`` → train, ``development`` → dev.

    A name with the words of two splits has none. A split word followed by a number does not count, because InScript's stories
    such as ``train_040`` are about train rides.
    """
    if re.fullmatch(r"[A-Za-z]+[_-]?\d+(\.[\w.]+)?", name):
        return None
    words = re.split(r"[^a-z]+", name.lower())
    found = {_SPLIT_WORDS[word] for word in words if word in _SPLIT_WORDS}
    return found.pop() if len(found) == 1 else None


def split_every_ninth(files: Iterable[Path]) -> dict[str, tuple[Path, ...]]:
    """Divide LitBank, which has no official split: by name, index 8, 17, … is test, index 4, 13, … is dev."""
    names = {4: "dev", 8: "test"}
    ordered = sorted(files, key=lambda path: path.name)
    return arrange_splits((names.get(index % 9, "train"), path) for index, path in enumerate(ordered))


def read_split_list(path: Path) -> dict[str, list[str]]:
    """Read GUM's ``splits.md``: a heading ``## dev`` per split and under it ``* GUM_name`` lines."""
    splits: dict[str, list[str]] = {}
    with open_binary(path) as stream:
        for _, line in decode_lines(stream, str(path)):
            if heading := re.fullmatch(r"##\s*(\S+)\s*", line):
                current = splits.setdefault(heading[1].lower(), [])
            elif splits and (item := re.fullmatch(r"\s*[*-]\s+(\S+)\s*", line)):
                current.append(item[1])
    if not splits:
        raise DataError("no splits are listed", path=path, expected="headings such as '## train'")
    return splits


def find_split_list(folder: Path) -> Path | None:
    """Find the nearest ``splits.md``: in the folder, up to three folders above it, or in a sibling ``ontogum``/``gum``.

    OntoGUM and GUM annotate the same documents with one division, and only one of them, or the root of their clone, may have the
    list.
    """
    folder = folder.resolve()
    above = [folder, *folder.parents][:4]
    beside = [place / name for place in above[1:3] for name in ("ontogum", "gum")]
    candidates = (place / "splits.md" for place in (*above, *beside))
    return next((candidate for candidate in candidates if candidate.is_file()), None)
