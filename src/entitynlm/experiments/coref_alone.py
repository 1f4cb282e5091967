"""The model by itself, without a baseline: it finds mentions and links them, greedily or as the best of N samples.

The greedy analysis takes the proposal's most probable choice at every step; of N samples that a proposal draws (P's own choices
mixed in), the one with the highest log P(R, E, L, X) is taken. Mentions that corefer with nothing are dropped where they are no
part of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from entitynlm.coref.candidates.kbest_lists import Clusters
from entitynlm.errors import ConfigError
from entitynlm.experiments.coref_table import KeyedSplit, OnDocument, Row
from entitynlm.inference.posterior import decode_greedy, find_best_sample
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document

SAMPLES = 100
PROPOSALS = ("causal", "lookahead")


def list_rows(pretrained: Pretrained) -> list[tuple[str, str]]:
    """(name, proposal) of the rows that a model allows."""
    known = [mode for mode in PROPOSALS if mode in pretrained.networks]
    rows = [(f"greedy, {mode}", mode) for mode in known]
    if "generative" in pretrained.networks:
        rows += [(f"best sample, {mode}", mode) for mode in known]
    return rows


def analyse_greedily(pretrained: Pretrained, proposal: str, document: Document) -> Document:
    """The document with the mentions of the proposal's greedy analysis."""
    encoded = pretrained.encoder.encode_words(document)
    if not len(encoded):
        return document.with_mentions(())
    analysis, _ = decode_greedy(pretrained.get(proposal), encoded)
    return pretrained.encoder.decode(analysis, document)


def analyse_by_samples(
    pretrained: Pretrained, proposal: str, document: Document, *, samples: int = SAMPLES, seed: int = 0
) -> Document:
    """The document with the mentions of the most probable of ``samples`` analyses."""
    encoded = pretrained.encoder.encode_words(document)
    if not len(encoded):
        return document.with_mentions(())
    best = find_best_sample(
        pretrained.get("generative"), pretrained.get(proposal), encoded, samples=samples, seed=seed
    )
    return pretrained.encoder.decode(best, document)


def list_answer(document: Document, *, singletons: bool) -> Clusters:
    """The entities that count as an answer."""
    return tuple(cluster for cluster in document.clusters if singletons or len(cluster) > 1)


def measure_alone(
    pretrained: Pretrained,
    split: KeyedSplit,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    on_document: OnDocument = lambda step, done, total: None,
) -> list[Row]:
    """Rows of the table for every proposal, greedy and by samples."""
    rows = []
    for name, proposal in list_rows(pretrained):
        if name.startswith("greedy"):
            analyse = partial(analyse_greedily, pretrained, proposal)
        else:
            analyse = partial(analyse_by_samples, pretrained, proposal, samples=samples, seed=seed)
        rows.append(Row(name, split.score(_collect(split, analyse, name, on_document))))
    if not rows:
        raise ConfigError(
            "this model has no proposal to find mentions with; train one with: entitynlm train CORPUS --proposal --out DIR"
        )
    return rows


def _collect(
    split: KeyedSplit, analyse: Callable[[Document], Document], step: str, on_document: OnDocument
) -> Sequence[Clusters]:
    answers = []
    for number, document in enumerate(split.documents, start=1):
        answers.append(list_answer(analyse(document), singletons=split.singletons))
        on_document(f"{split.name} {step}", number, len(split.documents))
    return answers
