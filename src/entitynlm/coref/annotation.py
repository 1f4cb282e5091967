"""Coreference annotation of a text: Document → states → table of mentions → clusters → Document.

The resolver finds the mentions and links them from the states of the model's backbone; the discourse layer then joins entities of
one name and resolves "I" and "you" in quotations.
"""

from collections import Counter

from msgspec import structs

from entitynlm.coref.resolver import Resolution, Resolver
from entitynlm.discourse.discourse import read_discourse
from entitynlm.discourse.participants import settle_entities
from entitynlm.errors import ModelError
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document, Mention, Span

CONFIDENCE, LINK_CONFIDENCE = "confidence", "link_confidence"


def annotate_document(
    pretrained: Pretrained,
    document: Document,
    *,
    scores: bool = False,
    keep_mentions: bool = False,
    exact: bool = False,
    encoded: EncodedDocument | None = None,
    progress: Progress = SILENT,
) -> Document:
    """Find the mentions of a document and link them to entities.

    :param scores: put the confidence of each mention and link into ``mention.attributes``.
    :param keep_mentions: take the document's own mentions and only link them.
    :param exact: let a language model compute in float32, also where the processor is faster with bfloat16.
    :param encoded: the document as the model's encoder has it, where that was done before.
    """
    resolver = get_resolver(pretrained)
    if not len(document):
        return document
    discourse = read_discourse(document)
    given = [mention.span for mention in document.mentions] if keep_mentions else None
    resolution = resolver.resolve(
        pretrained.get("generative").backbone,
        document,
        encoded or pretrained.encoder.encode_words(document),
        given=given,
        discourse=discourse,
        exact=exact,
        progress=progress,
    )
    known = document.entity_types if keep_mentions else {}
    types = {mention.span: known.get(mention.entity) for mention in document.mentions}
    annotated = settle_entities(add_mentions(document, resolution, types), discourse)
    return add_confidences(annotated, resolution) if scores else annotated


def can_annotate(pretrained: Pretrained) -> bool:
    """Say whether a model has a resolver: an untrained one has none, nor has one whose P alone was trained."""
    return pretrained.get_component(Resolver) is not None


def get_resolver(pretrained: Pretrained) -> Resolver:
    """Get the model's resolver, or tell how one is trained."""
    resolver = pretrained.get_component(Resolver)
    if resolver is None:
        raise ModelError(
            "this model has no resolver, so it can't find mentions. "
            "Train one into it with: entitynlm train CORPUS --parts resolver --out DIR"
        )
    return resolver


def add_mentions(document: Document, found: Resolution, types: dict[Span, str | None]) -> Document:
    """Put resolved mentions into a document: entities from 1 on, with the commonest type of their mentions.

    :param types: of mentions whose entities had one.
    """
    numbers: dict[int, str] = {}
    votes: dict[str, Counter[str]] = {}
    mentions = []
    for span, cluster, guessed in zip(found.table.spans, found.clusters, found.types, strict=True):
        name = numbers.setdefault(cluster, str(len(numbers) + 1))
        if (type := types.get(span) or guessed) is not None:
            votes.setdefault(name, Counter())[type] += 1
        mentions.append(Mention(*span, name))
    commonest = {name: max(sorted(of), key=of.__getitem__) for name, of in votes.items()}
    return document.with_mentions(mentions, commonest)


def add_confidences(document: Document, found: Resolution) -> Document:
    """Put the probability of each mention, and of its link unless it is its entity's first, into its attributes."""
    rows = {span: row for row, span in enumerate(found.table.spans)}
    first = {entity.mentions[0] for entity in document.entities}
    scored = []
    for mention in document.mentions:
        row = rows[mention.span]
        attributes = [(CONFIDENCE, f"{found.confidence[row]:.3f}")]
        if mention not in first:
            attributes.append((LINK_CONFIDENCE, f"{found.link_confidence[row]:.3f}"))
        scored.append(structs.replace(mention, attributes=tuple(attributes)))
    return document.with_mentions(scored, document.entity_types)
