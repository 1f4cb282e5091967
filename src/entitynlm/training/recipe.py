"""From documents to a trained model: make encoder and word classes, train P and its proposals, store them as one model."""

import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from msgspec import structs

from entitynlm.config import Mode, ModelConfig, TrainingConfig, from_dict
from entitynlm.errors import ConfigError, DataError, TrainingError
from entitynlm.files import remove_unfinished, write_atomically
from entitynlm.model.additions import fit_scaling
from entitynlm.model.backbones.base import LanguageModel, find_backbone
from entitynlm.model.batch.scores import Network
from entitynlm.model.encoding.embeddings import load_glove, project
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.tokenizer import Vocabulary
from entitynlm.model.encoding.word_classes import assign_classes
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.pretrained import Pretrained, save_pretrained
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document
from entitynlm.training.loop import Training, derive_seed
from entitynlm.training.settings import Settings

OnEpoch = Callable[[Mode, dict[str, Any]], None]
"""Gets the part that is trained and the losses of an epoch; in a training that goes on, first those of the epochs before."""

LOG = "log.jsonl"

FIRST_DOCUMENTS = 200
"""Documents whose states are enough for means and deviations."""


def train_pretrained(
    train: Iterable[Document],
    development: Iterable[Document],
    settings: Settings,
    *,
    parts: Sequence[Mode] = ("generative", "causal"),
    base: Pretrained | None = None,
    start: LanguageModel | None = None,
    seed: int,
    device: str = "cpu",
    folder: Path | None = None,
    resume: bool = False,
    progress: Progress = SILENT,
    on_epoch: OnEpoch | None = None,
) -> Pretrained | None:
    """Train the parts and store them as one model; None if ``progress`` interrupted it (``resume`` continues).

    :param base: model whose encoder, word classes and other parts are kept, and into which the parts are trained.
    :param start: language model, trained with the same encoder, whose weights initialise each part's word side.
    """
    train, development = list(train), list(development)
    if not train:
        raise DataError("there are no documents to train on")
    if folder:
        remove_unfinished(folder.rglob("*"))
    pretrained = base or Pretrained(fit_encoder(train, settings), None)
    encoded, held_out = ([pretrained.encoder.encode(d) for d in split] for split in (train, development))
    if not any(map(len, encoded)):
        raise DataError("the training documents have no words")
    if not any(map(len, held_out)):
        raise DataError("there are no development documents to stop the training by")
    if (
        base is None
        and settings.model.softmax == "classes"
        and isinstance(pretrained.encoder.tokenizer, Vocabulary)
    ):
        words = [document.x for document in encoded]
        pretrained.classes = assign_classes(words, len(pretrained.encoder.vocabulary))
    tuned = settings.model.tuned_output
    for mode in sorted(parts, key=lambda mode: mode != "rnnlm") if tuned else parts:
        word_side = start or (pretrained.language_model if tuned and mode == "generative" else None)
        if tuned and mode == "generative" and word_side is None:
            raise ConfigError(
                "tuned_output: P takes over what the part rnnlm has learned; train that too (--parts rnnlm,generative,causal)"
            )
        network, config = make_network(pretrained, mode, settings, seed=seed, start=word_side)
        texts = [document.words for document in (*encoded, *held_out)]
        network.to(device).backbone.prepare(texts, progress)  # a frozen language model reads all of them once
        if isinstance(network, EntityNetwork):
            fit_scaling(network, texts[: min(FIRST_DOCUMENTS, len(encoded))])
        training = Training(network, encoded, held_out, config, seed=seed)
        finished = run_training(training, folder, resume=resume, progress=progress, on_epoch=on_epoch)
        pretrained.notes.setdefault("training", {})[mode] = {
            **training.describe(),
            "corpus": sum_words([*train, *development]),
            "best_epoch": training.state.best_epoch,
            "best_dev_loss": training.state.best_loss,
        }
        if not finished:
            return None
        if folder:
            save_pretrained(pretrained, folder)
    return pretrained


def sum_words(documents: Iterable[Document]) -> int:
    """Return a checksum of the words of documents, by which a model knows its corpus."""
    return zlib.crc32("\0".join(word for document in documents for word in document.tokens).encode())


