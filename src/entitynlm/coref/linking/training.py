"""Training of a linker on annotated documents, with mentions as ``annotate`` finds them.

A linker that has only seen annotated mentions trusts them, so most training examples are made of mentions that the proposal
finds; and since it finds those of its own training documents better than others, some words are masked (decision 070).
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from entitynlm.coref.linking.entity_memory import NEW_ENTITY
from entitynlm.coref.linking.features import FEATURES, CandidateFeatures
from entitynlm.coref.linking.gender_prior import GenderPrior
from entitynlm.coref.linking.linker import HIDDEN, Linker, UnlinkedMentions, follow_mentions
from entitynlm.coref.mention_detection import (
    DetectedMention,
    add_possessives,
    detect_mentions,
    list_given,
    prepare_mentions,
)
from entitynlm.coref.mention_table import guess_head
from entitynlm.model.batch.entity_choice import segment_log_softmax
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document


@dataclass(frozen=True)
class LinkerExample:
    """Rows of all candidates of a document's mentions, the mention that owns each, and the right row of each mention."""

    features: Tensor
    log_probs: Tensor
    owners: Tensor
    chosen: Tensor


def make_example(mentions: UnlinkedMentions, entities: Sequence[str]) -> LinkerExample:
    """What a linker meets from left to right if every mention is linked as the annotators did."""
    numbers: dict[str, int] = {}
    rows, log_probs = [np.zeros((0, len(FEATURES)), dtype=np.float32)], [np.zeros(0)]
    owners: list[int] = []
    chosen: list[int] = []

    def choose(number: int, candidates: CandidateFeatures, scores: np.ndarray | None) -> int:
        entity = numbers.get(entities[number], NEW_ENTITY)
        if scores is not None:
            numbers.setdefault(entities[number], len(numbers))
            if entity in candidates.candidates:
                chosen.append(len(owners) + candidates.candidates.index(entity))
                owners.extend([len(chosen) - 1] * len(scores))
                rows.append(candidates.features)
                log_probs.append(scores)
        return entity

    follow_mentions(mentions, choose)
    return LinkerExample(
        torch.from_numpy(np.concatenate(rows)),
        torch.from_numpy(np.concatenate(log_probs)).float(),
        torch.tensor(owners, dtype=torch.int64),
        torch.tensor(chosen, dtype=torch.int64),
    )


def make_document_example(
    pretrained: Pretrained,
    document: Document,
    gender_prior: GenderPrior,
    masking: tuple[float, bool] | None = None,
    *,
    seed: int = 0,
) -> LinkerExample:
    """An example of the document's own mentions or, with a masking, of those that the proposal finds in its words.

    :param masking: the share of words that the proposal reads as unknown, and whether it does so when it scores entities, too.
    """
    encoded = pretrained.encoder.encode_words(document)
    if masking is None:
        detected = list_given(pretrained, document)
    else:
        seen = mask_words(pretrained, encoded, masking[0], np.random.default_rng(seed))
        detected = add_possessives(document, detect_mentions(pretrained, seen))
        encoded = seen if masking[1] else encoded
    ordered = sorted(detected, key=lambda mention: mention.order)
    mentions = prepare_mentions(pretrained, document, encoded, ordered, gender_prior)
    return make_example(mentions, match_entities(document, ordered))


def mask_words(
    pretrained: Pretrained, encoded: EncodedDocument, share: float, generator: np.random.Generator
) -> EncodedDocument:
    if not share:
        return encoded
    vocabulary = pretrained.encoder.vocabulary
    masked = (generator.random(len(encoded)) < share) & (encoded.x >= vocabulary.specials)
    return dataclasses.replace(encoded, x=np.where(masked, vocabulary.unknown, encoded.x))


def match_entities(document: Document, detected: Sequence[DetectedMention]) -> list[str]:
    """The annotated entity of each detected mention, by its span or else by its head; others are entities of their own."""
    by_span = {mention.span: mention.entity for mention in document.mentions}
    by_head: dict[int, str] = {}
    for mention in sorted(document.mentions, key=len, reverse=True):
        by_head[guess_head(document, *mention.span)] = mention.entity
    names = []
    for number, one in enumerate(detected):
        entity = by_span.get(one.span) or by_head.get(guess_head(document, *one.span))
        names.append(f"of {entity}" if entity is not None else f"mention {number}")
    return names


def train_linker(
    examples: Sequence[LinkerExample],
    *,
    proposal_weight: float = 0.0,
    gender_prior: GenderPrior | None = None,
    hidden: int = HIDDEN,
    epochs: int = 20,
    rate: float = 0.003,
    seed: int = 1,
    progress: Progress = SILENT,
) -> Linker:
    """Maximum likelihood of the annotated entity among the candidates, document by document."""
    torch.manual_seed(seed)
    linker = Linker(hidden, proposal_weight=proposal_weight, gender_prior=gender_prior)
    optimizer = torch.optim.AdamW(linker.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    useful = [example for example in examples if len(example.chosen)]
    task, mentions = f"linker {seed}", max(1, sum(len(example.chosen) for example in useful))
    progress.start(task, epochs)
    for _ in range(epochs):
        linker.train()
        total = 0.0
        for number in torch.randperm(len(useful)).tolist():
            optimizer.zero_grad()
            loss = -log_likelihood(linker, useful[number])
            (loss / len(useful[number].chosen)).backward()
            optimizer.step()
            total += loss.item()
        schedule.step()
        progress.advance(task, note=f"loss {total / mentions:.4f}")
    progress.finish(task)
    return linker.eval()


def log_likelihood(linker: Linker, example: LinkerExample) -> Tensor:
    """Σ log p(annotated entity) over the mentions of a document."""
    scores = linker(example.features, example.log_probs)
    return segment_log_softmax(scores, example.owners, len(example.chosen))[example.chosen].sum()


def join_linkers(linkers: Sequence[Linker]) -> Linker:
    """One linker whose scores are the mean of several: their hidden layers side by side."""
    first = linkers[0]
    joined = Linker(
        sum(linker.hidden for linker in linkers),
        proposal_weight=first.proposal_weight,
        gender_prior=first.gender_prior,
    )
    states = [linker.state_dict() for linker in linkers]
    joined.load_state_dict(
        {
            "layers.0.weight": torch.cat([state["layers.0.weight"] for state in states]),
            "layers.0.bias": torch.cat([state["layers.0.bias"] for state in states]),
            "layers.3.weight": torch.cat([state["layers.3.weight"] for state in states], dim=1) / len(states),
            "layers.3.bias": torch.stack([state["layers.3.bias"] for state in states]).mean(dim=0),
        }
    )
    return joined.eval()
