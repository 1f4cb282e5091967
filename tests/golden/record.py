"""Golden outputs: one function for each, and ``python tests/golden/record.py [NAME …]`` to write them to ``expected/``.

All knowledge of the package's modules, functions and options stands in the first half, the adapters: when something is renamed,
they follow, and neither the second half nor the expected files change. Keys of the outputs are names of this file's own.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
INPUTS, EXPECTED, MODELS = HERE / "inputs", HERE / "expected", HERE / "models"
STORED = ("rich", "plain", "typed")
"""The small models that were trained and stored for the golden outputs."""
SHIPPED = "shipped"

Json = Any

sys.path.append(str(HERE.parent))  # tests/support, where this runs as a script
os.environ.setdefault("OMP_NUM_THREADS", "1")  # as tests/conftest.py has it; nothing above has loaded numpy

# == adapters: everything that knows how the package is called =================================================================


@cache
def load_model(name: str) -> Any:
    """A model by its name here: the one that ships, or one of ``models``."""
    import torch

    import entitynlm

    torch.set_num_threads(1)
    return entitynlm.load("entitynlm-en") if name == SHIPPED else entitynlm.load(MODELS / name)


def list_networks(model: str) -> list[str]:
    """P and the proposals that a model has, by the names used here: P, causal."""
    parts = load_model(model).pretrained.networks
    return [name for name, part in (("P", "generative"), ("causal", "causal")) if part in parts]


def get_network(model: str, name: str) -> Any:
    return load_model(model).pretrained.get("generative" if name == "P" else name)


@cache
def read_documents(name: str = "documents.jsonl") -> tuple[Any, ...]:
    from entitynlm.text.formats.registry import read_documents as read

    return tuple(read(INPUTS / name))


def read_text(name: str) -> Any:
    """A raw text as a document of words and sentences."""
    from entitynlm.text.formats.registry import read_documents as read

    (document,) = read(INPUTS / name)
    return document


def make_document(tokens: Sequence[str]) -> Any:
    from entitynlm.text.document import Document

    return Document("words", tuple(tokens))


def make_stories(count: int, seed: int) -> list[Any]:
    from entitynlm.stories.generator import generate_stories

    return list(generate_stories(count, seed=seed))


def write_stories(folder: Path, count: int, seed: int) -> Json:
    """A folder of generated stories in splits; the answer is the statistics that were measured on the way."""
    from entitynlm.stories.folder import write_stories as write

    found = write(count, folder, seed=seed)
    return {split: list(counts.as_json().values()) for split, counts in found.items()}


def split_stories(count: int, seed: int) -> tuple[list[Any], list[Any], list[Any]]:
    from entitynlm.stories.generator import generate_stories

    train, development, test = (
        list(generate_stories(count, seed=seed, split=split)) for split in ("train", "dev", "test")
    )
    return train, development, test


def get_scenario(story: Any) -> str:
    return str(story.meta["scenario"])


def dump_document(document: Any) -> Json:
    """All of a document that has a meaning."""
    return {
        "id": document.id,
        "tokens": list(document.tokens),
        "sentences": [list(span) for span in document.sentences],
        "mentions": [
            [
                m.start,
                m.end,
                m.entity,
                [list(part) for part in m.parts],
                m.head,
                [list(a) for a in m.attributes],
            ]
            for m in document.mentions
        ],
        "types": dict(sorted(document.entity_types.items())),
        "text": document.text,
        "offsets": None if document.offsets is None else [list(span) for span in document.offsets],
        "columns": {name: list(values) for name, values in sorted(document.columns.items())},
        "heads": None if document.heads is None else list(document.heads),
        "meta": dict(sorted(document.meta.items())),
    }


def dump_mentions(document: Any) -> Json:
    """Mentions as [start, end, entity, type, confidence of the mention, confidence of its link]."""
    rows = []
    for mention in document.mentions:
        known = dict(mention.attributes)
        scores = [float(known[k]) if k in known else None for k in ("confidence", "link_confidence")]
        kind = document.entity_types.get(mention.entity)
        rows.append([mention.start, mention.end, mention.entity, kind, *scores])
    return rows


def convert(documents: Iterable[Any], form: str, folder: Path) -> list[Path]:
    """Write documents in a format; the files that came out."""
    from entitynlm.text.formats.registry import get_format, write_documents

    several = get_format(form).write_folder is not None
    write_documents(documents, folder if several else folder / f"documents{get_format(form).suffix}", form)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def read_back(path: Path, form: str) -> list[Any]:
    from entitynlm.text.corpora.corpus import open_corpus

    return list(open_corpus(path, format=form).documents(None))


def encode(model: str, document: Any) -> Any:
    return load_model(model).pretrained.encoder.encode(document)


def encode_words(model: str, document: Any) -> Any:
    return load_model(model).pretrained.encoder.encode_words(document)


def dump_encoded(encoded: Any) -> dict[str, list[int]]:
    names = {"X": "x", "R": "r", "E": "e", "L": "l", "sentence": "sentence", "token": "origin"}
    return {ours: getattr(encoded, theirs).tolist() for ours, theirs in names.items()}


def score_document(model: str, network: str, document: Any) -> dict[str, list[float]]:
    """log-probabilities of R, E, L and X, word by word."""
    from entitynlm.inference.scoring import score_document as score

    if network == "P":
        found = load_model(model).log_prob(document)
    else:
        found = score(get_network(model, network), encode(model, document), ())
    return {"R": found.r.tolist(), "E": found.e.tolist(), "L": found.l.tolist(), "X": found.x.tolist()}


def score_baseline(model: str, documents: Sequence[Any]) -> list[float]:
    """log P(X) of documents by the LSTM without entities."""
    from entitynlm.lm.evaluation import measure_rnnlm

    pretrained = load_model(model).pretrained
    row = measure_rnnlm(pretrained.get_language_model(), [encode(model, d) for d in documents])
    return [found.log_prob for found in row.documents]


def annotate(model: str, document: Any, *, confidences: bool = False, given: bool = False) -> Any:
    return load_model(model).annotate(document, scores=confidences, keep_mentions=given)


TOKEN_COLUMNS = {
    "sentence": "sentence_id",
    "number": "token_id",
    "token": "token",
    "surprisal": "surprisal",
    "error": "error",
    "without_entities": "without_entities",
    "mention_before": "mention_expected",
    "mention_after": "mention_found",
    "mention_starts": "mention_starts",
    "entity": "entity",
    "entity_probability": "entity_probability",
    "referent_surprisal": "referent_surprisal",
    "referent_entropy": "referent_entropy",
    "unknown": "oov",
    "spelling": "spelling",
    "word": "word",
    "start": "start",
    "end": "end",
}
MENTION_COLUMNS = {
    "sentence": "sentence_id",
    "first": "first_token_id",
    "last": "last_token_id",
    "mention": "mention",
    "entity": "entity",
    "type": "type",
    "new": "is_new",
    "form": "form",
    "probability": "probability",
    "referent_surprisal": "referent_surprisal",
    "entropy": "entropy",
    "candidates": "candidates",
    "start_surprisal": "start_surprisal",
    "words_surprisal": "words_surprisal",
    "since_words": "since_words",
    "since_sentences": "since_sentences",
    "since_mentions": "since_mentions",
    "expected": "expected",
    "expected_probability": "expected_probability",
    "start": "start",
    "end": "end",
}


def measure_surprisal(
    model: str,
    document: Any,
    *,
    mentions: str,
    samples: int = 6,
    repeats: int = 2,
    seed: int = 1,
    base: float = 2.0,
    ends: bool = False,
    hindsight: bool = False,
) -> Any:
    from entitynlm.lm.surprisal import measure_surprisal as measure

    return measure(
        load_model(model).pretrained,
        document,
        mentions=mentions,  # type: ignore[arg-type]
        samples=samples,
        repeats=repeats,
        seed=seed,
        base=base,
        sentence_ends=ends,
        hindsight=hindsight,
    )


def dump_surprisal(found: Any) -> Json:
    """Every column of both tables."""

    def take(rows: Sequence[Any], columns: Mapping[str, str]) -> dict[str, list[Json]]:
        return {ours: [getattr(row, theirs) for row in rows] for ours, theirs in columns.items()}

    return {
        "tokens": take(found.tokens, TOKEN_COLUMNS),
        "mentions": take(found.mentions, MENTION_COLUMNS),
        "total": found.total,
        "words": found.words,
        "given": found.given,
    }


def make_report(model: str, document: Any, *, mentions: str) -> Json:
    from entitynlm.report.contents import make_report as make

    found = make(
        load_model(model).pretrained, measure_surprisal(model, document, mentions=mentions, hindsight=True)
    )
    return {
        "entities": [[c.number, c.entity, c.name, c.type, list(c.places)] for c in found.characters],
        "owners": list(found.owner),
        "together": [[c.first, c.second, c.sentences] for c in found.cooccurrences],
        "movements": [
            {
                "entity": m.character.entity,
                "tokens": list(m.tokens),
                "gates": list(m.gates),
                "away": list(m.away),
                "early": list(m.early),
                "late": list(m.late),
            }
            for m in found.movements
        ],
        "surprises": [
            [s.row.mention, s.row.known_surprisal, s.number, s.expected, s.before, s.after]
            for s in found.surprises
        ],
        "unit": found.unit,
    }


@cache
def read_candidates(name: str) -> tuple[tuple[Any, Any], ...]:
    """(text, antecedent scores or k-best list) of a file that brings its texts along."""
    from entitynlm.coref.candidates.candidate_files import read_candidates as read

    return tuple(read(INPUTS / name))


def decode_kbest(scores: Any, method: str, k: int, *, singletons: bool = False) -> Any:
    from entitynlm.coref.candidates.kbest import DECODERS

    return DECODERS[method](scores, k, singletons=singletons)


def dump_candidates(found: Any) -> Json:
    return [[c.score, [[list(span) for span in cluster] for cluster in c.clusters]] for c in found.candidates]


def score_candidates(model: str, document: Any, candidates: Any) -> dict[str, list[list[float]]]:
    """By network, the log-probabilities of R, E, L and X of each candidate."""
    from entitynlm.coref.reranking.combination import score_list

    found = score_list(load_model(model).pretrained, document, candidates)
    return {name: values.tolist() for name, values in found.parts.items()}


def choose_candidate(model: str, document: Any, candidates: Any, weight: float | None) -> int:
    """The number of the best one by log P, or by the list's own scores and ``weight`` times log P."""
    from entitynlm.coref.reranking.combination import BY_MODEL, Combination, score_list

    combination = BY_MODEL if weight is None else Combination({"baseline": 1.0, "P": weight})
    return combination.choose(score_list(load_model(model).pretrained, document, candidates, ["P"]))


