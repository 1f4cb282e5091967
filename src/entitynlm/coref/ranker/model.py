"""The ranker itself: trained from annotated documents, it scores the antecedents of every mention of a new one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from entitynlm.coref.candidates.candidate_files import NO_ANTECEDENT, AntecedentScores
from entitynlm.coref.metrics.documents import drop_singletons
from entitynlm.coref.ranker import kernels
from entitynlm.coref.ranker.attributes import describe_mentions, hash_attributes
from entitynlm.coref.ranker.mentions import LIKELY, CandidateMention, MentionSource, find_mentions
from entitynlm.coref.ranker.relations import pair_mentions
from entitynlm.coref.ranker.spans import SpanFinder
from entitynlm.coref.ranker.templates import NEW_TEMPLATES, PAIR_TEMPLATES, compile_templates
from entitynlm.errors import ConfigError, ModelError
from entitynlm.files import read_json, write_atomically
from entitynlm.text.document import Document

VERSION = 2
MOST_BITS = 28
CARD, WEIGHTS = "ranker.json", "ranker.safetensors"


@dataclass(frozen=True)
class RankerSettings:
    """How a ranker learns."""

    mentions: MentionSource | None = None  # None: syntax where the training documents have it, else learned
    singletons: bool | None = None  # whether they are part of the answer; None: as in the training documents
    epochs: int = 4
    rate: float = 0.1
    costs: tuple[float, float, float] = (0.1, 3.0, 1.0)  # of a false link, a missed one, a wrong one
    bits: int = 22  # the table of weights has 2^bits entries
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.rate <= 0 or not 8 <= self.bits <= MOST_BITS:
            raise ConfigError("a ranker needs at least one epoch, a positive rate and 8 to 28 bits")


@dataclass(frozen=True)
class RankerExample:
    """A document ready for the kernels; ``entities`` has the annotated entity of each mention, or -1."""

    mentions: Sequence[CandidateMention]
    attributes: NDArray[np.int64]
    pairs: kernels.MentionPairs
    entities: NDArray[np.int64]


@dataclass(frozen=True)
class Ranker:
    settings: RankerSettings
    source: MentionSource
    singletons: bool
    weights: NDArray[np.float32]
    types: Mapping[str, str] = field(default_factory=dict)
    finder: SpanFinder | None = None
    threshold: float = LIKELY

    def find_mentions(
        self, document: Document, source: MentionSource | None = None
    ) -> list[CandidateMention]:
        return find_mentions(document, source or self.source, self.finder, threshold=self.threshold)

    def score(self, document: Document, *, mentions: MentionSource | None = None) -> AntecedentScores:
        """The scores of all possible antecedents; ``mentions="given"`` takes the document's own spans."""
        example = make_example(document, self.find_mentions(document, mentions), self.types)
        tables = compile_templates(NEW_TEMPLATES), compile_templates(PAIR_TEMPLATES)
        scores, new_scores = kernels.score_pairs(self.weights, example.attributes, example.pairs, *tables)
        return collect_scores(document.id, example, scores, new_scores)

    def save(self, folder: str | Path) -> None:
        folder = Path(folder)
        card: dict[str, Any] = {
            "format": "entitynlm ranker",
            "version": VERSION,
            "settings": asdict(self.settings),
            "source": self.source,
            "singletons": self.singletons,
            "threshold": self.threshold,
            "types": dict(self.types),
        }
        arrays = _pack("", self.weights)
        if self.finder is not None:
            arrays |= _pack("span_", self.finder.weights)
            card["span_size"] = len(self.finder.weights)
        with write_atomically(folder / WEIGHTS, "wb") as stream:
            stream.write(save(arrays))
        with write_atomically(folder / CARD) as stream:
            json.dump(card, stream, ensure_ascii=False, indent=1)


def load_ranker(folder: str | Path) -> Ranker:
    folder = Path(folder)
    try:
        card = read_json(folder / CARD)
        if card.get("format") != "entitynlm ranker" or card.get("version") != VERSION:
            raise ModelError(f"{folder}: this is not a ranker of version {VERSION}; train it again")
        values = card["settings"]
        settings = RankerSettings(**{**values, "costs": tuple(values["costs"])})
        arrays = load_file(folder / WEIGHTS)
        weights = _unpack("", arrays, 1 << settings.bits)
        finder = SpanFinder(_unpack("span_", arrays, card["span_size"])) if "span_size" in card else None
        fixed = card["source"], bool(card["singletons"]), weights, dict(card["types"]), finder
        return Ranker(settings, *fixed, float(card["threshold"]))
    except FileNotFoundError as error:
        raise ModelError(f"{folder}: there is no ranker here ({CARD} and {WEIGHTS})") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, SafetensorError) as error:
        raise ModelError(f"{folder}: the ranker is damaged ({error})") from error


def _pack(prefix: str, weights: NDArray[np.float32]) -> dict[str, Any]:
    """The weights that are not zero, and their indices."""
    used = np.flatnonzero(weights)
    return {f"{prefix}places": used.astype(np.uint32), f"{prefix}weights": weights[used]}


def _unpack(prefix: str, arrays: Mapping[str, NDArray[Any]], size: int) -> NDArray[np.float32]:
    if not 0 < size <= 1 << MOST_BITS:
        raise ValueError(f"a table of {size} weights")
    weights = np.zeros(size, dtype=np.float32)
    weights[arrays[f"{prefix}places"]] = arrays[f"{prefix}weights"]
    return weights


def make_example(
    document: Document, mentions: Sequence[CandidateMention], types: Mapping[str, str]
) -> RankerExample:
    described = describe_mentions(document, mentions)
    entities = {
        m.span: i for i, entity in enumerate(drop_singletons(document).entities) for m in entity.mentions
    }
    owners = np.array([entities.get(mention.span, -1) for mention in mentions], dtype=np.int64)
    return RankerExample(
        mentions, hash_attributes(document, described, types), pair_mentions(described), owners
    )


def collect_scores(
    doc_id: str, example: RankerExample, scores: NDArray[np.float64], new_scores: NDArray[np.float64]
) -> AntecedentScores:
    """Antecedents from the nearest to the farthest, then none; relative to the score of none, which is 0."""
    pairs = example.pairs
    antecedents, values, best = [], [], []
    for m, new_score in enumerate(new_scores):
        own = slice(pairs.offsets[m], pairs.offsets[m + 1])
        antecedents.append(np.append(pairs.antecedents[own][::-1], NO_ANTECEDENT))
        values.append(np.append(scores[own][::-1] - new_score, 0.0))
        best.append(antecedents[-1][np.argmax(values[-1])])
    offsets = pairs.offsets + np.arange(len(pairs.offsets))
    return AntecedentScores(
        doc_id,
        tuple(mention.span for mention in example.mentions),
        offsets,
        np.concatenate([*antecedents, np.zeros(0, dtype=np.int64)]),
        np.concatenate([*values, np.zeros(0)]),
        np.array(best, dtype=np.int64),
    )
