"""Who is in a text: mentions found by the proposal that has read all of it, links weighed with what is on the page.

The model is flat: of nested mentions it finds the outermost. The commonest inner ones, possessive pronouns ("[[her] mother]"),
can be told from their words alone and are added.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from entitynlm.coref.linking.entity_memory import Lexicon
from entitynlm.coref.linking.gender_prior import GenderPrior
from entitynlm.coref.linking.head_vectors import HeadVectors
from entitynlm.coref.linking.linker import Linker, link_mentions
from entitynlm.coref.linking.proposal_scores import ProposalScorer, WordSpan
from entitynlm.coref.mention_types import TypeGuesser
from entitynlm.errors import ConfigError
from entitynlm.inference.chunks import CHUNK, ChunkReader, cut
from entitynlm.inference.posterior import WeightedAnalyses, decode_greedy, find_best_sample, sample_analyses
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.variables import OTHER, Analysis
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document, Mention, Span

Links = Literal["weighed", "network"]
POSSESSIVES = frozenset("my your his her our their".split())
PARTICLES = 50  # for confidences, at least
CONFIDENCE, LINK_CONFIDENCE = "confidence", "link_confidence"
_last_linker: list[tuple[object, Linker]] = []  # with the entry of the notes that it was made of


@dataclass(frozen=True)
class Options:
    """How a text is annotated.

    :param samples: 0 takes the proposal's best choice at every step; N draws so many analyses from the proposal and takes the one
        that is most probable under P.
    :param links: ``weighed`` links the mentions by the proposal and the words together (a model without a linker can't);
        ``network`` leaves the links as they were drawn.
    :param scores: find how confident the model is of each mention and each link, from weighted samples.
    :param keep_mentions: take the document's own mentions, and only link them.
    :param possessives: add possessive pronouns inside of longer mentions.
    """

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


@dataclass(frozen=True)
class Found:
    """A mention that was found: its tokens, its place among the model's words (None: it has none there), its type and entity."""

    span: Span
    words: WordSpan | None
    type: str | None
    entity: int = -1


def annotate_document(pretrained: Pretrained, document: Document, options: Options | None = None) -> Document:
    """The document with mentions and entities (and, if asked for, confidences as attributes of the mentions)."""
    options = options or Options()
    proposal = choose_proposal(pretrained)
    encoded = pretrained.encoder.encode_words(document)
    if not len(encoded):
        return document.with_mentions(()) if not options.keep_mentions else document
    if options.keep_mentions:
        found = take_given(pretrained, proposal, document)
    else:
        analysis = choose_analysis(pretrained, proposal, encoded, options)
        found = take_analysis(pretrained, document, encoded, analysis)
    found = guess_types(pretrained, proposal, encoded, found)
    linker = get_linker(pretrained)
    if linker is not None and (options.links == "weighed" or options.keep_mentions):
        if options.possessives and not options.keep_mentions:
            found = add_possessives(document, found)
        lexicon = make_lexicon(pretrained, proposal, linker.gender_prior)
        found = _link(linker, proposal, document, encoded, found, lexicon)
    elif options.keep_mentions:
        raise ConfigError("this model has no linker, and mentions that are given can't be linked without one")
    annotated = _put_mentions(document, found)
    if not options.scores:
        return annotated
    samples = sample_analyses(
        pretrained.get("generative"),
        proposal,
        encoded,
        particles=max(PARTICLES, options.samples),
        seed=options.seed,
    )
    return add_confidences(annotated, encoded, samples)


def choose_proposal(pretrained: Pretrained) -> EntityNetwork:
    """The proposal that has read the whole document, or the causal one where there is no other."""
    return pretrained.get("lookahead" if "lookahead" in pretrained.networks else "causal")


def get_linker(pretrained: Pretrained) -> Linker | None:
    """The linker that came with a model, if one did; the last one is kept, since many short texts are read by one model."""
    stored = pretrained.notes.get("linker")
    if not stored:
        return None
    if not _last_linker or _last_linker[0][0] is not stored:
        _last_linker[:] = [(stored, Linker.from_dict(stored))]
    return _last_linker[0][1]


def make_lexicon(pretrained: Pretrained, proposal: EntityNetwork, gender_prior: GenderPrior) -> Lexicon:
    """What a linker knows of words beside those on the page."""
    return Lexicon(gender_prior, HeadVectors(proposal, pretrained.encoder.vocabulary).find)


def choose_analysis(
    pretrained: Pretrained, proposal: EntityNetwork, encoded: EncodedDocument, options: Options
) -> Analysis:
    """The proposal's greedy one, or the best of samples by P."""
    if not options.samples:
        return decode_mentions(pretrained, proposal, encoded)
    return find_best_sample(
        pretrained.get("generative"), proposal, encoded, samples=options.samples, seed=options.seed
    )


# -- mentions ---------------------------------------------------------------------------------------------------------------


def decode_mentions(pretrained: Pretrained, proposal: EntityNetwork, encoded: EncodedDocument) -> Analysis:
    """The proposal's best choices from left to right, as eager to find mentions as development documents wanted."""
    return decode_greedy(proposal, encoded, mention_bias=float(pretrained.notes.get("eagerness", 0.0)))[0]


def take_analysis(
    pretrained: Pretrained, document: Document, encoded: EncodedDocument, analysis: Analysis
) -> list[Found]:
    """An analysis of the model's words as mentions of the document's tokens."""
    found = []
    for start, end, entity, mention_type in analysis.spans():
        tokens = encoded.origin[start:end]
        ends = np.flatnonzero(tokens < 0)  # a sentence ends there, and no mention goes on after it
        tokens = tokens[: ends[0]] if len(ends) else tokens
        end = start + len(tokens)
        if len(tokens):
            span = (int(tokens[0]), int(tokens[-1]) + 1)
            found.append(
                Found(span, (start, end, mention_type), _name_type(pretrained, mention_type), entity)
            )
    return found


def _name_type(pretrained: Pretrained, mention_type: int) -> str | None:
    types = pretrained.encoder.types
    return types[mention_type - 1] if types and types[mention_type - 1] != OTHER else None


def take_given(pretrained: Pretrained, proposal: EntityNetwork, document: Document) -> list[Found]:
    """The document's own mentions; those that the model can see (the outermost) have a place among its words."""
    plain = document.with_mentions([Mention(m.start, m.end, str(i)) for i, m in enumerate(document.mentions)])
    encoder = dataclasses.replace(pretrained.encoder, singletons="keep")
    encoded, _, originals = encoder.encode_with_report(plain)
    places = {m.span: (a, b) for m, (a, b, _, _) in zip(originals, encoded.analysis.spans(), strict=True)}
    mention_types = _guess_types(proposal, encoded, [start for start, _ in places.values()])
    found = []
    for mention in document.mentions:
        place = places.get(mention.span)
        mention_type = mention_types[place[0]] if place else 0
        type = document.entity_types.get(mention.entity) or (
            _name_type(pretrained, mention_type) if mention_type else None
        )
        found.append(Found(mention.span, (*place, mention_type) if place else None, type))
    return found


def _guess_types(proposal: EntityNetwork, encoded: EncodedDocument, starts: Sequence[int]) -> dict[int, int]:
    """The likeliest kind of mention at each of these words, given that one starts there."""
    reader, guessed = ChunkReader(proposal), np.ones(len(encoded), dtype=np.int64)
    for start, stop in cut(encoded.sentence, CHUNK, aligned=proposal.config.restart_sentences):
        tables = reader.read(encoded.x, encoded.sentence, start, stop)
        guessed[start:stop] = 1 + tables.log_types[:, 1:].argmax(axis=1)
    return {start: int(guessed[start]) for start in starts}


def guess_types(
    pretrained: Pretrained, proposal: EntityNetwork, encoded: EncodedDocument, found: Sequence[Found]
) -> list[Found]:
    """Types for mentions that have none, where the model came with a guesser."""
    stored = pretrained.notes.get("types")
    if not stored:
        return list(found)
    open_ones = [mention for mention in found if mention.type is None and mention.words is not None]
    places = [mention.words[:2] for mention in open_ones if mention.words is not None]
    guessed = TypeGuesser.from_dict(stored).guess(proposal, encoded, places)
    by_span = {mention.span: name for mention, name in zip(open_ones, guessed, strict=True)}
    return [dataclasses.replace(m, type=m.type or by_span.get(m.span)) for m in found]


def add_possessives(document: Document, found: Sequence[Found]) -> list[Found]:
    """Also the possessive pronouns that stand inside of longer mentions."""
    added = []
    taken = {mention.span for mention in found}
    for mention in found:
        start, end = mention.span
        for token in range(start, end):
            if document.tokens[token].lower() in POSSESSIVES and (token, token + 1) not in taken:
                added.append(Found((token, token + 1), None, "person" if mention.type else None))
    return sorted([*found, *added], key=lambda mention: (mention.span[0], -mention.span[1]))


# -- links ------------------------------------------------------------------------------------------------------------------


def _link(
    linker: Linker,
    proposal: EntityNetwork,
    document: Document,
    encoded: EncodedDocument,
    found: Sequence[Found],
    lexicon: Lexicon,
) -> list[Found]:
    proposal_scorer = ProposalScorer(proposal, encoded, [mention.words for mention in found])
    entities = link_mentions(
        linker,
        document,
        [mention.span for mention in found],
        types=[mention.type for mention in found],
        lexicon=lexicon,
        advise=proposal_scorer.advise,
        on_link=proposal_scorer.note,
    )
    return [dataclasses.replace(m, entity=e + 1) for m, e in zip(found, entities, strict=True)]


def _put_mentions(document: Document, found: Sequence[Found]) -> Document:
    """Entities numbered from 1 in order of first mention; an entity has the commonest type of its mentions."""
    numbers: dict[int, str] = {}
    votes: dict[str, list[str]] = {}
    mentions = []
    for mention in sorted(found, key=lambda m: (m.span[0], -m.span[1])):
        name = numbers.setdefault(mention.entity, str(len(numbers) + 1))
        if mention.type:
            votes.setdefault(name, []).append(mention.type)
        mentions.append(Mention(*mention.span, name))
    types = {name: max(sorted(set(of)), key=of.count) for name, of in votes.items()}
    return document.with_mentions(mentions, types)


# -- confidences ------------------------------------------------------------------------------------------------------------


def add_confidences(document: Document, encoded: EncodedDocument, samples: WeightedAnalyses) -> Document:
    """Each mention with the probability that it is one, and that it belongs with the entity's mention before it.

    Both are weighted counts over samples from the posterior, 0 for a mention that none of them has. A possessive inside of
    another mention has none, since the model does not see it.
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
