"""CoNLL-U with coreference in the MISC column (``Entity=``): OntoGUM's bare form, GUM's and CorefUD's full form.

Reading
    ``# newdoc id`` opens a document; a file without it is one document named after the file. Tokens are the words
    with integer ids. XPOS, UPOS, LEMMA, FEATS and DEPREL become the columns ``pos``, ``upos``, ``lemma``, ``feats`` and
    ``deprel``, HEAD the document's heads; ``# speaker`` and ``# addressee`` comments become columns, and so do
    sentence ids that are not simply counted. ``# meta::`` comments become ``meta``. Text and offsets are put together
    from the words, ``SpaceAfter`` and multiword tokens (which the column ``mwt`` marks: 1/2, 2/2); a new paragraph
    is a new line. A mention whose bracket stands at an empty node begins at the next word or ends at the one
    before; a mention of empty nodes only is dropped. Both are reported. Enhanced dependencies, empty nodes, the
    remaining comments and MISC items (``Discourse``, ``Bridge``, …) are not kept.

Writing
    Entity fields are those the document was read with (``meta["global.Entity"]``), else GRP, etype, head and other. A
    mention that runs over the end of a sentence has its brackets in different sentences. A syntactic head in another
    sentence becomes a root. Columns that have no place of their own are MISC items named by a comment
    ``# entitynlm.columns``; ``conllu_text`` tells of raw text that plain CoNLL-U can't express.
"""

from __future__ import annotations

import re

from entitynlm.text.formats.base import Format
from entitynlm.text.formats.conllu.reader import read
from entitynlm.text.formats.conllu.writer import write

_ROW = re.compile(r"[0-9]+(?:[-.][0-9]+)?(?:\t[^\t]*){9}\Z")
_CUT_ROW = re.compile(r"[0-9]+(?:[-.][0-9]+)?(?:\t[^\t]*){0,9}\Z")
_COMMENT = re.compile(r"#\s*(?:newdoc\b|sent_id\s*=|global\.Entity\s*=|text\s*=\s)")


def recognise(path: str, sample: bytes) -> bool:
    """The first line that is neither blank nor a comment is a row of ten columns.

    Where the sample holds no whole row, comments that only CoNLL-U has are enough.
    """
    *lines, last = sample.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace").split("\n")
    typical = False
    for line in lines:
        line = line.rstrip("\r")
        if line.startswith("#"):
            typical = typical or _COMMENT.match(line) is not None
        elif line and not line.isspace():
            return _ROW.match(line) is not None
    last = last.rstrip("\r")
    if not last or last.startswith("#"):
        return typical or _COMMENT.match(last) is not None
    return _ROW.match(last) is not None or (typical and _CUT_ROW.match(last) is not None)


FORMAT = Format(
    name="conllu",
    description="CoNLL-U with Entity= in MISC (OntoGUM, GUM, CorefUD)",
    suffix=".conllu",
    recognise=recognise,
    read=read,
    write=write,
)
