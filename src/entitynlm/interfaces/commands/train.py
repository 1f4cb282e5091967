"""``entitynlm train``: from a corpus to a stored model."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from entitynlm.config import Mode, parse_toml_value
from entitynlm.errors import ConfigError
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.model.devices import prepare_torch
from entitynlm.model.language_models import check_language_model, strip_prefix
from entitynlm.text.corpora import open_corpus
from entitynlm.training.settings import Settings, load_settings

TORCHRUN = {"RANK": 0, "WORLD_SIZE": 1, "LOCAL_RANK": 0}
"""Variables by which torchrun tells a process its number, how many there are, and its number on its machine."""


@dataclass(frozen=True)
class PartOptions:
    """Which parts of a model are trained.

    :param proposal: Train only the proposal Q, into the model that is in --out.
    :param lookahead: Also train the proposal that sees the whole document.
    :param generative_only: Train P alone, without a proposal.
    :param rnnlm: Also train the LSTM language model without entities, as a baseline.
    :param rnnlm_only: Train only the LSTM language model, into the model that is in --out if there is one.
    """

    proposal: bool = False
    lookahead: bool = False
    generative_only: bool = False
    rnnlm: bool = False
    rnnlm_only: bool = False

    def choose(self) -> list[Mode]:
        """The parts, if the options go together."""
        for names in (("proposal", "generative_only", "rnnlm_only"), ("rnnlm_only", "lookahead")):
            given = [f"--{name.replace('_', '-')}" for name in names if getattr(self, name)]
            if len(given) > 1:
                raise ConfigError(f"{' and '.join(given)} exclude each other")
        wanted: dict[Mode, bool] = {
            "generative": not (self.proposal or self.rnnlm_only),
            "causal": not (self.generative_only or self.rnnlm_only),
            "lookahead": self.lookahead,
            "rnnlm": self.rnnlm or self.rnnlm_only,
        }
        return [part for part, chosen in wanted.items() if chosen]


def train(
    *,
    corpus: options.Corpus,
    out: options.OutputFolder,
    config: options.Config = None,
    set_: options.Set = None,
    which: PartOptions,
    backbone: options.Backbone = None,
    start_from: Annotated[Path | None, typer.Option(callback=options.check_model)] = None,
    resume: bool = False,
    format: options.Format = None,
    seed: options.Seed = 1,
    device: options.Device = "cpu",
    threads: options.Threads = None,
    terminal: Terminal,
) -> None:
    """Train a model on an annotated corpus.

    Train the model P(R, E, L, X) and its proposal Q on an annotated corpus, and store them as one model.

    The corpus is read with its own splits; training stops by the loss on development documents. Ctrl-C stores a
    checkpoint, and --resume continues from it to the same result as an uninterrupted training.

    Under torchrun several processes, on one machine or many, share the documents of each batch: torchrun
    --nproc-per-node 2 -m entitynlm train … (with --device cuda each has a GPU of its own). Their number may change when
    a training is resumed.

    With --backbone words are those of a pretrained language model, which stays as it is: its states are computed once,
    and only the entity side is trained on them. Settings start from resources/pretrained.toml; --config and --set
    change them.

    Examples:

      entitynlm data get stories --documents 2000 --seed 1 --out stories
      entitynlm train stories --config configs/tiny.toml --out runs/stories
      entitynlm train corpora/inscript -c configs/paper-inscript.toml -o runs/inscript --lookahead
      entitynlm train corpora/ontogum -c configs/lm.toml -o runs/ontogum --lookahead --rnnlm
      entitynlm train my-texts -c configs/lm.toml -o runs/words --rnnlm-only
      entitynlm train my-stories -c configs/lm.toml -o runs/mine --start-from runs/words
      entitynlm train my-stories --backbone smollm2 --out runs/mine --lookahead

    :param out: The model's folder.
    :param start_from: Start from this model's LSTM language model and its vocabulary (pretrain one on plain text with
        --rnnlm-only).
    :param resume: Continue from the last checkpoint in --out.
    """
    terminal.quiet = terminal.quiet or os.environ.get("RANK", "0") != "0"  # torchrun's: one process speaks
    parts = which.choose()
    settings = load_settings(config, parse_changes(set_ or []), language_model=backbone)
    check_parts(settings, parts, start_from)
    for remark in settings.remarks:
        terminal.remark(f"remark: {remark}", markup=False)
    into_model = which.proposal or (which.rnnlm_only and (out / "model.json").exists())
    if into_model and start_from is not None:
        raise ConfigError("--start-from makes a new model; leave it out to train into the one in --out")
    if into_model:
        options.check_model(out)
    elif (out / "model.json").exists() and not resume and not terminal.force:
        raise ConfigError(f"{out}: there is a model already; train another one in its place with --force")
    opened = open_corpus(corpus, format=format)
    for split in ("train", "dev"):
        opened.files(split)  # an error here if the corpus does not have it
    from entitynlm.training.processes import Processes

    processes = Processes(*(int(os.environ.get(name, value)) for name, value in TORCHRUN.items()))
    device = processes.place(device)
    prepare_torch(device, threads)
    from entitynlm.training.recipe import train_pretrained

    terminal.unpack(strip_prefix(settings.model.backbone))
    base = terminal.load_model(out) if into_model else terminal.load_model(start_from) if start_from else None
    with follow_training(terminal) as progress, processes.connect(device):
        pretrained = train_pretrained(
            opened.documents("train"),
            opened.documents("dev"),
            settings,
            parts=parts,
            base=base,
            start=base.get_language_model() if base is not None and start_from else None,
            seed=seed,
            device=device,
            folder=out,
            resume=resume,
            processes=processes,
            progress=progress,
        )
    if pretrained is None:
        terminal.remark(f"stopped; continue with the same command and --resume (checkpoint in {out})")
        raise typer.Exit(130)
    if not processes.first:
        return
    figures = {part: pretrained.notes["training"][part] for part in parts}
    for part, values in figures.items():
        best, epoch = values["best_dev_loss"], values["best_epoch"]
        terminal.print(f"{part}: development loss {best:.4f} nats per word (epoch {epoch})")
    terminal.print(f"stored in {out}")
    terminal.write_json({"model": str(out), "seed": seed, "parts": figures})


def check_parts(settings: Settings, parts: list[Mode], start_from: Path | None) -> None:
    """Whether a pretrained language model can be read, and is not asked to start from an LSTM or to be its own baseline."""
    name = strip_prefix(settings.model.backbone)
    if name is None:
        return
    check_language_model(name)
    if start_from is not None:
        raise ConfigError("--start-from is for models with an LSTM")
    if "rnnlm" in parts and not settings.model.tuned_output:
        raise ConfigError(
            f"--rnnlm: the language model without entities is {name} itself, unless it is fine-tuned: "
            "--set model.tuned_output=true"
        )


def parse_changes(changes: list[str]) -> dict[str, Any]:
    """``section.key=value`` with TOML values; what is not TOML is taken as text."""
    parsed: dict[str, Any] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise ConfigError(f"--set wants SECTION.KEY=VALUE, for example model.dropout=0.5, not {change!r}")
        parsed[name.strip()] = parse_toml_value(value.strip())
    return parsed


@contextmanager
def follow_training(terminal: Terminal, log: Path | None = None) -> Iterator[Terminal]:
    """Show the progress of trainings; the first Ctrl-C asks them to stop at the next batch, the second ends them.

    So does SIGTERM, which schedulers of clusters send before they end a job, and which torchrun passes on. A signal may come in
    the middle of anything, so its handler prints by the system alone: rich might be printing, or being imported, just then.
    """

    def ask(number: int, frame: Any) -> None:
        if terminal.stop_asked and "RANK" not in os.environ:  # torchrun may ask twice, and ends them itself
            raise KeyboardInterrupt
        terminal.stop_asked = True
        if not terminal.quiet:
            with suppress(OSError):
                os.write(2, "stopping after this batch …\n".encode())

    previous = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    terminal.log = log
    try:
        yield terminal
    finally:
        terminal.log, terminal.stop_asked = None, False
        terminal.close()
        for number, handler in previous.items():
            signal.signal(number, handler)
