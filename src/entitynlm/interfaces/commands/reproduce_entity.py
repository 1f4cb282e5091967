"""``entitynlm reproduce entity``: the paper's Table 3 from nothing but a corpus."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.interfaces.commands.entity_options import (
    CorpusOption,
    OursOption,
    RowsOption,
    follow_steps,
    print_rows,
    read_slots,
)
from entitynlm.interfaces.commands.lm_options import parse_numbers, split_list
from entitynlm.interfaces.commands.train import follow_training, parse_changes, prepare_torch
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import DeviceOption, FormatOption, JsonOption, QuietOption, ThreadsOption

if TYPE_CHECKING:
    from entitynlm.experiments.entity_reproduction import Workshop
    from entitynlm.prediction.evaluation import PredictionRow
    from entitynlm.training.recipe import Listener
    from entitynlm.training.settings import Settings


OUT = Path("runs/entity")
Show = Callable[[str, int, int], None]


def reproduce_entity(
    corpus: CorpusOption,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for models and tables.")] = OUT,
    rows: RowsOption = None,
    ours_config: OursOption = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", "-c", help="Settings of EntityNLM; default: those of configs/paper-inscript.toml."
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change one setting of EntityNLM."),
    ] = None,
    seeds: Annotated[str, typer.Option("--seeds", help="Seeds of the trainings.")] = "1",
    split: Annotated[str, typer.Option("--split", help="Which stories to ask about: test or dev.")] = "test",
    jobs: Annotated[
        int,
        typer.Option("--jobs", min=1, max=2, help="With 2, EntityNLM is trained beside the other rows."),
    ] = 2,
    format: FormatOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Train whatever a row needs, for each seed, and print Table 3 with intervals and tests (those of the first seed).

    Without any options the best settings that are known for InScript are used. Models are kept in --out/seed-N and used again
    by the same command, so it goes on after Ctrl-C, or with more seeds; with several seeds their networks together are a row
    of its own (ours-together).

    Examples:

      entitynlm reproduce entity --corpus ../shared/data/inscript
      entitynlm reproduce entity --corpus ../shared/data/inscript --rows ours,human --seeds 1,2,3,4,5 --json table.json
      entitynlm reproduce entity --corpus stories --rows always-new,shallow,modi,ours --out runs/stories
    """
    from entitynlm.experiments.entity_reproduction import OURS, ROW_4, Counts, Workshop, choose_rows
    from entitynlm.prediction.ensemble import join_rows
    from entitynlm.prediction.evaluation import describe_table
    from entitynlm.prediction.network.predictor import load_config
    from entitynlm.text.corpora import open_corpus
    from entitynlm.training.settings import load_settings

    terminal = Terminal(quiet=quiet, json_path=json_path)
    prepare_torch(device, threads or 1)  # small networks: a second thread only gets in the way
    changes = parse_changes(set_ or [])
    settings = load_settings(config, changes if config else {**ROW_4, **changes})
    ours = load_config(ours_config)
    numbers = parse_numbers(seeds, "--seeds")
    opened = open_corpus(corpus, format=format)
    train, development = (list(opened.documents(name)) for name in ("train", "dev"))
    stories = read_slots(opened, split)
    human = bool(stories) and all(slot.guesses for slotted in stories for slot in slotted.slots)
    names = choose_rows(split_list(rows or ""), model=True, human=human)
    tables: dict[int, list[PredictionRow]] = {}
    counts = Counts()
    for seed in numbers:
        folder = out / f"seed-{seed}"
        known = {row.name: row for row in tables[numbers[0]] if row.name not in SEEDED} if tables else {}
        workshop = Workshop(
            train, development, stories, folder=folder / OURS, seed=seed, config=ours, counts=counts
        )
        maker = Maker(workshop, folder, corpus, format, settings, device, jobs, terminal)
        tables[seed] = maker.make_rows(names, known)
        told = [f"{row.name} {row.accuracy:.2f} %" for row in tables[seed] if row.name in SEEDED]
        if told:
            terminal.remark(f"seed {seed}: {', '.join(told)}")
    first = tables[numbers[0]]
    if len(numbers) > 1 and OURS in names:
        together = join_rows("ours-together", [pick_row(found, OURS) for found in tables.values()])
        first.insert([row.name for row in first].index(OURS) + 1, together)
    print_rows(first, f"Who is mentioned next, {opened.name} {split}, seed {numbers[0]}", terminal)
    means = summarise_seeds(tables)
    for name, found in means.items():
        terminal.print(f"{name}: mean {found['mean']:.2f} over {len(numbers)} seeds ({found['accuracies']})")
    figures: dict[str, Any] = {
        "task": "entity",
        "corpus": {"name": opened.name, "path": str(corpus)},
        "split": split,
        "out": str(out),
        **describe_table(first),
        "seeds": {"numbers": list(numbers), "rows": means},
    }
    terminal.write_json(figures)


