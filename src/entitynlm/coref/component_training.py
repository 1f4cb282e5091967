"""Training of what ``annotate`` adds to the networks: the mention bias, the type classifier and the linker.

Each component is stored in the model's folder when it is finished, so an interrupted training goes on with the next one.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, product

import numpy as np

from entitynlm.coref.annotation import annotate_document
from entitynlm.coref.linking.gender_prior import GenderPrior, count_pronouns, learn_gender_prior
from entitynlm.coref.linking.linker import Linker
from entitynlm.coref.linking.training import (
    LinkerExample,
    join_linkers,
    make_document_example,
    train_linker,
)
from entitynlm.coref.mention_detection import (
    POSSESSIVES,
    MentionBias,
    TypeClassifier,
    choose_proposal,
    list_detected,
    read_boundary_states,
    train_types,
)
from entitynlm.coref.metrics.coreference import CorpusCounts, score_documents
from entitynlm.coref.metrics.documents import drop_repetitions
from entitynlm.coref.resolver import Resolver
from entitynlm.coref.resolver_training import TrainingSettings, fit_resolver
from entitynlm.errors import ConfigError, DataError
from entitynlm.inference.posterior import decode_greedy
from entitynlm.inference.readings import Readings
from entitynlm.model.backbones.huggingface.tokenizer import SubwordTokenizer
from entitynlm.model.components import Component
from entitynlm.model.encoding.embeddings import read_packaged
from entitynlm.model.encoding.variables import select_mentions
from entitynlm.model.encoding.vocabulary import Vocabulary
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress, track
from entitynlm.text.document import Document

COMPONENTS: dict[str, type[Component]] = {
    "types": TypeClassifier,
    "bias": MentionBias,
    "linker": Linker,
    "resolver": Resolver,
}
"""In the order of training: the linker is trained on mentions that were found with the bias, and typed."""
EPOCHS = 18  # of a linker
BIASES = (0.0, 0.3, 0.6, 0.9)
PRIOR_WORDS = 40_000  # of GloVe, the most frequent, that the gender prior covers
MASKINGS = ((0.0, False), (0.05, False), (0.07, True), (0.1, True))
"""Detected examples of each document: the share of masked words, and whether the proposal scores entities without them too."""


@dataclass(frozen=True)
class ComponentSettings:
    """How components are trained (see ``train-components --help``); the defaults were chosen on LitBank's dev documents."""

    bias: float | None = None
    proposal_weight: float = 0.45
    hidden: int = 96
    epochs: int | None = None
    linkers: int = 2
    seed: int = 1

    def __post_init__(self) -> None:
        if min(self.hidden, self.linkers) < 1 or self.epochs == 0:
            raise ConfigError("a linker needs at least one hidden unit, one epoch and one seed")


def train_component(
    name: str,
    pretrained: Pretrained,
    train: Sequence[Document],
    development: Sequence[Document],
    settings: ComponentSettings,
    *,
    plain_texts: Iterable[Document] = (),
    progress: Progress = SILENT,
) -> None:
    """Train one of :data:`COMPONENTS`, the linker's gender prior on ``plain_texts`` too, and make it part of the model."""
    train = [drop_repetitions(document) for document in train]
    if not any(document.mentions for document in train):
        raise DataError(f"the {name} component can't be trained: the documents have no mentions")
    if name == "types":
        pretrained.set_component(fit_types(pretrained, train))
    elif name == "bias":
        value = choose_bias(pretrained, development) if settings.bias is None else settings.bias
        pretrained.set_component(MentionBias(value))
    elif name == "resolver":
        chosen = TrainingSettings(seed=settings.seed)
        chosen = dataclasses.replace(chosen, epochs=settings.epochs or chosen.epochs)
        pretrained.set_component(fit_resolver(pretrained.encoder, train, development, chosen, progress))
    else:
        counts = count_pronouns(text.tokens for text in chain(train, plain_texts))
        gender_prior = learn_gender_prior(counts, *read_packaged(PRIOR_WORDS))
        pretrained.set_component(fit_linker(pretrained, train, gender_prior, settings, progress))


