"""Figures for papers, by matplotlib: PNG, SVG or PDF by the ending of the file's name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from entitynlm.extras import require
from entitynlm.files import write_atomically
from entitynlm.interfaces.options import check_figure
from entitynlm.report.templates import shorten

if TYPE_CHECKING:
    from entitynlm.lm.marginal_curve import CurvePoint
    from entitynlm.lm.surprisal import Surprisal
    from entitynlm.prediction.calibration import Calibration
    from entitynlm.report.contents import Report

BLUE, GREY, ORANGE = "#1f5fa8", "#9a9a9a", "#d65d0e"
WORDS_WITH_LABELS = 60
MOST_LABELS = 12  # of the values of a setting
PROPOSAL_COLOURS = {"causal": BLUE, "lookahead": "#c0561f"}
METHOD_STYLES = {"particle-filter": ("-", "o"), "importance": ("--", "s")}


def start_figure(width: float = 7.0, height: float = 4.0, panels: int = 1) -> tuple[Any, Any]:
    """A figure with ``panels`` axes side by side, drawn without a screen."""
    matplotlib = require("matplotlib", extra="plot", purpose="drawing figures")
    matplotlib.use("Agg")
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing figures")
    figure, axes = pyplot.subplots(1, panels, figsize=(width, height), layout="constrained")
    for axis in axes if panels > 1 else [axes]:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a figure in the format that its file's ending names, and close it; without a date, so that a figure has one file."""
    path = check_figure(Path(path))
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix)
    matplotlib = require("matplotlib", extra="plot", purpose="drawing figures")
    with warnings.catch_warnings(), write_atomically(path, "wb") as stream:
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a box is drawn for an emoji, say
        with matplotlib.rc_context({"svg.hashsalt": "entitynlm"}):
            figure.savefig(stream, format=path.suffix[1:], dpi=160, metadata=undated)
    require("matplotlib.pyplot", extra="plot", purpose="drawing figures").close(figure)


def draw_training(records: Sequence[dict[str, Any]]) -> Any:
    """Loss against epoch, training and development, for each part of a model."""
    parts = list(dict.fromkeys(record["part"] for record in records))
    figure, axes = start_figure(4.5 * len(parts), 3.6, len(parts))
    for axis, part in zip(axes if len(parts) > 1 else [axes], parts, strict=True):
        own = [record for record in records if record["part"] == part]
        epochs = [record["epoch"] for record in own]
        best = min(own, key=lambda record: record["dev_loss"])
        axis.plot(epochs, [record["train_loss"] for record in own], label="training", color=GREY)
        axis.plot(epochs, [record["dev_loss"] for record in own], label="development", color=BLUE)
        axis.plot([best["epoch"]], [best["dev_loss"]], "o", color=BLUE)
        note, place = f"{best['dev_loss']:.3f} at epoch {best['epoch']}", (best["epoch"], best["dev_loss"])
        axis.annotate(note, place, xytext=(0, 8), textcoords="offset points", ha="right")
        axis.set(title=part, xlabel="epoch", ylabel="loss (nats per word)")
        axis.legend(frameon=False)
    return figure


def draw_sweep(trials: Sequence[Any]) -> dict[str, Any]:
    """Figures of a hyperparameter search by name: losses trial by trial and epoch by epoch, and losses against each setting."""
    trials = [trial for trial in trials if trial.intermediate_values]
    losses = [min(trial.intermediate_values.values()) for trial in trials]
    first, (by_trial, by_epoch) = start_figure(9.0, 4.0, 2)
    numbers = [trial.number for trial in trials]
    by_trial.plot(numbers, losses, "o", color=BLUE, label="a trial")
    by_trial.step(numbers, np.minimum.accumulate(losses), where="post", color=ORANGE, label="the best so far")
    by_trial.set(xlabel="trial", ylabel="development loss")
    by_trial.legend(frameon=False)
    for trial in trials:
        colour = BLUE if trial.state.name == "COMPLETE" else GREY
        by_epoch.plot(*zip(*trial.intermediate_values.items(), strict=True), ".-", color=colour, alpha=0.6)
    by_epoch.set(xlabel="epoch (grey: given up)")
    for axis in (by_trial, by_epoch):
        axis.xaxis.get_major_locator().set_params(integer=True)  # there is no trial 2.5
    names = list(dict.fromkeys(name for trial in trials for name in trial.params))
    second, panels = start_figure(max(4.0, 2.4 * len(names)), 4.2, len(names))
    for axis, name in zip(np.ravel(panels), names, strict=True):
        pairs = [(trial.params[name], loss) for trial, loss in zip(trials, losses, strict=True)]
        values = sorted({value for value, _ in pairs}, key=lambda v: (isinstance(v, str), v))
        few = (
            len(values) <= MOST_LABELS
        )  # of more values, which are numbers of a range, no label could be read
        axis.plot([values.index(v) if few else v for v, _ in pairs], [y for _, y in pairs], "o", color=BLUE)
        if few:
            axis.set_xticks(range(len(values)), [label(str(v), 24) for v in values], rotation=90)
            axis.margins(x=0.2)
        axis.set(title=name.partition(".")[2] or name, ylabel="development loss" if name == names[0] else "")
    return {"losses": first, "settings": second}


