"""Measure experimental items: each in a fresh context, region by region, and compare conditions within an item.

Random numbers depend on the seed and the place in a text alone, so all items have the same: two conditions of an item differ by
their words, not by chance, and equal texts have equal figures.

Mentions may be marked, ``[She:Anna]``: words are then conditioned on the marked mentions before them, and referents are the
marked ones. In items without marks, mentions are summed over, and referents are those that a reader finds on the way.
"""

import csv
import io
import itertools
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import MOST_JSON, open_binary, read_most
from entitynlm.inference.weights import FloatArray
from entitynlm.lm.next_words import add_expected
from entitynlm.lm.surprisal import ATTACHED, MentionRow, Surprisal, make_frame, measure_surprisal
from entitynlm.model.pretrained import Pretrained
from entitynlm.results import Result, add_columns
from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.base import ReportOddity, Source, ignore
from entitynlm.text.segmentation import segment_text

ITEM_COLUMNS = ("item", "condition", "context", "target")
MARK = re.compile(r"(\[|:[\w-]+\])")


@dataclass(frozen=True)
class Item:
    """One line of a file of items. ``regions`` are the parts of the target, ``others`` the columns that are kept unchanged.

    An empty region has no row, and later regions keep their numbers, so that region 3 is the same in all conditions.

    :param among: where another column is compared: the condition, in which the lines that are compared agree.
    """

    item: str
    condition: str
    context: str
    regions: tuple[str, ...]
    others: dict[str, str] = field(default_factory=dict)
    among: str = ""

    def make_document(self, given: str = "") -> tuple[Document, list[int]]:
        """Make the text with its marked mentions, after a text that is given, and find where each region starts."""
        text, starts, marks = "", [], []
        for part in (given, self.context.strip(), *self.regions):
            plain, own = read_marks(part)
            joined = not text or text[-1].isspace() or not plain or ATTACHED.match(plain)
            text += "" if joined else " "
            starts.append(len(text))
            marks += [(len(text) + start, len(text) + end, entity) for start, end, entity in own]
            text += plain
        cut, mentions = segment_text(text), []
        for start, end, entity in marks:
            tokens = [t for t, (first, last) in enumerate(cut.offsets) if first < end and last > start]
            mentions += [Mention(tokens[0], tokens[-1] + 1, entity)] if tokens else []
        columns: dict[str, Any] = {"text": text, "offsets": cut.offsets, "mentions": tuple(mentions)}
        return Document(self.item, cut.tokens, cut.sentences, **columns), starts[2:]


def read_marks(text: str) -> tuple[str, list[tuple[int, int, str]]]:
    """Remove the marks of mentions from a text: the plain text, and characters and entity of each mention."""
    plain, told, opened = "", "", []
    found: list[tuple[int, int, str]] = []
    for part in MARK.split(text):
        if part == "[":
            opened.append(len(plain))
        elif not MARK.fullmatch(part):
            plain += part
        elif not opened:
            told = "an entity without a bracket"
        else:
            found.append((opened.pop(), len(plain), part[1:-1]))
            told = told if plain[found[-1][0] :].strip() else "a mention without words"
    if opened or told:
        hint = "Mark a mention like this: [She:Anna], within one region"
        raise DataError(told or "a bracket without an entity", found=text, hint=hint)
    return plain, found


@dataclass(frozen=True)
class RegionRow:
    """One region of an item; surprisals are sums over its words, ``error`` the standard error of sampling.

    ``referent_surprisal`` and ``referent_entropy`` are sums over the mentions that start in it, None where none does.
    """

    item: str
    condition: str
    region: int
    text: str
    words: int
    surprisal: float
    error: float | None
    without_entities: float
    oov: int
    referent_surprisal: float | None
    referent_entropy: float | None


@dataclass(frozen=True)
class DifferenceRow:
    """Measures of a region in one condition minus those in another, of the same item; means over items have the item ``mean``.

    ``n`` counts the items, ``referent_n`` those with referents in both conditions. Errors of means are standard errors over
    items; for a single item only ``difference`` has one.
    """

    item: str
    region: int
    condition: str
    minus: str
    n: int
    referent_n: int
    difference: float | None
    error: float | None
    without_entities: float | None
    without_entities_error: float | None = None
    referent_surprisal: float | None = None
    referent_surprisal_error: float | None = None
    referent_entropy: float | None = None
    referent_entropy_error: float | None = None


