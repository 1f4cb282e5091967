"""Paragraphs of a raw text: dialogue changes speakers with them, chapters begin with them."""

import re
from itertools import pairwise

from entitynlm.text.document import Document

BLANK_LINE = re.compile(r"\n[^\S\n]*\n|\f|\u2029")
LONG_LINE = 160
"""Mean length of a line in characters from which each line is a paragraph, in a text without blank lines."""


def find_paragraphs(document: Document) -> list[int]:
    """List the first token of each paragraph; a document without raw text or without breaks is one paragraph."""
    if not len(document):
        return []
    if document.text is None or document.offsets is None:
        return [0]
    text = document.text.replace("\r\n", " \n").replace("\r", "\n")
    by_lines = not BLANK_LINE.search(text) and len(text) > LONG_LINE * max(1, text.count("\n"))
    starts = [0]
    for token, ((_, before), (after, _)) in enumerate(pairwise(document.offsets), start=1):
        gap = text[before:after]
        if ("\n" in gap and (by_lines or BLANK_LINE.search(gap))) or "\f" in gap or "\u2029" in gap:
            starts.append(token)
    return starts
