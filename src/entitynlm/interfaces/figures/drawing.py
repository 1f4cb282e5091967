"""Figures for papers, by matplotlib: PNG, SVG or PDF by the ending of the file's name."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from entitynlm.errors import ConfigError
from entitynlm.extras import require
from entitynlm.files import write_atomically

ENDINGS = (".png", ".svg", ".pdf")


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
    """Write a figure in the format that its file's ending names, and close it."""
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise ConfigError(f"{path}: a figure's file ends in one of {', '.join(ENDINGS)}")
    with warnings.catch_warnings(), write_atomically(path, "wb") as stream:
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a box is drawn for an emoji, say
        figure.savefig(stream, format=path.suffix[1:], dpi=160)
    require("matplotlib.pyplot", extra="plot", purpose="drawing figures").close(figure)


def draw_training(records: Sequence[dict[str, Any]]) -> Any:
    """Loss against epoch, training and development, for each part of a model."""
    parts = list(dict.fromkeys(record["part"] for record in records))
    figure, axes = start_figure(4.5 * len(parts), 3.6, len(parts))
    for axis, part in zip(axes if len(parts) > 1 else [axes], parts, strict=True):
        own = [record for record in records if record["part"] == part]
        epochs = [record["epoch"] for record in own]
        best = min(own, key=lambda record: record["dev_loss"])
        axis.plot(epochs, [record["train_loss"] for record in own], label="training", color="#8c8c8c")
        axis.plot(epochs, [record["dev_loss"] for record in own], label="development", color="#1f5fa8")
        axis.plot([best["epoch"]], [best["dev_loss"]], "o", color="#1f5fa8")
        note = f"{best['dev_loss']:.3f} at epoch {best['epoch']}"
        axis.annotate(
            note, (best["epoch"], best["dev_loss"]), xytext=(0, 8), textcoords="offset points", ha="right"
        )
        axis.set(title=part, xlabel="epoch", ylabel="loss (nats per word)")
        axis.legend(frameon=False)
    return figure
