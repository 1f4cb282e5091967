"""Lay out the drawings of a report: timeline, network, movements (drawn by ``resources/report/drawings.html``)."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from entitynlm import __version__
from entitynlm.lm.surprisal import TokenRow
from entitynlm.report.contents import SHOWN_ENTITIES, Movement, ShownEntity
from entitynlm.text.document import Document, Span

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def load_templates() -> "Environment":
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("entitynlm", "resources/report")
    templates = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    templates.globals.update(shorten=shorten, version=__version__)
    return templates


def render_page(name: str, **values: Any) -> str:
    """Fill a template with values."""
    return load_templates().get_template(name).render(values)


def render_drawing(name: str, **values: Any) -> str:
    """Fill one of the drawings with values, as SVG."""
    drawings: Any = load_templates().get_template("drawings.html").module
    return str(getattr(drawings, name)(**values))


def shorten(name: str, longest: int = 22) -> str:
    """Shorten a name to a label."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


WIDTH = 960
ROW_HEIGHT = 21
CURVE = 64
BINS = 240
SURPRISING = 6.0  # bits
NODE_WIDTH = 40  # of the network's width, for each node
LINE_COST = 0.2  # of covering a line with a name, where covering another name costs 1


class Mark(NamedTuple):
    """A mention in the timeline, hollow where its referent is surprising."""

    at: int
    x: float
    width: float
    hollow: bool
    label: str


def lay_out_timeline(
    document: Document,
    shown: Sequence[ShownEntity],
    stretch: Span,
    *,
    tokens: Sequence[TokenRow] = (),
    surprisal: Mapping[Span, float] = MappingProxyType({}),
    unit: str = "bits",
    surprising: float = SURPRISING,
    width: int = WIDTH,
) -> dict[str, Any]:
    """Lay out a curve of average surprisal along a stretch of a text, and below it a row of marks per entity.

    :param tokens: rows of the stretch's tokens, if they were measured.
    :param surprisal: surprisal of referents by the spans of their mentions, if known.
    """
    start, length = stretch[0], max(1, stretch[1] - stretch[0])
    left, right = min(168.0, 0.3 * width), width - 8.0  # names stand at the left
    scale = (right - left) / length
    rows = []
    for who in shown[:SHOWN_ENTITIES]:
        marks: dict[int, Mark] = {}  # at most one per pixel, a surprising one before others
        for mention in (document.mentions[place] for place in who.places):
            known = surprisal.get(mention.span)
            x, hollow = left + scale * (mention.start - start), known is not None and known > surprising
            if hollow or round(x) not in marks:
                label = " ".join(document.words(*mention.span).split())
                label += "" if known is None else f" ({known:.1f} {unit})"
                wide = max(3.5, min(scale * len(mention), 14.0))
                marks[round(x)] = Mark(mention.start, x, wide, hollow, label)
        rows.append((who, list(marks.values())))
    values = np.array([np.nan if row.surprisal is None else row.surprisal for row in tokens])
    means = average_in_bins(values, BINS)
    highest = max(float(means.max(initial=0)), 1e-9)
    xs = left + (right - left) / max(1, len(means)) * (np.arange(len(means)) + 0.5)
    ys = CURVE - (CURVE - 14) * means / highest
    anchors = {0: "start", 0.5: "middle", 1: "end"}
    return {
        "width": width,
        "left": left,
        "right": right,
        "height": CURVE + 16 + ROW_HEIGHT * len(rows) + 22,
        "top": CURVE + 16,
        "row_height": ROW_HEIGHT,
        "unit": unit,
        "surprisal": list(zip(xs.tolist(), ys.tolist(), strict=True)),
        "highest": highest,
        "rows": rows,
        "longest": int((left - 10) / 7.2),
        "stretch": stretch,
        "ticks": [
            (left + scale * share * length, start + round(share * length), anchors[share])
            for share in anchors
        ],
    }


