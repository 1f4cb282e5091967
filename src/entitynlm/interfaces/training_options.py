"""Options of the verbs ``train``, ``sweep`` and ``evaluate``, how a training is watched, and how result tables are printed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from entitynlm.config import parse_toml_value
from entitynlm.errors import ConfigError
from entitynlm.experiments.table import ExperimentResult, ResultTable
from entitynlm.files import write_text
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.model.devices import prepare_torch

if TYPE_CHECKING:
    from rich.table import Table

    from entitynlm.experiments.runner import Runner
    from entitynlm.experiments.table1_language_modelling import LanguageModelling
    from entitynlm.text.corpora.corpus import Corpus
    from entitynlm.training.settings import Settings

LIKELIHOODS = "marginal,words-only,words-mean,words-mean-P,joint,given-entities"

TABLE_WIDTH = 130  # enough for ten columns of figures; a narrower window wraps the lines
_MODEL = "Measure this model: a folder that entitynlm train has written, or a packaged model."
ModelFolder = Annotated[Path | None, typer.Option("--model", "-m", callback=options.check_model, help=_MODEL)]
_SPLITS = "Splits to measure; default: dev and test, where they are."
Splits = Annotated[str | None, typer.Option("--split", help=_SPLITS)]


@dataclass(frozen=True)
class CorpusOptions:
    """The corpus to train on or to measure, and the device."""

    corpus: options.Corpus
    format: options.Format = None
    device: options.Device = "cpu"
    threads: options.Threads = None

    def open(self, *needed: str) -> Corpus:
        """Open the corpus, which must have the splits ``needed``."""
        from entitynlm.text.corpora import open_corpus

        corpus = open_corpus(self.corpus, format=self.format)
        for split in needed:
            corpus.files(split)
        return corpus

    def prepare(self, threads: int | None = None) -> None:
        """Import torch, which takes seconds, after all checks of the command line."""
        prepare_torch(self.device, self.threads or threads)


@dataclass(frozen=True)
class SettingsOptions:
    """The settings of a training."""

    config: options.Config = None
    set_: options.Set = None
    backbone: options.Backbone = None

    def load(self, defaults: Mapping[str, Any] | None = None, **drawn: Any) -> Settings:
        """Load the configuration; ``--set`` changes ``defaults``, and a sweep's settings change both."""
        from entitynlm.training.settings import load_settings

        changes = {**(defaults or {}), **parse_changes(self.set_ or []), **drawn}
        return load_settings(self.config, changes, language_model=self.backbone)


@dataclass(frozen=True)
class TrainingOptions(SettingsOptions):
    """Models that are trained on the corpus instead of a given one.

    :param out: Train what is needed and not there yet in this folder, which also gets tables.txt and tables.json.
    """

    out: options.OptionalFolder = None

    def check(self, model: Path | None) -> None:
        """Refuse options of a training with a given model, and options of a given model with a training."""
        given = {"--config": self.config, "--set": self.set_, "--backbone": self.backbone}
        extra = [name for name, value in given.items() if value]
        if self.out is None and extra:
            raise ConfigError(f"{extra[0]} is for a training: name the folder for its models with --out")
        if self.out is not None and model is not None:
            raise ConfigError("--model measures a given model, --out trains models: choose one of them")


@dataclass(frozen=True)
class PerplexityOptions:
    """Rows of Table 1, and how they are estimated.

    :param ngram: With or without the 5-gram row.
    :param method: How P(X) is estimated.
    :param likelihoods: Rows of EntityNLM: some of marginal, words-only, words-mean, words-mean-P, joint, given-entities.
    """

    ngram: bool = True
    samples: options.Samples = 100
    repeats: options.Repeats = 4
    method: Literal["particle-filter", "importance"] = "particle-filter"
    prior_share: options.PriorShare = None
    likelihoods: str = LIKELIHOODS
    seed: options.Seed = 0

    def check(self) -> list[str]:
        """Return the likelihoods, or raise an error for an unknown one."""
        return parse_names(self.likelihoods, "--likelihoods", LIKELIHOODS.split(","))

    def make_experiment(self, corpus: Corpus, splits: Sequence[str], runner: Runner) -> LanguageModelling:
        from entitynlm.experiments.table1_language_modelling import LanguageModelling
        from entitynlm.inference.marginal import PRIOR_SHARE
        from entitynlm.lm.evaluation import Sampling

        likelihoods = self.check()
        share = PRIOR_SHARE if self.prior_share is None else self.prior_share
        sampling = Sampling(self.samples, self.repeats, self.method, self.seed, share)
        train = ["train"] if runner.folder or (self.ngram and "train" in corpus.splits) else []
        documents = {name: list(corpus.documents(name)) for name in (*train, *splits)}
        return LanguageModelling(documents, runner, splits, sampling, likelihoods, self.ngram)


