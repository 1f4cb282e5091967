"""``python -m benchmarks.page``: put the figures of a run into the page on speed, where a row begins with the figure's key."""

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
ROW = re.compile(r"^(\| `([\w-]+)` \|.*\| )[^|]*( \|)$", re.MULTILINE)
RUN = re.compile(r"`make bench` at .*?, load \S* to \S*, on one of \d+ cores \([^)]*\)", re.DOTALL)


def format_figure(value: float) -> str:
    """Show about three digits."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"


def fill_page(page: str, results: Mapping[str, Any]) -> str:
    """Replace the last cell of each row with a key, and what the page says of the run; a key without a figure is an error."""
    keys = {match[2] for match in ROW.finditer(page)}
    if missing := sorted(keys - results.keys()):
        raise SystemExit(f"the run has no figure for {', '.join(missing)}")
    about = results["about"]
    low, high = about["loads"]
    machine = f"on one of {about['cores']} cores ({about['processor']})"
    run = f"`make bench` at {about['commit']}, {about['date']}, load {low} to {high}, {machine}"
    filled, runs = RUN.subn(run, page)
    if runs != 1:
        raise SystemExit("the page does not say once which run its figures are from")
    return ROW.sub(lambda match: f"{match[1]}{format_figure(results[match[2]])}{match[3]}", filled)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.page", description=__doc__)
    parser.add_argument(
        "--results", type=Path, default=Path("benchmarks/results.json"), help="the figures of `make bench`"
    )
    parser.add_argument("--page", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    results = json.loads(options.results.read_text(encoding="utf-8"))
    page = options.page.read_text(encoding="utf-8")
    options.page.write_text(fill_page(page, results), encoding="utf-8")


if __name__ == "__main__":
    main()
