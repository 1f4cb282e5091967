"""The drawings of a report as SVG strings: timeline, network, movements. All that comes from the text is escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
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
    """A curve of surprisal, and below it a row of marks per entity, hollow where the referent is ``surprising``."""
    shown = report.characters[:SHOWN_ENTITIES]
    if not shown:
        return '<p class="empty">There are no mentions.</p>'
    length = max(1, len(report.document))
    height = CURVE + 16 + ROW * len(shown) + 22
    left, right = float(LABELS), WIDTH - 8.0
    scale = (right - left) / length
    parts = [_draw_curve(report, left, right)]
    for row, character in enumerate(shown):
        y = CURVE + 16 + ROW * row
        colour = colour_of(character.number)
        parts.append(_line((left, y + 9.0), (right, y + 9.0), stroke="var(--line)"))
        parts.append(_label(LABELS - 10, y + 13, shorten(character.name), "end"))
        marks: dict[int, str] = {}  # at most one per pixel, a surprising one before others
        for place in character.places:
            mention, found = report.mentions[place], report.rows[place]
            x, hollow = left + scale * mention.start, found.referent_surprisal > surprising
            if hollow or round(x) not in marks:
                style = (
                    {"fill": "var(--card)", "stroke": colour, "stroke_width": "1.6"}
                    if hollow
                    else {"fill": colour}
                )
                box = {"width": max(3.5, min(scale * len(mention), 14.0)), "height": 12, "rx": "1.5"}
                title = f"{found.mention} ({found.referent_surprisal:.1f} {report.unit})"
                marks[round(x)] = _element("rect", _title(title), x=x, y=y + 3, **box, **style)
        parts += marks.values()
    for share, anchor in ((0, "start"), (0.25, "middle"), (0.5, "middle"), (0.75, "middle"), (1, "end")):
        words = share * length
        parts.append(_label(left + scale * words, height - 6, f"{round(words):,}", anchor, class_="soft"))
    return _draw(WIDTH, height, "Mentions of each entity along the text", parts)


def _draw_curve(report: Report, left: float, right: float) -> str:
    """Surprisal averaged over stretches of the text."""
    values = np.array([np.nan if row.surprisal is None else row.surprisal for row in report.tables.tokens])
    means = average_in_bins(values, BINS)
    if not len(means):
        return ""
    high = max(float(means.max()), 1e-9)
    xs = left + (right - left) / len(means) * (np.arange(len(means)) + 0.5)
    curve = _polyline(zip(xs, CURVE - (CURVE - 14) * means / high, strict=True), "rgb(var(--heat))", 1.6)
    low_label = _label(left - 10, CURVE - 2, f"0 {report.unit}", "end", class_="soft")
    return curve + low_label + _label(left - 10, 18, f"{high:.1f} {report.unit}", "end", class_="soft")


def average_in_bins(values: np.ndarray, bins: int) -> np.ndarray:
    """Means of stretches of equal length, stretches without a value left out."""
    edges = np.linspace(0, len(values), min(bins, max(1, len(values) // 4)) + 1).round().astype(int)
    pieces = (values[a:b] for a, b in pairwise(edges))
    return np.array([np.nanmean(piece) for piece in pieces if not np.isnan(piece).all()])


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
    parts = []
    most = max(count for _, _, count in edges)
    for a, b, count in edges:
        style = {
            "stroke_opacity": f"{0.2 + 0.4 * count / most:.2f}",
            "stroke_width": 0.8 + 5 * math.sqrt(count / most),
        }
        title = f"{shown[a].name} and {shown[b].name}: {count} sentence{'s' if count > 1 else ''}"
        parts.append(_line(places[a], places[b], _title(title), stroke="var(--soft)", **style))
    largest = max(character.mentions for character in shown)
    for character, (x, y) in zip(shown, places.tolist(), strict=True):
        radius = 5 + 15 * math.sqrt(character.mentions / largest)
        style = {"fill": colour_of(character.number), "stroke": "var(--card)", "stroke_width": "2"}
        title = f"{character.name}: {character.mentions} mentions"
        parts.append(_element("circle", _title(title), cx=x, cy=y, r=radius, **style))
        parts.append(_label(x, y + radius + 14, shorten(character.name, 26), "middle"))
    return _draw(WIDTH, height, "Entities that are mentioned in the same sentences", parts)


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
    top, floor = max(1.0, max(movement.away)), high - 14
    step = max(1, len(movement.tokens) // 160)  # a page can't show more
    tokens, gates, away = (np.array(v[::step]) for v in (movement.tokens, movement.gates, movement.away))
    xs = left + (wide - left - 6) * tokens / max(1, length)
    gate_ys, away_ys = (8 + (high - 22) * (1 - values) for values in (gates, away / top))
    dots = [
        _element(
            "circle", _title(f"δ = {gate:.2f}"), cx=x, cy=y, r="2.2", fill="var(--soft)", fill_opacity=".55"
        )
        for x, y, gate in zip(xs, gate_ys, gates, strict=True)
    ]
    axis = [
        _line((left, floor), (wide - 6, floor), stroke="var(--line)"),
        _label(left - 5, 14, f"{top:.1f}", "end", class_="soft"),
        _label(left - 5, floor + 2, "0", "end", class_="soft"),
    ]
    curve = _polyline(zip(xs, away_ys, strict=True), colour_of(movement.character.number), 2)
    return _draw(wide, high, f"Movement of {movement.character.name}", [*axis, *dots, curve])


def _element(name: str, content: str = "", /, **attributes: object) -> str:
    """An SVG element; ``class_`` stands for class, an underscore inside a name for a hyphen."""
    parts = [name]
    for key, value in attributes.items():
        shown = f"{value:.1f}" if isinstance(value, float) else escape(str(value))
        parts.append(key.rstrip("_").replace("_", "-") + f'="{shown}"')
    return f"<{' '.join(parts)}>{content}</{name}>"


def _draw(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    return _element("svg", "".join(parts), viewBox=f"0 0 {width} {height}", role="img", aria_label=title)


def _title(text: str) -> str:
    return _element("title", escape(text))


def _line(start: Sequence[float], end: Sequence[float], content: str = "", **style: object) -> str:
    return _element("line", content, x1=start[0], y1=start[1], x2=end[0], y2=end[1], **style)


def _polyline(points: Iterable[tuple[float, float]], colour: str, width: float) -> str:
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    style = {"fill": "none", "stroke": colour, "stroke_width": width, "stroke_linejoin": "round"}
    return _element("polyline", points=joined, **style)


def _label(x: float, y: float, text: str, anchor: str, **style: object) -> str:
    return _element("text", escape(text), x=x, y=y, text_anchor=anchor, **style)