def rerank(model: str, document: Any, candidates: Any, weights: Mapping[str, float] | None) -> Json:
    """The candidates, best first, by the public interface."""
    found = load_model(model).rerank(document, candidates, weights=weights)
    return [[c.score, [[list(span) for span in cluster] for cluster in c.clusters]] for c in found]


def search_weights(model: str, pairs: Sequence[tuple[Any, Any]], keys: Sequence[Any]) -> Json:
    """The weight of log P beside the lists' own scores that is best on documents with keys."""
    from entitynlm.coref.candidates.kbest import count_candidates
    from entitynlm.coref.reranking.combination import score_list
    from entitynlm.coref.reranking.combination import search_weight as search

    pretrained = load_model(model).pretrained
    scored = [score_list(pretrained, document, item, ["P"]) for document, item in pairs]
    counts = [count_candidates(key, item.candidates) for key, (_, item) in zip(keys, pairs, strict=True)]
    found = search(scored, counts)
    return {
        "weights": list(found.combination.weights.values()),
        "best": found.dev_conll,
    }


def expect_entities(model: str, document: Any) -> Json:
    """At every mention: who could have been mentioned, with probabilities."""
    from entitynlm.prediction.network_choice import NetworkChooser

    chooser = NetworkChooser(get_network(model, "P"), load_model(model).pretrained.encoder)
    positions = [mention.start for mention in document.mentions]
    return [dump_choice(choice) for choice in chooser.choose(document, positions)]


