"""Mentions of a text: found by the proposal that has read all of it, or given and looked up among the model's words.

The model is flat: of nested mentions it finds the outermost. The commonest inner ones, possessive pronouns ("[[her] mother]"),
are recognised by their words alone and added. Nor is the model typed: R says that there is a mention and no more, so that its
predictions of the next entity and its scores of other systems' analyses need no types. The type of a mention (person, place, …)
is read off the proposal's states at its first and last words, for which a linear layer is enough.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from entitynlm.coref.linking.entity_memory import Lexicon, find_head_vectors
from entitynlm.coref.linking.gender_prior import GenderPrior
from entitynlm.coref.linking.linker import ProposalScorer, UnlinkedMentions, WordSpan
from entitynlm.inference.posterior import decode_greedy
from entitynlm.inference.readings import Readings, ReadText
from entitynlm.model.components import StoredComponent
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.variables import OTHER, Analysis
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document, Mention, Span


class TypeClassifier:
    """A linear layer: ``weights`` (types, 2 D + 1) over the states at both ends and a one. Spans are of the model's words."""

    component_name: ClassVar[str] = "mention_types"

    def __init__(self, names: Sequence[str], weights: np.ndarray) -> None:
        if weights.ndim != 2 or len(weights) != len(names):
            raise ValueError("each mention type needs a row of weights")
        self.names = tuple(names)
        self.weights = weights

    def predict(self, proposal: EntityNetwork, readings: Readings, spans: Sequence[Span]) -> list[str]:
        states = read_boundary_states(proposal, readings, spans)
        return [self.names[number] for number in (states @ self.weights.T).argmax(axis=1).tolist()]

    def to_stored(self) -> StoredComponent:
        return {"weights": torch.from_numpy(self.weights)}, {"names": list(self.names)}

    @classmethod
    def from_stored(cls, tensors: Mapping[str, torch.Tensor], settings: Mapping[str, Any]) -> TypeClassifier:
        return cls(settings["names"], tensors["weights"].float().numpy())


def read_boundary_states(proposal: EntityNetwork, readings: Readings, spans: Sequence[Span]) -> np.ndarray:
    """(M, 2 D + 1) the states at the first and the last word of each mention, and a one."""
    size = proposal.config.hidden_size
    table = np.ones((len(spans), 2 * size + 1), dtype=np.float32)
    firsts = np.array([start for start, _ in spans], dtype=np.int64)
    lasts = np.array([end - 1 for _, end in spans], dtype=np.int64)
    for chunk in readings.read(proposal):
        start, stop, tables = chunk.start, chunk.stop, chunk.model
        for column, words in ((0, firsts), (size, lasts)):
            here = np.flatnonzero((words >= start) & (words < stop))
            table[here, column : column + size] = tables.states[words[here] - start]
    return table


