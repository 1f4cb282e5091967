"""Language modelling (section 5.1): how well are held-out words predicted, with and without entities?

One row per model and reading of "perplexity" (``perplexity_rows``), all over the same words of the same documents. Everything
that needs the annotation is left out where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from entitynlm.errors import ConfigError, DataError, ModelError
from entitynlm.inference.marginal import METHODS, PRIOR_SHARE, MarginalEstimate, Method, estimate_documents
from entitynlm.inference.scoring import score_document
from entitynlm.inference.word_cache import WordCache
from entitynlm.lm.ngram import NgramModel
from entitynlm.lm.rnnlm import score_words
from entitynlm.lm.rows import ENTITY_READINGS, DocumentResult, Row, Table, check_tokens
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.pretrained import Pretrained
from entitynlm.model.rnnlm import LanguageModel

Proposal = Literal["causal", "lookahead"]

OnDocument = Callable[[str, int, int], None]
"""Is told the row, how many documents of it are done, and how many there are."""


@dataclass(frozen=True)
class Sampling:
    """How P(X) is estimated.

    :param particles: N, samples per document and repeat.
    :param repeats: independent estimates, of which the mean is taken and whose spread gives the error.
    :param proposal: which Q; None takes the one that looks ahead where the model has it, else the causal one.
    :param prior_share: how much of P's own distribution is mixed into Q's (0: Q as it is, as in the paper).
    :param workers: documents estimated at the same time; the figures don't depend on it.
    :param cache_share: adds a row for each model with a word cache of this share (0: none).
    """

    particles: int = 100
    repeats: int = 4
    method: Method = "particle-filter"
    proposal: Proposal | None = None
    seed: int = 0
    workers: int = 1
    prior_share: float = PRIOR_SHARE
    cache_share: float = 0.0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ConfigError(f"there is no method {self.method!r}; choose one of {', '.join(METHODS)}")
        if self.proposal is not None and self.proposal not in get_args(Proposal):
            raise ConfigError(f"there is no proposal {self.proposal!r}; choose causal or lookahead")
        for name in ("particles", "repeats", "workers"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.prior_share <= 1:
            raise ConfigError(f"prior_share is from 0 to 1, not {self.prior_share}")
        WordCache(self.cache_share)  # checks it

    def choose_proposal(self, pretrained: Pretrained) -> EntityNetwork:
        wanted = self.proposal or ("lookahead" if "lookahead" in pretrained.networks else "causal")
        return pretrained.get(wanted)

    def describe(self, proposal: EntityNetwork) -> str:
        mixed = f" with {100 * self.prior_share:g} % of P" if self.prior_share else ""
        return f"{self.method}, {proposal.config.mode} Q{mixed}, N = {self.particles} × {self.repeats}"


@dataclass(frozen=True)
class Contenders:
    """The models of one table; all read the words that the bundle's encoder makes."""

    pretrained: Pretrained
    rnnlm: LanguageModel | None = None
    ngram: NgramModel | None = None


def measure_rows(
    contenders: Contenders,
    documents: Sequence[EncodedDocument],
    *,
    sampling: Sampling | None = None,
    readings: Sequence[str] = ENTITY_READINGS,
    on_document: OnDocument | None = None,
) -> list[Row]:
    """All rows over ``documents``; those without a word are left out everywhere."""
    sampling = sampling or Sampling()
    unknown = [reading for reading in readings if reading not in ENTITY_READINGS]
    if unknown:
        raise ConfigError(f"there is no reading {unknown[0]!r}; choose from {', '.join(ENTITY_READINGS)}")
    documents = [document for document in documents if len(document)]
    tell = on_document or (lambda row, done, total: None)
    rows = []
    if contenders.ngram is not None:
        rows.append(measure_ngram(contenders.ngram, documents, tell))
    if contenders.rnnlm is not None:
        rows.append(measure_rnnlm(contenders.rnnlm, documents, tell))
        if sampling.cache_share:
            rows.append(measure_rnnlm(contenders.rnnlm, documents, tell, cache_share=sampling.cache_share))
    rows += measure_entitynlm(contenders.pretrained, documents, sampling, readings, tell)
    check_tokens(rows)
    return rows


def measure_table(
    split: str,
    contenders: Contenders,
    documents: Sequence[EncodedDocument],
    *,
    sampling: Sampling | None = None,
    readings: Sequence[str] = ENTITY_READINGS,
    on_document: OnDocument | None = None,
) -> Table:
    """:func:`measure_rows` as the table of one split."""
    if not any(len(document) for document in documents):
        raise DataError(f"the documents of {split} have no words")
    rows = measure_rows(contenders, documents, sampling=sampling, readings=readings, on_document=on_document)
    unknown = contenders.pretrained.encoder.vocabulary.unknown
    return Table(split, tuple(rows), sum(int((document.x == unknown).sum()) for document in documents))


def check_encoders(first: Encoder, second: Encoder) -> None:
    """Two models stand in one table only if they read the same words by the same vocabulary."""
    same_words = first.recipe == second.recipe and (
        first.recipe.punctuation != "paper" or first.singletons == second.singletons
    )
    if not same_words or first.vocabulary != second.vocabulary:
        what = "preprocessing" if not same_words else "vocabulary"
        raise ModelError(
            f"the LSTM baseline has another {what} than the model: their perplexities are not of the same words"
        )


def measure_ngram(model: NgramModel, documents: Sequence[EncodedDocument], tell: OnDocument) -> Row:
    """The 5-gram row."""
    results = [
        DocumentResult(document.id, len(scores), float(scores.sum()))
        for document, scores in _follow(documents, model.score, "5-gram", tell)
    ]
    return Row(f"{model.order}-gram", "exact", tuple(results), model.description)


