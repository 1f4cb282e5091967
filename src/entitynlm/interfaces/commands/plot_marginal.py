"""``entitynlm plot marginal``: perplexity against the number of samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces.commands.lm_options import (
    PriorOption,
    RepeatsOption,
    WorkersOption,
    follow_documents,
    parse_numbers,
    split_list,
)
from entitynlm.interfaces.commands.train import prepare_torch
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import FormatOption, JsonOption, QuietOption, SeedOption, ThreadsOption

if TYPE_CHECKING:
    from entitynlm.lm.marginal_curve import CurvePoint


def marginal(
    source: Annotated[
        Path,
        typer.Argument(
            help="A model's folder (then --corpus is needed), or figures that --json has written."
        ),
    ],
    corpus: Annotated[Path | None, typer.Option("--corpus", help="The corpus to measure on.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The figure's file: .png, .svg or .pdf.")] = Path(
        "marginal.png"
    ),
    split: Annotated[str, typer.Option("--split", help="The split to measure on.")] = "dev",
    samples: Annotated[str, typer.Option("--samples", help="The numbers of samples.")] = "1,3,10,30,100",
    methods: Annotated[str, typer.Option("--methods", help="Estimators.")] = "particle-filter,importance",
    proposals: Annotated[
        str | None, typer.Option("--proposals", help="Proposals; default: all that the model has.")
    ] = None,
    repeats: RepeatsOption = 4,
    prior_share: PriorOption = None,
    workers: WorkersOption = 1,
    format: FormatOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Perplexity against N, for both estimators and all proposals, with error bars from independent runs.

    Examples:

      entitynlm plot marginal runs/ontogum --corpus ../shared/data/ontogum --json curve.json --out curve.svg
      entitynlm plot marginal curve.json --out curve.pdf
    """
    from entitynlm.interfaces.figures.drawing import save_figure
    from entitynlm.interfaces.figures.lm import draw_marginal_curve

    terminal = Terminal(quiet=quiet, json_path=json_path)
    if source.is_dir():
        if corpus is None:
            raise ConfigError("--corpus is needed to measure a model on; without it, name a file of figures")
        prepare_torch("cpu", threads)
        points, references = measure(
            source,
            corpus,
            split,
            terminal,
            format=format,
            particles=parse_numbers(samples, "--samples"),
            methods=split_list(methods),
            proposals=split_list(proposals) if proposals else None,
            repeats=repeats,
            **({} if prior_share is None else {"prior_share": prior_share}),
            seed=seed,
            workers=workers,
        )
    else:
        points, references = read_curve(source)
    save_figure(draw_marginal_curve(points, references), out)
    for point in points:
        bar = f" ± {point.spread:.2f}" if len(point.perplexities) > 1 else ""
        terminal.print(
            f"{point.method:16} {point.proposal:10} N = {point.particles:<5} {point.mean:.2f}{bar} (ESS {point.ess:.1f})"
        )
    terminal.print(f"wrote {out}")
    terminal.write_json({"points": [point.to_dict() for point in points], "references": references})


def measure(
    model: Path, corpus: Path, split: str, terminal: Terminal, *, format: str | None, **options: Any
) -> tuple[list[CurvePoint], dict[str, float]]:
    """The points, and the LSTM's perplexity on the same words where the model has one."""
    from entitynlm.lm.marginal_curve import trace_curve
    from entitynlm.lm.perplexity import to_perplexity
    from entitynlm.lm.rnnlm import score_words
    from entitynlm.model.pretrained import load_pretrained
    from entitynlm.text.corpora import open_corpus

    pretrained = load_pretrained(model)
    documents = [
        pretrained.encoder.encode(found) for found in open_corpus(corpus, format=format).documents(split)
    ]
    with terminal.progress() as progress:
        points = trace_curve(pretrained, documents, on_document=follow_documents(progress), **options)
    references = {}
    if pretrained.language_model is not None:
        scores = [score_words(pretrained.language_model, document) for document in documents]
        references["RNNLM"] = to_perplexity(sum(float(s.sum()) for s in scores), sum(map(len, scores)))
    return points, references


def read_curve(path: Path) -> tuple[list[CurvePoint], dict[str, float]]:
    """Figures that were written before."""
    from entitynlm.lm.marginal_curve import CurvePoint

    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        points = [CurvePoint.from_dict(cast(Any, values)) for values in found["points"]]
        references = {str(name): float(value) for name, value in found.get("references", {}).items()}
    except OSError as error:
        raise DataError(f"the figures can't be read ({error.strerror or error})", path=path) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            "these are no figures of a curve", path=path, expected="what `plot marginal --json` writes"
        ) from error
    if not points:
        raise DataError("there is no point in these figures", path=path)
    return points, references
