"""A corpus: a name and files in splits, recognised from the contents of a folder, read as a stream of documents.

:func:`open_corpus` asks one recogniser after the other: the known corpora (InScript, LitBank, GUM, a CoNLL-2012 tree), then the
general ones (files or folders called train/dev/test, any folder of readable files).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import STANDARD
from entitynlm.text.corpora.splits import (
    ALL,
    ORDER,
    OTHER,
    Splits,
    arrange_splits,
    find_split_list,
    find_split_word,
    read_split_list,
    split_by_list,
    split_by_name,
    split_every_ninth,
)
from entitynlm.text.document import Document
from entitynlm.text.formats.base import Report, ignore
from entitynlm.text.formats.registry import read_documents

CARD = "corpus.json"  # a corpus that this package wrote says its name (and that it is generated) in this file

ANNOTATED_ENDINGS = (
    "_conll", ".conll", ".conllu", ".drs", ".xml", ".jsonl", ".jsonlines", ".json", ".ann", ".spacy",
)  # fmt: skip
TEXT_ENDINGS = (".txt", ".md", ".markdown", ".text")
_NOT_DATA = re.compile(
    r"(readme|licen[cs]e|copying|changelog|citation|splits)\b.*"
    r"|corpus\.json|dataSplit\.json|humanPredictions\.json",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Corpus:
    """Files in splits. ``rule`` says in words how the splits were found."""

    name: str
    path: Path
    splits: Splits
    format: str | None = None
    rule: str = ""

    def files(self, split: str | None = None) -> tuple[Path, ...]:
        """The files of one split, or of all of them."""
        if split is None:
            return tuple(path for paths in self.splits.values() for path in paths)
        try:
            return self.splits[split]
        except KeyError:
            known = ", ".join(self.splits)
            message = f"{self.path}: there is no split {split!r}; this corpus has {known}"
            raise ConfigError(message) from None

    def documents(
        self, split: str | None = None, *, on_oddity: Report = ignore, **options: Any
    ) -> Iterator[Document]:
        """Stream the documents of one split or of all, one in memory at a time; options go to the reader."""
        for path in self.files(split):
            yield from read_documents(path, self.format, on_oddity=on_oddity, **options)


Recognised = tuple[str, Splits, str]  # name, splits, rule
Recogniser = Callable[[Path], "Recognised | None"]


def open_corpus(path: str | Path, *, format: str | None = None) -> Corpus:
    """Recognise the corpus at ``path``; ``format`` overrides the recognition of each file's format, not that of the folder."""
    if str(path) == STANDARD:
        return Corpus("standard input", Path(STANDARD), {ALL: (Path(STANDARD),)}, format, "one stream")
    path = Path(path)
    if path.is_file():
        split = find_split_word(path.name) or ALL
        return Corpus(path.name, path, {split: (path,)}, format, "one file")
    if not path.is_dir():
        raise DataError("there is no such file or folder", path=path, hint="Check the spelling of the path")
    for recognise in _RECOGNISERS:
        found = recognise(path)
        if found is not None:
            name, splits, rule = found
            return Corpus(_read_card(path) or name, path, splits, format, rule)
    raise DataError(
        "no corpus is recognised in this folder",
        path=path,
        expected="; ".join((recognise.__doc__ or "").rstrip(".") for recognise in _RECOGNISERS),
        hint=_suggest_folders(path),
    )


# -- recognisers: the first line of each says what it looks for, and stands in the error message -----------


def _recognise_inscript(folder: Path) -> Recognised | None:
    """InScript's data/trainFiles, devFiles and testFiles with *.drs (or its dataSplit.json)."""
    placed = [
        (split, path)
        for split in ORDER
        for base in (folder / "data", folder)
        for path in (base / f"{split}Files").rglob("*.drs")
    ]
    if placed:
        return "inscript", arrange_splits(placed), "InScript's own folders"
    split_file = folder / "dataSplit.json"
    if not split_file.is_file():
        return None
    files = sorted([*folder.rglob("*.drs"), *folder.rglob("*.xml")])
    listed = _read_json_splits(split_file)
    splits = split_by_list(files, listed, lambda path: path.name.split(".")[0])
    return ("inscript", splits, "InScript's dataSplit.json") if files else None