def expect_next(model: str, document: Any, position: int | None) -> Json:
    return dump_choice(load_model(model).next_entity(document, position))


def dump_choice(choice: Any) -> Json:
    """Entities in order of first mention, the empty name for a new one."""
    return {
        "entities": list(choice.entities),
        "probabilities": list(choice.probabilities),
        "best": choice.best,
    }


def run(*words: str | Path) -> None:
    """A verb of the command line, in this process."""
    from typer.testing import CliRunner

    from entitynlm.interfaces.cli import app

    CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def run_json(*words: str | Path) -> Json:
    """A verb that reports figures; these are the answer."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "figures.json"
        run(*words, "--json", target, "--quiet")
        return json.loads(target.read_text(encoding="utf-8"))


METRICS = {
    "mentions": "mentions",
    "muc": "muc",
    "b3": "b3",
    "ceafm": "ceafm",
    "ceafe": "ceafe",
    "blanc": "blanc",
    "lea": "lea",
}


def dump_scores(figures: Mapping[str, Any]) -> Json:
    """Recall, precision and F1 of each metric."""
    found = {
        ours: [figures[theirs][k] for k in ("recall", "precision", "f1")] for ours, theirs in METRICS.items()
    }
    return {**found, "conll": figures["conll"]}


def score_coreference(key: Path, response: Path, *, singletons: bool, second: Path | None = None) -> Json:
    words: list[str | Path] = ["score", key, response, "--drop-repetitions", "both", "--seed", "2"]
    if not singletons:
        words += ["--drop-singletons", "both"]
    if second is not None:
        words += ["--versus", second, "--trials", "200"]
    figures = run_json(*words)
    found = {"all": dump_scores(figures)}
    if second is not None:
        found["versus"] = {
            name: [figures["versus"][theirs][k] for k in ("f1", "difference", "p_value")]
            for name, theirs in {**METRICS, "conll": "conll"}.items()
        }
    return found


def train_ranker(
    documents: Sequence[Any], epochs: int, *, learned_mentions: bool = False
) -> tuple[Any, list[float]]:
    """A ranker and its losses."""
    from entitynlm.coref.ranker.ranker import RankerSettings
    from entitynlm.coref.ranker.ranker import train_ranker as train

    losses: list[float] = []
    source = "learned" if learned_mentions else None
    settings = RankerSettings(source, epochs=epochs, seed=3)
    return train(documents, settings, on_epoch=lambda epoch, loss: losses.append(loss)), losses


def dump_antecedents(scores: Any) -> Json:
    return {
        "mentions": [list(span) for span in scores.mentions],
        "offsets": scores.offsets.tolist(),
        "antecedents": scores.antecedents.tolist(),
        "scores": scores.scores.tolist(),
        "best": scores.best.tolist(),
    }


def estimate_marginal(
    model: str,
    proposal: str,
    encoded: Any,
    method: str,
    *,
    particles: int = 8,
    repeats: int = 2,
    seed: int = 7,
    prior_share: float | None = None,
) -> Json:
    from entitynlm.inference.marginal import PRIOR_SHARE, estimate_log_prob

    found = estimate_log_prob(
        get_network(model, "P"),
        get_network(model, proposal),
        encoded,
        particles=particles,
        repeats=repeats,
        method="importance" if method == "importance" else "particle-filter",
        seed=seed,
        prior_share=PRIOR_SHARE if prior_share is None else prior_share,
    )
    return {
        "log_prob": found.log_prob,
        "error": found.standard_error,
        "sample_size": found.ess,
        "repeats": found.repeats.tolist(),
        "words": found.per_token.tolist(),
        "words_only": found.words_only,
        "resamplings": found.resamplings,
    }


def enumerate_words(model: str, encoded: Any) -> Json:
    """log P(X) as a sum over all analyses, and the same by the sampler with each proposal."""
    from support.enumeration import enumerate_log_prob, enumerate_mean_weight, list_analyses

    network = get_network(model, "P")
    return {
        "analyses": len(list_analyses(network, encoded)),
        "log_prob": enumerate_log_prob(network, encoded),
        "by_sampler": {
            name: enumerate_mean_weight(network, get_network(model, name), encoded, seed=4)
            for name in list_networks(model)[1:]
        },
    }


def train_model(
    config: Path, train: Sequence[Any], development: Sequence[Any], changes: Mapping[str, Any]
) -> Json:
    """The losses of a training, epoch by epoch and part by part."""
    import torch

    from entitynlm.training.recipe import train_pretrained
    from entitynlm.training.settings import load_settings

    torch.set_num_threads(1)
    epochs: dict[str, list[Json]] = {}

    def listen(part: str, record: Mapping[str, Any]) -> None:
        name = {"generative": "P", "rnnlm": "baseline"}.get(part, part)
        development = [record["dev"][variable] for variable in ("r", "e", "l", "x")]
        epochs.setdefault(name, []).append([record["train_loss"], record["dev_loss"], *development])

    pretrained = train_pretrained(
        train,
        development,
        load_settings(config, changes),
        parts=("generative", "causal", "rnnlm"),
        seed=6,
        on_epoch=listen,
    )
    assert pretrained is not None
    return {"epochs": epochs, "vocabulary": len(pretrained.encoder.vocabulary)}


SHORT_TRAINING = {
    "training.epochs": 2,
    "model.hidden_size": 12,
    "model.embedding_size": 12,
    "preprocessing.vocabulary_size": 150,
}


def measure_ngrams(model: str, train: Sequence[Any], test: Sequence[Any]) -> Json:
    """log P(X) by n-grams of several orders over a model's vocabulary, and one distribution."""
    import numpy as np

    from entitynlm.lm.ngram import estimate_ngrams

    encoder = load_model(model).pretrained.encoder
    found = {}
    for order in (3, 5):
        ngrams = estimate_ngrams([encoder.encode(d) for d in train], encoder, order=order)
        scores = [ngrams.score(encoder.encode(d)) for d in test]
        total = float(sum(s.sum() for s in scores))
        found[str(order)] = {
            "documents": [float(s.sum()) for s in scores],
            "perplexity": float(np.exp(-total / sum(map(len, scores)))),
            "after_nothing": [v for v in ngrams.distribution().tolist() if np.isfinite(v)][:40],
        }
    return found


