"""Documents from texts with mentions written into them."""

import re

from entitynlm.api import as_document
from entitynlm.text.document import Document, Mention

MARKED = re.compile(r"\[([^]|]+)\|(\w+)\]")


def read_marked(text: str) -> Document:
    """A document from a text with mentions written as [words|entity]."""
    document = as_document(MARKED.sub(lambda match: match[1], text))
    assert document.offsets is not None
    starts = {start: number for number, (start, _) in enumerate(document.offsets)}
    ends = {end: number + 1 for number, (_, end) in enumerate(document.offsets)}
    mentions, moved = [], 0
    for match in MARKED.finditer(text):
        start = match.start() - moved
        mentions.append(Mention(starts[start], ends[start + len(match[1])], match[2]))
        moved += len(match[0]) - len(match[1])
    return document.with_mentions(mentions)
