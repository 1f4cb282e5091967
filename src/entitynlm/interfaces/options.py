"""Options that mean the same thing in every verb, declared once."""

from __future__ import annotations

from typing import Annotated

import typer

JsonOption = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the figures as JSON to FILE; '-' is standard output, and nothing else is printed there.",
    ),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no remarks on standard error.")
]
ColourOption = Annotated[
    bool | None,
    typer.Option("--colour/--no-colour", help="Colours, or none; default: only in a terminal."),
]
SeedOption = Annotated[int, typer.Option("--seed", help="The same seed gives the same figures.")]
DeviceOption = Annotated[str, typer.Option("--device", help="Where to compute: cpu, cuda, cuda:1, mps.")]
ThreadsOption = Annotated[
    int | None,
    typer.Option("--threads", min=1, help="CPU threads for the computation; default: torch's choice."),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="The input's format, with reading options as jsonl:spans=exclusive; default: recognised.",
    ),
]
