"""Rendering: generated words as text, as a document with mentions, and as one document with the prompt before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from entitynlm.generation.generator import GeneratedWord
from entitynlm.generation.request import Continuation
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.text.detokenization import ends_sentence, is_attached, join_tokens
from entitynlm.text.document import Document, Mention
from entitynlm.text.segmentation import align_span, segment_text


def render(
    encoder: Encoder, generated: Sequence[GeneratedWord], id: str, names: Mapping[int, tuple[str, ...]]
) -> tuple[Continuation, str]:
    """Write generated words as their pieces have them, and cut the text into tokens as any other text.

    The text is returned a second time, with the white space around it.

    :param names: the words that entities are called by, by their numbers.
    """
    written = [encoder.tokenizer.write(word.pieces) or "" for word in generated]
    bounds = [0, *accumulate(map(len, written))]
    whole = "".join(written)
    starts = [end - len(own.lstrip()) for own, end in zip(written, bounds[1:], strict=True)]
    lead, text = len(whole) - len(whole.lstrip()), whole.strip()
    cut = segment_text(text)
    mentions: dict[tuple[int, int], Mention] = {}
    for first, end, entity in list_mention_spans(generated):
        span, _ = align_span(cut.offsets, starts[first] - lead, bounds[end] - lead)
        if span is not None:
            mentions.setdefault(span, Mention(*span, str(entity)))
    types = {str(word.e): encoder.types[word.r - 1] for word in generated if word.e} if encoder.types else {}
    found = tuple(mentions.values())
    document = Document(id, cut.tokens, cut.sentences, found, types, text=text, offsets=cut.offsets)
    present = {mention.entity for mention in found}
    called = {str(n): join_tokens(words)[0] for n, words in names.items() if str(n) in present}
    return Continuation(text, document, called), whole


def list_mention_spans(generated: Sequence[GeneratedWord]) -> Iterator[tuple[int, int, int]]:
    """List the first and the end word of each mention, and its entity; a mention may be cut off at the end."""
    for at, word in enumerate(generated):
        if word.r and (at == 0 or generated[at - 1].l == 1):
            yield at, at + min(word.l, len(generated) - at), word.e


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


def join_continuation(encoder: Encoder, prompt: Document, continuation: Continuation) -> Document:
    """Join a prompt and its continuation, with the mentions of both; new entities get numbers that are free."""
    later = continuation.document
    glue = "" if not prompt.tokens or is_attached(later.tokens[0]) else " "
    whole = append_text(prompt, glue + continuation.text, later)
    taken = {mention.entity for mention in prompt.mentions}
    names: dict[str, str] = {}  # the entity of the prompt behind each number of the continuation
    if prompt.tokens:
        encoded, _, originals = encoder.encode_with_report(prompt)
        spans = zip(originals, encoded.analysis.spans(), strict=True)
        names = {str(number): mention.entity for mention, (_, _, number, _) in spans}
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
