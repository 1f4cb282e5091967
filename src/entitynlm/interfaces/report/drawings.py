"""The drawings of a report as SVG strings: timeline, network, movements. All that comes from the text is escaped."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise

import numpy as np

from entitynlm.interfaces.report.contents import SHOWN_ENTITIES, Character, Cooccurrence, Movement, Report

PALETTE = (
    "#1f77b4", "#d1495b", "#2a9d5c", "#8e5bbf", "#e08a00", "#00a0a8",
    "#c2478f", "#6b7f1e", "#3f51b5", "#a65628", "#0f7d6d", "#7a6f9b",
)  # fmt: skip
GREY = "#9a958a"
WIDTH = 960
LABELS = 168  # pixels for names at the left of the timeline
ROW = 21
CURVE = 64
BINS = 240


def colour_of(number: int) -> str:
    """An entity's colour by its number in the report; those that are mentioned rarely are grey."""
    return PALETTE[(number - 1) % len(PALETTE)] if number <= SHOWN_ENTITIES else GREY


def shorten(name: str, longest: int = 22) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def draw_timeline(report: Report, surprising: float) -> str:
    """Rows of marks under a curve of surprisal."""
    shown = report.characters[:SHOWN_ENTITIES]
    if not shown:
        return '<p class="empty">There are no mentions.</p>'
    length = max(1, len(report.document))
    height = CURVE + 16 + ROW * len(shown) + 22

    def x(token: float) -> float:
        return LABELS + (WIDTH - LABELS - 8) * token / length

    parts = [_open(WIDTH, height, "Mentions of each entity along the text")]
    parts.append(_draw_curve(report, x(0), x(length)))
    for at, character in enumerate(shown):
        y = CURVE + 16 + ROW * at
        parts.append(_line((x(0), y + 9), (x(length), y + 9), 'stroke="var(--line)"/>'))
        parts.append(_label(LABELS - 10, y + 13, shorten(character.name), "end"))
        parts.append(_draw_marks(report, character, x, y, surprising))
    y = height - 6
    for share in (0, 0.25, 0.5, 0.75, 1):
        anchor = "start" if share == 0 else "end" if share == 1 else "middle"
        parts.append(_label(x(share * length), y, f"{round(share * length):,}", anchor, soft=True))
    parts.append("</svg>")
    return "".join(parts)


def _draw_marks(
    report: Report, character: Character, x: Callable[[float], float], y: float, surprising: float
) -> str:
    """One mark per mention, at most one per pixel (a surprising one before others)."""
    colour = colour_of(character.number)
    marks: dict[int, str] = {}
    for place in character.places:
        mention, row = report.mentions[place], report.rows[place]
        left, right = x(mention.start), x(mention.end)
        hollow = row.referent_surprisal > surprising
        if round(left) in marks and not hollow:
            continue
        fill = f'fill="var(--card)" stroke="{colour}" stroke-width="1.6"' if hollow else f'fill="{colour}"'
        title = f"<title>{escape(row.mention)} ({row.referent_surprisal:.1f} {report.unit})</title>"
        wide = max(3.5, min(right - left, 14))
        marks[round(left)] = (
            f'<rect x="{left:.1f}" y="{y + 3}" width="{wide:.1f}" height="12" rx="1.5" {fill}>{title}</rect>'
        )
    return "".join(marks.values())


def _draw_curve(report: Report, left: float, right: float) -> str:
    """Surprisal averaged over stretches of the text."""
    values = np.array([np.nan if row.surprisal is None else row.surprisal for row in report.tables.tokens])
    means = average_in_bins(values, BINS)
    if not len(means):
        return ""
    high = max(float(means.max()), 1e-9)
    step = (right - left) / len(means)
    points = [
        (left + step * (at + 0.5), CURVE - (CURVE - 14) * value / high) for at, value in enumerate(means)
    ]
    return (
        _polyline(points, "rgb(var(--heat))", 1.6)
        + _label(left - 10, CURVE - 2, f"0 {report.unit}", "end", soft=True)
        + _label(left - 10, 18, f"{high:.1f} {report.unit}", "end", soft=True)
    )