def evaluate_lm(model: str, corpus: Path) -> Json:
    figures = run_json(
        "evaluate", "lm", corpus, "--model", MODELS / model, "--samples", "4", "--repeats", "2",
        "--split", "test", "--threads", "1", "--seed", "3",
    )  # fmt: skip
    return dump_lm(figures["splits"]["test"])


def dump_lm(table: Mapping[str, Any]) -> Json:
    return {
        "tokens": table["tokens"],
        "unknown": table["unknown"],
        "rows": [
            [row["perplexity"], row["standard_error"], row["log_prob"], row["tokens"]]
            for row in table["rows"]
        ],
        "documents": [[d["log_prob"] for d in row["documents"]] for row in table["rows"]],
    }


def evaluate_coref(model: str, corpus: Path, ranker: Path) -> Json:
    run("ranker", "train", "--corpus", corpus, "--out", ranker, "--epochs", "2", "--quiet")
    figures = run_json(
        "evaluate", "coref", corpus, "--model", MODELS / model, "--ranker", ranker, "--k", "6",
        "--split", "dev,test", "--trials", "50", "--threads", "1", "--seed", "3",
    )  # fmt: skip
    return dump_coref(figures)


def dump_coref(figures: Mapping[str, Any]) -> Json:
    """Rows in their order: the scores, and the p-value of the difference from the first."""

    def dump(row: Mapping[str, Any]) -> Json:
        versus = row.get("versus_first", {}).get("conll")
        return [dump_scores(row), [versus["difference"], versus["p_value"]] if versus else None]

    return {
        "over_baseline": [
            {split: [dump(row) for row in found["rows"]] for split, found in block["splits"].items()}
            for block in figures["blocks"]
        ],
    }