def parse_changes(changes: list[str]) -> dict[str, Any]:
    """Parse ``section.key=value`` with TOML values; a value that is not TOML is taken as text."""
    parsed: dict[str, Any] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise ConfigError(f"--set wants SECTION.KEY=VALUE, for example model.dropout=0.5, not {change!r}")
        parsed[name.strip()] = parse_toml_value(value.strip())
    return parsed


def split_list(text: str | None) -> list[str]:
    """Split ``dev,test`` at its commas, without repetitions."""
    return list(dict.fromkeys(part.strip() for part in (text or "").split(",") if part.strip()))


def parse_names(text: str, option: str, known: Sequence[str]) -> list[str]:
    """Split a list of names, and raise an error for an unknown one."""
    names = split_list(text)
    wrong = [name for name in names if name not in known]
    if wrong:
        raise ConfigError(f"{option}: there is no {wrong[0]!r}; choose from {', '.join(known)}")
    if not names:
        raise ConfigError(f"{option} wants one of {', '.join(known)} at least")
    return names


def parse_seeds(text: str) -> list[int]:
    """Parse ``1,2,3`` as seeds."""
    parts = split_list(text)
    if not parts or not all(part.isdecimal() and int(part) <= options.LARGEST_SEED for part in parts):
        wanted = f"whole numbers from 0 to {options.LARGEST_SEED} with commas between them"
        raise ConfigError(f"--seeds wants {wanted}, not {text!r}")
    return list(map(int, parts))


def choose_splits(corpus: Corpus, wanted: str | None) -> list[str]:
    """Return the splits asked for (an error if one is missing), or dev and test where they exist, or all."""
    if wanted is None:
        return [split for split in ("dev", "test") if split in corpus.splits] or list(corpus.splits)
    return parse_names(wanted, "--split", list(corpus.splits))


@contextmanager
def follow_training(terminal: Terminal) -> Iterator[Terminal]:
    """Show the progress of trainings; the first Ctrl-C stops them at the next batch, the second at once.

    SIGTERM, which schedulers of clusters send before they end a job, does the same. A signal may come at any moment, so its
    handler prints by the system alone: rich might be printing, or being imported, just then.
    """

    def ask(number: int, frame: Any) -> None:
        if terminal.stop_asked:
            raise KeyboardInterrupt
        terminal.stop_asked = True
        if not terminal.quiet:
            with suppress(OSError):
                os.write(2, "stopping after this batch …\n".encode())

    previous = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield terminal
    finally:
        terminal.stop_asked = False
        terminal.close()
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def start_runner(terminal: Terminal, device: str, out: Path | None = None) -> Iterator[Runner]:
    """Start a runner that shows its progress; the first Ctrl-C stops it where the same command can continue."""
    from entitynlm.experiments.runner import Runner

    with follow_training(terminal) as progress:
        try:
            yield Runner(out, device, progress)
        except KeyboardInterrupt:
            progress.message("stopped" if out is None else "stopped; the same command goes on from here")
            raise typer.Exit(130) from None
        if out is not None:
            progress.message("done")


def present(result: ExperimentResult, terminal: Terminal, out: Path | None = None) -> None:
    """Print the tables and write the figures: as JSON if asked for, and as tables.txt and tables.json into ``out``."""
    terminal.out.record = True
    terminal.out.width = max(TABLE_WIDTH, terminal.out.width)  # also where the terminal is narrow or a file
    for table in result.tables:
        terminal.print(f"\n{table.title}", style="bold", markup=False)
        terminal.print(draw_results(table), crop=False)
        for remark in table.remarks:
            terminal.print(f"  {remark}", style="dim", markup=False)
    if out is not None:
        write_text(out / "tables.txt", terminal.out.export_text())
        write_text(out / "tables.json", json.dumps(result.figures, ensure_ascii=False, indent=1))
        terminal.print(f"models and tables are in {print_path(out)}", markup=False)
    terminal.write_json(result.figures)


def draw_results(table: ResultTable) -> Table:
    """Draw a table of results: figures aligned right, rows that can't be compared dimmed."""
    from rich.text import Text

    from entitynlm.interfaces.views import draw_table

    right = [heading for number, heading in enumerate(table.heading) if table.is_number(number)]
    rows = [
        [Text(cell, style="" if row.comparable else "dim") for cell in cells]
        for row, cells in zip(table.rows, table.list_cells(), strict=True)
    ]
    return draw_table(table.heading, rows, right=right, header_style="bold", no_wrap=True)