def average_in_bins(values: np.ndarray, bins: int) -> np.ndarray:
    """Means of stretches of equal length, stretches without a value left out."""
    if not len(values) or np.isnan(values).all():
        return np.zeros(0)
    edges = np.linspace(0, len(values), min(bins, max(1, len(values) // 4)) + 1).round().astype(int)
    pieces = [values[a:b] for a, b in pairwise(edges)]
    return np.array([np.nanmean(piece) for piece in pieces if len(piece) and not np.isnan(piece).all()])


def draw_network(characters: Sequence[Character], cooccurrences: Sequence[Cooccurrence]) -> str:
    """Nodes and lines; entities that are often mentioned together stand close together."""
    joined = {number for pair in cooccurrences for number in (pair.first, pair.second)}
    shown = [character for character in characters[:SHOWN_ENTITIES] if character.number in joined]
    if not shown:
        return '<p class="empty">No two entities are mentioned in one sentence.</p>'
    height = 460
    index = {character.number: at for at, character in enumerate(shown)}
    edges = [(index[pair.first], index[pair.second], pair.sentences) for pair in cooccurrences]
    scale, centre = (0.5 * (WIDTH - 220), 0.5 * (height - 90)), (WIDTH / 2, height / 2 - 8)
    places = place_nodes(len(shown), edges) * scale + centre
    parts = [_open(WIDTH, height, "Entities that are mentioned in the same sentences")]
    most = max(count for _, _, count in edges)
    for a, b, count in edges:
        wide = 0.8 + 5 * math.sqrt(count / most)
        title = f"{shown[a].name} and {shown[b].name}: {count} sentence{'s' if count > 1 else ''}"
        style = (
            f'stroke="var(--soft)" stroke-opacity="{0.2 + 0.4 * count / most:.2f}" stroke-width="{wide:.1f}"'
        )
        parts.append(_line(places[a], places[b], f"{style}><title>{escape(title)}</title></line>"))
    largest = max(character.mentions for character in shown)
    for character, (x, y) in zip(shown, places.tolist(), strict=True):
        radius = 5 + 15 * math.sqrt(character.mentions / largest)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{colour_of(character.number)}" stroke="var(--card)" '
            f'stroke-width="2"><title>{escape(character.name)}: {character.mentions} mentions</title></circle>'
        )
        parts.append(_label(x, y + radius + 14, shorten(character.name, 26), "middle"))
    parts.append("</svg>")
    return "".join(parts)


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


def draw_movement(movement: Movement, length: int) -> str:
    """Distance from the first vector as a line, gates as dots."""
    wide, high, left = 320, 96, 26
    colour = colour_of(movement.character.number)
    top = max(1.0, max(movement.away))

    def place(token: int, value: float, most: float) -> tuple[float, float]:
        return left + (wide - left - 6) * token / max(1, length), 8 + (high - 22) * (1 - value / most)

    step = max(1, len(movement.tokens) // 160)  # a page can't show more
    floor = high - 14
    parts = [
        _open(wide, high, f"Movement of {movement.character.name}"),
        _line((left, floor), (wide - 6, floor), 'stroke="var(--line)"/>'),
        _label(left - 5, 14, f"{top:.1f}", "end", soft=True),
        _label(left - 5, floor + 2, "0", "end", soft=True),
    ]
    line = []
    for token, gate, away in list(zip(movement.tokens, movement.gates, movement.away, strict=True))[::step]:
        line.append(place(token, away, top))
        x, y = place(token, gate, 1.0)
        dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="var(--soft)" fill-opacity=".55">'
        parts.append(f"{dot}<title>δ = {gate:.2f}</title></circle>")
    return "".join([*parts, _polyline(line, colour, 2), "</svg>"])


def _open(width: float, height: float, title: str) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title, quote=True)}">'


def _line(start: Sequence[float], end: Sequence[float], rest: str) -> str:
    return f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" {rest}'


def _polyline(points: Sequence[tuple[float, float]], colour: str, width: float) -> str:
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"/>'


def _label(x: float, y: float, text: str, anchor: str, *, soft: bool = False) -> str:
    kind = ' class="soft"' if soft else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>{escape(text)}</text>'
