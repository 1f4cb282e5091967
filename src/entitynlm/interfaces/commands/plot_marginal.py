"""``entitynlm plot marginal``: perplexity against the number of samples."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import read_json
from entitynlm.interfaces import options
from entitynlm.interfaces.commands import experiment_options as shared
from entitynlm.interfaces.commands.plot import finish
from entitynlm.interfaces.console import Terminal
from entitynlm.model.devices import prepare_torch
from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document

if TYPE_CHECKING:
    from entitynlm.lm.marginal_curve import CurvePoint

Curve = tuple[list["CurvePoint"], dict[str, float]]
"""The points, and perplexities to compare with by name."""


def marginal(
    *,
    source: Annotated[Path, typer.Argument(callback=options.check_exists)],
    corpus: options.OptionalExisting = None,
    out: options.Figure = Path("marginal.png"),
    split: str = "dev",
    samples: str = "1,3,10,30,100",
    methods: str = "particle-filter,importance",
    proposals: str | None = None,
    repeats: options.Repeats = 4,
    prior_share: options.PriorShare = None,
    workers: options.Workers = 1,
    format: options.Format = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    terminal: Terminal,
) -> None:
    """Perplexity against the number of samples.

    Perplexity against the number of samples, for both estimators and all proposals, with error bars.

    Examples:

      entitynlm plot marginal runs/ontogum --corpus corpora/ontogum --json curve.json --out curve.svg
      entitynlm plot marginal curve.json --out curve.pdf

    :param source: A model's folder (then --corpus is needed), or figures that --json has written.
    :param corpus: The corpus to measure on.
    :param split: The split to measure on.
    :param samples: Numbers of samples, separated by commas.
    :param methods: Estimators, separated by commas.
    :param proposals: Proposals, separated by commas; default: all that the model has.
    """
    curve: dict[str, Any] = {
        "particles": shared.parse_numbers(samples, "--samples", least=1, most=100_000),
        "methods": shared.choose_names(methods, "--methods", ("particle-filter", "importance")),
        "proposals": proposals and shared.choose_names(proposals, "--proposals", ("causal", "lookahead")),
    }
    if source.is_dir():
        options.check_model(source)
        if corpus is None:
            raise ConfigError("--corpus is needed to measure a model on; without it, name a file of figures")
        opened = open_corpus(corpus, format=format)
        opened.files(split)  # an error here if there is no such split
        prepare_torch("cpu", threads)
        from entitynlm.lm.evaluation import Sampling

        share: dict[str, Any] = {} if prior_share is None else {"prior_share": prior_share}
        curve["sampling"] = Sampling(repeats=repeats, seed=seed, workers=workers, **share)
        points, references = measure(source, opened.documents(split), terminal, **curve)
    else:
        points, references = read_curve(source)
    from entitynlm.interfaces.figures import draw_marginal_curve

    for point in points:
        bar = f" ± {point.standard_deviation:.2f}" if len(point.perplexities) > 1 else ""
        terminal.print(
            f"{point.method:16} {point.proposal:10} N = {point.particles:<5} {point.mean:.2f}{bar} (ESS {point.ess:.1f})"
        )
    named = {"task": "plot marginal", **({"model": str(source)} if source.is_dir() else {})}
    figures = {**named, "points": [point.to_dict() for point in points], "references": references}
    finish(terminal, out, draw_marginal_curve(points, references), figures)


def measure(model: Path, documents: Iterable[Document], terminal: Terminal, **curve: Any) -> Curve:
    """Measure the points, and the LSTM's perplexity on the same words where the model has one."""
    from entitynlm.lm.marginal_curve import trace_curve
    from entitynlm.lm.rnnlm import score_words
    from entitynlm.lm.scores import to_perplexity

    pretrained = terminal.load_model(model)
    encoded = [pretrained.encoder.encode(document) for document in documents]
    points = trace_curve(pretrained, encoded, progress=terminal, **curve)
    references = {}
    if pretrained.language_model is not None:
        scores = [score_words(pretrained.language_model, document) for document in encoded]
        references["RNNLM"] = to_perplexity(sum(float(s.sum()) for s in scores), sum(map(len, scores)))
    return points, references


def read_curve(path: Path) -> Curve:
    """Read figures that were written before."""
    try:
        found = read_json(path)
        rows = list(found["points"])
        references = {str(name): float(value) for name, value in found.get("references", {}).items()}
        from entitynlm.lm.marginal_curve import CurvePoint

        points = [CurvePoint.from_dict(row) for row in rows]
    except OSError as error:
        raise DataError(f"the figures can't be read ({error.strerror or error})", path=path) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        expected = "what `plot marginal --json` writes"
        raise DataError("these are no figures of a curve", path=path, expected=expected) from error
    if not points:
        raise DataError("there is no point in these figures", path=path)
    return points, references