def evaluate_entity(model: str, corpus: Path) -> Json:
    figures = run_json(
        "evaluate", "entity", corpus, "--model", MODELS / model, "--rows",
        "always-new,shallow,modi,entitynlm", "--threads", "1", "--seeds", "3",
    )  # fmt: skip
    return dump_entity(figures)


def dump_entity(figures: Mapping[str, Any]) -> Json:
    """Rows in their order: accuracy, interval, right answers, and accuracies by newness and by form."""
    rows = [
        [
            row["accuracy"],
            row["interval"],
            row["right"],
            [[v["accuracy"], v["slots"]] for v in row["breakdown"]["newness"].values()],
            [[v["accuracy"], v["slots"]] for v in row["breakdown"]["form"].values()],
        ]
        for row in figures["rows"].values()
    ]
    return {"slots": figures["slots"], "stories": figures["stories"], "rows": rows}


def train_predictor(
    model: str, train: Sequence[Any], development: Sequence[Any], test: Sequence[Any]
) -> Json:
    """Our own entity predictor on a model's states, one epoch, and what it expects in a story."""
    import torch

    from entitynlm.prediction.predictor import PredictorConfig, StateChooser, train_predictor
    from entitynlm.prediction.slot_batches import StoryStates
    from entitynlm.prediction.slots import find_similar_slots

    torch.set_num_threads(1)
    config = PredictorConfig(hidden=12, match=6, scorer=8, embeddings="random", epochs=1, batch_size=32)
    questions = [[(s, find_similar_slots(s).positions) for s in part] for part in (train, development)]
    states = StoryStates.of_model(load_model(model).pretrained)
    found = train_predictor(*questions, states, config, seed=5)
    return {
        "epochs": [[found.notes["best"][name] for name in ("loss", "accuracy", "development_loss")]],
        "choices": [
            [
                dump_choice(choice)
                for choice in StateChooser(found, states).choose(s, find_similar_slots(s).positions)
            ]
            for s in test
        ],
    }


def make_small_tables(count: int, seed: int, epochs: int) -> Json:
    """The paper's three tables as the demonstration measures them: one quick training on generated stories."""
    import torch

    from entitynlm.experiments.paper import load_packaged_settings
    from entitynlm.experiments.small_tables import NEEDED_PARTS, Stories, measure_small_tables
    from entitynlm.training.recipe import train_pretrained
    from entitynlm.training.settings import load_settings

    torch.set_num_threads(1)
    stories = Stories("stories", *split_stories(count, seed))
    settings = load_settings(None, {**load_packaged_settings("quick"), "training.epochs": epochs})
    documents = stories.train, stories.development
    pretrained = train_pretrained(*documents, settings, parts=NEEDED_PARTS, seed=seed)
    assert pretrained is not None
    found = measure_small_tables(pretrained, stories, seed=seed)
    return [dump_paper_table(table.to_dict()) for table in found.values()]


def dump_paper_table(table: Mapping[str, Any]) -> Json:
    """Rows in their order: our figure and its spread, and the paper's."""
    (column,) = table["columns"]
    cells = [(row["figures"][column], row["paper"]) for row in table["rows"]]
    return [[cell["value"], cell["error"], paper] for cell, paper in cells]


def reproduce_all(folder: Path, count: int) -> Json:
    """All three tables from nothing, by the command line: small models with the quick settings."""
    from entitynlm.experiments.paper import load_packaged_settings

    write_stories(folder / "stories", count, 1)
    sizes = {"training.epochs": 2, "model.hidden_size": 16, "model.embedding_size": 16}
    settings = {**load_packaged_settings("quick"), **sizes}
    changes = [word for name, value in settings.items() for word in ("--set", f"{name}={json.dumps(value)}")]
    own = {
        "lm": "--seeds 1 --samples 4 --likelihoods marginal",
        "coref": "--k 5 --seed 1",
        "entity": "--rows always-new,shallow,modi,entitynlm",
    }
    found = []
    for task, options in own.items():
        words = ["evaluate", task, folder / "stories", "--out", folder / task, *options.split()]
        found.append(dump_paper_table(run_json(*words, "--threads", "1", *changes)["summary"]))
    return found


