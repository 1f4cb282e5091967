"""``entitynlm data``: counting, converting, checking and showing corpora; ``data_sources`` lists and gets them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import STANDARD
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.inputs import pick_document
from entitynlm.text.formats.base import Oddity

if TYPE_CHECKING:
    from entitynlm.text.corpora.conversion import Layout, Step
    from entitynlm.text.corpora.corpus import Corpus


class _OddityCount:
    """Counts oddities and keeps none of them: a large corpus may have millions."""

    def __init__(self) -> None:
        self.total = 0

    def __call__(self, oddity: Oddity) -> None:
        self.total += 1


def stats(*, path: options.Corpus, format: options.Format = None, terminal: Terminal) -> None:
    """Count documents, sentences, tokens, mentions and entities per split, as annotated.

    Nothing is preprocessed: punctuation counts, nested mentions count each, and the vocabulary is the
    number of distinct word forms as they are spelt.

    Example: entitynlm data stats corpora/ontogum --json -
    """
    from rich.markup import escape

    from entitynlm.interfaces.views import tabulate_statistics
    from entitynlm.text.corpora.corpus import open_corpus
    from entitynlm.text.corpora.statistics import measure_corpus

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


def convert(
    *,
    source: Annotated[str, typer.Argument(metavar="IN", callback=options.check_exists)],
    target: Annotated[str, typer.Argument(metavar="OUT", callback=options.check_writable)],
    to: Annotated[str, typer.Option(callback=options.check_output_format)],
    format: options.Format = None,
    split: str | None = None,
    layout: Literal["merged", "folders"] | None = None,
    terminal: Terminal,
) -> None:
    """Convert a file or a whole corpus into another format; splits are kept.

    :param source: A corpus folder or a file; '-': standard input.
    :param target: A folder for a corpus, a file for a file; '-': standard output.
    :param to: The format to write: conll2012, conllu, jsonl, brat, spacy.
    :param split: Only this split of a corpus, into the one file OUT.
    :param layout: merged: a file per split; folders: a folder per split, a file per file.

    Examples:

      entitynlm data convert story.conllu story.jsonl --to jsonl
      entitynlm data convert corpora/ontogum out/conll --to conll2012
    """
    from rich.markup import escape

    from entitynlm.text.corpora.conversion import run_step
    from entitynlm.text.corpora.corpus import open_corpus

    if target == terminal.json_path == STANDARD:
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
    corpus: Corpus, source: str, target: str, to: str, split: str | None, layout: Layout | None
) -> list[Step]:
    """One step for one file, a plan for a corpus; combinations that make no sense are refused."""
    from entitynlm.text.corpora.conversion import Step, plan_conversion
    from entitynlm.text.formats.registry import get_format

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
    return plan_conversion(corpus, Path(target), to=to, layout=layout)


def check(
    *,
    paths: Annotated[list[str], typer.Argument(metavar="PATH…")],
    strict: bool = False,
    format: options.Format = None,
    limit: Annotated[int, typer.Option(min=0)] = 40,
    terminal: Terminal,
) -> None:
    """Read files to their end and list what is odd in them.

    The exit code is 0 if all can be used, 1 with --strict if anything was odd, 2 if a file can't be read;
    the other files are still checked then.

    :param paths: Corpus folders or files; '-': standard input.
    :param strict: Exit with 1 if anything is odd.
    :param limit: Number of oddities to print; 0 prints all of them.

    Example: entitynlm data check corpora/inscript story.conll --strict
    """
    from entitynlm.text.corpora.checks import FileReport, check_files

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


def show(
    *,
    path: options.Corpus,
    document: options.DocumentId = None,
    split: options.Split = None,
    sentences: Annotated[int | None, typer.Option(min=1)] = None,
    sequences: bool = False,
    format: options.Format = None,
    terminal: Terminal,
) -> None:
    """Show a document with its mentions in the colours of their entities.

    :param sentences: Show only this many sentences.
    :param sequences: Also show the paper's sequences X, R, E, L.

    Example: entitynlm data show corpora/stories --split dev --sentences 10
    """
    from entitynlm.interfaces.views import show_document
    from entitynlm.text.corpora.corpus import open_corpus

    corpus = open_corpus(path, format=format)
    found = pick_document(corpus.documents(split), path, document)
    terminal.print(found.id, style="bold", markup=False)
    show_document(terminal, found, sentences=sentences, sequences=sequences)
    figures = {"tokens": len(found), "mentions": len(found.mentions), "entities": len(found.entities)}
    terminal.write_json({"id": found.id, **figures})
