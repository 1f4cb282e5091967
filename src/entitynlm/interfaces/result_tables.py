"""Print result tables in the terminal, and write them as Markdown and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from entitynlm.experiments.table import ExperimentResult, ResultTable, write_markdown
from entitynlm.files import write_text
from entitynlm.interfaces.console import Terminal, print_path

if TYPE_CHECKING:
    from rich.table import Table

TABLE_WIDTH = 130  # enough for ten columns of figures; a narrower window wraps the lines


def present(result: ExperimentResult, terminal: Terminal, out: Path | None = None) -> ExperimentResult:
    """Print the tables and write the figures: as JSON where asked for, and as tables.md and tables.json into ``out``."""
    for table in result.tables:
        print_table(table, terminal)
    if out is not None:
        write_text(out / "tables.md", write_markdown(result))
        write_text(out / "tables.json", json.dumps(result.figures, ensure_ascii=False, indent=1))
        terminal.print(f"models and tables are in {print_path(out)}", markup=False)
    terminal.write_json(result.figures)
    return result


def print_table(table: ResultTable, terminal: Terminal) -> None:
    """Print title, table and remarks, in full width also where the terminal is narrow or a file."""
    terminal.print(f"\n{table.title}", style="bold", markup=False)
    before = terminal.out.width
    terminal.out.width = max(TABLE_WIDTH, before)
    try:
        terminal.print(draw_results(table), crop=False)
    finally:
        terminal.out.width = before
    for remark in table.remarks:
        terminal.print(f"  {remark}", style="dim", markup=False)


def draw_results(table: ResultTable) -> Table:
    """Draw a table of results: figures to the right, and rows that can't be compared dimmed."""
    from rich.text import Text

    from entitynlm.interfaces.views import draw_table

    right = [heading for number, heading in enumerate(table.heading) if table.is_number(number)]
    rows = [
        [Text(cell, style="" if row.comparable else "dim") for cell in cells]
        for row, cells in zip(table.rows, table.list_cells(), strict=True)
    ]
    return draw_table(table.heading, rows, right=right, header_style="bold", no_wrap=True)
