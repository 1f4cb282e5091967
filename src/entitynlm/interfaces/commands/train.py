"""``entitynlm train``: from a corpus to a stored model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from entitynlm.config import Mode
from entitynlm.errors import ConfigError
from entitynlm.files import lock_folder
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.training_options import CorpusOptions, SettingsOptions, follow_training, parse_names
from entitynlm.model.language_models import check_language_model, strip_prefix
from entitynlm.model.packaged import CONFIG_FILE
from entitynlm.text.formats.registry import read_documents
from entitynlm.training.settings import Settings

if TYPE_CHECKING:
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.corpora import Corpus

TRAINABLE: tuple[Mode | Literal["resolver"], ...] = (*get_args(Mode), "resolver")
"""In the order of training: the resolver reads P's states."""
DEFAULT_PARTS = "generative,causal,resolver"


def train(
    *,
    source: CorpusOptions,
    out: options.OutputFolder,
    choosing: SettingsOptions,
    parts: str = DEFAULT_PARTS,
    start_from: Annotated[Path | None, typer.Option(callback=options.check_model)] = None,
    partial: Annotated[Path | None, typer.Option(exists=True, dir_okay=False)] = None,
    resume: bool = False,
    compact: bool = False,
    seed: options.Seed = 1,
    terminal: Terminal,
) -> None:
    """Train a model on an annotated corpus.

    Train the model P(R, E, L, X), its proposal Q and the resolver of annotate, and store them as one model.

    The corpus is read with its own splits; training stops by the loss on development documents. Ctrl-C stores a
    checkpoint, and --resume continues from it to the same result as an uninterrupted training.

    With --backbone, a pretrained language model reads and predicts the words. It is frozen: its states are computed once,
    and only the entity side is trained on them. The defaults are then those of resources/pretrained.toml; --config and
    --set change them.

    Examples:

      entitynlm data get stories --documents 2000 --seed 1 --out stories
      entitynlm train stories --config configs/tiny.toml --out runs/stories
      entitynlm train corpora/inscript -c configs/paper-inscript.toml -o runs/inscript --parts generative,causal
      entitynlm train my-texts -c configs/lm.toml -o runs/words --parts rnnlm
      entitynlm train my-stories -c configs/lm.toml -o runs/mine --start-from runs/words
      entitynlm train my-stories --backbone smollm2 --out runs/mine
      entitynlm train my-stories --out runs/mine --parts resolver

    :param out: The model's folder.
    :param start_from: Start from this model's LSTM language model and its vocabulary (pretrain one on plain text with
        --parts rnnlm).
    :param parts: Parts to train, separated by commas: generative (P), causal (its proposal Q), rnnlm (the LSTM
        language model without entities), resolver. Without generative, the parts are trained into the model that is
        in --out.
    :param partial: A file of documents in which only some mentions are annotated, to train the resolver's links.
    :param resume: Continue from the last checkpoint in --out.
    :param compact: Store weights in half precision, and weights shared by all parts only once, as in the packaged models.
    """
    named = parse_names(parts, "--parts", TRAINABLE)
    chosen = [part for part in TRAINABLE if part in named]
    networks = [part for part in chosen if part != "resolver"]
    settings = choosing.load()
    check_parts(settings, networks, start_from)
    stored = (out / CONFIG_FILE).exists()
    into_model = "generative" not in chosen and (stored or chosen != ["rnnlm"])
    if into_model and start_from is not None:
        raise ConfigError("--start-from makes a new model; leave it out to train into the one in --out")
    if into_model:
        options.check_model(out)
    elif stored and not resume and not terminal.force:
        raise ConfigError(f"{out}: there is a model already; train another one in its place with --force")
    corpus = source.open("train", "dev")
    source.prepare()
    from entitynlm.model.pretrained import save_pretrained
    from entitynlm.training.recipe import train_pretrained

    terminal.unpack(strip_prefix(settings.model.backbone))
    base = terminal.load_model(out) if into_model else terminal.load_model(start_from) if start_from else None
    # the resolver is trained last, so a stored one is finished
    earlier = terminal.load_model(out).stored_components if stored and resume else {}
    figures: dict[str, Any] = {}
    with (
        lock_folder(out, "another training is working in this folder"),
        follow_training(terminal) as progress,
    ):
        pretrained = train_pretrained(
            corpus.documents("train"),
            corpus.documents("dev"),
            settings,
            parts=networks,
            base=base,
            start=base.get_language_model() if base is not None and start_from else None,
            seed=seed,
            device=source.device,
            folder=out,
            resume=resume,
            progress=progress,
        )
        if pretrained is not None and "resolver" in chosen:
            pretrained.stored_components.update(earlier)
            figures = train_resolver(
                pretrained, corpus, settings, terminal, partial=partial, seed=seed, resume=resume
            )
            if not figures:
                pretrained = None
        if pretrained is not None:
            save_pretrained(pretrained, out, compact=compact)
    if pretrained is None:
        terminal.remark(f"stopped; continue with the same command and --resume (checkpoint in {out})")
        raise typer.Exit(130)
    losses = {part: pretrained.notes["training"][part] for part in networks}
    print_figures(losses, figures, terminal)
    terminal.print(f"stored in {out}")
    terminal.write_json({"model": str(out), "seed": seed, "parts": {**losses, **figures}})


def print_figures(losses: dict[Mode, Any], of_resolver: dict[str, Any], terminal: Terminal) -> None:
    """Print the best development loss of each network, and the scores of the resolver."""
    for part, values in losses.items():
        best, epoch = values["best_dev_loss"], values["best_epoch"]
        terminal.print(f"{part}: development loss {best:.4f} nats per word (epoch {epoch})")
    for values in of_resolver.values():
        mentions, conll = values["mentions"]["f1"], values["conll"]
        terminal.print(f"resolver: on development documents F1 of mentions {mentions:.2f}, CoNLL {conll:.2f}")


def train_resolver(
    pretrained: "Pretrained",
    corpus: "Corpus",
    settings: Settings,
    terminal: Terminal,
    *,
    partial: Path | None,
    seed: int,
    resume: bool,
) -> dict[str, Any]:
    """Train the resolver into a model, unless a resumed model has one, and score it; None if interrupted."""
    from entitynlm.coref.resolver import Resolver
    from entitynlm.coref.resolver_training import fit_resolver, score_annotation

    development = list(corpus.documents("dev"))
    if not resume or pretrained.get_component(Resolver) is None:
        train = list(corpus.documents("train"))
        more = list(read_documents(partial)) if partial is not None else []
        try:
            found = fit_resolver(
                pretrained, train, development, settings.resolver, partial=more, seed=seed, progress=terminal
            )
        except KeyboardInterrupt:
            return {}
        pretrained.set_component(found)
    return {"resolver": score_annotation(pretrained, development).to_json()}


def check_parts(settings: Settings, parts: list[Mode], start_from: Path | None) -> None:
    """Check that a pretrained language model can be read, and that no part of the training contradicts it."""
    name = strip_prefix(settings.model.backbone)
    if name is None:
        return
    check_language_model(name)
    if start_from is not None:
        raise ConfigError("--start-from is for models with an LSTM")
    if "rnnlm" in parts and not settings.model.tuned_output:
        raise ConfigError(
            f"--parts rnnlm: the language model without entities is {name} itself, unless it is fine-tuned: "
            "--set model.tuned_output=true"
        )