def train_types(
    states: np.ndarray, types: Sequence[str], *, decay: float = 1e-3, steps: int = 60
) -> TypeClassifier:
    """Logistic regression on the boundary states of typed mentions."""
    names = sorted(set(types))
    target = torch.tensor([names.index(name) for name in types])
    features = torch.from_numpy(states)
    weights = torch.zeros(len(names), features.shape[1], requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=steps, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(features @ weights.t(), target)
        loss = loss + decay * weights[:, :-1].square().sum() / 2
        loss.backward()
        return loss

    optimizer.step(closure)
    return TypeClassifier(names, weights.detach().numpy())


POSSESSIVES = frozenset("my your his her our their".split())


@dataclass(frozen=True)
class MentionBias:
    """What is added to the log-odds of a mention in greedy decoding, chosen on development documents."""

    component_name: ClassVar[str] = "mention_bias"
    value: float = 0.0

    def to_stored(self) -> StoredComponent:
        return {}, {"value": self.value}

    @classmethod
    def from_stored(cls, tensors: Mapping[str, torch.Tensor], settings: Mapping[str, Any]) -> MentionBias:
        return cls(float(settings["value"]))


@dataclass(frozen=True)
class DetectedMention:
    """A mention before it is linked: its tokens, its span of the model's words (None: the model does not see it), its type."""

    span: Span
    words: WordSpan | None
    type: str | None
    entity: int = -1

    @property
    def order(self) -> tuple[int, int]:
        return self.span[0], -self.span[1]


def choose_proposal(pretrained: Pretrained) -> EntityNetwork:
    """The proposal that has read the whole document, or the causal one where there is no other."""
    return pretrained.get("lookahead" if "lookahead" in pretrained.networks else "causal")


def detect_mentions(
    pretrained: Pretrained,
    encoded: EncodedDocument,
    analysis: Analysis | None = None,
    readings: Readings | None = None,
) -> list[DetectedMention]:
    """The mentions of an analysis of the document's words (by default the proposal's greedy one), with their types."""
    readings = readings or Readings(encoded)
    if analysis is None:
        bias = (pretrained.get_component(MentionBias) or MentionBias()).value
        proposal = choose_proposal(pretrained)
        analysis, *_ = decode_greedy(proposal, encoded, mention_bias=bias, readings=readings)
    return predict_types(pretrained, readings, list_detected(pretrained, encoded, analysis))


def list_detected(
    pretrained: Pretrained, encoded: EncodedDocument, analysis: Analysis
) -> list[DetectedMention]:
    """The mentions of an analysis of the model's words, as spans of the document's tokens."""
    detected = []
    for start, end, entity, mention_type in analysis.spans():
        tokens = encoded.origin[start:end]
        ends = np.flatnonzero(tokens < 0)  # a sentence ends there, and no mention goes on after it
        tokens = tokens[: ends[0]] if len(ends) else tokens
        if len(tokens):
            span, words = (int(tokens[0]), int(tokens[-1]) + 1), (start, start + len(tokens), mention_type)
            detected.append(DetectedMention(span, words, _name_type(pretrained, mention_type), entity))
    return detected


def _name_type(pretrained: Pretrained, mention_type: int) -> str | None:
    types = pretrained.encoder.types
    return types[mention_type - 1] if types and types[mention_type - 1] != OTHER else None


def list_given(
    pretrained: Pretrained, document: Document, text: ReadText | None = None
) -> list[DetectedMention]:
    """The document's own mentions; those that the model can see (the outermost) have a span of its words."""
    proposal = choose_proposal(pretrained)
    plain = document.with_mentions([Mention(m.start, m.end, str(i)) for i, m in enumerate(document.mentions)])
    text = (text or ReadText(pretrained.encoder, document)).with_mentions(plain, keep_singletons=True)
    likeliest = np.concatenate(
        [1 + chunk.model.log_types[:, 1:].argmax(axis=1) for chunk in text.readings.read(proposal)] or [[]]
    )  # the likeliest mention type at each word, given that a mention starts there
    words = {
        mention.span: (start, end, int(likeliest[start]))
        for mention, (start, end, _, _) in zip(text.originals, text.encoded.analysis.spans(), strict=True)
    }
    detected = []
    for mention in document.mentions:
        seen = words.get(mention.span)
        predicted = _name_type(pretrained, seen[2]) if seen else None
        type = document.entity_types.get(mention.entity) or predicted
        detected.append(DetectedMention(mention.span, seen, type))
    return detected


def predict_types(
    pretrained: Pretrained, readings: Readings, detected: Sequence[DetectedMention]
) -> list[DetectedMention]:
    """Types for mentions that have none, where the model has a classifier."""
    classifier = pretrained.get_component(TypeClassifier)
    words = {m.span: m.words[:2] for m in detected if m.type is None and m.words is not None}
    if classifier is None or not words:
        return list(detected)
    predicted = classifier.predict(choose_proposal(pretrained), readings, list(words.values()))
    types = dict(zip(words, predicted, strict=True))
    return [dataclasses.replace(m, type=m.type or types.get(m.span)) for m in detected]


def add_possessives(document: Document, detected: Sequence[DetectedMention]) -> list[DetectedMention]:
    """Also the possessive pronouns that stand inside of longer mentions."""
    added = []
    taken = {mention.span for mention in detected}
    for mention in detected:
        for token in range(*mention.span):
            if document.tokens[token].lower() in POSSESSIVES and (token, token + 1) not in taken:
                added.append(DetectedMention((token, token + 1), None, "person" if mention.type else None))
    return sorted([*detected, *added], key=lambda mention: mention.order)


def prepare_mentions(
    pretrained: Pretrained,
    document: Document,
    encoded: EncodedDocument,
    ordered: Sequence[DetectedMention],
    gender_prior: GenderPrior,
    readings: Readings | None = None,
) -> UnlinkedMentions:
    """Mentions in text order with all that a linker takes from the model."""
    proposal = choose_proposal(pretrained)
    return UnlinkedMentions(
        document,
        [mention.span for mention in ordered],
        [mention.type for mention in ordered],
        Lexicon(gender_prior, find_head_vectors(proposal, pretrained.encoder.tokenizer)),
        ProposalScorer(proposal, encoded, [mention.words for mention in ordered], readings),
    )