def read_items(path: str | Path, on_oddity: ReportOddity = ignore) -> list[Item]:
    """Read items from a file (``-``: standard input): from a table, or else one per line.

    A table names a column ``target`` in its first line, or its file's name ends in .tsv or .csv.
    """
    path = Path(path)
    try:
        with open_binary(path) as stream:
            text = Source(str(path), stream, on_oddity).decode(read_most(stream, MOST_JSON))
    except (OSError, ValueError) as error:
        raise DataError(f"can't be read ({error})", path=str(path), hint="Items are a text file") from error
    heading = text.split("\n", 1)[0]
    delimiter = max("\t,;", key=heading.count)
    columns = name_columns(next(csv.reader([heading], delimiter=delimiter), []))
    if "target" in columns or path.suffix.lower() in (".tsv", ".csv"):
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
        for part in (item.context, *item.regions):
            try:
                read_marks(part)
            except DataError as error:
                raise DataError(
                    f"item {item.item}: {error.message}", path=str(path), found=part, hint=error.hint
                ) from error
    return items


def split_regions(text: str) -> tuple[str, ...]:
    """Split a target at its bars into regions, some of which may be empty."""
    return tuple(part.strip() for part in text.split("|"))


def name_columns(heading: Iterable[str]) -> list[str]:
    """Read the names of columns; known names may be in capitals."""
    names = [name.strip() for name in heading]
    return [low if (low := name.lower()) in ITEM_COLUMNS else name for name in names]


def read_table(text: str, path: Path, delimiter: str) -> Iterator[Item]:
    """Read the items of a table, whose first line names the columns.

    Cells are quoted as spreadsheets write them, but in a table with tabs quotation marks are text.
    """
    try:
        lines = list(parse_lines(text, delimiter, csv.QUOTE_MINIMAL))
    except csv.Error as error:
        if delimiter != "\t":
            hint = "Put cells with commas or quotation marks in quotation marks, and double those inside"
            raise DataError(f"this is not CSV ({error})", path=str(path), hint=hint) from error
        lines = list(parse_lines(text, delimiter, csv.QUOTE_NONE))
    columns = name_columns(lines[0][1]) if lines else []
    check_columns(columns, path)
    for number, (line, cells) in enumerate(lines[1:], start=1):
        if any(cells[len(columns) :]):
            hint = "Put cells with commas or quotation marks in quotation marks, and double those inside"
            told = f"{len(cells)} cells, but {len(columns)} columns have a name"
            raise DataError(told, path=str(path), line=line, hint=hint)
        values = dict(zip(columns, [*cells, *[""] * len(columns)], strict=False))
        if "item" in columns and not values["item"]:
            raise DataError("the item is empty", path=str(path), line=line, hint="Give every line its item")
        others = {name: value for name, value in values.items() if name not in ("", *ITEM_COLUMNS)}
        own = values.get("item", str(number)), values.get("condition", ""), values.get("context", "")
        yield Item(*own, split_regions(values["target"]), others)


def parse_lines(text: str, delimiter: str, quoting: Literal[0, 3]) -> Iterator[tuple[int, list[str]]]:
    """Parse non-empty lines, with their numbers; white space around cells is removed."""
    options: dict[str, Any] = {"skipinitialspace": delimiter != "\t", "strict": True}
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, quoting=quoting, **options)
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield reader.line_num, [cell.strip() for cell in cells]


def check_columns(columns: Sequence[str], path: Path) -> None:
    """Refuse a table without a column 'target', or with two columns of the same name."""
    hint = "Name the columns in the first line: item, condition, context, target"
    if "target" not in columns:
        told = f"there is no column 'target' but {', '.join(columns) or 'none'}"
        raise DataError(told, path=str(path), hint=hint)
    if twice := [name for name in columns if name and columns.count(name) > 1]:
        raise DataError(f"there are two columns '{twice[0]}'", path=str(path), hint=hint)


@dataclass(frozen=True)
class MeasuredItem:
    """An item's rows, and (regions, R) the deviation of each repeat's surprisal of a region from the estimate, in the same unit.

    :param mentions: the target's mentions, each with its region.
    """

    item: Item
    rows: tuple[RegionRow, ...]
    deviations: FloatArray
    mentions: tuple[tuple[int, MentionRow], ...]


