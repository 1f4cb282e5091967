"""``entitynlm data``: counting, converting, checking and showing corpora; ``data_sources`` lists and gets them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.markup import escape

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import STANDARD
from entitynlm.interfaces.commands.data_sources import get_corpus, list_corpora
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.options import ColourOption, FormatOption, JsonOption, QuietOption
from entitynlm.text.document import Document
from entitynlm.text.formats.base import Oddity

if TYPE_CHECKING:
    from entitynlm.text.corpora.conversion import Layout, Step
    from entitynlm.text.corpora.corpus import Corpus

app = typer.Typer(
    help="Corpora and annotated files: list, get, stats, convert, check, show.", no_args_is_help=True
)
app.command("list", epilog="Example: entitynlm data list --data ~/corpora")(list_corpora)
app.command(
    "get",
    epilog="Examples: entitynlm data get ontogum · entitynlm data get stories --documents 2000 --seed 1",
)(get_corpus)


class _OddityCount:
    """A report that keeps none of what it is told: files without end may be odd without end."""

    def __init__(self) -> None:
        self.total = 0

    def __call__(self, oddity: Oddity) -> None:
        self.total += 1


@app.command("stats", epilog="Example: entitynlm data stats corpora/ontogum --json -")
def stats(
    path: Annotated[str, typer.Argument(help="A corpus folder or a file; '-' is standard input.")],
    format: FormatOption = None,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Count documents, sentences, tokens, mentions and entities per split, as annotated.

    Nothing is preprocessed: punctuation counts, nested mentions count each, and the vocabulary is the
    number of distinct word forms as they are spelt.
    """
    from entitynlm.interfaces.views import tabulate_statistics
    from entitynlm.text.corpora.corpus import open_corpus
    from entitynlm.text.corpora.statistics import measure_corpus

    terminal = Terminal(quiet=quiet, json_path=json)
    corpus = open_corpus(path, format=format)
    odd = _OddityCount()
    with terminal.progress() as progress:
        task = progress.add_task(f"reading {corpus.name}", total=None, note="documents")
        counts = measure_corpus(corpus, on_oddity=odd, on_document=lambda document: progress.advance(task))
    terminal.print(f"[bold]{escape(corpus.name)}[/bold] [dim](splits: {escape(corpus.rule)})[/dim]")
    terminal.print(tabulate_statistics(counts))
    if odd.total:
        terminal.remark(
            f"{odd.total:,} oddities on the way; `entitynlm data check {escape(path)}` lists them"
        )
    terminal.write_json(
        {"corpus": corpus.name, "splits": {split: found.as_json() for split, found in counts.items()}}
    )


@app.command(
    "convert",
    epilog="Examples: entitynlm data convert story.conllu story.jsonl --to jsonl · "
    "entitynlm data convert corpora/ontogum out/conll --to conll2012",
)
def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="A corpus folder or a file; '-' is standard input.")
    ],
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="A folder for a corpus, a file for a file; '-'.")
    ],
    to: Annotated[
        str, typer.Option("--to", help="The format to write: conll2012, conllu, jsonl, brat, spacy.")
    ],
    format: FormatOption = None,
    split: Annotated[
        str | None, typer.Option("--split", help="Only this split of a corpus, into the one file OUT.")
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(
            "--layout", help="merged: a file per split; folders: a folder per split, a file per file."
        ),
    ] = None,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Convert a file or a whole corpus into another format; splits are kept."""
    from entitynlm.text.corpora.conversion import run_step
    from entitynlm.text.corpora.corpus import open_corpus

    terminal = Terminal(quiet=quiet, json_path=json)
    if STANDARD in (target, json) and target == json:
        raise ConfigError("the documents and --json can't both go to standard output")
    corpus = open_corpus(source, format=format)
    steps = _plan(corpus, source, target, to, split, layout)
    odd = _OddityCount()
    written: dict[str, int] = {}
    for step in terminal.track(steps, f"converting {corpus.name}"):
        count = run_step(step, to=to, format=format, on_oddity=odd)
        written[step.split] = written.get(step.split, 0) + count
    if target != STANDARD:
        total = ", ".join(f"{name} {count:,}" for name, count in written.items())
        terminal.print(f"{escape(corpus.name)} → {to}: {total} documents in {escape(print_path(target))}")
    if odd.total:
        terminal.remark(
            f"{odd.total:,} oddities on the way; `entitynlm data check {escape(source)}` lists them"
        )
    terminal.write_json(
        {"corpus": corpus.name, "format": to, "path": target, "documents": written, "oddities": odd.total}
    )


def _plan(
    corpus: Corpus, source: str, target: str, to: str, split: str | None, layout: str | None
) -> list[Step]:
    """One step for one file, a plan for a corpus; what can't be meant is refused."""
    from entitynlm.text.corpora.conversion import Step, plan_conversion
    from entitynlm.text.formats.registry import get_format

    if layout not in (None, "merged", "folders"):
        raise ConfigError(f"--layout is 'merged' or 'folders', not {layout!r}")
    looks_like_a_file = target == STANDARD or target.endswith(get_format(to).suffix)
    one_split = split is not None or len(corpus.splits) == 1
    if split is not None or source == STANDARD or Path(source).is_file() or (one_split and looks_like_a_file):
        if layout is not None:
            raise ConfigError("--layout is for whole corpora; one file is written here")
        return [Step(split or next(iter(corpus.splits)), corpus.files(split), Path(target))]
    if looks_like_a_file:
        raise ConfigError(
            f"{corpus.name} has the splits {', '.join(corpus.splits)}, which don't go into one file: name a folder "
            "for OUT, or one of them with --split"
        )
    return plan_conversion(corpus, Path(target), to=to, layout=cast("Layout | None", layout))


