"""Continuations of a text that is open in the explorer, and a text with one of them accepted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from entitynlm.generation.continuations import generate_continuations
from entitynlm.generation.request import Continuation, ContinuationRequest
from entitynlm.generation.verification import append_text
from entitynlm.inference.readings import ReadText
from entitynlm.interfaces.explorer.texts import Version
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.detokenization import is_attached
from entitynlm.text.document import Document, Mention


def continue_text(
    pretrained: Pretrained, version: Version, request: ContinuationRequest, *, count: int, seed: int
) -> list[Document]:
    """Texts that go on from a version, each whole, with the mentions of both."""
    prompt = version.document
    found = generate_continuations(
        pretrained, prompt if prompt.tokens else None, request, count=count, seed=seed
    )
    numbers = number_entities(pretrained, prompt)
    return [join(prompt, one, numbers) for one in found]


def number_entities(pretrained: Pretrained, prompt: Document) -> dict[str, str]:
    """The entity of a prompt behind each number that a continuation has for it."""
    if not prompt.tokens:
        return {}
    text = ReadText(pretrained.encoder, prompt)
    spans = zip(text.originals, text.encoded.analysis.spans(), strict=True)
    return {str(number): mention.entity for mention, (_, _, number, _) in spans}


def join(prompt: Document, continuation: Continuation, numbers: dict[str, str]) -> Document:
    """One document of a prompt and its continuation; entities that are new get numbers that are free."""
    later = continuation.document
    glue = "" if not prompt.tokens or is_attached(later.tokens[0]) else " "
    whole = append_text(prompt, glue + continuation.text, later)
    taken = {mention.entity for mention in prompt.mentions}
    names = dict(numbers)
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


def describe_continuation(prompt: Document, whole: Document) -> dict[str, Any]:
    """What was added, with its mentions by their place in it."""
    first = len(prompt.tokens)
    assert whole.text is not None and whole.offsets is not None
    start = whole.offsets[first - 1][1] if first else 0
    return {
        "text": whole.text[start:],
        "tokens": list(whole.tokens[first:]),
        "gaps": [
            "" if place == 0 else whole.text[whole.offsets[place - 1][1] : whole.offsets[place][0]]
            for place in range(first, len(whole.tokens))
        ],
        "mentions": [
            {"start": m.start - first, "end": m.end - first, "entity": m.entity}
            for m in whole.mentions
            if m.start >= first
        ],
    }
