"""Read the inputs of a command line as documents: many files, patterns, standard input."""

import glob
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import STANDARD, check_outputs, has_name, write_text
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import check_exists
from entitynlm.text.corpora.corpus import CARD, read_card
from entitynlm.text.detokenization import join_tokens
from entitynlm.text.document import Document
from entitynlm.text.formats.base import strip_endings
from entitynlm.text.formats.registry import FORMATS, read_documents, read_sample, recognise_format


def expand_files(named: Sequence[str] | None) -> list[str]:
    """List the files that were named, with patterns expanded; without a name that is standard input."""
    found: list[str] = []
    for name in named or [STANDARD]:
        if Path(name).exists() or not glob.has_magic(name):
            found.append(check_exists(name))
        else:
            matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 (absolute patterns, too)
            if not matches:
                raise DataError("no file is called like this", path=name, hint="Check the pattern")
            found += [match for match in matches if Path(match).is_file()]
    return list(dict.fromkeys(found))


def list_texts(named: Sequence[str], out: Path | None) -> Iterator[tuple[Path, str]]:
    """List the named files and all texts in the named folders except ``out``, sorted, with their names below the folder."""
    for path in map(Path, named):
        if path.is_file():
            yield path, path.name
            continue
        if not path.is_dir():
            told = f"a batch job reads its input more than once, and {path} is a pipe: name files or folders"
            raise ConfigError(told)
        inside = (file for file in sorted(path.rglob("*")) if is_text(file, path))
        found = [file for file in inside if out is None or out.resolve() not in file.resolve().parents]
        if not found:
            raise DataError("there is no file in this folder", path=path)
        yield from ((file, str(file.relative_to(path))) for file in found)


def is_text(file: Path, folder: Path) -> bool:
    """Tell texts from folders, hidden files, files beside brat annotation and corpus cards."""
    hidden = any(name.startswith(".") for name in file.relative_to(folder).parts)
    beside = file.suffix == ".txt" and file.with_suffix(".ann").exists()
    settings = file.suffix == ".conf" and any(file.parent.glob("*.ann"))
    card = file.name == CARD and read_card(file.parent) is not None
    return file.is_file() and not (hidden or beside or settings or card)


_FILES = "Texts in any readable format; patterns stand in quotes; '-' is standard input."
Files = Annotated[list[str] | None, typer.Argument(metavar="FILE", callback=expand_files, help=_FILES)]


_KEEP_TEXT = "Write the plain text that character offsets refer to (of an EPUB, for example) to this file."
KeepText = Annotated[Path | None, typer.Option("--keep-text", metavar="FILE", help=_KEEP_TEXT)]


def read_inputs(
    files: Sequence[str], terminal: Terminal, *, format: str | None = None, keep_text: Path | None = None
) -> Iterator[tuple[str, Document]]:
    """Read the documents of all files, one at a time, each with its file; remark on oddities.

    Before the first is returned, all files are opened, their formats recognised and the first document read, so that errors are
    reported before a model is loaded.
    """
    for file in files:
        if file != STANDARD:
            sample = read_sample(file)
            if format is None:
                recognise_format(file, sample)

    documents: Iterator[tuple[str, Document]] = (
        (file, document)
        for file in files
        for document in read_documents(file, format, on_oddity=terminal.remark_oddity)
    )
    if keep_text is not None:
        check_outputs([keep_text])
        documents = _keep_text(documents, keep_text)
    return itertools.chain(list(itertools.islice(documents, 1)), documents)


def _keep_text(documents: Iterator[tuple[str, Document]], path: Path) -> Iterator[tuple[str, Document]]:
    """Pass the only document on, and write its text to a file."""
    for number, (file, document) in enumerate(documents):
        if number:
            raise ConfigError("--keep-text keeps the text of one document, and more were named")
        write_text(path, document.text if document.text is not None else join_tokens(document.tokens)[0])
        yield file, document


def require_mentions(
    documents: Iterator[tuple[str, Document]], option: str, terminal: Terminal
) -> Iterator[tuple[str, Document]]:
    """Pass documents on; raise an error if the first one has no mentions, and remark on later ones without mentions."""
    first = list(itertools.islice(documents, 1))
    for path, document in first:
        check_mentions(document, option, path)

    def go_on() -> Iterator[tuple[str, Document]]:
        for path, document in itertools.chain(first, documents):
            if not document.mentions:
                terminal.remark(f"remark: {path}: {document.id!r} has no mentions", markup=False)
            yield path, document

    return go_on()


def check_mentions(document: Document, option: str, path: str | None = None) -> None:
    """Raise an error for a document without mentions where an option needs them."""
    if not document.mentions:
        hint = "Annotate it first (entitynlm annotate --to jsonl), or leave the option out"
        raise DataError(
            f"{option} needs mentions, and there are none in this text", path=path or document.id, hint=hint
        )


def read_input(file: str, terminal: Terminal, format: str | None, wanted: str | None) -> Document:
    """Read the document called ``wanted``, or the first one, of a file."""
    names: list[str] = []
    for _, document in read_inputs([file], terminal, format=format):
        if wanted is None or document.id == wanted:
            return document
        names = [*names, document.id][:10]
    if names:
        expected = f"an id such as {', '.join(names)}"
        raise DataError(f"there is no document {wanted!r} in it", path=file, expected=expected)
    raise DataError("there is no word in it", path="standard input" if file == STANDARD else file)


def name_of(file: str) -> str:
    """Name the outputs of a file after it."""
    return strip_endings(Path(file).name) if has_name(file) else "text"


def distinguish(names: Iterable[str]) -> Iterator[str]:
    """Tell equal names apart by numbers behind them: story, story-2, story-3."""
    taken: set[str] = set()
    for name in names:
        numbered = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        taken.add(free := next(one for one in numbered if one not in taken))
        yield free


def is_folder(out: str) -> bool:
    """Tell whether an output is a folder: it exists as one, or its name ends with a slash or has no ending."""
    path = Path(out)
    return out.endswith(("/", "\\")) or path.is_dir() or not (path.suffix or path.is_file())


def choose_format(to: str | None, out: str, default: str) -> str:
    """Choose the output format: the named one, or that of the file's ending; ``default`` for a folder."""
    if to is not None:
        return to
    if out == STANDARD or is_folder(out):
        return default
    for name, form in FORMATS.items():
        if form.writable and out.endswith(form.suffix):
            return name
    known = "jsonl, conll2012, conllu"
    raise ConfigError(f"{out}: which format is this? Say so with --to ({known})")
