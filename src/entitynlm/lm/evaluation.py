"""Language modelling (section 5.1): the perplexity of held-out words by a 5-gram, an LSTM and EntityNLM.

Every row is over the same words of the same documents (``scores`` says which rows may be compared). Rows that need the annotation
are left out where there is none.
"""

import copy
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from msgspec import structs
from torch.nn import Parameter

from entitynlm.errors import DataError, ModelError
from entitynlm.inference.marginal import PRIOR_SHARE, MarginalEstimate, Method, estimate_documents
from entitynlm.inference.scoring import score_baseline, score_document
from entitynlm.inference.words.word_cache import WordCache
from entitynlm.lm.ngram import NgramModel
from entitynlm.lm.scores import ENTITY_LIKELIHOODS, DocumentLogProb, ModelScores, SplitScores
from entitynlm.lm.word_kinds import sum_kinds
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.vocabulary import Vocabulary
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.pretrained import Pretrained
from entitynlm.model.rnnlm import LanguageModel
from entitynlm.progress import SILENT, Progress, track

EntityVectors = Literal["given", "zero", "shuffled"]
Kinds = Sequence[np.ndarray | None]  # of the words of each document, if they are known

VECTORS = {"zero": "entities at zero", "shuffled": "entities shuffled"}
BARE_MODEL, FINE_TUNED = "language model", "language model, fine-tuned"


@dataclass(frozen=True)
class Sampling:
    """The settings of estimates of P(X).

    :param particles: N, samples per document and repeat.
    :param repeats: independent estimates, of which the mean is taken and whose standard deviation gives the error.
    :param prior_share: how much of P's own distribution is mixed into Q's (0: Q as it is, as in the paper).
    :param workers: documents estimated at the same time; the figures don't depend on it.
    :param cache_share: adds a row for each model with a word cache of this share (0: none).
    :param bigram_share: adds another one, for which a cache of bigrams of this share is mixed in, too.
    :param entities: what words see of entities in equation 6, a row each: their vectors as they are (given), nothing (zero), or
        those of other entities (shuffled). Mentions, and what they may copy, stay: what is lost is what the vectors say of words.
    """

    particles: int = 100
    repeats: int = 4
    method: Method = "particle-filter"
    seed: int = 0
    workers: int = 1
    prior_share: float = PRIOR_SHARE
    cache_share: float = 0.0
    bigram_share: float = 0.0
    entities: tuple[EntityVectors, ...] = ("given",)

    @property
    def caches(self) -> list[tuple[str, float, float]]:
        """Rows with a word cache: the end of the row's name, and the shares; the first one is without a cache."""
        found = [("", 0.0, 0.0)]
        if self.cache_share:
            found.append((" + cache", self.cache_share, 0.0))
        if self.bigram_share:
            found.append((" + bigram cache", self.cache_share, self.bigram_share))
        return found

    def describe(self) -> str:
        mixed = f" with {100 * self.prior_share:g} % of P" if self.prior_share else ""
        return f"{self.method}, Q{mixed}, N = {self.particles} × {self.repeats}"

    def estimate(
        self,
        model: EntityNetwork,
        proposal: EntityNetwork,
        documents: Sequence[EncodedDocument],
        **others: Any,
    ) -> Iterable[MarginalEstimate]:
        options = {name: value for name, value in asdict(self).items() if name != "entities"}
        return estimate_documents(model, proposal, documents, **options, **others)


@dataclass(frozen=True)
class ModelsCompared:
    """The models of one table; all read the words that the encoder of ``pretrained`` makes.

    :param rnnlm: the model without entities, trained on the same text: an LSTM, or a pretrained language model, fine-tuned.
    :param bare: a pretrained language model as it came.
    :param variants: other networks P, by the names of their rows; the proposal of ``pretrained`` proposes for them.
    """

    pretrained: Pretrained
    rnnlm: LanguageModel | None = None
    ngram: NgramModel | None = None
    bare: LanguageModel | None = None
    variants: Mapping[str, EntityNetwork] = field(default_factory=dict)


def check_encoders(first: Encoder, second: Encoder) -> None:
    """Two models stand in one table only if they read the same words by the same vocabulary."""
    same_words = first.recipe == second.recipe and (
        first.recipe.punctuation != "paper" or first.singletons == second.singletons
    )
    if not same_words or first.tokenizer != second.tokenizer:
        what = "preprocessing" if not same_words else "vocabulary"
        raise ModelError(
            f"the LSTM baseline has another {what} than the model: their perplexities are not of the same words"
        )


