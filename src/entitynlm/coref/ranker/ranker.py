"""The ranker: a linear model that scores the possible antecedents of every mention of a document (decision 033).

It compares mentions by the columns of the resolver's table, and is trained on annotated documents by softmax-margin with latent
antecedents: all earlier mentions of the same entity are right, and "new entity" is where there is none.
"""

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from entitynlm.coref.candidates.candidate_files import NO_ANTECEDENT, AntecedentScores
from entitynlm.coref.mention_table import MentionTable
from entitynlm.coref.metrics.documents import drop_repetitions, drop_singletons
from entitynlm.coref.ranker.features import NEW_TEMPLATES, PAIR_TEMPLATES, describe_mentions, relate_mentions
from entitynlm.coref.ranker.hashing import Columns, FeatureTable, add_weights, index_features, learn_choices
from entitynlm.coref.ranker.mentions import CandidateMention, MentionSource, find_mentions, has_syntax
from entitynlm.coref.ranker.spans import FINDER_WEIGHTS, SpanFinder, train_span_finder
from entitynlm.errors import ConfigError, DataError, ModelError
from entitynlm.files import read_json, write_atomically
from entitynlm.model.encoding.preprocessing import IntArray
from entitynlm.text.document import Document

VERSION = 4
CARD, WEIGHTS = "ranker.json", "ranker.safetensors"
RANKER_WEIGHTS = 1 << 22
NEW_SEED, PAIR_SEED = 1000, 1
RATE = 0.1
LEAST_GRADIENT = 1e-3
COSTS = np.array([0.1, 3.0, 1.0])  # of a false link, a missed one, a wrong one
SINGLETONS_ANNOTATED = 0.2  # share of entities with one mention from which a corpus is taken to annotate them
AVERAGED = 8  # weights of an epoch that are averaged


@dataclass(frozen=True)
class RankerSettings:
    """How a ranker learns.

    :param mentions: where mentions come from; None: from syntax where the training documents have it, else learned.
    """

    mentions: MentionSource | None = None
    epochs: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise ConfigError("a ranker needs at least one epoch")


class RankerExample:
    """A document's candidate mentions and their possible antecedents as columns of hashes.

    :ivar i: (N,) mentions of N pairs and :ivar j: their antecedents, for each mention the nearest first.
    """

    def __init__(self, document: Document, mentions: Sequence[CandidateMention]) -> None:
        ordered = sorted(mentions, key=lambda mention: (mention.start, -mention.end))
        self.spans = [mention.span for mention in ordered]
        table = MentionTable(document, self.spans, heads=[mention.head for mention in ordered])
        self.attributes = describe_mentions(table, np.array([m.variant for m in ordered], dtype=np.int64))
        self.i, self.j, relations = relate_mentions(table)
        self.relations = {name: column.astype(np.uint32) for name, column in relations.items()}
        self.offsets: IntArray = np.searchsorted(self.i, np.arange(len(ordered) + 1))

    def find_right(self, key: Document) -> NDArray[np.bool_]:
        """(N,) whether both mentions of a pair are of one entity of the key."""
        entities = {
            m.span: n for n, entity in enumerate(drop_singletons(key).entities) for m in entity.mentions
        }
        owners = np.array([entities.get(span, -1) for span in self.spans], dtype=np.int64)
        return (owners[self.i] >= 0) & (owners[self.i] == owners[self.j])

    def index_features(self) -> tuple[FeatureTable, FeatureTable]:
        """(M, features) of "new entity" and (N, features) of pairs."""
        columns: Columns = {
            **{name: column[self.i] for name, column in self.attributes.items()},
            **{f"a.{name}": column[self.j] for name, column in self.attributes.items()},
            **{name: column.astype(np.int64) for name, column in self.relations.items()},
        }
        new = index_features(NEW_TEMPLATES, self.attributes, RANKER_WEIGHTS, NEW_SEED)
        return new, index_features(PAIR_TEMPLATES, columns, RANKER_WEIGHTS, PAIR_SEED)


