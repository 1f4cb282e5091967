"""Coreference annotation of a text: mentions by the proposal that has read all of it, links by the linker.

A model without a linker takes the links from the proposal as well.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from entitynlm.coref.linking.linker import Linker, link_mentions
from entitynlm.coref.mention_detection import (
    DetectedMention,
    add_possessives,
    choose_proposal,
    detect_mentions,
    list_given,
    predict_types,
    prepare_mentions,
)
from entitynlm.coref.resolver import Resolver
from entitynlm.discourse.discourse import read_discourse
from entitynlm.discourse.identity import IdentityRules
from entitynlm.discourse.participants import add_quotations, settle_entities
from entitynlm.errors import ConfigError
from entitynlm.inference.posterior import WeightedAnalyses, find_best_sample, sample_analyses
from entitynlm.inference.readings import ReadText
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document, Mention

Links = Literal["weighed", "network"]
PARTICLES = 50  # for confidences, at least
CONFIDENCE, LINK_CONFIDENCE = "confidence", "link_confidence"


@dataclass(frozen=True)
class Options:
    """How a text is annotated; ``EntityNLM.annotate`` says what each option does."""

    samples: int = 0
    links: Links = "weighed"
    scores: bool = False
    keep_mentions: bool = False
    possessives: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.samples < 0:
            raise ConfigError(f"the number of samples must not be negative, but is {self.samples}")
        if self.links not in ("weighed", "network"):
            raise ConfigError(f"links are 'weighed' or 'network', not {self.links!r}")


def annotate_document(
    pretrained: Pretrained,
    document: Document,
    options: Options | None = None,
    *,
    text: ReadText | None = None,
    progress: Progress = SILENT,
) -> Document:
    """The document with mentions and entities; ``text`` is the document as it was encoded (and perhaps read) before."""
    options = options or Options()
    resolver = pretrained.get_component(Resolver) if options.links == "weighed" else None
    if resolver is not None and len(document) and not options.samples:
        return _resolve(pretrained, resolver, document, options, text)
    proposal = choose_proposal(pretrained)
    text = text or ReadText(pretrained.encoder, document)
    encoded, readings = text.encoded, text.readings
    if not len(encoded):
        return document.with_mentions(()) if not options.keep_mentions else document
    if options.keep_mentions:
        mentions = list_given(pretrained, document, text)
        mentions = predict_types(pretrained, readings, mentions)
    else:
        analysis = None
        if options.samples:
            model, samples, seed = pretrained.get("generative"), options.samples, options.seed
            analysis = find_best_sample(
                model, proposal, encoded, samples=samples, seed=seed, readings=readings
            )
        mentions = detect_mentions(pretrained, encoded, analysis, readings)
    linker = pretrained.get_component(Linker)
    discourse = read_discourse(document)
    by_rules = False
    if linker is not None and (options.links == "weighed" or options.keep_mentions):
        if options.possessives and not options.keep_mentions:
            mentions = add_possessives(document, mentions)
        unlinked = prepare_mentions(pretrained, document, encoded, mentions, linker.gender_prior, readings)
        entities = link_mentions(linker, unlinked, IdentityRules(discourse, unlinked.spans), progress)
        by_rules = True
        mentions = [dataclasses.replace(m, entity=e) for m, e in zip(mentions, entities, strict=True)]
    elif options.keep_mentions:
        raise ConfigError("this model has no linker, and mentions that are given can't be linked without one")
    annotated = _put_mentions(document, mentions)
    annotated = settle_entities(annotated, discourse) if by_rules else add_quotations(annotated, discourse)
    if not options.scores:
        return annotated
    model, particles = pretrained.get("generative"), max(PARTICLES, options.samples)
    drawn = sample_analyses(
        model, proposal, encoded, particles=particles, seed=options.seed, readings=readings
    )
    return add_confidences(annotated, encoded, drawn)


def _resolve(
    pretrained: Pretrained,
    resolver: Resolver,
    document: Document,
    options: Options,
    text: ReadText | None,
) -> Document:
    """Mentions and links by the end-to-end resolver, which finds nested mentions too and has confidences of its own."""
    given = [mention.span for mention in document.mentions] if options.keep_mentions else None
    encoded = text.encoded if text else None
    discourse = read_discourse(document)
    found = resolver.resolve(pretrained.encoder, document, encoded=encoded, given=given, discourse=discourse)
    if not (options.possessives or options.keep_mentions):
        reach = [0, *accumulate((mention.span[1] for mention in found), max)]
        found = [m for m, before in zip(found, reach, strict=False) if m.span[1] > before]
    known = {mention.span: document.entity_types.get(mention.entity) for mention in document.mentions}
    annotated = _put_mentions(
        document,
        [DetectedMention(m.span, None, known.get(m.span) or m.type, m.cluster) for m in found],
    )
    annotated = settle_entities(annotated, discourse)
    if not options.scores:
        return annotated
    sure = {mention.span: mention for mention in found}
    first = {entity.mentions[0] for entity in annotated.entities}
    scored = []
    for mention in annotated.mentions:
        own = sure[mention.span]
        attributes = [(CONFIDENCE, f"{own.probability:.3f}")]
        if mention not in first:
            attributes.append((LINK_CONFIDENCE, f"{own.link_probability:.3f}"))
        scored.append(dataclasses.replace(mention, attributes=tuple(attributes)))
    return annotated.with_mentions(scored, annotated.entity_types)


def _put_mentions(document: Document, detected: Sequence[DetectedMention]) -> Document:
    """Entities numbered from 1 in order of first mention; an entity has the commonest type of its mentions."""
    numbers: dict[int, str] = {}
    votes: dict[str, list[str]] = {}
    mentions = []
    for mention in sorted(detected, key=lambda mention: mention.order):
        name = numbers.setdefault(mention.entity, str(len(numbers) + 1))
        if mention.type:
            votes.setdefault(name, []).append(mention.type)
        mentions.append(Mention(*mention.span, name))
    types = {name: max(sorted(set(of)), key=of.count) for name, of in votes.items()}
    return document.with_mentions(mentions, types)


def add_confidences(document: Document, encoded: EncodedDocument, samples: WeightedAnalyses) -> Document:
    """Each mention with the share of weighted samples that have it, and that link it to the entity's mention before it.

    A possessive inside of another mention has none, since the model does not see it.
    """
    word_of = {int(token): word for word, token in enumerate(encoded.origin.tolist()) if token >= 0}
    spans = samples.span_posterior()
    latest: dict[str, int] = {}
    scored = []
    covered = 0
    for mention in document.mentions:
        start, end = word_of.get(mention.start), word_of.get(mention.end - 1)
        attributes = list(mention.attributes)
        if start is not None and end is not None and mention.end > covered:
            attributes.append((CONFIDENCE, f"{min(1.0, spans.get((start, end + 1), 0.0)):.3f}"))
            if mention.entity in latest:
                link = samples.link_posterior(latest[mention.entity], start)
                attributes.append((LINK_CONFIDENCE, f"{min(1.0, link):.3f}"))
            latest[mention.entity] = start
        covered = max(covered, mention.end)
        scored.append(dataclasses.replace(mention, attributes=tuple(attributes)))
    return document.with_mentions(scored, document.entity_types)
