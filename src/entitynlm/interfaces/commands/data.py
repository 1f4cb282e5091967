"""``entitynlm data``: what corpora there are, and getting, counting, converting, checking and showing them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from entitynlm.data.corpora.catalogue import CATALOGUE, Offer, get_offer
from entitynlm.data.document import Document
from entitynlm.data.formats.base import Oddity
from entitynlm.errors import ConfigError, DataError
from entitynlm.files import STANDARD
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.options import ColourOption, FormatOption, JsonOption, QuietOption, SeedOption

app = typer.Typer(
    help="Corpora and annotated files: list, get, stats, convert, check, show.", no_args_is_help=True
)

DataFolderOption = Annotated[
    Path,
    typer.Option("--data", envvar="ENTITYNLM_DATA", metavar="DIR", help="The folder where corpora are kept."),
]
DEFAULT_FOLDER = Path("corpora")


class _OddityCount:
    """A report that keeps none of what it is told: files without end may be odd without end."""

    def __init__(self) -> None:
        self.total = 0

    def __call__(self, oddity: Oddity) -> None:
        self.total += 1


@app.command("list", epilog="Example: entitynlm data list --data ~/corpora")
def list_corpora(
    data: DataFolderOption = DEFAULT_FOLDER, json: JsonOption = None, quiet: QuietOption = False
) -> None:
    """List the known corpora: what they are, their licence, how to get them, whether they are here."""
    terminal = Terminal(quiet=quiet, json_path=json)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("corpus", "documents", "here", "what, licence and how to get it"):
        table.add_column(heading, justify="right" if heading == "documents" else "left")
    rows = []
    for offer in CATALOGUE.values():
        here = _describe_presence(offer, data / offer.name)
        about = f"{escape(offer.description)}\n[dim]{offer.licence}[/dim]\n[cyan]{offer.how_to_get}[/cyan]"
        table.add_row(f"[bold]{offer.name}[/bold]", f"{offer.documents:,}", here, about)
        rows.append(
            {
                "name": offer.name,
                "description": offer.description,
                "documents": offer.documents,
                "generated": offer.generated,
                "licence": offer.licence,
                "home": offer.home,
                "get": offer.how_to_get,
                "here": here,
            }
        )
    terminal.print(table)
    terminal.write_json(rows)


def _describe_presence(offer: Offer, folder: Path) -> str:
    if not offer.files:
        return "yes" if folder.is_dir() else "no"
    present, needed = offer.count_present(folder), len(offer.files) - len(offer.optional)
    return "yes" if present >= needed else f"{present} of {len(offer.files)} files" if present else "no"


@app.command(
    "get",
    epilog="Examples: entitynlm data get ontogum · entitynlm data get stories --documents 2000 --seed 1",
)
def get(
    name: Annotated[str, typer.Argument(help="A corpus of `entitynlm data list`.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where to put it; default: corpora/NAME.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Take it from this folder or archive instead of the web."),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option("--url", help="Another address: above the files, or of a zip or tar archive."),
    ] = None,
    documents: Annotated[
        int | None, typer.Option("--documents", min=10, help="How many stories to generate (default 2000).")
    ] = None,
    seed: SeedOption = 1,
    data: DataFolderOption = DEFAULT_FOLDER,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Get a corpus: download it (every file's SHA-256 is checked, a cut download goes on), copy or generate it."""
    terminal = Terminal(quiet=quiet, json_path=json)
    offer = get_offer(name)
    target = out or data / name
    if offer.generated:
        if source is not None or url is not None:
            raise ConfigError(f"{name} is generated here: --from and --url make no sense for it")
        _generate(terminal, target, documents or 2000, seed)
        return
    if documents is not None:
        raise ConfigError(f"--documents is for generated corpora; {name} has the documents that it has")
    _fetch(terminal, offer, target, url, source)


def _fetch(terminal: Terminal, offer: Offer, target: Path, url: str | None, source: Path | None) -> None:
    from entitynlm.data.corpora.acquisition import get_corpus

    with terminal.progress() as progress:
        task = progress.add_task(f"getting {offer.name}", total=len(offer.files), note="")
        missing = get_corpus(
            offer,
            target,
            url=url,
            source=source,
            on_file=lambda name: progress.update(task, advance=1, note=name),
        )
    count = len(offer.files) - len(missing)
    terminal.print(f"{offer.name}: {count} files in {print_path(target)}, all with the right SHA-256")
    for name in missing:
        terminal.remark(f"{name} was not found; the corpus can be used without it")
    terminal.write_json(
        {"corpus": offer.name, "path": str(target), "files": count, "missing_optional": missing}
    )


def _generate(terminal: Terminal, target: Path, documents: int, seed: int) -> None:
    from entitynlm.data.corpora.generated import make_stories
    from entitynlm.interfaces.views import describe_difficulty, tabulate_statistics

    with terminal.progress() as progress:
        task = progress.add_task("generating stories", total=documents, note="")
        report = make_stories(
            documents, seed=seed, target=target, on_document=lambda story: progress.advance(task)
        )
    terminal.print(f"[bold]stories[/bold] (generated, seed {seed}) in {escape(print_path(target))}")
    terminal.print(tabulate_statistics(report.statistics))
    terminal.print()
    terminal.print(describe_difficulty(report.difficulty))
    terminal.write_json(report.as_json())


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
    from entitynlm.data.corpora.corpus import open_corpus
    from entitynlm.data.corpora.statistics import measure_corpus
    from entitynlm.interfaces.views import tabulate_statistics

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
    from entitynlm.data.corpora.conversion import Step, plan_conversion, run_step
    from entitynlm.data.corpora.corpus import open_corpus

    terminal = Terminal(quiet=quiet, json_path=json)
    if STANDARD in (target, json) and target == json:
        raise ConfigError("the documents and --json can't both go to standard output")
    if layout not in (None, "merged", "folders"):
        raise ConfigError(f"--layout is 'merged' or 'folders', not {layout!r}")
    corpus = open_corpus(source, format=format)
    one_file = split is not None or source == STANDARD or Path(source).is_file()
    if one_file and layout is not None:
        raise ConfigError("--layout is for whole corpora; one file is written here")
    if one_file:
        steps = [Step(split or next(iter(corpus.splits)), corpus.files(split), Path(target))]
    elif target == STANDARD:
        raise ConfigError("a corpus of several splits needs a folder to go to; name one of them with --split")
    else:
        steps = plan_conversion(corpus, Path(target), to=to, layout=layout)  # type: ignore[arg-type]
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
    from entitynlm.data.corpora.checks import FileReport, check_files

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
    from entitynlm.data.corpora.corpus import open_corpus

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
    from entitynlm.data.corpora.corpus import open_corpus
    from entitynlm.interfaces.views import list_entities, render_document, tabulate_sequences

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