def measure_rnnlm(
    network: LanguageModel,
    documents: Sequence[EncodedDocument],
    tell: OnDocument,
    *,
    cache_share: float = 0.0,
) -> Row:
    """The LSTM's row, or that of the LSTM with a word cache."""

    def score(document: EncodedDocument) -> np.ndarray:
        scores = np.asarray(score_words(network, document), dtype=np.float64)
        return WordCache(cache_share).mix(scores, document.x) if cache_share else scores

    name = "RNNLM + cache" if cache_share else "RNNLM"
    note = f"LSTM without entities{describe_cache(cache_share)}"
    results = [
        DocumentResult(document.id, len(scores), float(scores.sum()))
        for document, scores in _follow(documents, score, name, tell)
    ]
    return Row(name, "exact", tuple(results), note)


def describe_cache(share: float) -> str:
    return f", and {100 * share:g} % of a word cache" if share else ""


def measure_entitynlm(
    pretrained: Pretrained,
    documents: Sequence[EncodedDocument],
    sampling: Sampling,
    readings: Sequence[str],
    tell: OnDocument,
) -> list[Row]:
    """The rows of EntityNLM, in the order of the readings; those that need an annotation only where there is one."""
    model = pretrained.get("generative")
    rows = []
    if "marginal" in readings:
        proposal = sampling.choose_proposal(pretrained)
        rows.append(_measure_marginal(model, proposal, documents, replace(sampling, cache_share=0.0), tell))
        if sampling.cache_share:
            rows.append(_measure_marginal(model, proposal, documents, sampling, tell))
    if "words-only" in readings and "causal" in pretrained.networks:
        rows.append(_measure_words_only(model, pretrained.get("causal"), documents, sampling, tell))
    annotated = any(document.r.any() for document in documents)
    if annotated and ("joint" in readings or "given-entities" in readings):
        joint, given = _measure_annotated(model, documents, tell)
        rows += [row for row in (joint, given) if row.reading in readings]
    return rows


def _measure_marginal(
    model: EntityNetwork,
    proposal: EntityNetwork,
    documents: Sequence[EncodedDocument],
    sampling: Sampling,
    tell: OnDocument,
) -> Row:
    results = []
    for document, estimate in zip(documents, _estimate(model, proposal, documents, sampling), strict=True):
        results.append(
            DocumentResult(
                document.id, estimate.tokens, estimate.log_prob, estimate.standard_error, estimate.ess
            )
        )
        tell("EntityNLM marginal", len(results), len(documents))
    name = "EntityNLM + cache" if sampling.cache_share else "EntityNLM"
    note = sampling.describe(proposal) + describe_cache(sampling.cache_share)
    return Row(name, "marginal", tuple(results), note)


def _measure_words_only(
    model: EntityNetwork,
    proposal: EntityNetwork,
    documents: Sequence[EncodedDocument],
    sampling: Sampling,
    tell: OnDocument,
) -> Row:
    """Always by importance sampling with the causal Q as it is; the error is from the spread of independent repeats."""
    values = np.empty((sampling.repeats, len(documents)))
    for repeat in range(sampling.repeats):
        once = replace(
            sampling,
            method="importance",
            repeats=1,
            seed=sampling.seed + 1 + repeat,
            prior_share=0.0,
            cache_share=0.0,
        )
        for number, estimate in enumerate(_estimate(model, proposal, documents, once)):
            assert estimate.words_only is not None
            values[repeat, number] = estimate.words_only
            done = repeat * len(documents) + number + 1
            tell("EntityNLM words-only", done, sampling.repeats * len(documents))
    error = np.full(len(documents), math.nan)
    if sampling.repeats > 1:
        error = values.std(axis=0, ddof=1) / math.sqrt(sampling.repeats)
    results = [
        DocumentResult(document.id, len(document), float(mean), float(spread))
        for document, mean, spread in zip(documents, values.mean(axis=0), error, strict=True)
    ]
    note = f"not comparable: Q has seen each word; importance, causal Q, N = {sampling.particles} × {sampling.repeats}"
    return Row("EntityNLM", "words-only", tuple(results), note)


def _measure_annotated(
    model: EntityNetwork, documents: Sequence[EncodedDocument], tell: OnDocument
) -> tuple[Row, Row]:
    joint, given = [], []
    for document, score in _follow(
        documents, lambda d: score_document(model, d, ()), "EntityNLM joint", tell
    ):
        joint.append(DocumentResult(document.id, len(score.x), score.log_prob))
        given.append(DocumentResult(document.id, len(score.x), float(score.x.sum())))
    return (
        Row("EntityNLM", "joint", tuple(joint), "not comparable: mentions and entities are predicted too"),
        Row("EntityNLM", "given-entities", tuple(given), "not comparable: the annotation is read"),
    )


def _estimate(
    model: EntityNetwork,
    proposal: EntityNetwork,
    documents: Sequence[EncodedDocument],
    sampling: Sampling,
) -> Iterable[MarginalEstimate]:
    return estimate_documents(
        model,
        proposal,
        documents,
        particles=sampling.particles,
        repeats=sampling.repeats,
        method=sampling.method,
        seed=sampling.seed,
        prior_share=sampling.prior_share,
        workers=sampling.workers,
        cache_share=sampling.cache_share,
    )


def _follow(
    documents: Sequence[EncodedDocument], score: Callable[[EncodedDocument], Any], row: str, tell: OnDocument
) -> Iterable[tuple[EncodedDocument, Any]]:
    for number, document in enumerate(documents, start=1):
        yield document, score(document)
        tell(row, number, len(documents))
