"""``python -m benchmarks.run``: run the benchmarks, print a table, write the figures to a JSON file.

A benchmark is a module with a ``NAME`` and a function ``run(context)`` that gives figures; to add one, write the module and put
it into ``BENCHMARKS``.
"""

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks.figures import Context, Figure
from benchmarks.profiling import run_profiles
from entitynlm.files import write_atomically

WIDTH = 170  # of the table, where the terminal is not wider
BENCHMARKS = (
    "waiting",
    "surprisal",
    "pretrained",
    "training_speed",
    "slow_twin",
    "inscript",
    "growth",
    "inference",
    "reranking",
    "scorer",
)
"""What ``make bench`` runs, those with bars on what people wait for first."""
BY_NAME = ("entities", "novel", "softmaxes", "throughput")
"""What runs if it is named, because it takes long and no bar stands on it but that of two workers."""


def main(arguments: Sequence[str] | None = None) -> None:
    modules = {
        module.NAME: module
        for module in (importlib.import_module(f"benchmarks.{name}") for name in (*BENCHMARKS, *BY_NAME))
    }
    options = parse_options(arguments, list(modules))
    torch.set_num_threads(1)
    errors = Console(stderr=True)
    data = options.data if options.data is not None and options.data.is_dir() else None
    if options.data is not None and data is None:
        errors.print(f"{options.data}: no such folder; measuring on generated stories instead")
    context = Context(data, options.quick, options.before and options.before.resolve())
    results = read_results(options.out) if options.only else {}
    figures: list[Figure] = []
    loads = [os.getloadavg()[0]]
    for name in options.only or list(modules)[: len(BENCHMARKS)]:
        errors.print(f"── {name}: {(modules[name].__doc__ or '').strip()}")
        found = modules[name].run(context)
        figures += found
        loads.append(os.getloadavg()[0])
        for figure in found:
            errors.print(f"{figure.key} {figure.value:.4g} {figure.bars} {figure.verdict}")
        results.update({figure.key: round(figure.value, 4) for figure in found})
    if options.profile:
        errors.print("── profile")
        results["profile"] = {
            name: {purpose: round(share, 4) for purpose, share in shares.items()}
            for name, shares in run_profiles(context).items()
        }
    results["about"] = describe_run(data, options.quick, loads)
    output = Console(width=max(WIDTH, Console().width))
    output.print(make_table(figures))
    for name, shares in results["profile"].items() if options.profile else ():
        output.print(make_profile_table(name, shares))
    with write_atomically(options.out) as stream:
        json.dump(results, stream, indent=1, ensure_ascii=False)
        stream.write("\n")
    errors.print(f"written: {options.out}")


def parse_options(arguments: Sequence[str] | None, names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks.run", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=None,
        help="the folder of corpora (generated stories where it is missing)",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("benchmarks/results.json"), help="the file of figures"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=names,
        help=f"some benchmarks; the file's other figures stay (only by name: {', '.join(names[len(BENCHMARKS) :])})",
    )
    parser.add_argument(
        "--before", type=Path, help="a checkout of an earlier commit, for ratios of verbs on SmolLM2"
    )
    parser.add_argument("--profile", action="store_true", help="also show where the time goes")
    parser.add_argument(
        "--quick", action="store_true", help="tiny inputs, one lap: to see that all of it runs"
    )
    return parser.parse_args(arguments)


def read_results(path: Path) -> dict[str, Any]:
    """The figures of an earlier run, if there was one."""
    if not path.exists():
        return {}
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results


def describe_run(data: Path | None, quick: bool, loads: Sequence[float]) -> dict[str, Any]:
    """Describe what was measured when and on which machine, and how busy it was between benchmarks."""
    model = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        fields = (line.partition(":") for line in lines)
        told = {name.strip(): value.strip() for name, _, value in fields}
        model = f"{told.get('model name', model)}, family {told.get('cpu family', 'unknown')}"
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True)
    return {
        "commit": commit.stdout.strip(),
        "date": date.today().isoformat(),
        "processor": model,
        "cores": os.cpu_count(),
        "loads": [round(min(loads), 1), round(max(loads), 1)],
        "python": sys.version.split()[0],
        "torch": torch.__version__,
        "numpy": np.__version__,
        "corpora": data is not None,
        "quick": quick,
    }


def make_table(figures: Sequence[Figure]) -> Table:
    table = Table(title="Speed", title_justify="left")
    table.add_column("figure")
    table.add_column("value", justify="right", no_wrap=True)
    for heading in ("unit", "bar", "", "key"):
        table.add_column(heading, no_wrap=True)
    for figure in figures:
        value = f"{figure.value:,.2f}" if abs(figure.value) < 1000 else f"{figure.value:,.0f}"
        style = {"MISSED": "bold red", "": None}.get(figure.verdict, "green")
        row = (figure.text, value, figure.unit, figure.bars, figure.verdict, f"[dim]{figure.key}[/]")
        table.add_row(*row, style=style)
    return table


def make_profile_table(name: str, shares: dict[str, float]) -> Table:
    table = Table(title=f"Where the time goes: {name}", title_justify="left")
    table.add_column("part")
    table.add_column("share", justify="right")
    for purpose, share in sorted(shares.items(), key=lambda item: -item[1]):
        table.add_row(purpose, f"{100 * share:.1f} %")
    return table


if __name__ == "__main__":
    main()
