"""Language modelling (section 5.1): the perplexity of held-out words by a 5-gram, an LSTM and EntityNLM.

All rows are over the same words of the same documents (``scores`` says which rows may be compared). Rows that need annotation are
left out where there is none.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from msgspec import structs

from entitynlm.errors import DataError
from entitynlm.inference.marginal import PRIOR_SHARE, Method, average_words, estimate_log_prob
from entitynlm.inference.scoring import score_baseline, score_document
from entitynlm.lm.ngram import NgramModel
from entitynlm.lm.scores import ENTITY_LIKELIHOODS, DocumentLogProb, Likelihood, ModelScores, SplitScores
from entitynlm.model.backbones.base import LanguageModel
from entitynlm.model.batch.scores import Network
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.tokenizer import Vocabulary
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress, track

BARE_MODEL, FINE_TUNED = "language model", "language model, fine-tuned"


@dataclass(frozen=True)
class Sampling:
    """Settings of estimates of P(X).

    :param particles: N, number of particles per document and repeat.
    :param repeats: number of independent estimates, whose mean is taken and whose spread gives the error.
    :param prior_share: share of P's own distribution that is mixed into Q's (0: Q unchanged, as in the paper).
    """

    particles: int = 100
    repeats: int = 4
    method: Method = "particle-filter"
    seed: int = 0
    prior_share: float = PRIOR_SHARE

    def describe(self) -> str:
        mixed = f" with {100 * self.prior_share:g} % of P" if self.prior_share else ""
        return f"{self.method}, Q{mixed}, N = {self.particles} × {self.repeats}"


def measure_split(
    split: str,
    pretrained: Pretrained,
    documents: Sequence[EncodedDocument],
    *,
    ngram: NgramModel | None = None,
    sampling: Sampling | None = None,
    likelihoods: Sequence[str] = ENTITY_LIKELIHOODS,
    progress: Progress = SILENT,
) -> SplitScores:
    """Measure a model and its baselines without entities on the documents of a split, without empty documents.

    The baselines are the n-grams, if given, the model without entities trained on the same text (an LSTM, or a fine-tuned
    language model), and a pretrained language model as it came.
    """
    documents = [document for document in documents if len(document)]
    if not documents:
        raise DataError(f"the documents of {split} have no words")
    generative = pretrained.networks.get("generative")
    bare = generative is not None and generative.backbone.pretrained
    baselines = [make_bare(pretrained)] if bare else []
    baselines += [pretrained.language_model] if pretrained.language_model is not None else []
    networks: list[Network] = [*baselines, *pretrained.networks.values()]
    for network in networks:
        if network.backbone.pretrained:
            network.backbone.prepare([document.words for document in documents], progress)
    rows = []
    if ngram is not None:
        rows.append(_sum_words("5-gram", documents, ngram.score, ngram.description, progress))
    rows += [measure_rnnlm(baseline, documents, progress) for baseline in baselines]
    entities = EntityMeasurement(pretrained, documents, sampling or Sampling(), progress)
    rows += entities.measure(likelihoods)
    tokenizer = pretrained.encoder.tokenizer
    unknown = tokenizer.unknown if isinstance(tokenizer, Vocabulary) else -1  # no key of an open vocabulary
    return SplitScores(split, tuple(rows), sum(int((document.x == unknown).sum()) for document in documents))


def make_bare(pretrained: Pretrained) -> LanguageModel:
    """Return the pretrained language model under a model, without fine-tuning."""
    tokenizer, own = pretrained.encoder.tokenizer, pretrained.get("generative").config
    config = structs.replace(own, mode="rnnlm", tuned_output=False)
    return LanguageModel(config, len(tokenizer), tokenizer.start).eval()


def measure_rnnlm(
    network: LanguageModel, documents: Sequence[EncodedDocument], progress: Progress = SILENT
) -> ModelScores:
    """Measure a language model without entities: the LSTM, or a pretrained language model."""

    def score(document: EncodedDocument) -> np.ndarray:
        return np.asarray(score_baseline(network, document), dtype=np.float64)

    name, note = "RNNLM", "LSTM without entities"
    if network.backbone.pretrained:
        tuned = network.config.tuned_output
        name = FINE_TUNED if tuned else BARE_MODEL
        note = "without entities; learned from the words of the training documents" if tuned else "as it came"
    return _sum_words(name, documents, score, note, progress)


def _sum_words(
    name: str,
    documents: Sequence[EncodedDocument],
    score: Callable[[EncodedDocument], np.ndarray],
    note: str,
    progress: Progress,
) -> ModelScores:
    found = []
    for document in track(progress, name, documents):
        scores = score(document)
        found.append(DocumentLogProb(document.id, len(scores), float(scores.sum())))
    return ModelScores(name, "exact", tuple(found), note)


@dataclass(frozen=True)
class EntityMeasurement:
    """EntityNLM on some documents, by several likelihoods."""

    pretrained: Pretrained
    documents: Sequence[EncodedDocument]
    sampling: Sampling
    progress: Progress = SILENT

    def measure(self, likelihoods: Sequence[str]) -> list[ModelScores]:
        """Measure rows in the order of ``ENTITY_LIKELIHOODS``; rows that need annotation only where there is any."""
        rows = []
        if "marginal" in likelihoods:
            rows.append(self._measure_marginal())
        by_samples: tuple[Likelihood, ...] = ("words-only", "words-mean", "words-mean-P")
        for likelihood in by_samples:
            if likelihood in likelihoods and "causal" in self.pretrained.networks:
                rows.append(self._average_words(likelihood))
        if {"joint", "given-entities"} & {*likelihoods} and any(d.r.any() for d in self.documents):
            rows += [row for row in self._measure_annotated() if row.likelihood in likelihoods]
        return rows

    def _measure_marginal(self) -> ModelScores:
        proposal, model = self.pretrained.get("causal"), self.pretrained.get("generative")
        found = []
        for document in track(self.progress, "EntityNLM marginal", self.documents):
            e = estimate_log_prob(model, proposal, document, **asdict(self.sampling))
            error = None if math.isnan(e.standard_error) else e.standard_error
            found.append(DocumentLogProb(document.id, e.tokens, e.log_prob, error))
        return ModelScores("EntityNLM", "marginal", tuple(found), self.sampling.describe())

    def _average_words(self, likelihood: Likelihood) -> ModelScores:
        """Measure words given samples of Q (or of P, as a control): the mean of their logarithms, or the log of their mean."""
        model, proposal = self.pretrained.get("generative"), self.pretrained.get("causal")
        by_prior, reading = likelihood == "words-mean-P", int(likelihood != "words-only")
        repeats, found = self.sampling.repeats, []
        for document in track(self.progress, f"EntityNLM {likelihood}", self.documents):
            values = average_words(
                model, proposal, document, particles=self.sampling.particles, repeats=repeats,
                seed=self.sampling.seed, prior_share=float(by_prior),
            )[reading]  # fmt: skip
            error = float(values.std(ddof=1)) / math.sqrt(repeats) if repeats > 1 else None
            found.append(DocumentLogProb(document.id, len(document), float(values.mean()), error))
        seen, unseen = "not comparable: Q has seen each word; Q", "entities drawn without the word; P"
        note = f"{unseen if by_prior else seen}, N = {self.sampling.particles} × {repeats}"
        return ModelScores("EntityNLM", likelihood, tuple(found), note)

    def _measure_annotated(self) -> list[ModelScores]:
        model = self.pretrained.get("generative")
        joint, given = [], []
        for document in track(self.progress, "EntityNLM joint", self.documents):
            score = score_document(model, document, ())
            joint.append(DocumentLogProb(document.id, len(score.x), score.log_prob))
            given.append(DocumentLogProb(document.id, len(score.x), float(score.x.sum())))
        predicted, read = "mentions and entities are predicted too", "the annotation is read"
        return [
            ModelScores("EntityNLM", "joint", tuple(joint), f"not comparable: {predicted}"),
            ModelScores("EntityNLM", "given-entities", tuple(given), f"not comparable: {read}"),
        ]
