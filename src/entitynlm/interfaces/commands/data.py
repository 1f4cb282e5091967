"""List, get, count and convert corpora."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from entitynlm.errors import ConfigError
from entitynlm.files import STANDARD
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.views import draw_table, tabulate_statistics
from entitynlm.progress import track
from entitynlm.stories.generator import STORY_CORPUS, write_stories
from entitynlm.text.corpora.catalogue import CATALOGUE, get_corpus, get_entry
from entitynlm.text.corpora.corpus import Corpus, open_corpus
from entitynlm.text.corpora.statistics import measure_documents
from entitynlm.text.formats.registry import get_format, get_writable, write_documents

CORPORA_FOLDER = Path("corpora")  # where corpora are kept unless --out says otherwise


def data_list(*, terminal: Terminal) -> None:
    """List the known corpora: what they are, their licence, how to get them, whether they are in the folder corpora."""
    lines, rows = [], []
    for offer in CATALOGUE.values():
        folder = CORPORA_FOLDER / offer.name
        here = "yes" if folder.is_dir() and all((folder / name).is_file() for name in offer.files) else "no"
        about = f"{escape(offer.description)}\n[dim]{offer.licence}[/dim]\n[cyan]{offer.how_to_get}[/cyan]"
        lines.append((f"[bold]{offer.name}[/bold]", f"{offer.documents:,}", here, about))
        names = ("name", "description", "documents", "generated", "licence", "home")
        facts = {name: getattr(offer, name) for name in names}
        rows.append({**facts, "get": offer.how_to_get, "here": here})
    headings = ("corpus", "documents", "here", "what, licence and how to get it")
    terminal.print(draw_table(headings, lines, right=("documents",)))
    terminal.write_json(rows)


def data_get(
    *,
    name: Annotated[str, typer.Argument()],
    out: options.OptionalFolder = None,
    documents: Annotated[int | None, typer.Option(min=10, max=1_000_000)] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=options.LARGEST_SEED)] = None,
    terminal: Terminal,
) -> None:
    """Download a corpus (every file's SHA-256 is checked), or generate it.

    Examples:

      entitynlm data get ontogum
      entitynlm data get stories --documents 2000 --seed 1

    :param name: A corpus that `entitynlm data list` names.
    :param out: The folder of the corpus; default: corpora/NAME.
    :param documents: Number of stories to generate (default 2000).
    :param seed: Seed of the stories; equal seeds give equal bytes (default 1).
    """
    offer = get_entry(name)
    target = (out or CORPORA_FOLDER / name).absolute()
    if offer.generated:
        count, seed = documents or 2000, 1 if seed is None else seed
        write_stories(count, target, seed=seed, progress=terminal)
        terminal.print(f"{count:,} stories (generated, seed {seed}) in {print_path(target)}", markup=False)
        terminal.write_json({"corpus": STORY_CORPUS, "path": str(target), "documents": count, "seed": seed})
        return
    if documents is not None or seed is not None:
        raise ConfigError(f"--documents and --seed are for generated corpora; {name} is as it is")
    get_corpus(offer, target, terminal)
    number = len(offer.files)
    terminal.print(f"{name}: {number} files in {print_path(target)}, all with the right SHA-256")
    terminal.write_json({"corpus": name, "path": str(target), "files": number})


def data_stats(*, corpus: options.Corpus, format: options.Format = None, terminal: Terminal) -> None:
    """Count documents, sentences, words, mentions and entities per split.

    Nothing is preprocessed: punctuation counts, nested mentions count each, and the vocabulary is the number of
    distinct word forms as they are spelt. Oddities of the files are reported.

    Examples:

      entitynlm data stats corpora/ontogum --json -
    """
    opened = open_corpus(corpus, format=format)
    counts = {}
    for split in opened.splits:
        documents = opened.documents(split, on_oddity=terminal.remark_oddity)
        counts[split] = measure_documents(track(terminal, f"reading {opened.name}, {split}", documents))
    terminal.print(f"[bold]{escape(opened.name)}[/bold] [dim](splits: {escape(opened.rule)})[/dim]")
    terminal.print(tabulate_statistics(counts))
    splits = {split: found.as_json() for split, found in counts.items()}
    terminal.write_json({"corpus": opened.name, "splits": splits})


def data_convert(
    *,
    source: Annotated[str, typer.Argument(metavar="IN", callback=options.check_exists)],
    target: Annotated[str, typer.Argument(metavar="OUT", callback=options.check_writable)],
    to: Annotated[str, typer.Option(callback=lambda name: name and get_writable(name).name)],
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
    :param to: The format to write: conll2012, conllu, jsonl.
    :param split: Only this split of a corpus, into the one file OUT.
    """
    terminal.check_standard(target)
    corpus = open_corpus(source, format=format)
    written: dict[str, int] = {}
    for name, path in track(
        terminal, f"converting {corpus.name}", _choose_targets(corpus, target, to, split)
    ):
        documents = corpus.documents(name, on_oddity=terminal.remark_oddity)
        written[name] = write_documents(documents, path, to)
    if target != STANDARD:
        told = ", ".join(f"{name} {number:,}" for name, number in written.items())
        noun = "document" if list(written.values()) == [1] else "documents"
        terminal.print(f"{corpus.name} → {to}: {told} {noun} in {print_path(target)}", markup=False)
    figures = {"corpus": corpus.name, "format": to, "path": target, "documents": written}
    terminal.write_json({**figures, "oddities": terminal.oddities})


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
