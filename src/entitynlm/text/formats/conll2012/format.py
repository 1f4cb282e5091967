"""CoNLL-2012: OntoNotes' columns with coreference brackets in the last one, and the official scorer's short form.

Reading
    A file holds documents (``#begin document (name); part 000`` … ``#end document``) of whitespace- or tab-separated
    rows; a blank line ends a sentence. Rows of 12 and more columns have the names of the shared task (``pos``,
    ``parse``, ``lemma``, ``frameset``, ``sense``, ``speaker``, ``ner``, and the predicates' argument columns joined by
    spaces as ``args``); shorter ones, down to the scorer's ``name part number word coreference``, have as many of
    them as there are. The coreference column is always the last. ``-``, ``_`` and nothing mean "no value".
    A document's id is its name, with ``#part`` added from the second part on; ``meta`` keeps both as written.

Writing
    Tab-separated rows that the official scorer 8.01 accepts. Entity ids that are not numbers become numbers, and
    whitespace inside a word becomes ``_``, since most tools split rows at any whitespace. A discontinuous mention is
    written as its hull. Types, heads, raw text and other columns have no place here.

    Brackets pair by number, the last opened first, so two mentions of *one* entity that cross can't be told: the
    second gets a number of its own, and a line ``#entity 17 = 5`` before the document, which the scorer skips and
    our reader understands, says that they are one.
"""

from __future__ import annotations

from entitynlm.text.formats.base import Format
from entitynlm.text.formats.conll2012.reader import ARGUMENTS, BEGIN, is_row, read, split_row
from entitynlm.text.formats.conll2012.writer import write


def recognise(path: str, sample: bytes) -> bool:
    """``#begin document`` before any row; or, without it, a row of the full width with its two numbers."""
    lines = sample.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace").split("\n")
    for line in lines:
        line = line.strip("\r")
        if not line or line.isspace():
            continue
        if line.startswith("#"):
            if BEGIN.match(line):
                return True
            continue
        fields = split_row(line)
        return is_row(fields) and len(fields) > ARGUMENTS
    return False


FORMAT = Format(
    name="conll2012",
    description="CoNLL-2012 columns (OntoNotes *_conll, LitBank, files of the official scorer)",
    suffix=".conll",
    recognise=recognise,
    read=read,
    write=write,
)
