"""Rendering: generated words as text, and as a document with mentions."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from entitynlm.generation.generator import GeneratedWord
from entitynlm.generation.request import Continuation
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.text.detokenization import join_tokens
from entitynlm.text.document import Document, Mention
from entitynlm.text.segmentation import align_span, segment_text


def render(
    encoder: Encoder, generated: Sequence[GeneratedWord], id: str, names: Mapping[int, tuple[str, ...]]
) -> Continuation:
    """Write generated words as their pieces have them, and cut the text into tokens as any other text.

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
    return Continuation(text, document, called)


def list_mention_spans(generated: Sequence[GeneratedWord]) -> Iterator[tuple[int, int, int]]:
    """List the first and the end word of each mention, and its entity; a mention may be cut off at the end."""
    for at, word in enumerate(generated):
        if word.r and (at == 0 or generated[at - 1].l == 1):
            yield at, at + min(word.l, len(generated) - at), word.e
