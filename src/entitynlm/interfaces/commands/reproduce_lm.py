"""``entitynlm reproduce lm``: the paper's Table 1 from nothing but a corpus."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.errors import ConfigError
from entitynlm.interfaces.commands.lm_options import (
    ALL_READINGS,
    CacheOption,
    MethodOption,
    NgramOption,
    PriorOption,
    ProposalOption,
    ReadingsOption,
    RepeatsOption,
    SamplesOption,
    WorkersOption,
    follow_documents,
    make_sampling,
    parse_numbers,
    split_list,
)
from entitynlm.interfaces.commands.train import follow_training, parse_changes, prepare_torch
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import (
    DeviceOption,
    FormatOption,
    JsonOption,
    QuietOption,
    SeedOption,
    ThreadsOption,
)

if TYPE_CHECKING:
    from entitynlm.experiments.lm_reproduction import Plan, Reproduction
    from entitynlm.training.settings import Settings

LOG = "reproduce.log"


def reproduce_lm(
    corpus: Annotated[
        Path,
        typer.Option(
            "--corpus", help="A corpus folder with train, dev and test: OntoGUM, LitBank, CoNLL-2012 …"
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for models, tables and the log.")],
    config: Annotated[
        list[Path] | None,
        typer.Option(
            "--config",
            "-c",
            help="A TOML file of settings; given several times, each model takes the one that is best for it on dev.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change one setting in all configurations."),
    ] = None,
    seeds: Annotated[str, typer.Option("--seeds", help="Seeds of the trainings.")] = "1,2,3",
    lookahead: Annotated[
        bool,
        typer.Option("--lookahead/--no-lookahead", help="With or without the proposal that looks ahead."),
    ] = True,
    ngram: NgramOption = True,
    samples: SamplesOption = 100,
    repeats: RepeatsOption = 4,
    method: MethodOption = "particle-filter",
    proposal: ProposalOption = None,
    prior_share: PriorOption = None,
    cache: CacheOption = 0.0,
    readings: ReadingsOption = ALL_READINGS,
    workers: WorkersOption = 1,
    format: FormatOption = None,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Train P, its proposals and the LSTM baseline for each seed, estimate a 5-gram, and print Table 1, mean and spread.

    The LSTM has the same settings and the same tuning budget as the model. Whatever is done is kept in --out, and the same
    command goes on from there: after Ctrl-C, or with more seeds. (--seed is that of the sampling; trainings have --seeds.)

    Examples:

      entitynlm reproduce lm --corpus ../shared/data/ontogum --config configs/lm.toml --out runs/lm-ontogum
      entitynlm reproduce lm --corpus stories -c configs/tiny.toml --seeds 1,2 --samples 20 --out runs/lm-stories
    """
    from entitynlm.experiments.lm_reproduction import Plan, Witness, reproduce
    from entitynlm.text.corpora import open_corpus

    terminal = Terminal(quiet=quiet, json_path=json_path)
    plan = Plan(
        out,
        load_configurations(config or [], set_ or []),
        parse_numbers(seeds, "--seeds"),
        sampling=make_sampling(
            samples=samples,
            repeats=repeats,
            method=method,
            proposal=proposal,
            prior_share=prior_share,
            cache=cache,
            seed=seed,
            workers=workers,
        ),
        readings=split_list(readings),
        ngram=ngram,
        lookahead=lookahead,
        device=device,
    )
    prepare_torch(device, threads)
    opened = open_corpus(corpus, format=format)
    documents = {name: list(opened.documents(name)) for name in ("train", *plan.splits)}
    log = Log(out / LOG, terminal)
    for settings in plan.configurations.values():
        if settings.recipe.warning:
            log.write(f"remark: {settings.recipe.warning}")
            break
    with terminal.progress() as progress, follow_training(terminal, progress) as listener:
        show = follow_documents(progress)

        def tell(row: str, done: int, total: int) -> None:
            show(row, done, total)
            if listener.should_stop():
                raise KeyboardInterrupt

        found = reproduce(documents, plan, witness=Witness(log.write, listener, tell))
    if found is None:
        log.write("stopped; the same command goes on from here")
        raise typer.Exit(130)
    log.write("done")
    present(found, plan, corpus=opened.name, path=corpus, terminal=terminal)


class Log:
    """Steps, on standard error and, with the time, at the end of a file."""

    def __init__(self, path: Path, terminal: Terminal) -> None:
        self.path, self.terminal = path, terminal

    def write(self, text: str) -> None:
        self.terminal.remark(text)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")


def load_configurations(paths: Sequence[Path], changes: list[str]) -> dict[str, Settings]:
    """Settings by the names of their files; the defaults where none is given."""
    from entitynlm.training.settings import load_settings

    changed = parse_changes(changes)
    if not paths:
        return {"default": load_settings(None, changed)}
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        raise ConfigError("two configuration files have the same name, which is to be their folder's name")
    return {path.stem: load_settings(path, changed) for path in paths}


def present(found: Reproduction, plan: Plan, *, corpus: str, path: Path, terminal: Terminal) -> None:
    """The table with its spread, the judgements over documents, and both as files in the folder."""
    from entitynlm.files import write_atomically
    from entitynlm.interfaces.lm_tables import (
        draw_table,
        list_remarks,
        list_sampling_errors,
        list_spread_cells,
        write_markdown,
    )
    from entitynlm.lm.rows import PAPER, pool_seeds, spread_over_seeds

    spreads = {split: spread_over_seeds(found.of_split(split)) for split in plan.splits}
    pooled = {split: pool_seeds(found.of_split(split)) for split in plan.splits}
    seeds = ", ".join(map(str, found.tables))
    title = f"Perplexity on {corpus}, mean ± standard deviation over seeds {seeds}"
    cells = list_spread_cells(spreads)
    remarks = [*list_remarks(pooled), *list_sampling_errors(pooled)]
    if len(found.tables) > 1:
        remarks.append(
            "tests and intervals are over documents, of each document's mean log-probability over seeds"
        )
    terminal.print(draw_table(title, *cells))
    for line in remarks:
        terminal.print(line)
    with write_atomically(plan.out / "lm.md") as stream:
        stream.write(f"{title}\n\n{write_markdown(*cells)}\n" + "".join(f"- {line}\n" for line in remarks))
    terminal.print(f"models, tables and log are in {plan.out}")
    figures: dict[str, Any] = {
        "task": "lm",
        "corpus": {"name": corpus, "path": str(path)},
        "out": str(plan.out),
        "seeds": list(found.tables),
        "sampling": asdict(plan.sampling),
        "choice": asdict(found.choice),
        "splits": {
            split: {
                "rows": [
                    {**asdict(spread), "spread": spread.spread if math.isfinite(spread.spread) else None}
                    for spread in spreads[split]
                ],
                "pooled": pooled[split].to_dict(),
                "seeds": {str(number): tables[split].to_dict() for number, tables in found.tables.items()},
            }
            for split in plan.splits
        },
        "paper": {"corpus": "CoNLL-2012", "split": "test", "perplexity": PAPER},
    }
    terminal.write_json(figures)
