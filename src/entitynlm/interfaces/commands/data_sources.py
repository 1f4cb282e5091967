"""``entitynlm data list`` and ``get``: what corpora there are, where they come from, and how they come here."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from entitynlm.errors import ConfigError
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.stories.generator import NAME, write_stories
from entitynlm.text.corpora import download
from entitynlm.text.corpora.catalogue import CATALOGUE, CatalogueEntry, get_entry

CORPORA_FOLDER = Path("corpora")  # where corpora are kept unless --out says otherwise


def list_corpora(*, terminal: Terminal) -> None:
    """List the known corpora: what they are, their licence, how to get them, whether they are in the folder corpora."""
    from entitynlm.interfaces.views import draw_table

    lines, rows = [], []
    for offer in CATALOGUE.values():
        here = _describe_presence(offer, CORPORA_FOLDER / offer.name)
        about = f"{escape(offer.description)}\n[dim]{offer.licence}[/dim]\n[cyan]{offer.how_to_get}[/cyan]"
        lines.append((f"[bold]{offer.name}[/bold]", f"{offer.documents:,}", here, about))
        names = ("name", "description", "documents", "generated", "licence", "home")
        facts = {name: getattr(offer, name) for name in names}
        rows.append({**facts, "get": offer.how_to_get, "here": here})
    headings = ("corpus", "documents", "here", "what, licence and how to get it")
    terminal.print(draw_table(headings, lines, right=("documents",)))
    terminal.write_json(rows)


def _describe_presence(offer: CatalogueEntry, folder: Path) -> str:
    if not offer.files:
        return "yes" if folder.is_dir() else "no"
    present, needed = offer.count_present(folder), len(offer.files) - len(offer.optional)
    return "yes" if present >= needed else f"{present} of {len(offer.files)} files" if present else "no"


def get(
    *,
    name: Annotated[str, typer.Argument()],
    out: options.OptionalFolder = None,
    source: Annotated[Path | None, typer.Option("--from", callback=options.check_exists)] = None,
    documents: Annotated[int | None, typer.Option(min=10, max=1_000_000)] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=options.LARGEST_SEED)] = None,
    terminal: Terminal,
) -> None:
    """Download a corpus (every file's SHA-256 is checked), copy or generate it.

    Examples:

      entitynlm data get ontogum
      entitynlm data get stories --documents 2000 --seed 1

    :param name: A corpus of `entitynlm data list`.
    :param out: The folder to put it into; default: corpora/NAME.
    :param source: Take it from this folder or archive instead of the web.
    :param documents: Number of stories to generate (default 2000).
    :param seed: Seed of the stories: the same one gives the same bytes (default 1).
    """
    offer = get_entry(name)
    target = (out or CORPORA_FOLDER / name).absolute()
    if offer.generated:
        if source is not None:
            raise ConfigError(f"{name} is generated here: --from makes no sense for it")
        get_stories(terminal, documents or 2000, 1 if seed is None else seed, target)
        return
    if documents is not None or seed is not None:
        raise ConfigError(f"--documents and --seed are for generated corpora; {name} is as it is")
    task = f"getting {name}"
    terminal.start(task, len(offer.files))
    missing = download.get_corpus(
        offer, target, source, on_file=lambda file: terminal.advance(task, note=file)
    )
    terminal.finish(task)
    count = len(offer.files) - len(missing)
    terminal.print(f"{name}: {count} files in {print_path(target)}, all with the right SHA-256")
    for file in missing:
        terminal.remark(f"{file} was not found; the corpus can be used without it")
    terminal.write_json({"corpus": name, "path": str(target), "files": count, "missing_optional": missing})


def get_stories(terminal: Terminal, documents: int, seed: int, target: Path) -> None:
    """Generate stories into a folder, and print how many sentences, words and mentions they have."""
    from entitynlm.interfaces.views import tabulate_statistics

    task = "generating stories"
    terminal.start(task, documents)
    found = write_stories(documents, target, seed=seed, on_document=lambda _: terminal.advance(task))
    terminal.finish(task)
    terminal.print(f"stories (generated, seed {seed}) in {print_path(target)}", markup=False)
    terminal.print(tabulate_statistics(found))
    splits = {split: counts.as_json() for split, counts in found.items()}
    terminal.write_json({"corpus": NAME, "seed": seed, "splits": splits})
