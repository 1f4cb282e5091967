"""Figures for papers, by matplotlib: PNG, SVG or PDF by the ending of the file's name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from entitynlm.extras import require
from entitynlm.files import write_atomically

if TYPE_CHECKING:
    from entitynlm.prediction.calibration import Calibration

BLUE, LIGHT = "#1f5fa8", "#9a9a9a"


def draw_calibration(found: Calibration, title: str, path: Path) -> None:
    """Draw observed against predicted shares, with error bars, and the number of predictions.

    The file has no date in it, so that the same figure is always the same file.
    """
    matplotlib = require("matplotlib", extra="plot", purpose="drawing figures")
    matplotlib.use("Agg")  # needs no screen
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing figures")
    figure, (axis, counts) = pyplot.subplots(1, 2, figsize=(7.6, 3.6), layout="constrained")
    for panel in (axis, counts):
        panel.spines[["top", "right"]].set_visible(False)
    axis.plot([0, 1], [0, 1], color=LIGHT, linewidth=0.8, linestyle="--")
    predicted, observed, errors = zip(*((b.predicted, b.observed, b.error) for b in found.bins), strict=True)
    axis.errorbar(predicted, observed, yerr=errors, fmt="o-", color=BLUE, markersize=4, linewidth=1.2)
    axis.set(xlim=(0, 1), ylim=(0, 1))
    axis.set(xlabel="predicted probability of a referent", ylabel="share that came true")
    axis.set_title(f"{title}: error {100 * found.calibration_error:.1f} points", fontsize=9)
    low, heights, widths = zip(*((b.low, b.count, b.high - b.low) for b in found.bins), strict=True)
    counts.bar(low, heights, width=widths, align="edge", color=LIGHT, edgecolor="white")
    counts.set_yscale("log")
    counts.set(xlim=(0, 1), xlabel="predicted probability", ylabel="predictions")
    counts.set_title(f"{found.mentions:,} mentions, {100 * found.accuracy:.1f} % right", fontsize=9)
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix)
    with write_atomically(path, "wb") as stream, matplotlib.rc_context({"svg.hashsalt": "entitynlm"}):
        figure.savefig(stream, format=path.suffix[1:], dpi=160, metadata=undated)
    pyplot.close(figure)