def measure_items(
    pretrained: Pretrained, items: Iterable[Item], *, given: str = "", **options: Any
) -> Iterator[MeasuredItem]:
    """Measure items one after the other; options are those of ``measure_surprisal``.

    :param given: text that is read before the context of each item.
    """
    for item in items:
        document, starts = item.make_document(given)
        yield make_rows(item, measure_surprisal(pretrained, document, **options), starts)


def make_rows(item: Item, tables: Surprisal, region_starts: Sequence[int]) -> MeasuredItem:
    """Sum over the words of each region; a word belongs to the region in which it starts."""
    assert tables.analysed.offsets is not None
    starts = np.array([start for start, _ in tables.analysed.offsets])
    owners = np.searchsorted(region_starts, starts, side="right") - 1  # -1: the context
    place_of = {int(token): place for place, token in enumerate(tables.encoded.origin.tolist()) if token >= 0}
    row_type = choose_row("tokens", tables.top_words)
    expected = [column.name for column in fields(row_type) if column.kw_only]  # of a region's first word
    rows, deviations = [], []
    found_regions = np.searchsorted(region_starts, [row.start or 0 for row in tables.mentions], side="right")
    mentions = [(int(r), row) for r, row in zip(found_regions, tables.mentions, strict=True) if r]
    for region, (text, _) in enumerate(map(read_marks, item.regions)):
        if not text:
            continue
        own = [token for token in np.flatnonzero(owners == region).tolist() if token in place_of]
        found = [tables.tokens[token] for token in own]
        spread = tables.deviations[:, [place_of[token] for token in own]].sum(axis=1)
        deviations.append(spread)
        referents = [row for number, row in mentions if number == region + 1]
        rows.append(
            row_type(
                item.item,
                item.condition,
                region + 1,
                text,
                len(found),
                sum(row.surprisal or 0.0 for row in found),
                estimate_mean_error(spread),
                sum(row.without_entities or 0.0 for row in found),
                sum(bool(row.oov) for row in found),
                sum(row.referent_surprisal for row in referents) if referents else None,
                sum(row.entropy for row in referents) if referents else None,
                **{name: getattr(found[0], name) for name in expected if found},
            )
        )
    return MeasuredItem(item, tuple(rows), np.array(deviations), tuple(mentions))


def estimate_mean_error(deviations: FloatArray) -> float | None:
    """Estimate the standard error of a mean over repeats."""
    return float(deviations.std(ddof=1) / np.sqrt(len(deviations))) if len(deviations) > 1 else None


def name_conditions(items: Sequence[Item], column: str) -> list[Item]:
    """Use the values of a column as conditions, which are compared among the lines of an item that agree in ``condition``."""
    if column == "condition":
        return list(items)
    if any(column not in item.others for item in items):
        raise ConfigError(
            f"there is no column {column!r} to compare; choose condition or a column of your own"
        )
    return [
        replace(item, condition=others.pop(column), others=others, among=item.condition)
        for item in items
        for others in [dict(item.others)]
    ]


MEASURES = ("surprisal", "without_entities", "referent_surprisal", "referent_entropy")


