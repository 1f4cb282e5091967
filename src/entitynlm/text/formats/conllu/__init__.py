"""CoNLL-U with coreference in the MISC column (``Entity=``): OntoGUM's bare form, GUM's and CorefUD's full form."""

from entitynlm.text.formats.base import Format
from entitynlm.text.formats.conllu.reader import read, recognise
from entitynlm.text.formats.conllu.writer import write

FORMAT = Format(
    "conllu", "CoNLL-U with Entity= in MISC (OntoGUM, GUM, CorefUD)", ".conllu", recognise, read, write
)
