"""Coreference annotation of a text: Document → states → table of mentions → clusters → Document.

The resolver finds the mentions and links them from the states of the model's backbone; the discourse layer then joins entities of
one name and resolves "I" and "you" in quotations.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import structs
from torch import Tensor

from entitynlm.coref.people_rules import PeopleRules, find_named_narrator, find_participants, find_relatives
from entitynlm.coref.resolver import FoundMentions, Resolution, Resolver
from entitynlm.discourse.discourse import NARRATION, Discourse, read_discourse
from entitynlm.discourse.identity import IdentityRules
from entitynlm.discourse.name_index import NameIndex, read_people
from entitynlm.discourse.participants import settle_entities
from entitynlm.errors import ConfigError, ModelError
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document, Mention, Span, sort_mentions
from entitynlm.text.english import PRONOUNS

CONFIDENCE, LINK_CONFIDENCE = "confidence", "link_confidence"
BATCH = 16  # texts that are read together
WINDOW = 8  # batches that are taken at once, so that texts of one length are together
SHORT = 100  # words of the longest text that is read with others


def annotate_document(
    pretrained: Pretrained,
    document: Document,
    *,
    scores: bool = False,
    keep_mentions: bool = False,
    exact: bool = False,
    encoded: EncodedDocument | None = None,
    states: Tensor | None = None,
    progress: Progress = SILENT,
) -> Document:
    """Find the mentions of a document and link them to entities.

    :param scores: put the confidence of each mention and link into ``mention.attributes``.
    :param keep_mentions: keep the document's own mentions and only link them.
    :param exact: let a language model compute in float32, also where the processor is faster with bfloat16.
    :param encoded: the encoded document, and :param states: states of its tokens, where these were computed before.
    """
    resolver = get_resolver(pretrained)
    if not len(document):
        return document
    discourse = read_discourse(document)
    given = [mention.span for mention in document.mentions] if keep_mentions else None
    found = resolver.find_mentions(
        pretrained.get("generative").backbone,
        discourse,
        encoded or pretrained.encoder.encode_words(document),
        given=given,
        states=states,
        exact=exact,
        progress=progress,
    )
    known = document.entity_types if keep_mentions else {}
    types = {mention.span: known.get(mention.entity) for mention in document.mentions}
    resolution = link_mentions(resolver, found, discourse, types)
    annotated = settle_entities(discourse, *number_entities(resolution, types))
    return add_confidences(annotated, resolution) if scores else annotated


def annotate_documents(
    pretrained: Pretrained,
    documents: Iterable[Document],
    *,
    batch_size: int = BATCH,
    keep_annotated: bool = False,
    **options: Any,
) -> Iterator[Document]:
    """Annotate documents in their order; short documents of similar length are read together, ``batch_size`` at once.

    :param keep_annotated: leave documents that have mentions unchanged.  :param options: options of :func:`annotate_document`.
    """
    if batch_size < 1:
        raise ConfigError(f"a batch has one text at least, not {batch_size}")
    backbone, encoder = pretrained.get("generative").backbone, pretrained.encoder
    for window in _take_windows(documents, batch_size):
        encoded = [encoder.encode_words(document) for document in window]
        kept = [keep_annotated and bool(document.mentions) for document in window]
        short = [n for n, each in enumerate(window) if 0 < len(each) <= SHORT and not kept[n]]
        short.sort(key=lambda n: len(encoded[n]))
        states: dict[int, Tensor] = {}
        for start in range(0, len(short), batch_size) if batch_size > 1 else ():
            batch = short[start : start + batch_size]
            texts, lengths = [encoded[n] for n in batch], [len(window[n]) for n in batch]
            found = backbone.read_short(texts, lengths, exact=options.get("exact", False))
            states.update(zip(batch, found, strict=True))
        for n, document in enumerate(window):
            known: dict[str, Any] = {"encoded": encoded[n], "states": states.get(n)}
            yield document if kept[n] else annotate_document(pretrained, document, **options, **known)


def _take_windows(documents: Iterable[Document], batch_size: int) -> Iterator[list[Document]]:
    """Take the documents of a few batches at a time, so that they can be sorted by length; a long document ends a window."""
    window: list[Document] = []
    for document in documents:
        window.append(document)
        if batch_size == 1 or len(window) == WINDOW * batch_size or len(document) > SHORT:
            yield window
            window = []
    if window:
        yield window


def link_mentions(
    resolver: Resolver, found: FoundMentions, discourse: Discourse, types: dict[Span, str | None]
) -> Resolution:
    """Cluster mentions in two passes: the second one knows, from the first, the people of the text by name and the speakers.

    :param types: known types of entities, for mentions that already had an entity.
    """
    joined_twice = find_adjacent_mentions(discourse.document, found.spans)
    rows = [row for row in found.sure.nonzero().squeeze(1).tolist() if found.spans[row] not in joined_twice]
    first = resolver.cluster(discourse, found, rows, IdentityRules(discourse, found.take_spans(rows)))
    if not rows:
        return first
    guessed = resolver.name_types(found, range(len(found.spans)))
    kinds = [
        types.get(span)
        or (None if discourse.quotation_of[span[0]] >= 0 and discourse.is_address(span) else kind)
        for span, kind in zip(found.spans, guessed, strict=True)
    ]
    readings = read_people(discourse, found.spans, kinds)
    index = NameIndex(
        [readings[row] for row in rows],
        first.clusters,
        [discourse.quotation_of[found.spans[row][0]] != NARRATION for row in rows],
        [discourse.document.sentence_of[found.spans[row][0]] for row in rows],
    )
    joined = first._replace(clusters=index.join(first.clusters))
    settled = settle_entities(discourse, *number_entities(joined, types))
    participants = find_participants(settled, discourse, index)
    relatives = find_relatives(settled, discourse, found.spans)
    owners = [
        index.find_owner(reading.name) or index.find_titled(reading.title) or relatives.get(span)
        for reading, span in zip(readings, found.spans, strict=True)
    ]
    names = [row for row, owner in enumerate(owners) if owner is not None and not found.sure[row]]
    rows = sorted([*rows, *names])
    spans, people = found.take_spans(rows), [owners[row] for row in rows]
    narrator = find_named_narrator(discourse, spans, people)
    rules = PeopleRules(discourse, spans, people, participants, narrator)
    return resolver.cluster(discourse, found, rows, rules)


def find_adjacent_mentions(document: Document, spans: Sequence[Span]) -> set[Span]:
    """Find spans that are two adjacent mentions and no noun phrase, such as "the kitchen his mother"."""
    known, starts = frozenset(spans), defaultdict[int, list[int]](list)
    for start, end in spans:
        starts[start].append(end)
    return {
        (start, end)
        for start, end in spans
        for middle in starts[start]
        if (middle, end) in known and document.tokens[middle].lower() in PRONOUNS
    }


def can_annotate(pretrained: Pretrained) -> bool:
    """Tell whether a model has a resolver: a model without a trained entity side, or with P alone, has none."""
    return pretrained.get_component(Resolver) is not None


def get_resolver(pretrained: Pretrained) -> Resolver:
    """Return the model's resolver, or raise an error that tells how to train one."""
    resolver = pretrained.get_component(Resolver)
    if resolver is None:
        raise ModelError(
            "this model has no resolver, so it can't find mentions. "
            "Train one into it with: entitynlm train CORPUS --parts resolver --out DIR"
        )
    return resolver


def number_entities(
    found: Resolution, types: dict[Span, str | None]
) -> tuple[tuple[Mention, ...], dict[str, str]]:
    """Turn a resolution into mentions: entities are numbered from 1, each with the commonest type of its mentions.

    :param types: known types of entities, for mentions that already had an entity.
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
    return sort_mentions(mentions), commonest


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
