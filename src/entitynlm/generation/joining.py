"""A prompt and its continuation as one document."""

from __future__ import annotations

from dataclasses import replace

from entitynlm.generation.request import Continuation
from entitynlm.generation.verification import append_text
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.text.detokenization import is_attached
from entitynlm.text.document import Document, Mention


def join_continuation(encoder: Encoder, prompt: Document, continuation: Continuation) -> Document:
    """Join a prompt and its continuation, with the mentions of both; new entities get numbers that are free."""
    later = continuation.document
    glue = "" if not prompt.tokens or is_attached(later.tokens[0]) else " "
    whole = append_text(prompt, glue + continuation.text, later)
    taken = {mention.entity for mention in prompt.mentions}
    names = number_entities(encoder, prompt)
    mentions = list(prompt.mentions)
    for mention in later.mentions:
        if mention.entity not in names:
            free = next(str(n) for n in range(1, len(taken) + 2) if str(n) not in taken)
            names[mention.entity] = free
            taken.add(free)
        shift = len(prompt.tokens)
        mentions.append(Mention(mention.start + shift, mention.end + shift, names[mention.entity]))
    types = {
        **{names[e]: kind for e, kind in later.entity_types.items() if e in names},
        **prompt.entity_types,
    }
    return replace(whole, id=prompt.id if prompt.tokens else "text").with_mentions(mentions, types)


def number_entities(encoder: Encoder, prompt: Document) -> dict[str, str]:
    """Find the entity of a prompt behind each number that a continuation has for it."""
    if not prompt.tokens:
        return {}
    encoded, _, originals = encoder.encode_with_report(prompt)
    spans = zip(originals, encoded.analysis.spans(), strict=True)
    return {str(number): mention.entity for mention, (_, _, number, _) in spans}
