"""Documents and tables in a terminal: mentions in the colour of their entity, with brackets that show the nesting.

Every bracket carries the entity's number (₁, ₂, … in order of first mention), so nothing is lost without colours.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from entitynlm.files import make_printable
from entitynlm.interfaces.console import Terminal, count
from entitynlm.text.corpora.statistics import SplitStatistics
from entitynlm.text.document import Document, Span

COLOURS = (  # of the sixteen that every terminal has, so that no two of them are shown as one
    "red", "green", "blue", "magenta", "cyan", "yellow",
    "bright_red", "bright_green", "bright_blue", "bright_magenta", "bright_cyan",
)  # fmt: skip
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

MOST_SHOWN = 30
"""Entities and quotations of a text that are listed."""


def draw_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    right: Sequence[str] = (),
    no_wrap: bool = False,
    **layout: Any,
) -> Table:
    """Draw a table without lines; the columns named in ``right`` are aligned right."""
    table = Table(box=None, pad_edge=False, title_justify="left", **{"header_style": "dim", **layout})
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", no_wrap=no_wrap)
    for row in rows:
        for cell in row:
            if isinstance(cell, Text):
                cell.plain = make_printable(cell.plain)
        table.add_row(*(make_printable(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def list_numbers(document: Document) -> dict[str, int]:
    """Number the entities 1, 2, … in the order of their first mentions."""
    return {entity.id: number for number, entity in enumerate(document.entities, start=1)}


def colour_of(number: int) -> str:
    """Choose the colour of an entity's number; colours repeat, numbers don't."""
    return COLOURS[(number - 1) % len(COLOURS)]


def write_subscript(number: int) -> str:
    """Write the number of an entity as it stands after its mentions."""
    return str(number).translate(_SUBSCRIPTS)


def render_document(document: Document) -> Text:
    """Draw the text, one line a sentence, with brackets and colours of mentions; a word has the colour of the innermost one."""
    numbers = list_numbers(document)
    opening: dict[int, list[tuple[Span, int]]] = defaultdict(list)
    closing: dict[int, list[tuple[Span, int]]] = defaultdict(list)
    inside: dict[int, int] = {}  # token → number of the shortest mention around it
    for mention in sorted(document.mentions, key=lambda m: -len(m)):
        number = numbers[mention.entity]
        opening[mention.start].append((mention.span, number))
        closing[mention.end - 1].append((mention.span, number))
        inside.update(dict.fromkeys(range(*mention.span), number))
    text = Text()
    for start, end in document.sentences:
        if text:
            text.append("\n")
        for index in range(start, end):
            if index > start:
                text.append(_gap_before(document, index))
            for _, number in sorted(opening[index], key=lambda item: -item[0][1]):
                text.append("[", style=f"bold {colour_of(number)}")
            style = f"bold {colour_of(inside[index])}" if index in inside else ""
            text.append(make_printable(document.tokens[index]), style=style)
            for _, number in sorted(closing[index], key=lambda item: -item[0][0]):
                text.append("]" + write_subscript(number), style=f"bold {colour_of(number)}")
    return text


def _gap_before(document: Document, index: int) -> str:
    """Find the text between a token and the previous one, without line breaks; a space where the raw text is not known."""
    if document.text is None or document.offsets is None:
        return " "
    return " " if document.text[document.offsets[index - 1][1] : document.offsets[index][0]] else ""


def list_entities(document: Document) -> Table:
    """List the entities, those with the most mentions first: number, mentions, type, and the words of the first mention."""
    rows: list[Sequence[str | Text]] = []
    numbers = list_numbers(document)
    ranked = sorted(document.entities, key=lambda entity: -len(entity.mentions))
    for entity in ranked[:MOST_SHOWN]:
        number = numbers[entity.id]
        subscript = Text(write_subscript(number), style=f"bold {colour_of(number)}")
        words = " ".join(make_printable(document.words(*entity.mentions[0].span)).split())
        rows.append(
            (subscript, str(len(entity.mentions)), entity.type or "", Text(words, style=colour_of(number)))
        )
    if rest := ranked[MOST_SHOWN:]:
        told = f"{count(rest, 'more entity', 'more entities')}, the last with {count(rest[-1].mentions, 'mention')}"
        rows.append(("", str(sum(len(entity.mentions) for entity in rest)), "", Text(told, style="dim")))
    return draw_table(("", "mentions", "type", "first called"), rows, right=("mentions",))


def list_quotations(document: Document) -> Table:
    """List the quotations with the numbers of their speakers and addressees."""
    numbers = list_numbers(document)

    def show(who: str | None) -> Text:
        if who is None:
            return Text("?", style="dim")
        return Text(write_subscript(numbers[who]), style=f"bold {colour_of(numbers[who])}")

    rows: list[Sequence[str | Text]] = [
        (show(q.speaker), show(q.addressee), Text(" ".join(document.words(*q.span).split())))
        for q in document.quotations[:MOST_SHOWN]
    ]
    if len(document.quotations) > MOST_SHOWN:
        rows.append(("", "", Text(f"… {len(document.quotations) - MOST_SHOWN} more", style="dim")))
    return draw_table(("speaks", "to", "quotation"), rows)


def show_document(terminal: Terminal, document: Document) -> None:
    """Print a document in colours, then its entities and its quotations."""
    terminal.print(render_document(document), soft_wrap=True)
    if document.entities:
        terminal.print()
        terminal.print(list_entities(document))
    if document.quotations:
        terminal.print()
        terminal.print(list_quotations(document))


def tabulate_statistics(statistics: Mapping[str, SplitStatistics]) -> Table:
    """Tabulate counts: a row for each quantity, a column for each split."""
    counts = list(statistics.values())
    rows: dict[str, list[str]] = {
        name: [f"{getattr(count, name):,}" for count in counts]
        for name in ("documents", "sentences", "tokens", "mentions", "entities", "singletons")
    }
    means = (count.mean_mention_length for count in counts)
    rows["words per mention"] = ["–" if mean is None else f"{mean:.2f}" for mean in means]
    rows["longest mention"] = [str(count.longest_mention or "–") for count in counts]
    rows["word forms"] = [f"{count.vocabulary:,}" for count in counts]
    labelled: list[Sequence[str | Text]] = [[Text(name, style="dim"), *cells] for name, cells in rows.items()]
    return draw_table(("", *statistics), labelled, right=tuple(statistics))
