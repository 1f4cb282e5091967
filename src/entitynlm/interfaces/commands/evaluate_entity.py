"""``entitynlm evaluate entity``: the paper's Table 3, who is mentioned next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from entitynlm.interfaces.commands.entity_options import (
    CorpusOption,
    OursOption,
    RowsOption,
    follow_steps,
    print_rows,
    read_slots,
)
from entitynlm.interfaces.commands.train import prepare_torch
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import (
    DeviceOption,
    FormatOption,
    JsonOption,
    QuietOption,
    SeedOption,
    ThreadsOption,
)


def evaluate_entity(
    corpus: CorpusOption,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model", "-m", help="A folder that entitynlm train has written (for entitynlm, ours)."
        ),
    ] = None,
    rows: RowsOption = None,
    ours_config: OursOption = None,
    split: Annotated[
        str, typer.Option("--split", help="Which stories to ask about: test, dev or train.")
    ] = "test",
    format: FormatOption = None,
    seed: SeedOption = 1,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """How often each model foresees who is mentioned next, from what stands before (Table 3).

    The rows shallow and modi are fitted on the corpus's training stories; ours is loaded from the model's folder, or trained and
    stored there. The row human needs InScript's humanPredictions.json beside the stories.

    Examples:

      entitynlm evaluate entity --corpus ../shared/data/inscript --rows always-new,shallow,modi,human
      entitynlm evaluate entity --corpus ../shared/data/inscript --model runs/inscript --json -
    """
    from entitynlm.experiments.entity_reproduction import (
        NEEDS_MODEL,
        NEEDS_TRAINING,
        OURS,
        Teller,
        Workshop,
        choose_rows,
    )
    from entitynlm.model.pretrained import load_pretrained
    from entitynlm.prediction.evaluation import describe_table, measure_row
    from entitynlm.prediction.network.predictor import load_config
    from entitynlm.text.corpora import open_corpus

    terminal = Terminal(quiet=quiet, json_path=json_path)
    prepare_torch(device, threads)
    opened = open_corpus(corpus, format=format)
    stories = read_slots(opened, split)
    human = bool(stories) and all(slot.guesses for slotted in stories for slot in slotted.slots)
    wanted = [name.strip() for name in rows.split(",") if name.strip()] if rows else []
    names = choose_rows(wanted, model=model is not None, human=human)
    learns = any(name in NEEDS_TRAINING for name in names)
    documents = {
        name: list(opened.documents(name)) if learns and name in opened.splits else []
        for name in ("train", "dev")
    }
    asks_model = any(name in NEEDS_MODEL for name in names)
    pretrained = load_pretrained(model, device=device) if model is not None and asks_model else None
    with terminal.progress() as progress:
        show = follow_steps(progress)
        workshop = Workshop(
            documents["train"],
            documents["dev"],
            stories,
            pretrained,
            model / OURS if model is not None else None,
            config=load_config(ours_config) if ours_config else None,
            seed=seed,
            teller=Teller(terminal.remark, show),
        )
        measured = [measure_row(name, workshop.make(name), stories, on_story=show) for name in names]
    print_rows(measured, f"Who is mentioned next, {opened.name} {split}", terminal)
    figures: dict[str, Any] = {
        "task": "entity",
        "corpus": {"name": opened.name, "path": str(corpus)},
        "split": split,
        "model": None if model is None else str(model),
        "seed": seed,
        **describe_table(measured),
    }
    terminal.write_json(figures)