def draw_marginal_curve(points: Sequence[CurvePoint], references: Mapping[str, float] | None = None) -> Any:
    """Perplexity against N, with bars of one standard deviation; ``references`` (the LSTM's, say) are horizontal lines."""
    figure, axis = start_figure(6.4, 4.2)
    for method, proposal in dict.fromkeys((point.method, point.proposal) for point in points):
        own = [point for point in points if (point.method, point.proposal) == (method, proposal)]
        own.sort(key=lambda point: point.particles)
        line, marker = METHOD_STYLES.get(method, ("-", "o"))
        style = {
            "linestyle": line,
            "marker": marker,
            "markersize": 4,
            "color": PROPOSAL_COLOURS.get(proposal),
        }
        bars = [0.0 if len(point.perplexities) < 2 else point.standard_deviation for point in own]
        particles, means = [point.particles for point in own], [point.mean for point in own]
        axis.errorbar(particles, means, yerr=bars, capsize=3, label=f"{method}, {proposal} Q", **style)
    for name, value in (references or {}).items():
        axis.axhline(value, color=GREY, linewidth=1, linestyle=":", label=f"{name} ({value:.1f})")
    counts = sorted({point.particles for point in points})
    axis.set_xscale("log")
    axis.set_xticks(counts, [str(count) for count in counts])
    axis.minorticks_off()
    axis.set(xlabel="samples N per document", ylabel="perplexity (marginal)")
    axis.legend(frameon=False)
    return figure


def draw_surprisal(tables: Surprisal, *, unit: str, smooth: int | None = None) -> Any:
    """With entities and without: word by word for a short text, as a moving average for a long one."""
    rows = [row for row in tables.tokens if row.surprisal is not None]
    with_entities = np.array([row.surprisal for row in rows], dtype=float)
    without = np.array([row.without_entities for row in rows], dtype=float)
    baseline = f"without entities ({tables.source})"
    if len(rows) <= WORDS_WITH_LABELS and smooth is None:
        figure, axis = start_figure(max(4.0, 0.22 * len(rows) + 1.2), 3.4)
        places = np.arange(len(rows))
        errors = np.array([row.error or 0.0 for row in rows])
        bars = errors if errors.any() else None
        axis.bar(places, with_entities, color=BLUE, width=0.7, yerr=bars, label="EntityNLM")
        axis.plot(places, without, "o", color=ORANGE, markersize=3.5, label=baseline)
        axis.set_xticks(places, [label(row.token, 16) for row in rows], rotation=90)
        axis.margins(x=0.01)
    else:
        window = smooth or max(5, len(rows) // 100)
        figure, axis = start_figure(8.0, 3.2)
        axis.plot(average(with_entities, window), color=BLUE, linewidth=1.2, label="EntityNLM")
        axis.plot(average(without, window), color=ORANGE, linewidth=0.9, alpha=0.8, label=baseline)
        axis.set_xlabel(f"word (mean over {window} words)")
        axis.margins(x=0)
    axis.set_ylabel(f"surprisal ({unit})")
    axis.set_ylim(bottom=0)
    axis.legend(frameon=False, fontsize=8)
    return figure


def label(text: str, longest: int) -> str:
    """Words of a text as a label of an axis: nothing in them is a formula or a control character."""
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
        rows = [report.rows[place] for place in character.places]
        sizes = [12 + (9 * row.known_surprisal if row is not None else 0) for row in rows]
        axis.hlines(at, min(places), max(places), color=character.colour, linewidth=1, alpha=0.5)
        axis.scatter(places, [at] * len(places), s=sizes, color=character.colour, linewidths=0)
    axis.set_yticks(range(len(shown)), [label(character.name, 30) for character in shown])
    axis.set_xlabel(f"token (a mark's area: surprisal of the referent, {report.unit})")
    axis.set_xlim(0, max(1, len(report.document)))
    axis.invert_yaxis()
    return figure


def draw_calibration(found: Calibration, title: str) -> Any:
    """Observed against predicted, with error bars, and how many predictions there are."""
    figure, (axis, counts) = start_figure(7.6, 3.6, 2)
    axis.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--")
    predicted, observed, errors = zip(*((b.predicted, b.observed, b.error) for b in found.bins), strict=True)
    axis.errorbar(predicted, observed, yerr=errors, fmt="o-", color=BLUE, markersize=4, linewidth=1.2)
    axis.set(xlim=(0, 1), ylim=(0, 1))
    axis.set(xlabel="predicted probability of a referent", ylabel="share that came true")
    axis.set_title(f"{title}: error {100 * found.calibration_error:.1f} points", fontsize=9)
    low, heights, widths = zip(*((b.low, b.count, b.high - b.low) for b in found.bins), strict=True)
    counts.bar(low, heights, width=widths, align="edge", color=GREY, edgecolor="white")
    counts.set_yscale("log")
    counts.set(xlim=(0, 1), xlabel="predicted probability", ylabel="predictions")
    counts.set_title(f"{found.mentions:,} mentions, {100 * found.accuracy:.1f} % right", fontsize=9)
    return figure
