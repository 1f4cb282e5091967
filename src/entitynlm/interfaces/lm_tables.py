"""The language-modelling table for people: as a rich table, as Markdown, and the judgements below it in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table as RichTable

from entitynlm.lm.perplexity import LanguageComparison
from entitynlm.lm.rows import PAPER, Row, SeedSpread, Table, compare_rows

PAPER_HEADING = "paper (CoNLL-2012 test)"
NOT_COMPARABLE = "not comparable with a language model's perplexity"


def list_cells(tables: Mapping[str, Table]) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of one model's table: a column per split, the paper's figures beside."""
    heading = ["model", "reading", *tables, PAPER_HEADING]
    keys = dict.fromkeys((row.model, row.reading) for table in tables.values() for row in table.rows)
    rows = []
    for model, reading in keys:
        found = [table.find(model, reading) for table in tables.values()]
        rows.append(
            [*_label(model, reading), *(show_perplexity(row) for row in found), _paper(model, reading)]
        )
    return heading, rows


def list_spread_cells(spreads: Mapping[str, Sequence[SeedSpread]]) -> tuple[list[str], list[list[str]]]:
    """The same over several seeds: mean and spread."""
    heading = ["model", "reading", *spreads, PAPER_HEADING]
    by_split = {split: {(s.model, s.reading): s for s in found} for split, found in spreads.items()}
    keys = list(dict.fromkeys(key for found in by_split.values() for key in found))
    rows = []
    for model, reading in keys:
        found = [own.get((model, reading)) for own in by_split.values()]
        rows.append(
            [*_label(model, reading), *(show_spread(spread) for spread in found), _paper(model, reading)]
        )
    return heading, rows


def draw_table(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> RichTable:
    """A rich table; figures to the right, rows that can't be compared dimmed."""
    table = RichTable(title=title, title_justify="left")
    for number, name in enumerate(heading):
        table.add_column(name, justify="left" if number < 2 else "right")
    for row in rows:
        table.add_row(*row, style="dim" if row[1].endswith("*") else None)
    return table


def write_markdown(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same as a Markdown table."""
    lines = ["| " + " | ".join(heading) + " |"]
    lines.append("|" + "|".join("---" if number < 2 else "---:" for number in range(len(heading))) + "|")
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def list_remarks(tables: Mapping[str, Table]) -> Iterator[str]:
    """What stands below a table: the words counted, how each figure was made, and the judgements."""
    for split, table in tables.items():
        share = 100 * table.unknown / table.tokens
        yield (
            f"{split}: {table.tokens:,} words (sentence ends included) in {table.documents} documents in every row, "
            f"{share:.1f} % unknown"
        )
    notes = {row.name: row.note for table in tables.values() for row in table.rows}
    yield from (f"{name}: {note}" for name, note in notes.items() if note)
    if any(not row.comparable for table in tables.values() for row in table.rows):
        yield f"* {NOT_COMPARABLE}"
    for split, table in tables.items():
        for first, second, found in compare_rows(table.rows):
            yield f"{split}: {describe_comparison(first, second, found)}"


def list_sampling_errors(tables: Mapping[str, Table]) -> Iterator[str]:
    """How much of the figures is due to sampling, where a table shows another spread beside them."""
    for split, table in tables.items():
        for row in table.rows:
            if row.standard_error > 0 and math.isfinite(row.standard_error):
                yield f"{split}: {row.name} has a sampling error of ± {row.standard_error:.2f}"


def describe_comparison(first: str, second: str, found: LanguageComparison) -> str:
    """One judgement in words."""
    return (
        f"{second} against {first}: {100 * found.change:+.2f} % perplexity "
        f"(95 % interval {100 * found.low:+.2f} … {100 * found.high:+.2f}), p = {found.p_value:.4f}, "
        f"better on {found.wins} of {found.documents} documents"
    )


def show_perplexity(row: Row | None) -> str:
    """``131.64 ± 0.12``, or without an error where there is none to be known."""
    if row is None:
        return "–"
    error = row.standard_error
    shown = f"{row.perplexity:.2f}"
    return f"{shown} ± {error:.2f}" if error > 0 and math.isfinite(error) else shown


def show_spread(spread: SeedSpread | None) -> str:
    """``131.64 ± 0.40``: mean and standard deviation over seeds, which is none for a model without one."""
    if spread is None:
        return "–"
    shown = f"{spread.mean:.2f}"
    return f"{shown} ± {spread.spread:.2f}" if math.isfinite(spread.spread) and spread.spread > 0 else shown


def _label(model: str, reading: str) -> tuple[str, str]:
    return model, reading if reading in ("exact", "marginal") else f"{reading} *"


def _paper(model: str, reading: str) -> str:
    """The paper's figure stands beside the readings that it may be: it says marginal, and counts words only."""
    return f"{PAPER[model]:.2f}" if model in PAPER and reading in ("exact", "marginal", "words-only") else ""
