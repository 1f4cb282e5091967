"""The paper's Table 1 from nothing but a corpus: tune, train, estimate, measure, over several seeds, resumable at every step.

    OUT/corpus.json                 by what marks the corpus is known again
    OUT/<configuration>/seed-<n>/   models (P, its proposals, the LSTM baseline), with checkpoints and logs
    OUT/tables/seed-<n>.json        each seed's table

With several configurations each model gets the same tuning budget: all are trained once, with the first seed, and each model
takes the configuration that is best on development documents, P by the joint perplexity (as the paper does), the LSTM by its own.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from entitynlm.config import Mode
from entitynlm.errors import ConfigError
from entitynlm.files import write_atomically
from entitynlm.lm.evaluation import Contenders, OnDocument, Sampling, check_encoders, measure_table
from entitynlm.lm.ngram import estimate_ngrams
from entitynlm.lm.rows import ENTITY_READINGS, Table
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document
from entitynlm.training.completion import complete_pretrained
from entitynlm.training.recipe import Listener
from entitynlm.training.settings import Settings

TUNED: tuple[Mode, ...] = ("generative", "rnnlm")
CORPUS_FILE = "corpus.json"


@dataclass(frozen=True)
class Plan:
    """What is to be reproduced.

    :param configurations: settings by name; they may differ in anything but preprocessing and data, which make the words.
    :param splits: which splits besides train are measured.
    """

    out: Path
    configurations: Mapping[str, Settings]
    seeds: Sequence[int] = (1, 2, 3)
    splits: Sequence[str] = ("dev", "test")
    sampling: Sampling = field(default_factory=Sampling)
    readings: Sequence[str] = ENTITY_READINGS
    ngram: bool = True
    lookahead: bool = True
    device: str = "cpu"

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ConfigError("name one seed or several different ones")
        if not self.configurations:
            raise ConfigError("name one configuration at least")
        words = {json.dumps([s.recipe.to_dict(), asdict(s.data)]) for s in self.configurations.values()}
        if len(words) > 1:
            raise ConfigError(
                "the configurations differ in [preprocessing] or [data], so their perplexities are not of the same words"
            )

    @property
    def proposals(self) -> tuple[Mode, ...]:
        return ("causal", "lookahead") if self.lookahead else ("causal",)

    def folder(self, configuration: str, seed: int) -> Path:
        return self.out / configuration / f"seed-{seed}"


@dataclass(frozen=True)
class Witness:
    """Who is told how far it got: each step in words, the trainings, the documents measured."""

    on_step: Callable[[str], None] = lambda text: None
    listener: Listener = field(default_factory=Listener)
    on_document: OnDocument = lambda row, done, total: None


@dataclass(frozen=True)
class Choice:
    """The configuration that each model takes, and the development losses that decided it."""

    generative: str
    rnnlm: str
    losses: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Reproduction:
    """Each seed's table of each split, and the configurations chosen."""

    choice: Choice
    tables: Mapping[int, Mapping[str, Table]]

    def of_split(self, split: str) -> list[Table]:
        return [tables[split] for tables in self.tables.values()]


def reproduce(
    documents: Mapping[str, Sequence[Document]], plan: Plan, *, witness: Witness | None = None
) -> Reproduction | None:
    """Do all that is not done yet; None if it was asked to stop (the same call goes on).

    :param documents: the documents of train, dev and every split that is measured.
    """
    witness = witness or Witness()
    _check_corpus(documents, plan.out / CORPUS_FILE)
    choice = _tune(documents, plan, witness)
    if choice is None:
        return None
    tables: dict[int, Mapping[str, Table]] = {}
    for seed in plan.seeds:
        pretrained_models = _train_seed(documents, plan, choice, seed, witness)
        if pretrained_models is None:
            return None
        tables[seed] = _measure_seed(documents, plan, choice, seed, pretrained_models, witness)
    return Reproduction(choice, tables)


def _check_corpus(documents: Mapping[str, Sequence[Document]], path: Path) -> None:
    """Models of one corpus must not be taken for those of another: the folder remembers which it was."""
    marks = {}
    for split, found in documents.items():
        checksum = 0
        for document in found:
            checksum = zlib.crc32("\0".join(document.tokens).encode(), checksum)
        marks[split] = [len(found), sum(len(document.tokens) for document in found), checksum]
    known: dict[str, Any] = {}
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: can't be read ({error}); choose another folder") from error
    different = [split for split in marks if split in known and known[split] != marks[split]]
    if different:
        raise ConfigError(
            f"{path.parent}: this folder belongs to another corpus (its {', '.join(different)} documents differ); "
            "choose another one"
        )
    with write_atomically(path) as stream:
        json.dump({**known, **marks}, stream)