def measure_split(
    split: str,
    models: ModelsCompared,
    documents: Sequence[EncodedDocument],
    *,
    sampling: Sampling | None = None,
    likelihoods: Sequence[str] = ENTITY_LIKELIHOODS,
    kinds: Kinds | None = None,
    progress: Progress = SILENT,
) -> SplitScores:
    """All models on the documents of a split; documents without a word are left out everywhere.

    :param kinds: of the words of each document (``word_kinds``), for figures by kind.
    """
    sampling = sampling or Sampling()
    pairs = list(zip(documents, kinds or [None] * len(documents), strict=True))
    documents, known = [d for d, _ in pairs if len(d)], [found for d, found in pairs if len(d)]
    if not documents:
        raise DataError(f"the documents of {split} have no words")
    for network in (models.bare, models.rnnlm, *models.pretrained.networks.values()):
        if network is not None and network.backbone.pretrained:
            network.backbone.prepare([document.words for document in documents], progress)
    rows = []
    if (ngram := models.ngram) is not None:
        rows.append(
            _sum_words(f"{ngram.order}-gram", documents, ngram.score, ngram.description, known, progress)
        )
    if models.bare is not None:
        rows.append(measure_rnnlm(models.bare, documents, known, progress))
    if models.rnnlm is not None:
        rows += [
            measure_rnnlm(models.rnnlm, documents, known, progress, cache=cache) for cache in sampling.caches
        ]
    plain = replace(sampling, cache_share=0.0, bigram_share=0.0, entities=("given",))
    for name, network in models.variants.items():
        variant = replace(models.pretrained, networks={**models.pretrained.networks, "generative": network})
        measurement = EntityMeasurement(variant, documents, plain, known, progress, name)
        rows += measurement.measure([likelihood for likelihood in likelihoods if likelihood != "words-only"])
    rows += EntityMeasurement(models.pretrained, documents, sampling, known, progress).measure(likelihoods)
    tokenizer = models.pretrained.encoder.tokenizer
    unknown = tokenizer.unknown if isinstance(tokenizer, Vocabulary) else -1  # no key of an open vocabulary
    return SplitScores(split, tuple(rows), sum(int((document.x == unknown).sum()) for document in documents))


def make_bare(pretrained: Pretrained) -> LanguageModel:
    """The pretrained language model that a model stands on, as it came."""
    tokenizer, own = pretrained.encoder.tokenizer, pretrained.get("generative").config
    config = structs.replace(own, mode="rnnlm", tuned_output=False)
    return LanguageModel(config, len(tokenizer), tokenizer.start).eval()


def hide_entities(network: EntityNetwork) -> EntityNetwork:
    """Make a P whose words see zero in place of every entity's vector (equation 6 without W_e e)."""
    blind = copy.copy(network)
    blind._parameters = {**network._parameters, "W_e": Parameter(torch.zeros_like(network.W_e))}
    return blind


def measure_rnnlm(
    network: LanguageModel,
    documents: Sequence[EncodedDocument],
    kinds: Kinds | None = None,
    progress: Progress = SILENT,
    *,
    cache: tuple[str, float, float] = ("", 0.0, 0.0),
) -> ModelScores:
    """The LSTM's row, or that of the LSTM with a word cache (as ``Sampling.caches`` has them)."""

    def score(document: EncodedDocument) -> np.ndarray:
        scores = np.asarray(score_baseline(network, document), dtype=np.float64)
        return WordCache(*cache[1:]).mix(scores, document.x) if cache[0] else scores

    name, note = "RNNLM", "LSTM without entities"
    if network.backbone.pretrained:
        tuned = network.config.tuned_output
        name = FINE_TUNED if tuned else BARE_MODEL
        note = "without entities; learned from the words of the training documents" if tuned else "as it came"
    return _sum_words(name + cache[0], documents, score, note + _describe_cache(*cache), kinds, progress)


def _sum_words(
    name: str,
    documents: Sequence[EncodedDocument],
    score: Callable[[EncodedDocument], np.ndarray],
    note: str,
    kinds: Kinds | None,
    progress: Progress,
) -> ModelScores:
    found = []
    for document, own in zip(track(progress, name, documents), kinds or [None] * len(documents), strict=True):
        scores = score(document)
        by_kind = sum_kinds(scores, own)
        found.append(DocumentLogProb(document.id, len(scores), float(scores.sum()), by_kind=by_kind))
    return ModelScores(name, "exact", tuple(found), note)