def reproduce_entity(folder: Path, corpus: Path) -> Json:
    """Table 3 with a small predictor of ours, for two seeds."""
    from entitynlm.experiments.paper import load_packaged_settings
    from entitynlm.experiments.runner import Runner
    from entitynlm.experiments.table3_entity_prediction import EntityPrediction, describe
    from entitynlm.prediction.predictor import PredictorConfig
    from entitynlm.prediction.slots import read_slots
    from entitynlm.text.corpora.corpus import open_corpus
    from entitynlm.training.settings import load_settings

    sizes = {"training.epochs": 1, "model.hidden_size": 12, "model.embedding_size": 12}
    settings = load_settings(None, {**load_packaged_settings("inscript"), **sizes})
    config = PredictorConfig(hidden=12, match=6, scorer=8, embeddings="random", epochs=1)
    opened = open_corpus(corpus)
    documents = {split: list(opened.documents(split)) for split in ("train", "dev")}
    experiment = EntityPrediction(documents, read_slots(opened, "test"), Runner(folder), config)
    found = experiment.reproduce(("always-new", "entitynlm", "ours", "ensemble"), settings, (1, 2))
    figures = describe(found, corpus="stories", split="test", facts={}).figures
    seeds = [
        [row["mean"], row["standard_deviation"], row["accuracies"]]
        for row in figures["seeds"]["rows"].values()
    ]
    return {**dump_entity(figures), "seeds": seeds}


# == outputs: nothing below knows the package ==================================================================================


@dataclass(frozen=True)
class Output:
    """One golden output; a slow one is compared where the slow tests run."""

    make: Callable[[], Json]
    slow: bool


OUTPUTS: dict[str, Output] = {}


def golden(*, slow: bool = False) -> Callable[[Callable[[], Json]], Callable[[], Json]]:
    """Put a function on the list."""

    def put(make: Callable[[], Json]) -> Callable[[], Json]:
        OUTPUTS[make.__name__] = Output(make, slow)
        return make

    return put


def by_model(names: Sequence[str], make: Callable[[str], Json]) -> Json:
    return {name: make(name) for name in names}