def _tune(documents: Mapping[str, Sequence[Document]], plan: Plan, witness: Witness) -> Choice | None:
    """Train every configuration once and see which is best for whom."""
    losses: dict[str, dict[str, float]] = {part: {} for part in TUNED}
    for name in plan.configurations:
        pretrained = _complete(documents, plan, name, plan.seeds[0], TUNED, witness)
        if pretrained is None:
            return None
        for part in TUNED:
            losses[part][name] = pretrained.notes["training"][part]["best_dev_loss"]
    best = {part: min(found, key=lambda name: found[name]) for part, found in losses.items()}
    if len(plan.configurations) > 1:
        witness.on_step(f"best on development: EntityNLM {best['generative']}, RNNLM {best['rnnlm']}")
    return Choice(best["generative"], best["rnnlm"], losses)


def _train_seed(
    documents: Mapping[str, Sequence[Document]], plan: Plan, choice: Choice, seed: int, witness: Witness
) -> tuple[Pretrained, Pretrained] | None:
    """The bundle with P and its proposals, and the one with the LSTM (the same where both chose alike)."""
    together = choice.generative == choice.rnnlm
    parts: tuple[Mode, ...] = ("generative", *plan.proposals, *(("rnnlm",) if together else ()))
    model = _complete(documents, plan, choice.generative, seed, parts, witness)
    if model is None or together:
        return (model, model) if model is not None else None
    baseline = _complete(documents, plan, choice.rnnlm, seed, ("rnnlm",), witness)
    return (model, baseline) if baseline is not None else None


def _complete(
    documents: Mapping[str, Sequence[Document]],
    plan: Plan,
    name: str,
    seed: int,
    parts: Sequence[Mode],
    witness: Witness,
) -> Pretrained | None:
    witness.on_step(f"{name}, seed {seed}: {', '.join(parts)}")
    return complete_pretrained(
        plan.folder(name, seed),
        documents["train"],
        documents["dev"],
        plan.configurations[name],
        parts=parts,
        seed=seed,
        device=plan.device,
        listener=witness.listener,
    )


def _measure_seed(
    documents: Mapping[str, Sequence[Document]],
    plan: Plan,
    choice: Choice,
    seed: int,
    pretrained_models: tuple[Pretrained, Pretrained],
    witness: Witness,
) -> Mapping[str, Table]:
    """The seed's tables, from their file where it was made for the same models and in the same way."""
    path = plan.out / "tables" / f"seed-{seed}.json"
    key = _describe(plan, choice, pretrained_models)
    stored = _read_tables(path, key)
    missing = [split for split in plan.splits if split not in stored]
    if missing:
        contenders = _gather(documents, plan, pretrained_models)
        encode = contenders.pretrained.encoder.encode
        for split in missing:
            witness.on_step(f"seed {seed}: measuring {split}")
            stored[split] = measure_table(
                split,
                contenders,
                [encode(document) for document in documents[split]],
                sampling=plan.sampling,
                readings=plan.readings,
                on_document=witness.on_document,
            )
            tables = {name: table.to_dict() for name, table in stored.items()}
            with write_atomically(path) as stream:
                json.dump({"key": key, "tables": tables}, stream, ensure_ascii=False, indent=1)
    return {split: stored[split] for split in plan.splits}


def _gather(
    documents: Mapping[str, Sequence[Document]], plan: Plan, pretrained_models: tuple[Pretrained, Pretrained]
) -> Contenders:
    """A seed's models, and the 5-gram over the same words."""
    pretrained, other = pretrained_models
    check_encoders(pretrained.encoder, other.encoder)
    ngram = None
    if plan.ngram:
        ngram = estimate_ngrams(map(pretrained.encoder.encode, documents["train"]), pretrained.encoder)
    return Contenders(pretrained, other.get_language_model(), ngram)


def _describe(plan: Plan, choice: Choice, pretrained_models: tuple[Pretrained, Pretrained]) -> dict[str, Any]:
    """All that a table depends on."""
    sampling = {name: value for name, value in asdict(plan.sampling).items() if name != "workers"}
    parts = ("generative", *plan.proposals)
    trained = {part: pretrained_models[0].notes["training"][part] for part in parts}
    trained["rnnlm"] = pretrained_models[1].notes["training"]["rnnlm"]
    key = {
        "configurations": [choice.generative, choice.rnnlm],
        "trained": trained,
        "sampling": sampling,
        "readings": list(plan.readings),
        "ngram": plan.ngram,
    }
    return json.loads(json.dumps(key))


def _read_tables(path: Path, key: dict[str, Any]) -> dict[str, Table]:
    """Tables that were measured before; nothing where the file is missing, damaged or about something else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["key"] != key:
            return {}
        return {split: Table.from_dict(split, values) for split, values in found["tables"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