def compare_conditions(measured: Sequence[MeasuredItem]) -> list[tuple[DifferenceRow, dict[str, str]]]:
    """Subtract the first condition of each item from the others, region by region, and average over items.

    The first condition is the first in the file, whatever the order of an item's lines. Repeats with the same random numbers are
    subtracted from each other, so that chance common to both conditions cancels. Rows keep other columns whose values agree.
    An item counts once in a mean, with the mean of its own differences.
    """
    order = list(dict.fromkeys(found.item.condition for found in measured))
    by_item: dict[tuple[str, str], dict[str, MeasuredItem]] = {}
    for found in measured:
        conditions = by_item.setdefault((found.item.item, found.item.among), {})
        if found.item.condition in conditions:
            told = f"item {found.item.item} has the condition {found.item.condition!r} twice"
            raise ConfigError(f"{told}; lines that differ in another factor are items of their own")
        conditions[found.item.condition] = found
    rows: list[tuple[DifferenceRow, dict[str, str]]] = []
    groups: dict[tuple[int, str, str], dict[str, list[list[float | None]]]] = {}
    for (name, among), conditions in by_item.items():
        first, *others = (conditions[condition] for condition in order if condition in conditions)
        base = {row.region: (row, spread) for row, spread in zip(first.rows, first.deviations, strict=True)}
        for other in others:
            kept = {
                column: value if value == first.item.others.get(column) else ""
                for column, value in other.item.others.items()
            }
            for one, spread in zip(other.rows, other.deviations, strict=True):
                if one.region not in base:
                    continue
                two, base_spread = base[one.region]
                values = [subtract(getattr(one, measure), getattr(two, measure)) for measure in MEASURES]
                key = one.region, one.condition, two.condition
                errors = (estimate_mean_error(spread - base_spread), None, None, None)
                figures = itertools.chain(*zip(values, errors, strict=True))
                counts = 1, int(values[-1] is not None)
                rows.append((DifferenceRow(f"{name} {among}".strip(), *key, *counts, *figures), kept))
                groups.setdefault(key, {}).setdefault(name, []).append(values)
    if not rows:
        raise ConfigError(
            "no item has two conditions to compare: two lines with the same 'item' and other values in the column that is "
            "compared (and, unless that is 'condition', the same 'condition')"
        )
    nothing = dict.fromkeys(rows[0][1], "")
    for key, group in groups.items():
        by_measure = zip(*(map(average, zip(*own, strict=True)) for own in group.values()), strict=True)
        columns = [np.array([value for value in values if value is not None]) for values in by_measure]
        figures = itertools.chain(*((average(values), estimate_mean_error(values)) for values in columns))
        rows.append((DifferenceRow("mean", *key, len(group), len(columns[-1]), *figures), nothing))
    return rows


def average(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def subtract(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one - two


About = Literal["tokens", "mentions", "differences"]


def choose_row(about: About, top_words: int = 0) -> type:
    """Choose the type of rows: tokens of regions, mentions, or differences between conditions."""
    if about == "mentions":
        return add_columns(MentionRow, "ItemMentionRow", ("item", str), ("condition", str), ("region", int))
    region_row = add_expected(RegionRow, top_words) if top_words else RegionRow
    return region_row if about == "tokens" else DifferenceRow


@dataclass(frozen=True, eq=False, repr=False)
class ItemTable(Result):
    """Rows of regions, mentions or differences; ``kept`` names their columns from the file of items."""

    about: About
    top_words: int
    kept: tuple[str, ...]
    rows: tuple[Any, ...]

    @property
    def row_type(self) -> type:
        kept = ((name, str) for name in self.kept)
        return add_columns(choose_row(self.about, self.top_words), "ItemRow", *kept)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "ItemTable":
        made = super().from_dict(plain)
        return replace(made, rows=tuple(made.row_type(**row) for row in made.rows))

    def to_pandas(self) -> Any:
        """Make a pandas DataFrame with the same columns as the written table."""
        return make_frame(self.row_type, self.rows)


def tabulate_items(measured: Sequence[MeasuredItem], about: About, top_words: int = 0) -> ItemTable:
    """Make the table of regions, of mentions, or of the differences between conditions."""
    pairs: list[tuple[dict[str, Any], dict[str, str]]]
    if about == "differences":
        pairs = [(asdict(row), others) for row, others in compare_conditions(measured)]
    elif about == "mentions":
        pairs = [
            ({**asdict(row), "item": found.item.item, "condition": found.item.condition, "region": region},
             found.item.others)
            for found in measured for region, row in found.mentions
        ]  # fmt: skip
    else:
        pairs = [(asdict(row), found.item.others) for found in measured for row in found.rows]
    kept = tuple(name_kept(measured[0].item.others, choose_row(about, top_words)))
    table = ItemTable(about, top_words, kept, ())
    rows = (table.row_type(**own, **dict(zip(kept, others.values(), strict=True))) for own, others in pairs)
    return replace(table, rows=tuple(rows))


def name_kept(names: Iterable[str], row_type: type) -> list[str]:
    """Rename kept columns so that R and Python can use them: ``own_`` is put before names that are taken or no identifier."""
    taken = {column.name for column in fields(row_type)}
    kept: list[str] = []
    for name in names:
        name = re.sub(r"\W", "_", name)
        while name in taken or not name.isidentifier() or keyword.iskeyword(name):
            name = f"own_{name}"
        taken.add(name)
        kept.append(name)
    return kept