def digest(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def document(name: str) -> Any:
    return next(d for d in read_documents() if d.id == name)


STORY = "stories-77-000003"
EVERY_MODEL = (SHIPPED, *STORED)


@golden()
def stories() -> Json:
    """Generated stories: all words and mentions as hashes per scenario, a whole one, and the corpus's statistics."""
    made = make_stories(60, 21)
    by_scenario: dict[str, list[str]] = {}
    for story in made:
        by_scenario.setdefault(get_scenario(story), []).append(digest(dump_document(story)))
    with tempfile.TemporaryDirectory() as folder:
        statistics = write_stories(Path(folder) / "stories", 30, 8)
    return {"by_scenario": by_scenario, "first": dump_document(made[0]), "corpus": statistics}


@golden()
def formats() -> Json:
    """What each format writes of the documents, and what is read back."""
    found = {}
    for form in ("jsonl", "conll2012", "conllu", "brat", "spacy"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "out"
            folder.mkdir()
            files = convert(read_documents(), form, folder)
            read = read_back(folder if form == "brat" else files[0], form)
            found[form] = {
                "files": {
                    str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
                    for path in files
                },
                "read_back": {d.id: digest(dump_document(d)) for d in read},
            }
    return found


@golden()
def texts() -> Json:
    """Plain texts: words, sentences and offsets."""
    return {name: dump_document(read_text(name)) for name in ("story.txt", "prompt.txt")}


@golden()
def encoding() -> Json:
    """Documents as the models see them: a short one in full, the others as hashes."""

    def make(model: str) -> Json:
        return {
            "hashes": {d.id: digest(dump_encoded(encode(model, d))) for d in read_documents()},
            "hand-nested": dump_encoded(encode(model, document("hand-nested"))),
        }

    return by_model(EVERY_MODEL, make)


@golden()
def log_prob() -> Json:
    """log P(R, E, L, X), and log Q(R, E, L | X), of twenty documents by variable; of two documents word by word."""

    def make(model: str) -> Json:
        found: dict[str, Json] = {}
        for network in list_networks(model):
            scores = {d.id: score_document(model, network, d) for d in read_documents()}
            found[network] = {
                "documents": {
                    name: {variable: sum(values) for variable, values in parts.items()}
                    for name, parts in scores.items()
                },
                "words": {name: scores[name] for name in ("hand-nested", "hand-unknown")},
            }
        return found

    return by_model(EVERY_MODEL, make)


@golden()
def baseline() -> Json:
    """log P(X) of the LSTM without entities."""
    return by_model((SHIPPED, "rich", "plain"), lambda model: score_baseline(model, read_documents()))


@golden()
def annotation() -> Json:
    """Mentions, entities, types and confidences in a raw text and in documents whose mentions are forgotten or given."""
    story, talk = read_text("story.txt"), document("hand-talk")

    found = {
        "plain": annotate(SHIPPED, story),
        "of_a_document": annotate(SHIPPED, document(STORY)),
        "talk": annotate(SHIPPED, talk),
        "confidences": annotate(SHIPPED, story, confidences=True),
    }
    for name in ("hand-nested", "hand-long", "hand-odd", STORY):
        found[f"given {name}"] = annotate(SHIPPED, document(name), given=True)
    return {name: dump_mentions(annotated) for name, annotated in found.items()}


@golden()
def surprisal() -> Json:
    """Both tables, with all columns: along given mentions, and summed over sampled ones."""
    story = read_text("story.txt")

    def make(model: str) -> Json:
        found = {
            "given": measure_surprisal(model, document("hand-nested"), mentions="given", ends=True),
            "given, unknown words": measure_surprisal(
                model, document("hand-unknown"), mentions="auto", base=10
            ),
            "sampled": measure_surprisal(model, story, mentions="auto"),
            "sampled in spite of mentions": measure_surprisal(
                model, document("hand-long"), mentions="sampled", samples=4, repeats=3, seed=9, ends=True
            ),
        }
        return {name: dump_surprisal(tables) for name, tables in found.items()}

    return by_model(EVERY_MODEL, make)


@golden()
def reports() -> Json:
    """All that a report shows, as values."""
    story = read_text("story.txt")
    found = {
        SHIPPED: make_report(SHIPPED, story, mentions="auto"),
        f"{SHIPPED}, given": make_report(SHIPPED, document("hand-nested"), mentions="given"),
    }
    return {**found, **by_model(STORED, lambda model: make_report(model, document(STORY), mentions="given"))}


@golden()
def kbest() -> Json:
    """Lists made from antecedent scores, by both methods."""
    found: dict[str, Json] = {}
    for text, scores in read_candidates("antecedents.jsonl"):
        for method in ("swaps", "samples"):
            for singletons in (False, True):
                made = decode_kbest(scores, method, 6, singletons=singletons)
                found[f"{text.id}, {method}, {'with' if singletons else 'without'} singletons"] = (
                    dump_candidates(made)
                )
    return found


@golden()
def reranking() -> Json:
    """Scores of candidates by variable and network, and which one is chosen; lists given and lists made."""
    pairs = [(text, item) for text, item in read_candidates("kbest.jsonl")]
    made = [
        (text, decode_kbest(scores, method, 12))
        for text, scores in read_candidates("antecedents.jsonl")
        for method in ("swaps", "samples")
    ]

    def make(model: str) -> Json:
        return {
            "lists": [
                {
                    "document": text.id,
                    "parts": score_candidates(model, text, item),
                    "choice": choose_candidate(model, text, item, None),
                    "choice by both": choose_candidate(model, text, item, 0.05),
                }
                for text, item in [*pairs, *made]
            ],
            "order": rerank(model, *pairs[1], None),
            "order by three": rerank(model, *pairs[1], {"baseline": 1.0, "P.e": 0.2, "causal": 0.1}),
            "search": search_weights(model, pairs, [document(text.id) for text, _ in pairs]),
        }

    return by_model((SHIPPED, "rich", "plain"), make)


@golden()
def prediction() -> Json:
    """Who could be mentioned at each mention of documents, and after the end of texts."""
    names = (STORY, "hand-nested", "hand-singletons", "hand-odd")

    def make(model: str) -> Json:
        return {
            "mentions": {name: expect_entities(model, document(name)) for name in names},
            "after the end": expect_next(model, document("hand-nested"), None),
            "within": expect_next(model, document("hand-nested"), 17),
            "of a text": expect_next(model, read_text("prompt.txt"), None),
        }

    return by_model(EVERY_MODEL, make)


@golden()
def coreference_scores() -> Json:
    """All metrics of a response, the comparison with another one; with and without singletons, from two formats."""
    key, first, second = (INPUTS / name for name in ("documents.jsonl", "response.jsonl", "response-2.jsonl"))
    found = {
        "jsonl": score_coreference(key, first, singletons=True, second=second),
        "jsonl, no singletons": score_coreference(key, first, singletons=False),
    }
    with tempfile.TemporaryDirectory() as name:
        paths = []
        for source in ("documents.jsonl", "response.jsonl"):
            folder = Path(name) / source
            folder.mkdir()
            paths += convert(read_documents(source), "conll2012", folder)
        found["conll"] = score_coreference(*paths, singletons=True)
    return found


@golden()
def ranker() -> Json:
    """A ranker's losses and its scores on stories; mentions from syntax, and from a finder that was trained."""
    parsed = [d for d in read_documents() if d.heads is not None and d.id != STORY]
    test = [document(STORY), document("hand-nested")]
    found = {}
    for name, learned in (("syntax", False), ("learned", True)):
        made, losses = train_ranker(make_stories(12, 31) if learned else parsed, 2, learned_mentions=learned)
        scored = {d.id: dump_antecedents(made.score(d)) for d in (test if learned else test[:1])}
        found[name] = {"losses": losses, "scores": scored}
    return found


@golden()
def marginal() -> Json:
    """log P(X) by importance sampling and by the particle filter, with each proposal."""
    texts = [document("hand-unknown"), document(STORY)]

    def make(model: str) -> Json:
        found: dict[str, Json] = {}
        for text in texts[:1] if model == SHIPPED else texts:
            encoded = encode_words(model, text)
            for proposal in list_networks(model)[1:]:
                for method in ("importance", "filter"):
                    name = f"{text.id}, {proposal}, {method}"
                    found[name] = estimate_marginal(model, proposal, encoded, method)
        encoded = encode_words(model, texts[0])
        found["no prior"] = estimate_marginal(model, "causal", encoded, "importance", prior_share=0.0)
        return found

    return by_model(EVERY_MODEL, make)


@golden()
def enumeration() -> Json:
    """log P(X) of a handful of words by all analyses."""

    def make(model: str) -> Json:
        short = make_document("Anna saw him".split() if model == "typed" else "Anna saw her dog".split())
        return enumerate_words(model, encode_words(model, short))

    return by_model(STORED, make)


@golden()
def training() -> Json:
    """Losses of two epochs of all parts with three configurations."""
    train, development, _ = split_stories(16, 41)

    def make(name: str, changes: Mapping[str, Any]) -> Json:
        return train_model(INPUTS / f"{name}.toml", train[:8], development, changes)

    return {name: make(name, SHORT_TRAINING) for name in STORED}


@golden()
def ngrams() -> Json:
    """n-grams over two vocabularies."""
    train, _, test = split_stories(40, 51)
    return by_model(("rich", "plain"), lambda model: measure_ngrams(model, train, test))


@golden()
def predictor() -> Json:
    """Our own entity predictor after one epoch."""
    train, development, test = split_stories(40, 61)
    return train_predictor("plain", train, development, test[:2])


@golden(slow=True)
def evaluation() -> Json:
    """The three evaluations of trained models on generated stories."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_stories(folder / "stories", 40, 71)
        return {
            "lm": by_model(("rich", "plain"), lambda model: evaluate_lm(model, folder / "stories")),
            "coref": evaluate_coref("rich", folder / "stories", folder / "ranker"),
            "entity": by_model(STORED, lambda model: evaluate_entity(model, folder / "stories")),
        }


@golden(slow=True)
def small_tables() -> Json:
    """The paper's tables as the demonstration shows them, with fewer stories and epochs."""
    return make_small_tables(100, 1, 3)


@golden(slow=True)
def reproduction() -> Json:
    """Models trained and all tables measured, and Table 3 with our own predictor and two seeds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_stories(folder / "stories", 40, 81)
        return {
            "all": reproduce_all(folder / "all", 60),
            "entity": reproduce_entity(folder / "entity", folder / "stories"),
        }


# == files =====================================================================================================================


def tidy(value: Json) -> Json:
    """Plain values with ten significant digits, far more than are compared, and a name for what JSON does not have."""
    if isinstance(value, bool) or value is None or isinstance(value, int | str):
        return value
    if isinstance(value, float):
        return float(f"{value:.10g}") if abs(value) < float("inf") else str(value)
    if isinstance(value, Mapping):
        return {str(key): tidy(item) for key, item in value.items()}
    return [tidy(item) for item in value]


def write_expected(name: str, folder: Path = EXPECTED) -> Path:
    """Record one output."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    lines = json.dumps(tidy(OUTPUTS[name].make()), ensure_ascii=False, indent=1, sort_keys=True)
    path.write_text(join_short_lists(lines) + "\n", encoding="utf-8")
    return path


def join_short_lists(text: str) -> str:
    """Lists of plain values on one line each, so that files are short and a difference still shows where it is."""
    lines: list[str] = []
    inner: list[str] | None = None
    for line in text.split("\n"):
        if line.endswith("["):
            if inner is not None:
                lines += inner
            inner = [line]
        elif inner is None:
            lines.append(line)
        elif line.strip() in ("]", "],"):
            lines.append(inner[0] + " ".join(part.strip() for part in inner[1:]) + line.strip())
            inner = None
        elif line.endswith("{"):
            lines += [*inner, line]
            inner = None
        else:
            inner.append(line)
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Record the outputs that are named, or all of them."""
    folder = EXPECTED
    if arguments[:1] == ["--into"]:
        folder, arguments = Path(arguments[1]), arguments[2:]
    for name in arguments or OUTPUTS:
        print(write_expected(name, folder), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
