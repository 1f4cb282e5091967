"""Surprisal of experimental items: every one in a fresh context, region by region, and conditions compared within an item.

Random numbers depend on the seed and the place in a text alone, so that all items have the same ones: two conditions of an item
differ by their words and by no chance until the words differ, and equal texts have equal figures.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from entitynlm.errors import ConfigError, DataError
from entitynlm.inference.weights import FloatArray
from entitynlm.lm.surprisal import Surprisal, measure_surprisal
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document
from entitynlm.text.segmentation import segment_text

OWN = ("item", "condition", "context", "target")
BORDER = re.compile(r"\s*\|\s*")


@dataclass(frozen=True)
class Item:
    """One line of a file of items. ``regions`` are the parts of the target, ``others`` the columns that are just kept."""

    item: str
    condition: str
    context: str
    regions: tuple[str, ...]
    others: dict[str, str] = field(default_factory=dict)

    def make_document(self) -> tuple[Document, list[int]]:
        """The text, and where each region ends, in characters."""
        context = self.context.strip()
        parts = [
            f"{context} " if context else "",
            *(f"{part} " for part in self.regions[:-1]),
            self.regions[-1],
        ]
        text, ends = "".join(parts), list(accumulate(map(len, parts)))
        cut = segment_text(text)
        return Document(self.item, cut.tokens, cut.sentences, text=text, offsets=cut.offsets), ends


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
    """Surprisal of a region in one condition minus that in another, of the same item; means over items have the item ``mean``."""

    item: str
    region: int
    condition: str
    minus: str
    difference: float
    error: float | None
    without_entities: float


def read_items(path: str | Path) -> list[Item]:
    """Items from a file: TSV or CSV with a column ``target`` by its ending, else one item per line."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"can't be read ({error})", path=str(path), hint="Items are a text file in UTF-8"
        ) from error
    if path.suffix.lower() not in (".tsv", ".csv"):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return [Item(str(n), "", "", split_regions(line)) for n, line in enumerate(lines, start=1)]
    reader = csv.DictReader(io.StringIO(text), delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
    columns = reader.fieldnames or []
    named = [name for name in columns if re.fullmatch(r"region[ _]?\d+", name)]
    if "target" not in columns and not named:
        hint = "Name the columns in the first line: item, condition, context, target (or region1, region2, …)"
        raise DataError(
            f"there is no column 'target' but {', '.join(columns) or 'none'}", path=str(path), hint=hint
        )
    items = []
    for number, row in enumerate(reader, start=1):
        values = {name: (row.get(name) or "").strip() for name in columns}
        regions = tuple(values[name] for name in named if values[name]) or split_regions(
            values.get("target", "")
        )
        if not any(regions):
            raise DataError(
                "the target is empty", path=str(path), line=number + 1, hint="Every item has words"
            )
        others = {name: value for name, value in values.items() if name not in (*OWN, *named)}
        own = values.get("item") or str(number), values.get("condition", ""), values.get("context", "")
        items.append(Item(*own, regions, others))
    return items


def split_regions(text: str) -> tuple[str, ...]:
    """The parts between bars; without a bar, the whole is one."""
    return tuple(part for part in BORDER.split(text.strip()) if part)


@dataclass(frozen=True)
class MeasuredItem:
    """An item's rows, and (regions, R) how far each repeat's surprisal of a region is from the estimate, in the same unit."""

    item: Item
    rows: tuple[RegionRow, ...]
    deviations: FloatArray


def measure_items(pretrained: Pretrained, items: Iterable[Item], **options: Any) -> Iterator[MeasuredItem]:
    """Measure items one after the other; the options are those of ``measure_surprisal``."""
    for item in items:
        document, ends = item.make_document()
        yield make_rows(item, measure_surprisal(pretrained, document, mentions="sampled", **options), ends)


def make_rows(item: Item, tables: Surprisal, ends: Sequence[int]) -> MeasuredItem:
    """Sums over the words of each region; a word belongs to the region that it starts in."""
    assert tables.analysed.offsets is not None
    starts = np.array([start for start, _ in tables.analysed.offsets])
    owners = np.searchsorted(ends, starts, side="right") - 1  # -1: the context
    place_of = {int(token): place for place, token in enumerate(tables.encoded.origin.tolist()) if token >= 0}
    rows, deviations = [], []
    for region, text in enumerate(item.regions):
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
                estimate_error(spread),
                sum(row.without_entities or 0.0 for row in found),
                sum(bool(row.oov) for row in found),
            )
        )
    return MeasuredItem(item, tuple(rows), np.array(deviations))


def estimate_error(deviations: FloatArray) -> float | None:
    """The standard error of a mean over repeats."""
    return float(deviations.std(ddof=1) / np.sqrt(len(deviations))) if len(deviations) > 1 else None


def compare_conditions(measured: Sequence[MeasuredItem]) -> list[DifferenceRow]:
    """Differences of each item's conditions to its first one, region by region, and their means over items.

    Repeats with the same random numbers are subtracted from each other, so that chance which both conditions share cancels. The
    error of a mean is the standard error over items.
    """
    by_item: dict[str, list[MeasuredItem]] = {}
    for found in measured:
        by_item.setdefault(found.item.item, []).append(found)
    rows: list[DifferenceRow] = []
    for name, conditions in by_item.items():
        first = conditions[0]
        for other in conditions[1:]:
            if other.item.condition == first.item.condition:
                raise ConfigError(f"item {name} has the condition {first.item.condition!r} twice")
            for place, (one, two) in enumerate(zip(other.rows, first.rows, strict=False)):
                error = estimate_error(other.deviations[place] - first.deviations[place])
                figures = one.surprisal - two.surprisal, error, one.without_entities - two.without_entities
                rows.append(DifferenceRow(name, place + 1, one.condition, two.condition, *figures))
    if not rows:
        raise ConfigError(
            "no item has two conditions to compare; name them in a column 'condition', and their item in 'item'"
        )
    groups: dict[tuple[int, str, str], list[DifferenceRow]] = {}
    for row in rows:
        groups.setdefault((row.region, row.condition, row.minus), []).append(row)
    for key, group in groups.items():
        values = np.array([row.difference for row in group])
        without = float(np.mean([row.without_entities for row in group]))
        rows.append(DifferenceRow("mean", *key, float(values.mean()), estimate_error(values), without))
    return rows
