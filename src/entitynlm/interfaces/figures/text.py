"""Figures about texts: surprisal along a text, mentions of its entities, calibration of entity predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from entitynlm.interfaces.figures.drawing import start_figure
from entitynlm.interfaces.report.contents import Report
from entitynlm.interfaces.report.drawings import colour_of, shorten
from entitynlm.lm.surprisal import Surprisal
from entitynlm.prediction.calibration import Calibration

WORDS_WITH_LABELS = 60
BLUE, GREY, ORANGE = "#1f5fa8", "#9a9a9a", "#d65d0e"


def draw_surprisal(tables: Surprisal, *, unit: str, smooth: int | None = None) -> Any:
    """With entities and without: word by word for a short text, as a moving average for a long one."""
    rows = [row for row in tables.tokens if row.surprisal is not None]
    with_entities = np.array([row.surprisal for row in rows], dtype=float)
    without = np.array([row.without_entities for row in rows], dtype=float)
    if len(rows) <= WORDS_WITH_LABELS and smooth is None:
        figure, axis = start_figure(max(4.0, 0.22 * len(rows) + 1.2), 3.4)
        places = np.arange(len(rows))
        errors = np.array([row.error or 0.0 for row in rows])
        axis.bar(
            places,
            with_entities,
            color=BLUE,
            width=0.7,
            yerr=errors if errors.any() else None,
            label="EntityNLM",
        )
        axis.plot(
            places, without, "o", color=ORANGE, markersize=3.5, label=f"without entities ({tables.source})"
        )
        axis.set_xticks(places, [label(row.token, 16) for row in rows], rotation=90)
        axis.margins(x=0.01)
    else:
        window = smooth or max(5, len(rows) // 100)
        figure, axis = start_figure(8.0, 3.2)
        axis.plot(average(with_entities, window), color=BLUE, linewidth=1.2, label="EntityNLM")
        axis.plot(
            average(without, window),
            color=ORANGE,
            linewidth=0.9,
            alpha=0.8,
            label=f"without entities ({tables.source})",
        )
        axis.set_xlabel(f"word (mean over {window} words)")
        axis.margins(x=0)
    axis.set_ylabel(f"surprisal ({unit})")
    axis.set_ylim(bottom=0)
    axis.legend(frameon=False, fontsize=8)
    return figure


def label(text: str, longest: int) -> str:
    """Somebody's words as an axis can show them: nothing in them is a formula or a control character."""
    shown = "".join(character if character.isprintable() else "·" for character in text)
    return shorten(shown, longest).replace("$", r"\$")


def average(values: np.ndarray, window: int) -> np.ndarray:
    """A centred moving average that gets narrower at the ends."""
    totals = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    low = np.maximum(places - window // 2, 0)
    high = np.minimum(places + window // 2 + 1, len(values))
    means: np.ndarray = (totals[high] - totals[low]) / (high - low)
    return means


def draw_entities(report: Report, *, most: int = 15) -> Any:
    """One line per entity, one mark per mention; the size of a mark is the surprisal of the referent."""
    shown = report.characters[:most]
    figure, axis = start_figure(8.0, 0.9 + 0.28 * max(3, len(shown)))
    for at, character in enumerate(shown):
        places = [report.mentions[place].start for place in character.places]
        sizes = [12 + 9 * report.rows[place].referent_surprisal for place in character.places]
        axis.hlines(at, min(places), max(places), color=colour_of(character.number), linewidth=1, alpha=0.5)
        axis.scatter(places, [at] * len(places), s=sizes, color=colour_of(character.number), linewidths=0)
    axis.set_yticks(range(len(shown)), [label(character.name, 30) for character in shown])
    axis.set_xlabel(f"token (a mark's area: surprisal of the referent, {report.unit})")
    axis.set_xlim(0, max(1, len(report.document)))
    axis.invert_yaxis()
    return figure


def draw_calibration(found: Calibration, title: str) -> Any:
    """Observed against predicted, with error bars, and how many predictions there are."""
    figure, (axis, counts) = start_figure(7.6, 3.6, 2)
    axis.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--")
    axis.errorbar(
        [b.predicted for b in found.bins],
        [b.observed for b in found.bins],
        yerr=[b.error for b in found.bins],
        fmt="o-",
        color=BLUE,
        markersize=4,
        linewidth=1.2,
    )
    axis.set(
        xlim=(0, 1), ylim=(0, 1), xlabel="predicted probability of a referent", ylabel="share that came true"
    )
    axis.set_title(f"{title}: error {100 * found.error:.1f} points", fontsize=9)
    counts.bar(
        [b.low for b in found.bins],
        [b.count for b in found.bins],
        width=[b.high - b.low for b in found.bins],
        align="edge",
        color=GREY,
        edgecolor="white",
    )
    counts.set_yscale("log")
    counts.set(xlim=(0, 1), xlabel="predicted probability", ylabel="predictions")
    counts.set_title(f"{found.mentions:,} mentions, {100 * found.accuracy:.1f} % right", fontsize=9)
    return figure
