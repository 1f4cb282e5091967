"""From documents to a trained model: fit the encoder, make the word classes, train P and its proposals, store as one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from entitynlm.config import Mode, ModelConfig, to_dict
from entitynlm.errors import ConfigError, DataError
from entitynlm.files import write_atomically
from entitynlm.model.encoding.embeddings import load_embeddings, project
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.word_classes import assign_classes
from entitynlm.model.pretrained import Network, Pretrained, save_pretrained
from entitynlm.model.rnnlm import LanguageModel
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document
from entitynlm.training.batching import derive_seed
from entitynlm.training.checkpoint import load_checkpoint, save_checkpoint
from entitynlm.training.loop import Training
from entitynlm.training.settings import Settings

OnEpoch = Callable[[Mode, dict[str, Any]], None]
"""Gets the part that is trained and the losses of an epoch."""

CHECKPOINTS = "checkpoints"
LOG = "log.jsonl"


@dataclass(frozen=True)
class EncodedCorpus:
    """Encoded documents by split."""

    train: Sequence[EncodedDocument]
    development: Sequence[EncodedDocument]


def prepare_pretrained(
    train: Iterable[Document], development: Iterable[Document], settings: Settings
) -> tuple[Pretrained, EncodedCorpus]:
    """An encoder fitted on the training documents, word classes, and all documents as numbers."""
    train = list(train)
    if not train:
        raise DataError("there are no documents to train on")
    encoder = Encoder.fit(
        train,
        recipe=settings.recipe,
        singletons=settings.data.singletons,
        typed=settings.data.typed,
        max_length=settings.model.max_length,
    )
    encoded = [encoder.encode(document) for document in train]
    held_out = [encoder.encode(document) for document in development]
    if not any(len(document) for document in encoded):
        raise DataError("the training documents have no words")
    if not any(len(document) for document in held_out):
        raise DataError("there are no development documents to stop the training by")
    classes = None
    if settings.model.softmax == "classes":
        classes = assign_classes(
            [document.x for document in encoded],
            len(encoder.vocabulary),
            method=settings.training.word_classes,
        )
    return Pretrained(encoder, classes), EncodedCorpus(encoded, held_out)


def train_part(
    pretrained: Pretrained,
    corpus: EncodedCorpus,
    mode: Mode,
    settings: Settings,
    *,
    seed: int,
    device: str = "cpu",
    folder: Path | None = None,
    resume: bool = False,
    progress: Progress = SILENT,
    on_epoch: OnEpoch | None = None,
    start: LanguageModel | None = None,
) -> bool:
    """Train one part of a model; False if it was stopped before its end (with a checkpoint in ``folder``).

    With ``start`` the word side begins as that language model's (``training.start``).
    """
    model_config, training_config = settings.for_part(mode)
    mention_types = pretrained.encoder.mention_types
    model_config = type(model_config)(**{**to_dict(model_config), "mention_types": mention_types})
    if mode != "rnnlm":
        check_lengths(model_config, pretrained.encoder)
    torch.manual_seed(derive_seed(seed, 0))
    network = add_part(pretrained, model_config)
    if training_config.embeddings != "random":
        use_embeddings(network, pretrained.encoder, training_config.embeddings)
    if start is not None:
        network.backbone.copy_from(start.backbone)
    network.to(device)
    if training_config.freeze_embeddings:
        network.backbone.piece_vectors.requires_grad_(False)
    training = Training(network, corpus.train, corpus.development, training_config, seed=seed)
    described = {"model": to_dict(model_config), "training": _plain(to_dict(training_config)), "seed": seed}
    checkpoint = folder / CHECKPOINTS / mode if folder else None
    if resume and checkpoint and (checkpoint / "state.json").exists():
        load_checkpoint(training, checkpoint, settings=described)

    def finish_epoch(record: dict[str, Any]) -> None:
        if checkpoint and folder:
            save_checkpoint(training, checkpoint, settings=described)
            write_log(folder / LOG, mode, training.state.history)
        if on_epoch:
            on_epoch(mode, record)

    finished = training.run(progress, on_epoch=finish_epoch)
    if not finished and checkpoint:
        save_checkpoint(training, checkpoint, settings=described)
    pretrained.notes.setdefault("training", {})[mode] = {
        **described,
        "best_epoch": training.state.best_epoch,
        "best_dev_loss": training.state.best_loss,
    }
    return finished


def add_part(pretrained: Pretrained, config: ModelConfig) -> Network:
    """A new network in a model."""
    return pretrained.add_language_model(config) if config.mode == "rnnlm" else pretrained.add(config)


def check_lengths(config: ModelConfig, encoder: Encoder) -> None:
    """The encoder leaves out mentions longer than its own limit, so a network must have just that limit."""
    if config.max_length != encoder.max_length:
        raise ConfigError(
            f"max_length of the {config.mode} part is {config.max_length}, but documents were encoded with mentions "
            f"of up to {encoder.max_length} words: set the same max_length for all parts"
        )


def train_pretrained(
    train: Iterable[Document],
    development: Iterable[Document],
    settings: Settings,
    *,
    parts: Sequence[Mode] = ("generative", "causal"),
    base: Pretrained | None = None,
    seed: int,
    device: str = "cpu",
    folder: Path | None = None,
    resume: bool = False,
    progress: Progress = SILENT,
    on_epoch: OnEpoch | None = None,
    start: LanguageModel | None = None,
) -> Pretrained | None:
    """Train the parts and store them as one model; None if ``progress`` interrupted it (``resume`` goes on).

    With ``base`` its encoder, word classes and other parts are kept, and the parts named are trained into it. With ``start`` the
    word side of each part begins as that language model's, which must have been trained with the same encoder.
    """
    if base is None:
        pretrained, corpus = prepare_pretrained(train, development, settings)
    else:
        pretrained = base
        corpus = EncodedCorpus(*([base.encoder.encode(d) for d in split] for split in (train, development)))
    for mode in parts:
        if not train_part(
            pretrained,
            corpus,
            mode,
            settings,
            seed=seed,
            device=device,
            folder=folder,
            resume=resume,
            progress=progress,
            on_epoch=on_epoch,
            start=start,
        ):
            return None
        if folder:
            save_pretrained(pretrained, folder)
    return pretrained


def use_embeddings(network: Network, encoder: Encoder, source: str) -> None:
    """Start from pretrained word embeddings, projected where their width differs; they are trained on."""
    pretrained = load_embeddings(source, encoder.vocabulary)
    table = network.backbone.piece_vectors
    matrix = torch.from_numpy(project(pretrained.matrix, table.shape[1]))
    with torch.no_grad():
        # GloVe's vectors are far longer than Glorot's: keep their directions and bring them to the scale of the rest.
        table.copy_(matrix * (table.std() / matrix.std()))


def write_log(path: Path, mode: Mode, history: Sequence[dict[str, Any]]) -> None:
    """The training log, one JSON object per epoch; other parts' lines stay."""
    lines = []
    if path.exists():
        lines = [
            line
            for line in path.read_text(encoding="utf-8").splitlines()
            if line and json.loads(line)["part"] != mode
        ]
    lines += [json.dumps({"part": mode, **record}) for record in history]
    with write_atomically(path) as stream:
        stream.write("\n".join(lines) + "\n")


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Tuples as lists, as JSON gives them back."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
