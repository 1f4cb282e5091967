"""List, get, count, convert, check and show corpora."""

import itertools
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import STANDARD
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, count, print_path
from entitynlm.interfaces.inputs import pick_document
from entitynlm.progress import track
from entitynlm.text.corpora.checks import FileReport, check_files
from entitynlm.text.corpora.corpus import Corpus, open_corpus
from entitynlm.text.corpora.statistics import measure_documents
from entitynlm.text.formats.registry import get_format, write_documents


def _remark_oddities(terminal: Terminal, path: str, total: int) -> None:
    if total:
        check = f"entitynlm data check {path}"
        terminal.remark(f"{total:,} oddities on the way; `{check}` lists them", markup=False)


def stats(*, corpus: options.Corpus, format: options.Format = None, terminal: Terminal) -> None:
    """Count documents, sentences, words, mentions and entities per split.

    Nothing is preprocessed: punctuation counts, nested mentions count each, and the vocabulary is the number of
    distinct word forms as they are spelt.

    Examples:

      entitynlm data stats corpora/ontogum --json -
    """
    from entitynlm.interfaces.views import tabulate_statistics

    opened = open_corpus(corpus, format=format)
    odd = itertools.count()
    counts = {}
    for split in opened.splits:
        documents = opened.documents(split, on_oddity=lambda _: next(odd))
        counts[split] = measure_documents(track(terminal, f"reading {opened.name}, {split}", documents))
    terminal.print(f"[bold]{escape(opened.name)}[/bold] [dim](splits: {escape(opened.rule)})[/dim]")
    terminal.print(tabulate_statistics(counts))
    _remark_oddities(terminal, corpus, next(odd))
    splits = {split: found.as_json() for split, found in counts.items()}
    terminal.write_json({"corpus": opened.name, "splits": splits})


def convert(
    *,
    source: Annotated[str, typer.Argument(metavar="IN", callback=options.check_exists)],
    target: Annotated[str, typer.Argument(metavar="OUT", callback=options.check_writable)],
    to: Annotated[str, typer.Option(callback=options.check_output_format)],
    format: options.Format = None,
    split: str | None = None,
    terminal: Terminal,
) -> None:
    """Convert a file or a corpus into another format; a corpus becomes a folder with a file per split.

    Examples:

      entitynlm data convert story.conllu story.jsonl --to jsonl
      entitynlm data convert corpora/ontogum out/conll --to conll2012

    :param source: A corpus folder or a file; '-': standard input.
    :param target: A folder for a corpus, a file for a file; '-': standard output.
    :param to: The format to write: conll2012, conllu, jsonl, spacy.
    :param split: Only this split of a corpus, into the one file OUT.
    """
    if target == terminal.json_path == STANDARD:
        raise ConfigError("the documents and --json can't both go to standard output")
    corpus = open_corpus(source, format=format)
    odd = itertools.count()
    written: dict[str, int] = {}
    for name, path in track(
        terminal, f"converting {corpus.name}", _choose_targets(corpus, target, to, split)
    ):
        documents = corpus.documents(name, on_oddity=lambda _: next(odd))
        written[name] = write_documents(documents, path, to)
    total = next(odd)
    if target != STANDARD:
        told = ", ".join(f"{name} {number:,}" for name, number in written.items())
        noun = "document" if list(written.values()) == [1] else "documents"
        terminal.print(f"{corpus.name} → {to}: {told} {noun} in {print_path(target)}", markup=False)
    _remark_oddities(terminal, source, total)
    figures = {"corpus": corpus.name, "format": to, "path": target, "documents": written}
    terminal.write_json({**figures, "oddities": total})


def _choose_targets(corpus: Corpus, target: str, to: str, split: str | None) -> list[tuple[str, Path]]:
    """Choose the file of each split; several splits don't go into one file."""
    form = get_format(to)
    if split is not None:
        corpus.files(split)
        return [(split, Path(target))]
    is_file = target == STANDARD or target.endswith(form.suffix)
    if len(corpus.splits) == 1 and (is_file or not corpus.path.is_dir()):
        return [(next(iter(corpus.splits)), Path(target))]
    if is_file:
        several = f"{corpus.name} has the splits {', '.join(corpus.splits)}, which don't go into one file"
        raise ConfigError(f"{several}: name a folder for OUT, or one of them with --split")
    return [(name, Path(target) / f"{name}{form.suffix}") for name in corpus.splits]


def check(
    *,
    paths: Annotated[list[str], typer.Argument(metavar="PATH…")],
    strict: bool = False,
    format: options.Format = None,
    limit: Annotated[int, typer.Option(min=0)] = 40,
    terminal: Terminal,
) -> None:
    """Read files to their end and list what is odd in them.

    The exit code is 0 if all can be used, 1 with --strict if anything was odd, 2 if a file can't be read; the other
    files are still checked then.

    Examples:

      entitynlm data check corpora/inscript story.conll --strict

    :param paths: Corpus folders or files; '-': standard input.
    :param strict: Exit with 1 if anything is odd.
    :param limit: Number of oddities to print; 0 prints all of them.
    """
    files: list[Path] = []
    reports: list[FileReport] = []
    for path in paths:
        try:
            files += open_corpus(path, format=format).files()
        except DataError as error:
            reports.append(FileReport(path, error=error))
    reports += track(terminal, "checking", check_files(files, format=format), total=len(files))
    odd = sum(report.oddity_count for report in reports)
    failed = [report for report in reports if report.error is not None]
    documents = sum(report.documents for report in reports)
    listed = [oddity for report in reports for oddity in report.oddities]
    for oddity in listed[: limit or None]:
        terminal.print(f"odd: {oddity}", markup=False)
    if limit and odd > limit:
        terminal.print(f"… and {odd - limit:,} more (--limit 0 prints them, --json FILE keeps them)")
    for report in failed:
        terminal.print(f"error: {report.error}", markup=False, style="red")
    counts = {"files": len(reports), "documents": documents, "oddities": odd, "unreadable": len(failed)}
    told = f"{count(reports, 'file')}, {count(documents, 'document')}: {count(odd, 'oddity', 'oddities')}"
    terminal.print(f"{told}, {count(failed, 'unreadable file')}")
    terminal.write_json({**counts, "reports": [report.as_json() for report in reports]})
    if failed or (strict and odd):
        raise typer.Exit(2 if failed else 1)


def show(
    *,
    corpus: options.Corpus,
    document: options.DocumentId = None,
    split: options.Split = None,
    sentences: options.Sentences = None,
    format: options.Format = None,
    terminal: Terminal,
) -> None:
    """Show a document with its mentions in the colours of their entities.

    Examples:

      entitynlm data show corpora/stories --split dev --sentences 10
    """
    from entitynlm.interfaces.views import show_document

    found = pick_document(open_corpus(corpus, format=format).documents(split), corpus, document)
    terminal.print(found.id, style="bold", markup=False)
    show_document(terminal, found, sentences=sentences)
    figures = {"tokens": len(found), "mentions": len(found.mentions), "entities": len(found.entities)}
    terminal.write_json({"id": found.id, **figures})
