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

HEADINGS = {
    "mentions found": "found",
    "mentions B³": "B³",
    "mentions one to one": "1:1",
    "names B³": "names B³",
    "names one to one": "1:1",
    "quotations found": "quotes",
    "speakers": "speakers",
    "explicit speakers": "explicit",
    "anaphoric speakers": "anaphoric",
    "implicit speakers": "implicit",
}
OTHER_HEADINGS = ("nearest name", "nearest mention", "alternation")
REMARKS = (
    "found, B³, 1:1: mentions inside of quotations; 1:1 is the share that is right when each entity stands for one character.",
    "speakers: right in % of all quotations; nearest name, nearest mention, alternation: baselines on the same entities.",
    "rows: major and intermediate characters with a row of their own; right: with the right gender and no alias of another.",
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
    _print(rows | {"mean": mean}, terminal)
    terminal.write_json({"task": "evaluate books", "split": split, "novels": rows, "mean": mean})


def _average(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _print(rows: dict[str, dict[str, Any]], terminal: Terminal) -> None:
    from entitynlm.interfaces.views import draw_table

    headings = ("novel", *HEADINGS.values())
    shown = [(name, *(_show(row[figure], 1) for figure in HEADINGS)) for name, row in rows.items()]
    terminal.print(draw_table(headings, shown, right=headings[1:]))
    others = ("novel", *OTHER_HEADINGS, "rows", "right", "CPU-seconds", "MB")
    more = [
        (
            name,
            *(_show(row[figure], 1) for figure in OTHER_HEADINGS),
            f"{_show(row['own rows'])} of {_show(row['characters'])}",
            _show(row["right rows"]),
            _show(row["CPU-seconds"]),
            _show(row["memory in MB"]),
        )
        for name, row in rows.items()
    ]
    terminal.print(draw_table(others, more, right=others[1:]))
    for remark in REMARKS:
        terminal.print(remark, style="dim", markup=False)


def _show(value: float | None, digits: int = 0) -> str:
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if digits or value == int(value) or value > 100 else f"{value:.1f}"