@app.command("check", epilog="Example: entitynlm data check corpora/inscript story.conll --strict")
def check(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="Corpus folders or files; '-'.")],
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if anything is odd.")] = False,
    format: FormatOption = None,
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Oddities to print; 0 prints all of them.")
    ] = 40,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Read files to their end and say what is odd in them.

    The exit code is 0 if all can be used, 1 with --strict if anything was odd, 2 if a file can't be read;
    the other files are still checked then.
    """
    from entitynlm.text.corpora.checks import FileReport, check_files

    terminal = Terminal(quiet=quiet, json_path=json)
    files, unknown = _expand(paths, format)
    reports: list[FileReport] = [FileReport(path, error=error) for path, error in unknown]
    reports += terminal.track(check_files(files, format=format), "checking", total=len(files))
    odd = sum(report.oddity_count for report in reports)
    failed = [report for report in reports if report.error is not None]
    listed = [oddity for report in reports for oddity in report.oddities]
    for oddity in listed if limit == 0 else listed[:limit]:
        terminal.print(f"odd: {oddity}", markup=False, soft_wrap=True)
    if limit and odd > limit:
        terminal.print(f"… and {odd - limit:,} more (--limit 0 prints them, --json FILE keeps them)")
    for report in failed:
        terminal.print(f"error: {report.error}", markup=False, soft_wrap=True, style="red")
    documents = sum(report.documents for report in reports)
    terminal.print(
        f"{len(reports):,} files, {documents:,} documents: {odd:,} oddities, {len(failed):,} unreadable files"
    )
    terminal.write_json(
        {
            "files": len(reports),
            "documents": documents,
            "oddities": odd,
            "unreadable": len(failed),
            "reports": [report.as_json() for report in reports],
        }
    )
    if failed or (strict and odd):
        raise typer.Exit(2 if failed else 1)


def _expand(paths: Iterable[str], format: str | None) -> tuple[list[Path], list[tuple[str, DataError]]]:
    """The files behind the named paths, and the paths that are nothing we know."""
    from entitynlm.text.corpora.corpus import open_corpus

    files: list[Path] = []
    unknown: list[tuple[str, DataError]] = []
    for path in paths:
        try:
            files += open_corpus(path, format=format).files()
        except DataError as error:
            unknown.append((path, error))
    return files, unknown


@app.command("show", epilog="Example: entitynlm data show corpora/stories --split dev --sentences 10")
def show(
    path: Annotated[str, typer.Argument(help="A file or a corpus folder; '-' is standard input.")],
    document: Annotated[
        str | None, typer.Option("--document", metavar="ID", help="Default: the first.")
    ] = None,
    split: Annotated[str | None, typer.Option("--split", help="Look in this split only.")] = None,
    sentences: Annotated[
        int | None, typer.Option("--sentences", min=1, help="Show the first ones only.")
    ] = None,
    sequences: Annotated[bool, typer.Option("--sequences", help="Also the paper's X, R, E, L.")] = False,
    format: FormatOption = None,
    colour: ColourOption = None,
) -> None:
    """Show a document with its mentions in the colours of their entities."""
    from entitynlm.interfaces.views import list_entities, render_document, tabulate_sequences
    from entitynlm.text.corpora.corpus import open_corpus

    terminal = Terminal(colour=colour)
    corpus = open_corpus(path, format=format)
    found = _find_document(corpus.documents(split), path, document)
    terminal.print(f"[bold]{escape(found.id)}[/bold]")
    terminal.print(render_document(found, sentences=sentences), soft_wrap=False)
    if found.entities:
        terminal.print()
        terminal.print(list_entities(found))
    if sequences:
        for table in tabulate_sequences(found):
            terminal.print()
            terminal.print(table)


def _find_document(documents: Iterable[Document], path: str, wanted: str | None) -> Document:
    ids: list[str] = []
    for document in documents:
        if wanted is None or document.id == wanted:
            return document
        ids = [*ids, document.id][:5]
    if wanted is None:
        raise DataError("there is no document in it", path=path)
    raise DataError(f"there is no document {wanted!r}", path=path, expected=f"an id such as {', '.join(ids)}")