def average_in_bins(values: np.ndarray, bins: int) -> np.ndarray:
    """Average over bins of equal length, without empty bins."""
    edges = np.linspace(0, len(values), min(bins, max(1, len(values) // 4)) + 1).round().astype(int)
    pieces = (values[a:b] for a, b in pairwise(edges))
    return np.array([np.nanmean(piece) for piece in pieces if not np.isnan(piece).all()])


def lay_out_network(
    shown: Sequence[ShownEntity], together: Mapping[tuple[int, int], int], *, width: int = WIDTH
) -> dict[str, Any]:
    """Lay out nodes and lines; entities that are mentioned together stand close together.

    Entities that are mentioned only once are left out, because each would be a point at the end of a single line. A narrow
    drawing has the most frequent entities only, because more names would cover each other.
    """
    again = {who.number for who in shown[: min(SHOWN_ENTITIES, width // NODE_WIDTH)] if who.mentions > 1}
    pairs = {pair: count for pair, count in together.items() if again.issuperset(pair)}
    joined = {number for pair in pairs for number in pair}
    drawn = [who for who in shown if who.number in joined]
    index = {who.number: at for at, who in enumerate(drawn)}
    edges = [(index[first], index[second], count) for (first, second), count in pairs.items()]
    height = min(460, max(320, int(0.75 * width)))
    scale, centre = (0.5 * (width - min(220, 0.4 * width)), 0.5 * (height - 90)), (width / 2, height / 2 - 8)
    places = (place_nodes(len(drawn), edges) * scale + centre).tolist() if drawn else []
    largest = max((who.mentions for who in drawn), default=1)
    nodes = [
        {"who": who, "x": x, "y": y, "radius": 5 + 15 * math.sqrt(who.mentions / largest)}
        for who, (x, y) in zip(drawn, places, strict=True)
    ]
    place_labels(nodes, edges, width)
    most = max(pairs.values(), default=1)
    lines = [{"a": a, "b": b, "sentences": count, "share": count / most} for a, b, count in edges]
    return {"width": width, "height": height, "nodes": nodes, "edges": lines}


def place_labels(
    nodes: Sequence[dict[str, Any]], edges: Sequence[tuple[int, int, int]], width: float
) -> None:
    """Put each name where it overlaps least with names, nodes and lines: below, above, right or left of its node."""
    taken = [
        (n["x"] - n["radius"], n["y"] - n["radius"], n["x"] + n["radius"], n["y"] + n["radius"])
        for n in nodes
    ]
    crossed: list[tuple[float, ...]] = []
    for ends in ((nodes[a], nodes[b]) for a, b, _ in edges):  # a line as small squares
        (x, y), (to_x, to_y) = ((node["x"], node["y"]) for node in ends)
        steps = np.linspace(0, 1, 1 + int(math.hypot(to_x - x, to_y - y) / 6))
        crossed += [
            (px - 2, py - 2, px + 2, py + 2)
            for px, py in zip(x + steps * (to_x - x), y + steps * (to_y - y), strict=True)
        ]
    for node in nodes:
        x, y, away = node["x"], node["y"], node["radius"] + 4
        node["label"] = shorten(f"{node['who'].number} {node['who'].name}")
        long = 6.6 * len(node["label"])
        centre = min(max(x, long / 2), width - long / 2)
        ways = [("middle", centre, y + away + 10), ("middle", centre, y - away)]
        ways += [("start", x + away, y + 4), ("end", x - away, y + 4)]
        boxes = []
        for anchor, left, base in ways:
            first = left - {"start": 0.0, "middle": long / 2, "end": long}[anchor]
            boxes.append((first, base - 11, first + long, base + 3))
        costs = [
            sum(_overlap(box, other) for other in taken)
            + LINE_COST * sum(_overlap(box, other) for other in crossed)
            + 20 * max(0, -box[0], box[2] - width)
            for box in boxes
        ]
        best = costs.index(min(costs))
        node["anchor"], node["label_x"], node["label_y"] = ways[best]
        taken.append(boxes[best])


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    wide, high = min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, wide) * max(0.0, high)


def place_nodes(count: int, edges: Sequence[tuple[int, int, int]]) -> np.ndarray:
    """(count, 2) places from -1 to 1 by a force-directed layout (Fruchterman and Reingold), the same every time."""
    import networkx

    graph = networkx.empty_graph(count)
    graph.add_edges_from((a, b) for a, b, _ in edges)
    places = networkx.spring_layout(graph, k=1.6 / math.sqrt(max(1, count)), iterations=200, seed=1)
    found = np.array([places[node] for node in range(count)])
    low, high = found.min(0), found.max(0)
    spread: np.ndarray = (2 * found - low - high) / np.maximum(high - low, 1e-9)
    return spread


def lay_out_movement(movement: Movement, length: int) -> dict[str, Any]:
    """Lay out the distance from the first vector as a line, and gates as dots."""
    wide, high, left = 320, 96, 26
    top = max(1.0, max(movement.away))
    step = max(1, len(movement.tokens) // 160)  # a page can't show more
    tokens, gates, away = (np.array(v[::step]) for v in (movement.tokens, movement.gates, movement.away))
    xs = left + (wide - left - 6) * tokens / max(1, length)
    gate_ys, away_ys = (8 + (high - 22) * (1 - values) for values in (gates, away / top))
    frame = {"width": wide, "height": high, "left": left, "floor": high - 14, "top": top}
    columns = {"away": (xs, away_ys), "gates": (xs, gate_ys, gates)}
    return {**frame, **{name: np.stack(values, axis=1).tolist() for name, values in columns.items()}}
