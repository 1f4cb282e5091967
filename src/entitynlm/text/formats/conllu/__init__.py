"""CoNLL-U with coreference in the MISC column (``Entity=``): OntoGUM's bare form, GUM's and CorefUD's full form."""

from entitynlm.text.formats.conllu.reader import read, recognise
from entitynlm.text.formats.conllu.writer import write

__all__ = ["read", "recognise", "write"]
