"""``entitynlm train-components``: what a model needs, beside its networks, to annotate texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from entitynlm.errors import ConfigError
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.model.devices import prepare_torch
from entitynlm.text.corpora import open_corpus

ALL_COMPONENTS = "types,bias,linker,resolver"


def check_components(names: str | None) -> str | None:
    known = ALL_COMPONENTS.split(",")
    if unknown := [name for name in (names or known[0]).split(",") if name not in known]:
        raise ConfigError(f"there is no component {unknown[0]!r}; choose from {', '.join(known)}")
    return names


def train_components(
    *,
    corpus: options.Corpus,
    model: Annotated[Path, typer.Option("--model", "-m", callback=options.check_model)],
    out: options.OptionalFolder = None,
    components: Annotated[str | None, typer.Option(callback=check_components)] = None,
    plain_text: Annotated[list[Path] | None, typer.Option(callback=options.check_exists)] = None,
    bias: float | None = None,
    hidden: options.Count = 96,
    epochs: Annotated[int | None, typer.Option(min=1)] = None,
    again: bool = False,
    compact: bool = False,
    format: options.Format = None,
    seed: options.Seed = 1,
    threads: options.Threads = None,
    terminal: Terminal,
) -> None:
    """Train what annotate needs beside the networks: mention types, mention bias and linker, or a resolver.

    Train the components that annotate uses: mention types, mention bias and linker, or on a language model the
    resolver.

    The linker combines the model's own choice of an entity with features of the text such as string match, agreement
    and salience; without it, links are the model's alone. A model on a pretrained language model has a resolver
    instead, which finds mentions and links them by the language model's states. Each component is stored when it is
    finished; the same command continues with those that are missing.

    Examples:

      entitynlm train my-stories -c configs/lm.toml -o runs/mine --lookahead
      entitynlm train-components my-stories --model runs/mine --plain-text my-texts
      entitynlm annotate story.txt --model runs/mine

    :param model: The model's folder (see: entitynlm train).
    :param out: Store the whole model here; default: in its own folder.
    :param components: Which components (types, bias, linker, resolver), separated by commas; default: those that suit
        the model.
    :param plain_text: More text without annotation, to learn the gender of names from.
    :param bias: The mention bias; default: the best of some on development documents.
    :param hidden: Hidden units of a linker.
    :param epochs: Epochs of the linker's (default 18) or the resolver's (10) training.
    :param again: Train also the components that the model has already.
    :param compact: Store weights in half precision, as in the model that ships.
    """
    opened = open_corpus(corpus, format=format)
    train, development = list(opened.documents("train")), list(opened.documents("dev"))
    texts = (text for path in plain_text or [] for text in open_corpus(path).documents("train"))
    prepare_torch("cpu", threads)
    from entitynlm.coref import component_training
    from entitynlm.model.pretrained import save_pretrained

    settings = component_training.ComponentSettings(bias, hidden=hidden, epochs=epochs, seed=seed)
    folder = out or model
    pretrained = terminal.load_model(folder if (folder / "model.json").exists() else model)
    wanted = components.split(",") if components else component_training.choose_components(pretrained)
    for name, component_type in component_training.COMPONENTS.items():
        has_it = pretrained.get_component(component_type) is not None
        if name not in wanted or (has_it and not again):
            continue
        component_training.train_component(
            name, pretrained, train, development, settings, plain_texts=texts, progress=terminal
        )
        save_pretrained(pretrained, folder, compact=compact)
        terminal.remark(f"{name}: stored in {folder}")
    counts = component_training.score_annotation(pretrained, development)
    mentions = counts.score("mentions").f1
    terminal.print(f"development documents: F1 of mentions {mentions:.2f}, CoNLL {counts.conll:.2f}")
    terminal.write_json({"model": str(folder), "development": counts.to_json()})