@dataclass(frozen=True, eq=False)
class Ranker:
    source: MentionSource
    singletons: bool
    weights: NDArray[np.float32]
    finder: SpanFinder | None = None

    def score(self, document: Document, *, mentions: MentionSource | None = None) -> AntecedentScores:
        """Score all possible antecedents relative to "none"; ``mentions="given"`` takes the document's own spans."""
        found = find_mentions(document, mentions or self.source, self.finder)
        example = RankerExample(document, found)
        new, pairs = (add_weights(self.weights, features) for features in example.index_features())
        scores = pairs - new[example.i]
        # in files inner mentions come before outer ones
        order = sorted(range(len(found)), key=example.spans.__getitem__)
        places = np.argsort(np.array(order, dtype=np.int64))
        antecedents, values, best = [], [], []
        for m in order:
            own = slice(example.offsets[m], example.offsets[m + 1])
            antecedents.append(np.append(places[example.j[own]], NO_ANTECEDENT))
            values.append(np.append(scores[own], 0.0))
            best.append(antecedents[-1][np.argmax(values[-1])])
        return AntecedentScores(
            document.id,
            tuple(example.spans[m] for m in order),
            np.cumsum([0, *map(len, antecedents)]),
            np.concatenate([*antecedents, np.zeros(0, dtype=np.int64)]),
            np.concatenate([*values, np.zeros(0)]),
            np.array(best, dtype=np.int64),
        )

    def save(self, folder: str | Path) -> None:
        """Write a card and the weights that are not zero."""
        card = {"version": VERSION, "source": self.source, "singletons": self.singletons}
        arrays = _pack("", self.weights) | (
            {} if self.finder is None else _pack("span_", self.finder.weights)
        )
        with write_atomically(Path(folder) / WEIGHTS, "wb") as stream:
            stream.write(save(arrays))
        with write_atomically(Path(folder) / CARD) as stream:
            json.dump(card, stream, indent=1)


def load_ranker(folder: str | Path) -> Ranker:
    folder = Path(folder)
    try:
        card = read_json(folder / CARD)
        if card.get("version") != VERSION:
            raise ModelError(f"{folder}: this is not a ranker of version {VERSION}; train it again")
        arrays = load_file(folder / WEIGHTS)
        finder = SpanFinder(_unpack("span_", arrays, FINDER_WEIGHTS)) if "span_places" in arrays else None
        weights = _unpack("", arrays, RANKER_WEIGHTS)
        return Ranker(card["source"], bool(card["singletons"]), weights, finder)
    except FileNotFoundError as error:
        raise ModelError(f"{folder}: there is no ranker here ({CARD} and {WEIGHTS})") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, SafetensorError) as error:
        raise ModelError(f"{folder}: the ranker is damaged ({error})") from error


def _pack(prefix: str, weights: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
    used = np.flatnonzero(weights)
    return {f"{prefix}places": used.astype(np.uint32), f"{prefix}weights": weights[used]}


def _unpack(prefix: str, arrays: Mapping[str, NDArray[Any]], size: int) -> NDArray[np.float32]:
    weights = np.zeros(size, dtype=np.float32)
    weights[arrays[f"{prefix}places"]] = arrays[f"{prefix}weights"]
    return weights


# -- training ----------------------------------------------------------------------------------------------------------


def train_ranker(
    documents: Iterable[Document],
    settings: RankerSettings | None = None,
    *,
    on_epoch: Callable[[int, float], None] = lambda epoch, loss: None,
) -> Ranker:
    """Learn from annotated documents; the weights are averaged over all epochs but the first."""
    settings = settings or RankerSettings()
    keys = [drop_repetitions(document) for document in documents]
    if not any(document.mentions for document in keys):
        raise DataError("a ranker can't be trained: the documents have no mentions")
    source = settings.mentions or ("syntax" if all(map(has_syntax, keys)) else "learned")
    finders: list[SpanFinder | None] = [None] * len(keys)
    finder = None
    if source == "learned":
        finder = train_span_finder(keys, seed=settings.seed)
        halves = [train_span_finder(keys[n::2] or keys, seed=settings.seed) for n in (1, 0)]
        finders = [halves[n % 2] for n in range(len(keys))]  # of the half that the document is not in
    examples = []
    for key, own in zip(keys, finders, strict=True):
        example = RankerExample(key, find_mentions(key, source, own))
        examples.append((example, example.find_right(key)))
    return Ranker(source, annotates_singletons(keys), _learn(examples, settings, on_epoch), finder)


def _learn(
    examples: Sequence[tuple[RankerExample, NDArray[np.bool_]]],
    settings: RankerSettings,
    on_epoch: Callable[[int, float], None],
) -> NDArray[np.float32]:
    weights, squares, average = np.zeros(RANKER_WEIGHTS), np.ones(RANKER_WEIGHTS), np.zeros(RANKER_WEIGHTS)
    order, shuffler, averaged = list(examples), random.Random(settings.seed), 0
    interval = max(1, len(order) // AVERAGED)
    for epoch in range(settings.epochs):
        shuffler.shuffle(order)
        loss = 0.0
        for index, (example, right) in enumerate(order):
            features = example.index_features()
            loss += learn_choices(
                weights, squares, *features, example.offsets, right, COSTS, RATE, LEAST_GRADIENT
            )
            if (epoch > 0 or settings.epochs == 1) and index % interval == 0:
                average += weights
                averaged += 1
        on_epoch(epoch + 1, loss)
    return (average / averaged).astype(np.float32)


def annotates_singletons(keys: Sequence[Document]) -> bool:
    """Say whether documents look like those of a corpus that annotates mentions which corefer with nothing."""
    sizes = [len(entity.mentions) for key in keys for entity in key.entities]
    return sum(size == 1 for size in sizes) > SINGLETONS_ANNOTATED * len(sizes)
