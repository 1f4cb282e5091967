"""Figures of the language-modelling task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from entitynlm.interfaces.figures.drawing import start_figure
from entitynlm.lm.marginal_curve import CurvePoint

COLOURS = {"causal": "#1f5fa8", "lookahead": "#c0561f"}
STYLES = {"particle-filter": ("-", "o"), "importance": ("--", "s")}


def draw_marginal_curve(points: Sequence[CurvePoint], references: Mapping[str, float] | None = None) -> Any:
    """Perplexity against N, a line per estimator and proposal, bars of one standard deviation.

    ``references`` are horizontal lines, for example the LSTM's perplexity on the same words.
    """
    figure, axis = start_figure(6.4, 4.2)
    for method, proposal in dict.fromkeys((point.method, point.proposal) for point in points):
        own = [point for point in points if (point.method, point.proposal) == (method, proposal)]
        own.sort(key=lambda point: point.particles)
        line, marker = STYLES.get(method, ("-", "o"))
        axis.errorbar(
            [point.particles for point in own],
            [point.mean for point in own],
            yerr=[0.0 if len(point.perplexities) < 2 else point.spread for point in own],
            label=f"{method}, {proposal} Q",
            color=COLOURS.get(proposal),
            linestyle=line,
            marker=marker,
            markersize=4,
            capsize=3,
        )
    for name, value in (references or {}).items():
        axis.axhline(value, color="#8c8c8c", linewidth=1, linestyle=":", label=f"{name} ({value:.1f})")
    counts = sorted({point.particles for point in points})
    axis.set_xscale("log")
    axis.set_xticks(counts, [str(count) for count in counts])
    axis.minorticks_off()
    axis.set(xlabel="samples N per document", ylabel="perplexity (marginal)")
    axis.legend(frameon=False)
    return figure