@dataclass
class Maker:
    """Makes the rows of one seed, with EntityNLM trained before them or beside them."""

    workshop: Workshop
    folder: Path
    corpus: Path
    format: str | None
    settings: Settings
    device: str
    jobs: int
    terminal: Terminal

    def make_rows(self, names: Sequence[str], known: Mapping[str, PredictionRow]) -> list[PredictionRow]:
        """The rows in the order asked for; those ``known`` are not measured again."""
        from entitynlm.experiments.entity_reproduction import NEEDS_MODEL, Teller

        wanted = [name for name in names if name not in known]
        later = [name for name in wanted if name in NEEDS_MODEL]
        first = [name for name in wanted if name not in NEEDS_MODEL]
        found = dict(known)
        with self.terminal.progress() as progress, follow_training(self.terminal, progress) as listener:

            def show(name: str, done: int, total: int) -> None:
                if listener.should_stop():
                    raise KeyboardInterrupt
                steps(name, done, total)

            steps = follow_steps(progress)
            self.workshop.teller = Teller(self.terminal.remark, show)
            try:
                if later:
                    found.update(self._train_beside(first, listener, show))
                else:
                    found.update(self._measure(first, show))
                found.update(self._measure(later, show))
            except KeyboardInterrupt:
                self.terminal.remark("stopped; the same command goes on from here")
                raise typer.Exit(130) from None
        return [found[name] for name in names]

    def _train_beside(self, names: Sequence[str], listener: Listener, show: Show) -> dict[str, PredictionRow]:
        """Train EntityNLM and make other rows, which are the answer, at the same time or one after the other."""
        from entitynlm.experiments.entity_companion import Companion
        from entitynlm.training.completion import complete_pretrained

        workshop = self.workshop
        options: dict[str, Any] = {"seed": workshop.seed, "device": self.device, "listener": listener}
        if self.jobs > 1 and names:
            with Companion(
                self.folder, self.corpus, self.settings, format=self.format, **options
            ) as companion:
                found = self._measure(names, show)
                workshop.pretrained = companion.wait()
        else:
            found = self._measure(names, show)
            order = (self.folder, workshop.train, workshop.development, self.settings)
            workshop.pretrained = complete_pretrained(*order, **options, parts=("generative",))
        if workshop.pretrained is None:
            raise KeyboardInterrupt
        return found

    def _measure(self, names: Sequence[str], show: Show) -> dict[str, PredictionRow]:
        from entitynlm.prediction.evaluation import measure_row

        stories = self.workshop.stories
        return {name: measure_row(name, self.workshop.make(name), stories, on_story=show) for name in names}


def pick_row(rows: Sequence[PredictionRow], name: str) -> PredictionRow:
    """The row of that name."""
    return next(row for row in rows if row.name == name)


SEEDED = ("entitynlm", "ours", "ensemble")
"""Rows that change with the seed; the others are fitted once."""


def summarise_seeds(tables: dict[int, list[PredictionRow]]) -> dict[str, dict[str, Any]]:
    """Mean and spread of the rows that are trained."""
    found: dict[str, dict[str, Any]] = {}
    for name in SEEDED:
        values = [row.accuracy for rows in tables.values() for row in rows if row.name == name]
        if values:
            spread = statistics.stdev(values) if len(values) > 1 else None
            accuracies = [round(value, 2) for value in values]
            found[name] = {"mean": statistics.fmean(values), "spread": spread, "accuracies": accuracies}
    return found
