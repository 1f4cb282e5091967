"""What a linker learns from: annotated documents as ``annotate`` would meet them.

A linker that has only seen annotated mentions trusts them: each entity has its first mention, and whatever is mentioned is
somebody. Found mentions are not like that. So examples are made of mentions that the proposal finds; and since it finds those of
its own training documents better than others, some words are hidden from it (decision 073 has what each brought).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from entitynlm.coref.annotation import (
    Found,
    add_possessives,
    choose_proposal,
    decode_mentions,
    guess_types,
    make_lexicon,
    take_analysis,
    take_given,
)
from entitynlm.coref.linking.gender_prior import GenderPrior
from entitynlm.coref.linking.linker import Example, make_example
from entitynlm.coref.linking.proposal_scores import ProposalScorer
from entitynlm.coref.ranker.syntax import guess_head
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document


def make_given_example(pretrained: Pretrained, document: Document, gender_prior: GenderPrior) -> Example:
    """The document's own mentions."""
    proposal, encoded = choose_proposal(pretrained), pretrained.encoder.encode_words(document)
    return _make_example(
        pretrained, proposal, document, encoded, take_given(pretrained, proposal, document), gender_prior
    )


def make_found_example(
    pretrained: Pretrained,
    document: Document,
    gender_prior: GenderPrior,
    *,
    hidden: float = 0.0,
    advice_too: bool = False,
    seed: int = 0,
) -> Example:
    """Mentions that the proposal finds in the document's words.

    :param hidden: the part of the words that are unknown to it while it looks for mentions.
    :param advice_too: hide the same words from it while it gives advice, which is also better on its training documents.
    """
    proposal, encoded = choose_proposal(pretrained), pretrained.encoder.encode_words(document)
    seen = hide_words(pretrained, encoded, hidden, np.random.default_rng(seed))
    found = take_analysis(pretrained, document, seen, decode_mentions(pretrained, proposal, seen))
    found = add_possessives(document, guess_types(pretrained, proposal, seen, found))
    return _make_example(pretrained, proposal, document, seen if advice_too else encoded, found, gender_prior)


def hide_words(
    pretrained: Pretrained, encoded: EncodedDocument, part: float, generator: np.random.Generator
) -> EncodedDocument:
    """Make some of the words unknown ones."""
    vocabulary = pretrained.encoder.vocabulary
    hidden = (generator.random(len(encoded)) < part) & (encoded.x >= vocabulary.specials)
    return dataclasses.replace(encoded, x=np.where(hidden, vocabulary.unknown, encoded.x))


def _make_example(
    pretrained: Pretrained,
    proposal: EntityNetwork,
    document: Document,
    encoded: EncodedDocument,
    found: Sequence[Found],
    gender_prior: GenderPrior,
) -> Example:
    ordered = sorted(found, key=lambda mention: (mention.span[0], -mention.span[1]))
    proposal_scorer = ProposalScorer(proposal, encoded, [mention.words for mention in ordered])
    return make_example(
        document,
        [mention.span for mention in ordered],
        name_entities(document, ordered),
        types=[mention.type for mention in ordered],
        lexicon=make_lexicon(pretrained, proposal, gender_prior),
        advise=proposal_scorer.advise,
        on_link=proposal_scorer.note,
    )


def name_entities(document: Document, found: Sequence[Found]) -> list[str]:
    """Whose mention each found one is: by its words, or else by its head; the others are nobody's but their own."""
    by_span = {mention.span: mention.entity for mention in document.mentions}
    by_head: dict[int, str] = {}
    for mention in sorted(document.mentions, key=len, reverse=True):
        by_head[guess_head(document, *mention.span)] = mention.entity
    names = []
    for number, one in enumerate(found):
        entity = by_span.get(one.span) or by_head.get(guess_head(document, *one.span))
        names.append(f"of {entity}" if entity is not None else f"mention {number}")
    return names
