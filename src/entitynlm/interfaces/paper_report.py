"""The paper's tables beside ours for people: in the terminal, as Markdown, and as one page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources

from rich.table import Table
from rich.text import Text

from entitynlm.experiments.paper_tables import PaperTable
from entitynlm.interfaces.console import Terminal

NOTICE = (
    "The paper's figures are of CoNLL-2012 and InScript. Where ours are of another corpus, compare the order of the systems and "
    "the distances between them, not the figures."
)


def print_paper_table(table: PaperTable, terminal: Terminal) -> None:
    """For the terminal: title, table, how it was measured."""
    terminal.print(f"\n[bold]{table.title}[/bold]")
    terminal.print(draw_paper_table(table))
    for fact in table.facts:
        terminal.print(Text(f"  {fact}", style="dim"))


def draw_paper_table(table: PaperTable) -> Table:
    """A row per system, ours and the paper's side by side."""
    drawn = Table(box=None, pad_edge=False)
    drawn.add_column("")
    drawn.add_column(table.corpus, justify="right")
    drawn.add_column(f"paper ({table.paper_corpus})", justify="right", style="dim")
    notes = any(row.note for row in table.rows)
    if notes:
        drawn.add_column("")
    for row in table.rows:
        drawn.add_row(*row.show(), *([row.note] if notes else []))
    return drawn


def write_markdown(tables: Sequence[PaperTable], *, title: str, remarks: Sequence[str]) -> str:
    """One document with all tables."""
    return "\n".join(_list_markdown(tables, title, remarks)) + "\n"


def _list_markdown(tables: Sequence[PaperTable], title: str, remarks: Sequence[str]) -> Iterator[str]:
    yield f"# {title}\n"
    yield f"{NOTICE}\n"
    for table in tables:
        yield f"## {table.title}\n"
        yield f"| | {_cell(table.corpus)} | paper ({table.paper_corpus}) | |"
        yield "|---|---:|---:|---|"
        for row in table.rows:
            yield "| " + " | ".join(map(_cell, (*row.show(), row.note))) + " |"
        yield ""
        yield from (f"- {_cell(fact)}" for fact in table.facts)
        yield ""
    yield from (f"- {_cell(remark)}" for remark in remarks)


def _cell(text: str) -> str:
    """Text that can't break a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def write_html(tables: Sequence[PaperTable], *, title: str, remarks: Sequence[str]) -> str:
    """One self-contained page with all tables, in the look of the other reports."""
    style = (resources.files("entitynlm") / "resources" / "report" / "style.css").read_text(encoding="utf-8")
    sections = "".join(_write_section(table) for table in tables)
    listed = "".join(f"<li>{escape(remark)}</li>" for remark in remarks)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head><body>'
        f'<header><h1>{escape(title)}</h1><p class="facts">{escape(NOTICE)}</p></header>{sections}'
        f"<footer><ul>{listed}</ul></footer></body></html>\n"
    )


def _write_section(table: PaperTable) -> str:
    head = f"<tr><th></th><th>{escape(table.corpus)}</th><th>paper ({escape(table.paper_corpus)})</th><th></th></tr>"
    rows = []
    for row in table.rows:
        system, ours, paper = row.show()
        rows.append(
            f'<tr><td>{escape(system)}</td><td class="n">{ours}</td><td class="n">{paper}</td><td>{escape(row.note)}</td></tr>'
        )
    facts = "<br>".join(escape(fact) for fact in table.facts)
    return (
        f'<section class="panel"><h2>{escape(table.title)}</h2><table>{head}{"".join(rows)}</table>'
        f'<p class="note">{facts}</p></section>'
    )
