"""Lay out the drawings of a report: timeline, network, movements (drawn by ``resources/report/drawings.html``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from entitynlm.report.contents import SHOWN_ENTITIES, Cooccurrence, Movement, Report, ShownEntity

WIDTH = 960
LEFT, RIGHT = 168.0, 952.0  # ends of the timeline, which has names at its left
ROW_HEIGHT = 21
CURVE = 64
BINS = 240


class Mark(NamedTuple):
    """A mention in the timeline, hollow where its referent is surprising."""

    x: float
    width: float
    hollow: bool
    label: str


def lay_out_timeline(report: Report, surprising: float) -> dict[str, Any]:
    """A curve of surprisal averaged over stretches of the text, and below it a row of marks per entity."""
    length = max(1, len(report.document))
    scale = (RIGHT - LEFT) / length
    rows = []
    for character in report.characters[:SHOWN_ENTITIES]:
        marks: dict[int, Mark] = {}  # at most one per pixel, a surprising one before others
        for place in character.places:
            mention, row = report.mentions[place], report.rows[place]
            x, hollow = LEFT + scale * mention.start, row is not None and row.known_surprisal > surprising
            if hollow or round(x) not in marks:
                label = " ".join(report.document.words(*mention.span).split())
                label += f" ({row.known_surprisal:.1f} {report.unit})" if row is not None else ""
                marks[round(x)] = Mark(x, max(3.5, min(scale * len(mention), 14.0)), hollow, label)
        rows.append((character, list(marks.values())))
    values = np.array([np.nan if row.surprisal is None else row.surprisal for row in report.tables.tokens])
    means = average_in_bins(values, BINS)
    highest = max(float(means.max(initial=0)), 1e-9)
    xs = LEFT + (RIGHT - LEFT) / max(1, len(means)) * (np.arange(len(means)) + 0.5)
    ys = CURVE - (CURVE - 14) * means / highest
    anchors = {0: "start", 0.25: "middle", 0.5: "middle", 0.75: "middle", 1: "end"}
    return {
        "width": WIDTH,
        "left": LEFT,
        "right": RIGHT,
        "height": CURVE + 16 + ROW_HEIGHT * len(rows) + 22,
        "top": CURVE + 16,
        "row_height": ROW_HEIGHT,
        "surprisal": list(zip(xs.tolist(), ys.tolist(), strict=True)),
        "highest": highest,
        "rows": rows,
        "ticks": [
            (LEFT + scale * share * length, round(share * length), anchors[share]) for share in anchors
        ],
    }


def average_in_bins(values: np.ndarray, bins: int) -> np.ndarray:
    """Means of stretches of equal length, stretches without a value left out."""
    edges = np.linspace(0, len(values), min(bins, max(1, len(values) // 4)) + 1).round().astype(int)
    pieces = (values[a:b] for a, b in pairwise(edges))
    return np.array([np.nanmean(piece) for piece in pieces if not np.isnan(piece).all()])


def lay_out_network(
    characters: Sequence[ShownEntity], cooccurrences: Sequence[Cooccurrence]
) -> dict[str, Any]:
    """Nodes and lines; entities that are often mentioned together stand close together.

    Entities that are mentioned only once are left out: they would be as many points at the ends of single lines.
    """
    again = {character.number for character in characters[:SHOWN_ENTITIES] if character.mentions > 1}
    pairs = [pair for pair in cooccurrences if {pair.first, pair.second} <= again]
    joined = {number for pair in pairs for number in (pair.first, pair.second)}
    shown = [character for character in characters[:SHOWN_ENTITIES] if character.number in joined]
    index = {character.number: at for at, character in enumerate(shown)}
    edges = [(index[pair.first], index[pair.second], pair.sentences) for pair in pairs]
    height = 460
    scale, centre = (0.5 * (WIDTH - 220), 0.5 * (height - 90)), (WIDTH / 2, height / 2 - 8)
    places = (place_nodes(len(shown), edges) * scale + centre).tolist() if shown else []
    largest = max((character.mentions for character in shown), default=1)
    nodes = [
        {"who": character, "x": x, "y": y, "radius": 5 + 15 * math.sqrt(character.mentions / largest)}
        for character, (x, y) in zip(shown, places, strict=True)
    ]
    most = max((count for _, _, count in edges), default=1)
    lines = [{"a": a, "b": b, "sentences": count, "share": count / most} for a, b, count in edges]
    return {"width": WIDTH, "height": height, "nodes": nodes, "edges": lines}


def place_nodes(count: int, edges: Sequence[tuple[int, int, int]], *, rounds: int = 400) -> np.ndarray:
    """(count, 2) places from -1 to 1: lines pull, nodes push (Fruchterman and Reingold); the same every time."""
    angles = 2 * np.pi * np.arange(count) / max(1, count)
    radius = 0.5 + 0.5 * (np.arange(count)[:, None] % 3) / 2
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1) * radius
    ideal = 1.1 / math.sqrt(max(1, count))
    most = max((weight for _, _, weight in edges), default=1)
    for step in range(rounds):
        gaps = places[:, None] - places[None]
        distance = np.maximum(np.linalg.norm(gaps, axis=2), 1e-3)
        force = (gaps / distance[..., None] * (ideal**2 / distance)[..., None]).sum(1)
        for a, b, weight in edges:
            pull = (places[a] - places[b]) * distance[a, b] / ideal * (0.3 + 0.7 * weight / most)
            force[a] -= pull
            force[b] += pull
        force -= 0.35 * places  # a little towards the middle
        size = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        places = places + force / size * np.minimum(size, 0.12 * (1 - step / rounds))
    places = places - (places.max(0) + places.min(0)) / 2
    spread = np.maximum(np.abs(places).max(0), 1e-9)
    scaled: np.ndarray = places / np.where(spread > 1e-6, spread, 1.0)
    return scaled


def lay_out_movement(movement: Movement, length: int) -> dict[str, Any]:
    """Distance from the first vector as a line, gates as dots."""
    wide, high, left = 320, 96, 26
    top = max(1.0, max(movement.away))
    step = max(1, len(movement.tokens) // 160)  # a page can't show more
    tokens, gates, away = (np.array(v[::step]) for v in (movement.tokens, movement.gates, movement.away))
    xs = left + (wide - left - 6) * tokens / max(1, length)
    gate_ys, away_ys = (8 + (high - 22) * (1 - values) for values in (gates, away / top))
    frame = {"width": wide, "height": high, "left": left, "floor": high - 14, "top": top}
    columns = {"away": (xs, away_ys), "gates": (xs, gate_ys, gates)}
    return {**frame, **{name: np.stack(values, axis=1).tolist() for name, values in columns.items()}}
