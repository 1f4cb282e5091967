"""``entitynlm evaluate books``: whole novels, their characters and speakers."""

import resource
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from entitynlm.characters.book_scores import measure_baselines, measure_book, measure_cast
from entitynlm.characters.character import list_characters
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.progress import track
from entitynlm.text.corpora.pdnc import TEXT_FILE, list_novels, read_novel
from entitynlm.text.formats.registry import read_documents

REMARKS = (
    "found, B³, 1:1: mentions inside of quotations; 1:1 is the share that is right when each entity stands for one character.",
    "speakers: right in % of all quotations; nearest name, nearest mention, alternation: baselines on the same entities.",
    "rows: of major and intermediate characters those with one of their own; right: right gender, no alias of another.",
)


def evaluate_books(
    *,
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", callback=options.check_exists)],
    model: options.ModelOptions,
    split: str = "dev",
    terminal: Terminal,
) -> None:
    """Measure characters and speakers over whole novels of PDNC.

    Each novel is annotated from its raw text. Mentions inside of quotations and names are compared with the annotated
    characters by B³ and one to one, speakers by kind of quotation, the cast by its rows; cost is CPU time and the most
    memory of the process so far.

    Examples:

      entitynlm evaluate books corpora/pdnc --model entitynlm-en
      entitynlm evaluate books corpora/pdnc/Emma --json emma.json

    :param corpus: PDNC's folder, or that of one novel.
    :param split: Which novels: dev, train or all; a novel that is named is measured whatever its split.
    """
    one = (corpus / TEXT_FILE).is_file()
    folders = list_novels(corpus, None if one or split == "all" else split)
    pretrained = model.load(terminal)
    from entitynlm.coref.annotation import annotate_document

    rows: dict[str, dict[str, Any]] = {}
    for folder in track(terminal, "novels", folders):
        novel = read_novel(folder)
        began = time.process_time()
        (document,) = read_documents(folder / TEXT_FILE)
        annotated = annotate_document(pretrained, document)
        seconds = time.process_time() - began
        rows[novel.name] = {
            **measure_book(novel, annotated),
            **measure_cast(novel, list_characters(annotated)),
            **measure_baselines(novel, annotated),
            "CPU-seconds": seconds,
            "memory in MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
    mean = {name: _average([row[name] for row in rows.values()]) for name in next(iter(rows.values()))}
    from entitynlm.interfaces.views import draw_table

    columns = rows | {"mean": mean}
    lines = [(figure, *(_show(column[figure]) for column in columns.values())) for figure in mean]
    terminal.print(draw_table(("", *columns), lines, right=(*columns,)))
    for remark in REMARKS:
        terminal.print(remark, style="dim", markup=False)
    terminal.write_json({"task": "evaluate books", "split": split, "novels": rows, "mean": mean})


def _average(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _show(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f}".removesuffix(".0")