def _describe_cache(_name: str, share: float, bigram_share: float) -> str:
    unigrams = f", and {100 * share:g} % of a word cache" if share else ""
    return unigrams + (f", and {100 * bigram_share:g} % of a cache of bigrams" if bigram_share else "")


@dataclass(frozen=True)
class EntityMeasurement:
    """EntityNLM on some documents, by its several likelihoods."""

    pretrained: Pretrained
    documents: Sequence[EncodedDocument]
    sampling: Sampling
    kinds: Kinds
    progress: Progress = SILENT
    name: str = "EntityNLM"

    def measure(self, likelihoods: Sequence[str]) -> list[ModelScores]:
        """The rows in the order of ``ENTITY_LIKELIHOODS``; those that need an annotation only where there is one."""
        rows = []
        if "marginal" in likelihoods:
            rows += [self._measure_marginal(vectors) for vectors in self.sampling.entities]
            rows += [self._measure_marginal("given", cache) for cache in self.sampling.caches[1:]]
        if "words-only" in likelihoods and "causal" in self.pretrained.networks:
            rows.append(self._measure_words_only())
        if {"joint", "given-entities"} & {*likelihoods} and any(d.r.any() for d in self.documents):
            rows += [row for row in self._measure_annotated() if row.likelihood in likelihoods]
        return rows

    def _measure_marginal(
        self, vectors: EntityVectors, cache: tuple[str, float, float] = ("", 0.0, 0.0)
    ) -> ModelScores:
        suffix, share, bigram_share = cache
        sampling = replace(self.sampling, cache_share=share, bigram_share=bigram_share)
        proposal, model = self.pretrained.get("causal"), self.pretrained.get("generative")
        options: dict[str, Any] = {}
        if vectors == "zero":
            model = hide_entities(model)
        elif vectors == "shuffled":
            options = {"shuffled": True, "check_every": 1}
        estimates = sampling.estimate(model, proposal, self.documents, **options)
        name = self.name + suffix + ("" if vectors == "given" else f", {VECTORS[vectors]}")
        tracked = track(self.progress, f"{name} marginal", estimates, len(self.documents))
        found = []
        for document, e, kinds in zip(self.documents, tracked, self.kinds, strict=True):
            error = None if math.isnan(e.standard_error) else e.standard_error
            by_kind = sum_kinds(e.per_token, kinds)
            found.append(DocumentLogProb(document.id, e.tokens, e.log_prob, error, e.ess, by_kind))
        return ModelScores(name, "marginal", tuple(found), sampling.describe() + _describe_cache(*cache))

    def _measure_words_only(self) -> ModelScores:
        """Measure by importance sampling from Q as it is; the error is from independent repeats."""
        repeats = self.sampling.repeats
        model, proposal = self.pretrained.get("generative"), self.pretrained.get("causal")
        once = replace(self.sampling, method="importance", repeats=1, prior_share=0.0, cache_share=0.0)

        def draw() -> Iterator[float]:
            for repeat in range(repeats):
                seeded = replace(once, seed=self.sampling.seed + 1 + repeat)
                for estimate in seeded.estimate(model, proposal, self.documents):
                    assert estimate.words_only is not None
                    yield estimate.words_only

        drawn = track(self.progress, "EntityNLM words-only", draw(), repeats * len(self.documents))
        values = np.array(list(drawn)).reshape(repeats, len(self.documents))
        spread = values.std(axis=0, ddof=1) / math.sqrt(repeats) if repeats > 1 else None
        errors = [None] * len(self.documents) if spread is None else spread.tolist()
        found = tuple(
            DocumentLogProb(document.id, len(document), float(mean), error)
            for document, mean, error in zip(self.documents, values.mean(axis=0), errors, strict=True)
        )
        how = f"importance, Q, N = {self.sampling.particles} × {repeats}"
        return ModelScores(self.name, "words-only", found, f"not comparable: Q has seen each word; {how}")

    def _measure_annotated(self) -> list[ModelScores]:
        model = self.pretrained.get("generative")
        joint, given = [], []
        for document in track(self.progress, "EntityNLM joint", self.documents):
            score = score_document(model, document, ())
            joint.append(DocumentLogProb(document.id, len(score.x), score.log_prob))
            given.append(DocumentLogProb(document.id, len(score.x), float(score.x.sum())))
        predicted, read = "mentions and entities are predicted too", "the annotation is read"
        return [
            ModelScores(self.name, "joint", tuple(joint), f"not comparable: {predicted}"),
            ModelScores(self.name, "given-entities", tuple(given), f"not comparable: {read}"),
        ]