def _recognise_gum(folder: Path) -> Recognised | None:
    """OntoGUM's or GUM's *.conllu (in conllu/ or right here) with a splits.md."""
    for place in (folder / "conllu", folder):
        files = sorted(place.glob("*.conllu"))
        if not files:
            continue
        split_list = find_split_list(place)
        listed = read_split_list(split_list) if split_list else {}
        splits = split_by_list(files, listed, lambda path: path.stem)
        if set(splits) != {OTHER}:
            return _name_gum(files[0]), splits, "GUM's splits.md"
        if place != folder:  # no list, or one of other documents
            return folder.resolve().name, {ALL: tuple(files)}, "no splits.md"
    return None


def _recognise_litbank(folder: Path) -> Recognised | None:
    """LitBank's *_brat.conll in conll/ (or *_brat.ann in brat/)."""
    for ending in ("_brat.conll", "_brat.ann"):
        for place in ("conll", "brat", "coref/conll", "coref/brat", "."):
            if files := sorted((folder / place).glob(f"*{ending}")):
                rule = "every 9th file by name, from index 8 test, from 4 dev"
                return "litbank", split_every_ninth(files), rule
    return None


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
        key = (splits[0], "/".join((*_below_annotations(inner), kind[1])))
        chosen[key] = max(chosen.get(key, rank), rank)
    placed = [(split, path) for (split, _), (_, _, path) in chosen.items()]
    if not placed:
        return None
    english = [(split, path) for split, path in placed if "english" in path.parts]
    return "conll2012", arrange_splits(english or placed), "CoNLL-2012's folders, gold before auto"


def _recognise_split_files(folder: Path) -> Recognised | None:
    """files called train, dev and test in any format."""
    files = _readable_files(folder)
    splits = split_by_name(files)
    if OTHER in splits or len(splits) < (2 if len(files) > 1 else 1):
        return None
    return folder.resolve().name, splits, "file names"


def _recognise_split_folders(folder: Path) -> Recognised | None:
    """folders called train, dev and test with files in any format."""
    placed = [
        (split, path)
        for inner in sorted(folder.iterdir())
        if inner.is_dir() and (split := find_split_word(inner.name)) and inner.name.lower().startswith(split)
        for path in _choose_files(path for path in inner.rglob("*") if path.is_file())
    ]
    return (folder.resolve().name, arrange_splits(placed), "folder names") if placed else None


def _recognise_plain_folder(folder: Path) -> Recognised | None:
    """any folder of annotated files or of texts."""
    files = _readable_files(folder)
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


# -- what the recognisers use ------------------------------------------------------------------------------


def _readable_files(folder: Path) -> list[Path]:
    return _choose_files(path for path in folder.iterdir() if path.is_file())


def _choose_files(paths: Iterable[Path]) -> list[Path]:
    """The annotated files, or the texts where there are none (a text beside a brat file belongs to that)."""
    usable = [path for path in paths if not path.name.startswith(".") and not _NOT_DATA.fullmatch(path.name)]
    for endings in (ANNOTATED_ENDINGS, TEXT_ENDINGS):
        chosen = sorted(path for path in usable if path.name.removesuffix(".gz").endswith(endings))
        if chosen:
            return chosen
    return []


def _below_annotations(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The part of a CoNLL-2012 path that names the document: what follows the folder ``annotations``."""
    return parts[parts.index("annotations") + 1 :] if "annotations" in parts else parts[1:]


def _name_gum(path: Path) -> str:
    """OntoGUM's files declare bare groups, GUM's a richer scheme."""
    with path.open("rb") as stream:
        for raw in stream:
            if not raw.startswith(b"#"):
                break
            if raw.startswith(b"# global.Entity"):
                return "ontogum" if raw.split(b"=", 1)[1].strip() == b"GRP" else "gum"
    return path.resolve().parent.name


def _read_json_splits(path: Path) -> Mapping[str, list[str]]:
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        return {str(split): [str(name) for name in names] for split, names in listed.items()}
    except (ValueError, AttributeError, TypeError) as error:
        expected = '{"train": ["name", …], …}'
        raise DataError("the list of splits can't be read", path=path, expected=expected) from error


def _read_card(folder: Path) -> str | None:
    """The name that a corpus written by this package gives itself."""
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        return str(card["corpus"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _suggest_folders(folder: Path) -> str:
    """Which folders in this one are corpora, for people who named one level too high."""
    inner = [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    names = sorted(path.name for path in inner if any(recognise(path) for recognise in _RECOGNISERS[:3]))
    if names:
        return f"Name one of the folders in it: {', '.join(names)}"
    return "Name a folder or a file of these kinds"
