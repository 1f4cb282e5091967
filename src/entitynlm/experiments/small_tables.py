"""The three tables in small, from one quick training: for demonstrations, not for results.

One model with all parts serves all three tasks. Everything is measured as in the full reproduction, with fewer epochs, fewer
samples, fewer candidates and one seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from entitynlm.config import Mode
from entitynlm.coref.ranker.learning import annotates_singletons, train_ranker
from entitynlm.coref.ranker.model import RankerSettings
from entitynlm.errors import DataError, MissingExtraError
from entitynlm.experiments.coref_table import PAPER as PAPER_COREF
from entitynlm.experiments.coref_table import Reranking, make_split, measure_block
from entitynlm.experiments.entity_reproduction import Workshop
from entitynlm.experiments.paper_tables import SYSTEMS, PaperRow, PaperTable
from entitynlm.lm.evaluation import Contenders, Sampling, measure_table
from entitynlm.lm.ngram import estimate_ngrams
from entitynlm.lm.rows import PAPER as PAPER_LM
from entitynlm.model.pretrained import Pretrained
from entitynlm.prediction.evaluation import PAPER as PAPER_ENTITY
from entitynlm.prediction.evaluation import measure_row
from entitynlm.prediction.slots import collect_slots
from entitynlm.text.document import Document
from entitynlm.training.recipe import Listener, train_pretrained
from entitynlm.training.settings import Settings

PARTS: tuple[Mode, ...] = ("generative", "causal", "rnnlm")
QUICK: Mapping[str, Any] = {
    "preprocessing.vocabulary_size": 2000,
    "preprocessing.punctuation": "keep",
    "data.singletons": "keep",
    "model.hidden_size": 64,
    "model.embedding_size": 64,
    "model.dropout": 0.1,
    "model.mention_positions": 2,
    "model.features": "rich",
    "training.optimizer": "adam",
    "training.learning_rate": 0.005,
    "training.batch_size": 4,
    "training.epochs": 8,
    "training.patience": 2,
}
"""Settings that train in seconds on a few hundred generated stories."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Stories:
    """Documents by split."""

    name: str
    train: Sequence[Document]
    development: Sequence[Document]
    test: Sequence[Document]


def train_quickly(
    stories: Stories, settings: Settings, *, seed: int, listener: Listener | None = None
) -> Pretrained | None:
    """All parts that the tables need; None if the listener stopped it."""
    return train_pretrained(
        stories.train, stories.development, settings, parts=PARTS, seed=seed, listener=listener
    )


def measure_small_tables(
    pretrained: Pretrained, stories: Stories, *, seed: int = 0, tell: Tell = lambda text: None
) -> list[PaperTable]:
    """The three tables for one model."""
    if not stories.test:
        raise DataError("there are no test documents")
    tell("table 1: perplexity")
    tables = [measure_lm(pretrained, stories, seed=seed)]
    tell("table 2: coreference")
    tables.append(measure_coref(pretrained, stories, seed=seed))
    tell("table 3: who is mentioned next")
    tables.append(measure_entity(pretrained, stories, seed=seed))
    return tables


def measure_lm(pretrained: Pretrained, stories: Stories, *, seed: int) -> PaperTable:
    """5-gram (where an estimator is installed), LSTM and EntityNLM on the same words."""
    encode = pretrained.encoder.encode
    facts = []
    try:
        ngram = estimate_ngrams([encode(document) for document in stories.train], pretrained.encoder)
    except MissingExtraError as error:
        ngram, facts = None, [f"no 5-gram row: {error}"]
    table = measure_table(
        "test",
        Contenders(pretrained, pretrained.language_model, ngram),
        [encode(document) for document in stories.test],
        sampling=Sampling(particles=20, repeats=2, proposal="causal", seed=seed),
        readings=("marginal",),
    )
    rows = [
        PaperRow(
            row.model,
            row.perplexity,
            row.standard_error if row.standard_error > 0 else None,
            PAPER_LM.get(row.model),
        )
        for row in table.rows
    ]
    facts.insert(0, f"{table.documents} stories, {table.tokens:,} words; ± is the error of sampling")
    return PaperTable("lm", stories.name, tuple(rows), tuple(facts))


def measure_coref(pretrained: Pretrained, stories: Stories, *, seed: int) -> PaperTable:
    """Our ranker's one best, and its candidates reranked by P."""
    ranker = train_ranker(stories.train, RankerSettings(epochs=2, seed=seed))
    singletons = annotates_singletons(stories.train)
    splits = [
        make_split(name, documents, singletons=singletons)
        for name, documents in (("dev", stories.development), ("test", stories.test))
    ]
    ranked = {split.name: [ranker.score(document) for document in split.documents] for split in splits}
    block = measure_block("our ranker", splits, ranked, pretrained, Reranking(20, ("swaps",), False))
    rows = []
    for row in block.rows["test"]:
        plain = row.name.split(": ")[-1]
        paper = PAPER_COREF.get(plain, {}).get("conll")
        name = {
            "one best": "Baseline, one best",
            "P": "Reranked by P",
            "oracle": "Best of its candidates",
        }.get(plain, f"Reranked by {plain}")
        rows.append(PaperRow(name, row.conll, None, paper))
    return PaperTable("coref", stories.name, tuple(rows), ("baseline: our ranker; 20 candidates a story",))


def measure_entity(pretrained: Pretrained, stories: Stories, *, seed: int) -> PaperTable:
    """Baselines and EntityNLM at the same slots."""
    slotted = collect_slots(list(stories.test), None)
    workshop = Workshop(stories.train, stories.development, slotted, pretrained, seed=seed)
    rows = []
    for name in ("always-new", "shallow", "modi", "entitynlm"):
        row = measure_row(name, workshop.make(name), slotted)
        half = (row.interval.high - row.interval.low) / 2
        rows.append(PaperRow(SYSTEMS[name], row.accuracy, half, PAPER_ENTITY[name]))
    slots = sum(len(story.slots) for story in slotted)
    return PaperTable("entity", stories.name, tuple(rows), (f"{slots:,} slots; ± is half a 95 % interval",))