def check_stored(
    pretrained: Pretrained, documents: Iterable[Document], settings: Settings, *, seed: int, folder: Path
) -> None:
    """Refuse a stored model that was made from other documents (train and dev), with other settings or another seed."""
    encoder, data = pretrained.encoder, settings.data
    different = ["preprocessing"] if encoder.recipe != settings.preprocessing else []
    if (encoder.singletons, bool(encoder.types)) != (data.singletons, data.typed):
        different.append("data")
    corpus = sum_words(documents)
    for mode, notes in pretrained.notes.get("training", {}).items():
        model, training = settings.for_part(mode)
        stored = (from_dict(ModelConfig, notes["model"]), from_dict(TrainingConfig, notes["training"]))
        wanted = (structs.replace(model, mention_types=stored[0].mention_types), training)
        if stored != wanted or (notes.get("seed"), notes.get("corpus")) != (seed, corpus):
            different.append(mode)
    if different:
        raise ConfigError(
            f"{folder}: the model there was made from another corpus, with other settings or another seed "
            f"({', '.join(different)}); choose another folder, or remove this one"
        )


def fit_encoder(train: Sequence[Document], settings: Settings) -> Encoder:
    return Encoder.fit(
        train,
        recipe=settings.preprocessing,
        tokenizer=find_backbone(settings.model).make_tokenizer(settings.model),
        singletons=settings.data.singletons,
        typed=settings.data.typed,
        max_length=settings.model.max_length,
    )


def make_network(
    pretrained: Pretrained, mode: Mode, settings: Settings, *, seed: int, start: LanguageModel | None = None
) -> tuple[Network, TrainingConfig]:
    """Initialise a part of a model, and return it with its training settings."""
    encoder = pretrained.encoder
    config, training = settings.for_part(mode)
    config = structs.replace(config, mention_types=encoder.mention_types)
    if mode != "rnnlm" and config.max_length != encoder.max_length:
        raise ConfigError(
            f"max_length of the {mode} part is {config.max_length}, but documents were encoded with mentions "
            f"of up to {encoder.max_length} words: set the same max_length for all parts"
        )
    torch.manual_seed(derive_seed(seed, 0))
    network = pretrained.add(config)
    if training.embeddings != "random":
        start_from_glove(network, encoder)
    if start is not None:
        network.backbone.copy_from(start.backbone)
    if training.freeze_embeddings:
        network.backbone.piece_vectors.requires_grad_(False)
    return network, training


def run_training(
    training: Training, folder: Path | None, *, resume: bool, progress: Progress, on_epoch: OnEpoch | None
) -> bool:
    """Train a part to its end, with a checkpoint and a log in ``folder``; False if it was interrupted."""
    mode = training.network.config.mode
    training.checkpoint = checkpoint = folder and folder / "checkpoints" / f"{mode}.pt"
    if resume and checkpoint and checkpoint.exists():
        training.load(checkpoint)
        if on_epoch:
            for record in training.state.history:
                on_epoch(mode, record)

    def finish_epoch(record: dict[str, Any]) -> None:
        if folder:
            write_log(folder / LOG, mode, training.state.history)
        if on_epoch:
            on_epoch(mode, record)

    try:
        return training.run(progress, on_epoch=finish_epoch)
    except TrainingError as error:
        kept = f". The checkpoint of epoch {training.state.epoch} is kept in {checkpoint}"
        raise TrainingError(f"{error}{kept if checkpoint and checkpoint.exists() else ''}") from error


def start_from_glove(network: Network, encoder: Encoder) -> None:
    """Initialise by GloVe's word embeddings, projected where their size differs; they are trained further."""
    pretrained = load_glove(encoder.vocabulary)
    table = network.backbone.piece_vectors
    matrix = torch.from_numpy(project(pretrained.matrix, table.shape[1]))
    with torch.no_grad():
        # GloVe's vectors are far longer than Glorot's: keep their directions and bring them to the scale of the rest.
        table.copy_(matrix * (table.std() / matrix.std()))


def write_log(path: Path, mode: Mode, history: Sequence[dict[str, Any]]) -> None:
    """Write the training log, one JSON object per epoch; lines of other parts stay."""
    stored = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    lines = [line for line in stored if line and json.loads(line)["part"] != mode]
    lines += [json.dumps({"part": mode, **record}) for record in history]
    with write_atomically(path) as stream:
        stream.write("\n".join(lines) + "\n")
