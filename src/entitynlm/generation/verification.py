"""Verification of the next mention: the model annotates what it has generated, as a reader would.

A language model is free to say "the house" where R says that no mention starts, or "he" of Anna. A constraint on entities is
about the text that people read; so a continuation that breaks it when it is read again is drawn again.
"""

from __future__ import annotations

from collections.abc import Collection

from entitynlm.coref.annotation import annotate_document
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.detokenization import ends_sentence, join_tokens
from entitynlm.text.document import Document, Span


def append_text(prompt: Document | None, text: str, continuation: Document) -> Document:
    """Join a prompt and its continuation, whose ``text`` has the white space before it, as one document without mentions."""
    if prompt is None or not prompt.tokens:
        return continuation.with_mentions(())
    before, offsets = prompt.text, prompt.offsets
    if before is None or offsets is None:
        before, offsets = join_tokens(prompt.tokens)
    before = before[: offsets[-1][1]]
    shift, count = len(before) + len(text) - len(text.lstrip()), len(prompt.tokens)
    assert continuation.offsets is not None
    later = [(a + shift, b + shift) for a, b in continuation.offsets]
    sentences = [*prompt.sentences, *((a + count, b + count) for a, b in continuation.sentences)]
    if not ends_sentence(prompt.tokens) and len(sentences) > len(prompt.sentences):
        (first, _), (_, last) = sentences[len(prompt.sentences) - 1 : len(prompt.sentences) + 1]
        sentences[len(prompt.sentences) - 1 : len(prompt.sentences) + 1] = [(first, last)]
    tokens = (*prompt.tokens, *continuation.tokens)
    places = (*offsets, *later)
    return Document(continuation.id, tokens, tuple(sentences), text=before + text.rstrip(), offsets=places)


def find_next_mention(annotated: Document, start: int) -> tuple[Span | None, set[Span]]:
    """Find the first mention from a token on, the outermost one, and the earlier mentions of its entity."""
    later = [mention for mention in annotated.mentions if mention.start >= start]
    if not later:
        return None, set()
    first = min(later, key=lambda mention: (mention.start, -mention.end))
    same = (mention for mention in annotated.mentions if mention.entity == first.entity)
    return first.span, {mention.span for mention in same if mention.end <= start}


def is_next_mention(
    pretrained: Pretrained, document: Document, start: int, asked: Span, earlier: Collection[Span]
) -> bool:
    """Tell whether the model, when it annotates a document, finds the mention ``asked`` as the first one from a token on.

    :param earlier: the entity's mentions before; the first mention must be linked to one of them, where there are any.
    """
    span, same = find_next_mention(annotate_document(pretrained, document), start)
    if span is None or not overlaps(span, asked):
        return False
    return not earlier or any(overlaps(one, other) for one in same for other in earlier)


def overlaps(first: Span, second: Span) -> bool:
    """Tell whether two spans begin or end together: "Anna" and "Anna Smith"."""
    return first[1] == second[1] or first[0] == second[0]