def choose_components(pretrained: Pretrained) -> list[str]:
    """What ``annotate`` needs: a resolver on a pretrained language model, the other components on a network of our own."""
    on_language_model = isinstance(pretrained.encoder.tokenizer, SubwordTokenizer)
    return [name for name in COMPONENTS if (name == "resolver") == on_language_model]


def fit_types(pretrained: Pretrained, documents: Sequence[Document]) -> TypeClassifier:
    """A type classifier from the proposal's states at both ends of annotated mentions of a known type."""
    proposal = choose_proposal(pretrained)
    states, types = [], []
    for document in map(keep_linkable, documents):
        encoded, _, originals = pretrained.encoder.encode_with_report(document)
        spans = [(start, end) for start, end, _, _ in encoded.analysis.spans()]
        names = [document.entity_types.get(mention.entity) for mention in originals]
        typed = [span for span, name in zip(spans, names, strict=True) if name]
        states.append(read_boundary_states(proposal, Readings(encoded), typed))
        types += [name for name in names if name]
    if not types:
        raise DataError("mention types can't be learned: no entity of the training documents has a type")
    return train_types(np.concatenate(states), types)


def keep_linkable(document: Document) -> Document:
    """The mentions that ``annotate`` can find: the outermost ones and possessive pronouns inside of them."""
    outermost, _ = select_mentions(document, singletons="keep")
    spans = {mention.span for mention in outermost}
    single = (mention for mention in document.mentions if len(mention) == 1 and mention.span not in spans)
    inner = (mention for mention in single if document.tokens[mention.start].lower() in POSSESSIVES)
    return document.with_mentions([*outermost, *inner], document.entity_types)


def choose_bias(pretrained: Pretrained, documents: Sequence[Document]) -> float:
    """The mention bias with the best F1 of the outermost mentions, the smallest of several."""
    proposal = choose_proposal(pretrained)
    encoded = [pretrained.encoder.encode_words(document) for document in documents]
    gold = [{m.span for m in select_mentions(d, singletons="keep")[0]} for d in documents]

    def measure(bias: float) -> float:
        hits = found = 0
        for words, spans in zip(encoded, gold, strict=True):
            analysis = decode_greedy(proposal, words, mention_bias=bias)[0]
            detected = {m.span for m in list_detected(pretrained, words, analysis)}
            hits, found = hits + len(detected & spans), found + len(detected)
        return 2 * hits / max(1, found + sum(map(len, gold)))

    return max(BIASES, key=measure)


def fit_linker(
    pretrained: Pretrained,
    documents: Sequence[Document],
    gender_prior: GenderPrior,
    settings: ComponentSettings,
    progress: Progress,
) -> Linker:
    """The mean of several linkers, trained on given and on detected mentions of the same documents."""
    examples: list[LinkerExample] = []
    given = [(None, document) for document in map(keep_linkable, documents)]
    closed = isinstance(pretrained.encoder.tokenizer, Vocabulary)  # else no word can be hidden as unknown
    detected = product(MASKINGS if closed else MASKINGS[:1], documents)
    for masking, document in track(progress, "examples", [*given, *detected]):
        seed = len(examples)  # other words are masked in each example
        examples.append(make_document_example(pretrained, document, gender_prior, masking, seed=seed))
    linkers = [
        train_linker(
            examples,
            proposal_weight=settings.proposal_weight,
            gender_prior=gender_prior,
            hidden=settings.hidden,
            epochs=settings.epochs or EPOCHS,
            seed=settings.seed + number,
            progress=progress,
        )
        for number in range(settings.linkers)
    ]
    return join_linkers(linkers)


def score_annotation(pretrained: Pretrained, documents: Sequence[Document]) -> CorpusCounts:
    """Coreference scores of the model's own annotation of documents against theirs, singletons included."""
    keys = [drop_repetitions(document) for document in documents]
    return score_documents(keys, [annotate_document(pretrained, key.with_mentions(())) for key in keys])
