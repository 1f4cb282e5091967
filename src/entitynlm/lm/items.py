"""Measure experimental items: each in a fresh context, region by region, and compare conditions within an item.

Random numbers depend on the seed and the place in a text alone, so that all items have the same ones: two conditions of an item
differ by their words and by no chance until the words differ, and equal texts have equal figures.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import MOST_JSON, open_binary, read_most
from entitynlm.inference.weights import FloatArray
from entitynlm.lm.surprisal import Surprisal, measure_surprisal
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document
from entitynlm.text.segmentation import segment_text

ITEM_COLUMNS = ("item", "condition", "context", "target")
REGION = re.compile(r"region[ _]?\d+")
ATTACHED = re.compile(r"[.,;:!?…)\]}”%]|[’'](?:s|re|ve|ll|d|m)\b|n[’']t\b")
"""The beginning of a region that has no space before it, which language models over pieces of words would notice."""


@dataclass(frozen=True)
class Item:
    """One line of a file of items. ``regions`` are the parts of the target, ``others`` the columns that are just kept.

    A region that is empty has no row, and those after it keep their numbers: region 3 is the same one in all conditions.
    """

    item: str
    condition: str
    context: str
    regions: tuple[str, ...]
    others: dict[str, str] = field(default_factory=dict)

    def make_document(self) -> tuple[Document, list[int]]:
        """The text, and where each region starts, in characters."""
        text, starts = self.context.strip(), []
        for region in self.regions:
            text += " " if text and region and not ATTACHED.match(region) else ""
            starts.append(len(text))
            text += region
        cut = segment_text(text)
        return Document(self.item, cut.tokens, cut.sentences, text=text, offsets=cut.offsets), starts


@dataclass(frozen=True)
class RegionRow:
    """One region of an item; surprisals are sums over its words, ``error`` the standard error of sampling."""

    item: str
    condition: str
    region: int
    text: str
    words: int
    surprisal: float
    error: float | None
    without_entities: float
    oov: int


@dataclass(frozen=True)
class DifferenceRow:
    """Surprisal of a region in one condition minus that in another, of the same item; means over items have the item ``mean``.

    ``n`` counts the items; ``without_entities_error`` is the standard error over items, since nothing is sampled there.
    """

    item: str
    region: int
    condition: str
    minus: str
    n: int
    difference: float
    error: float | None
    without_entities: float
    without_entities_error: float | None = None


def read_items(path: str | Path) -> list[Item]:
    """Read items from a file (``-``: standard input): a table if its first line names a column ``target`` or ``region1``, or if
    it is called .tsv or .csv; else one item per line.
    """
    path = Path(path)
    try:
        with open_binary(path) as stream:
            text = read_most(stream, MOST_JSON).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise DataError(
            f"can't be read ({error})", path=str(path), hint="Items are a text file in UTF-8"
        ) from error
    by_ending = {".tsv": "\t", ".csv": ","}.get(path.suffix.lower())
    if (delimiter := find_delimiter(text.split("\n", 1)[0]) or by_ending) is not None:
        items = list(read_table(text, path, delimiter))
    else:
        lines = [line for line in text.splitlines() if line.strip()]
        items = [Item(str(n), "", "", split_regions(line)) for n, line in enumerate(lines, start=1)]
    if not items:
        raise DataError("there is no item", path=str(path), hint="Every line is one")
    for item in items:
        if not any(item.regions):
            raise DataError(
                f"item {item.item} is empty", path=str(path), hint="Every item has words in its target"
            )
    return items


def split_regions(text: str) -> tuple[str, ...]:
    """The parts between bars, which may be empty; without a bar, the whole is one."""
    return tuple(part.strip() for part in text.split("|"))


def has_target(columns: Sequence[str]) -> bool:
    return "target" in columns or any(map(REGION.fullmatch, columns))


def name_columns(heading: Iterable[str]) -> list[str]:
    """The names of columns; our own ones may be written with capitals."""
    names = [name.strip() for name in heading]
    return [low if (low := name.lower()) in ITEM_COLUMNS or REGION.fullmatch(low) else name for name in names]


def find_delimiter(heading: str) -> str | None:
    """Find the delimiter of a line that names columns: a tab, a comma, or a semicolon as in spreadsheets of countries with
    decimal commas; None where the line names none of ours.
    """
    marks = (mark for mark in "\t,;" if mark in heading)
    return next(
        (mark for mark in marks if has_target(name_columns(next(csv.reader([heading], delimiter=mark))))),
        None,
    )


def read_table(text: str, path: Path, delimiter: str) -> Iterator[Item]:
    """The items of a table, whose first line names the columns.

    Cells stand in quotation marks where they have to, as spreadsheets write them. In a table with tabs that is not so, quotation
    marks are text.
    """
    try:
        lines = list(parse_lines(text, delimiter, csv.QUOTE_MINIMAL))
    except csv.Error as error:
        if delimiter != "\t":
            hint = "Put cells with commas or quotation marks in quotation marks, and double those inside"
            raise DataError(f"this is not CSV ({error})", path=str(path), hint=hint) from error
        lines = list(parse_lines(text, delimiter, csv.QUOTE_NONE))
    columns = name_columns(lines[0][1]) if lines else []
    regions = sorted(filter(REGION.fullmatch, columns), key=number_region)
    check_columns(columns, regions, path)
    for number, (line, cells) in enumerate(lines[1:], start=1):
        if any(cells[len(columns) :]):
            hint = "Put cells with commas or quotation marks in quotation marks, and double those inside"
            told = f"{len(cells)} cells, but {len(columns)} columns have a name"
            raise DataError(told, path=str(path), line=line, hint=hint)
        values = dict(zip(columns, [*cells, *[""] * len(columns)], strict=False))
        if "item" in columns and not values["item"]:
            raise DataError("the item is empty", path=str(path), line=line, hint="Give every line its item")
        parts = tuple(values[name] for name in regions) if regions else split_regions(values["target"])
        if not any(parts):
            raise DataError("the target is empty", path=str(path), line=line, hint="Every item has words")
        others = {name: value for name, value in values.items() if name not in ("", *ITEM_COLUMNS, *regions)}
        own = values.get("item", str(number)), values.get("condition", ""), values.get("context", "")
        yield Item(*own, parts, others)


def parse_lines(text: str, delimiter: str, quoting: Literal[0, 3]) -> Iterator[tuple[int, list[str]]]:
    """Lines that are not empty, with their numbers; white space around cells is taken away."""
    options: dict[str, Any] = {"skipinitialspace": delimiter != "\t", "strict": True}
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, quoting=quoting, **options)
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield reader.line_num, [cell.strip() for cell in cells]


def number_region(column: str) -> int:
    return int(column.removeprefix("region").strip(" _"))


def check_columns(columns: Sequence[str], regions: Sequence[str], path: Path) -> None:
    """Refuse what could only be guessed at."""
    hint = "Name the columns in the first line: item, condition, context, target (or region1, region2, …)"
    problem = None
    if not has_target(columns):
        problem = f"there is no column 'target' but {', '.join(columns) or 'none'}"
    elif "target" in columns and regions:
        problem = f"there are both a column 'target' and '{regions[0]}'"
    elif regions and list(map(number_region, regions)) != list(range(1, len(regions) + 1)):
        problem = f"regions are numbered 1, 2, … without a gap, not {', '.join(regions)}"
    elif twice := [name for name in columns if name and columns.count(name) > 1]:
        problem = f"there are two columns '{twice[0]}'"
    if problem:
        raise DataError(problem, path=str(path), hint=hint)


@dataclass(frozen=True)
class MeasuredItem:
    """An item's rows, and (regions, R) how far each repeat's surprisal of a region is from the estimate, in the same unit."""

    item: Item
    rows: tuple[RegionRow, ...]
    deviations: FloatArray


def measure_items(pretrained: Pretrained, items: Iterable[Item], **options: Any) -> Iterator[MeasuredItem]:
    """Measure items one after the other; the options are those of ``measure_surprisal``."""
    for item in items:
        document, starts = item.make_document()
        yield make_rows(item, measure_surprisal(pretrained, document, mentions="sampled", **options), starts)


def make_rows(item: Item, tables: Surprisal, region_starts: Sequence[int]) -> MeasuredItem:
    """Sums over the words of each region; a word belongs to the region that it starts in."""
    assert tables.analysed.offsets is not None
    starts = np.array([start for start, _ in tables.analysed.offsets])
    owners = np.searchsorted(region_starts, starts, side="right") - 1  # -1: the context
    place_of = {int(token): place for place, token in enumerate(tables.encoded.origin.tolist()) if token >= 0}
    rows, deviations = [], []
    for region, text in enumerate(item.regions):
        if not text:
            continue
        own = [token for token in np.flatnonzero(owners == region).tolist() if token in place_of]
        found = [tables.tokens[token] for token in own]
        spread = tables.deviations[:, [place_of[token] for token in own]].sum(axis=1)
        deviations.append(spread)
        rows.append(
            RegionRow(
                item.item,
                item.condition,
                region + 1,
                text,
                len(found),
                sum(row.surprisal or 0.0 for row in found),
                estimate_mean_error(spread),
                sum(row.without_entities or 0.0 for row in found),
                sum(bool(row.oov) for row in found),
            )
        )
    return MeasuredItem(item, tuple(rows), np.array(deviations))


def estimate_mean_error(deviations: FloatArray) -> float | None:
    """The standard error of a mean over repeats."""
    return float(deviations.std(ddof=1) / np.sqrt(len(deviations))) if len(deviations) > 1 else None


def name_conditions(items: Sequence[Item], column: str) -> list[Item]:
    """Let the values of a column be the conditions; lines of an item that differ in their own condition become items apart."""
    if column == "condition":
        return list(items)
    if any(column not in item.others for item in items):
        raise ConfigError(
            f"there is no column {column!r} to compare; choose condition or a column of your own"
        )
    return [
        replace(item, item=f"{item.item} {item.condition}".strip(), condition=item.others[column])
        for item in items
    ]


def compare_conditions(measured: Sequence[MeasuredItem]) -> list[DifferenceRow]:
    """Differences of each item's conditions to its first one, region by region, and their means over items.

    The first condition is that of the file, in whichever order the lines of an item stand. Repeats with the same random numbers
    are subtracted from each other, so that chance which both conditions share cancels. The error of a mean is the standard error
    over items.
    """
    order = list(dict.fromkeys(found.item.condition for found in measured))
    by_item: dict[str, dict[str, MeasuredItem]] = {}
    for found in measured:
        conditions = by_item.setdefault(found.item.item, {})
        if found.item.condition in conditions:
            raise ConfigError(f"item {found.item.item} has the condition {found.item.condition!r} twice")
        conditions[found.item.condition] = found
    rows: list[DifferenceRow] = []
    for name, conditions in by_item.items():
        first, *others = (conditions[condition] for condition in order if condition in conditions)
        base = {row.region: (row, spread) for row, spread in zip(first.rows, first.deviations, strict=True)}
        for other in others:
            for one, spread in zip(other.rows, other.deviations, strict=True):
                if one.region not in base:
                    continue
                two, base_spread = base[one.region]
                error = estimate_mean_error(spread - base_spread)
                figures = one.surprisal - two.surprisal, error, one.without_entities - two.without_entities
                rows.append(DifferenceRow(name, one.region, one.condition, two.condition, 1, *figures))
    if not rows:
        raise ConfigError(
            "no item has two conditions to compare; name them in a column 'condition', and their item in 'item'"
        )
    groups: dict[tuple[int, str, str], list[DifferenceRow]] = {}
    for row in rows:
        groups.setdefault((row.region, row.condition, row.minus), []).append(row)
    for key, group in groups.items():
        values = np.array([row.difference for row in group])
        without = np.array([row.without_entities for row in group])
        figures = float(values.mean()), estimate_mean_error(values), float(without.mean())
        rows.append(DifferenceRow("mean", *key, len(group), *figures, estimate_mean_error(without)))
    return rows
