"""``entitynlm train-components``: what a model needs, beside its networks, to annotate texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from entitynlm.errors import ConfigError
from entitynlm.interfaces.commands.train import prepare_torch
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import FormatOption, JsonOption, QuietOption, SeedOption, ThreadsOption


def train_components(
    corpus: Annotated[
        Path,
        typer.Argument(help="The annotated corpus that the model was trained on, with train and dev splits."),
    ],
    model: Annotated[Path, typer.Option("--model", "-m", help="The model's folder (see: entitynlm train).")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Store the whole model here; default: in its own folder."),
    ] = None,
    components: Annotated[
        str, typer.Option("--components", help="Which components, separated by commas.")
    ] = "types,bias,linker",
    plain_text: Annotated[
        list[Path] | None,
        typer.Option("--plain-text", help="More text without annotation, to learn the gender of names from."),
    ] = None,
    bias: Annotated[
        float | None,
        typer.Option("--bias", help="The mention bias; default: the best of some on development documents."),
    ] = None,
    proposal_weight: Annotated[
        float,
        typer.Option("--proposal-weight", help="Weight of the proposal's log-probabilities in the linker."),
    ] = 0.45,
    hidden: Annotated[int, typer.Option("--hidden", min=1, help="Hidden units of a linker.")] = 96,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Epochs of the linker's training.")] = 18,
    linkers: Annotated[int, typer.Option("--linkers", min=1, help="Linkers to average.")] = 2,
    again: Annotated[
        bool, typer.Option("--again", help="Train also the components that the model has already.")
    ] = False,
    compact: Annotated[
        bool, typer.Option("--compact", help="Store weights in half precision, as in the model that ships.")
    ] = False,
    format: FormatOption = None,
    seed: SeedOption = 1,
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Train the components that annotate uses: mention types, mention bias and linker.

    The linker combines the model's own choice of an entity with features of the text such as string match, agreement and
    salience; without it, links are the model's alone. Each component is stored when it is finished; the same command goes on
    with those that are missing.

    Examples:

      entitynlm train my-stories -c configs/lm.toml -o runs/mine --lookahead
      entitynlm train-components my-stories --model runs/mine --plain-text my-texts
      entitynlm annotate story.txt --model runs/mine
    """
    from entitynlm.coref import component_training
    from entitynlm.model.pretrained import CONFIG_FILE, load_pretrained, save_pretrained
    from entitynlm.text.corpora import open_corpus

    terminal = Terminal(quiet=quiet, json_path=json_path)
    names = components.split(",")
    if unknown := [name for name in names if name not in component_training.COMPONENTS]:
        known = ", ".join(component_training.COMPONENTS)
        raise ConfigError(f"there is no component {unknown[0]!r}; choose from {known}")
    prepare_torch("cpu", threads)
    settings = component_training.ComponentSettings(bias, proposal_weight, hidden, epochs, linkers, seed)
    folder = out or model
    pretrained = load_pretrained(folder if (folder / CONFIG_FILE).exists() else model)
    opened = open_corpus(corpus, format=format)
    train, development = list(opened.documents("train")), list(opened.documents("dev"))
    texts = (text for path in plain_text or [] for text in open_corpus(path).documents("train"))
    for name, component_type in component_training.COMPONENTS.items():
        if name not in names or (pretrained.get_component(component_type) is not None and not again):
            continue
        with follow_steps(terminal) as report:
            component_training.train_component(
                name, pretrained, train, development, settings, plain_texts=texts, report=report
            )
        save_pretrained(pretrained, folder, compact=compact)
        terminal.remark(f"{name}: stored in {folder}")
    counts = component_training.score_annotation(pretrained, development)
    terminal.print(
        f"development documents: F1 of mentions {counts.score('mentions').f1:.2f}, CoNLL {counts.conll:.2f}"
    )
    terminal.write_json({"model": str(folder), "development": counts.to_json()})


@contextmanager
def follow_steps(terminal: Terminal) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar for the steps of one component's training."""
    with terminal.progress() as progress:
        task = progress.add_task("", total=None, note="")

        def report(step: str, done: int, total: int) -> None:
            progress.update(task, description=step, completed=done, total=total)

        yield report
