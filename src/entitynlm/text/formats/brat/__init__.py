"""brat standoff annotation: mentions in ``name.ann`` over the characters of ``name.txt``."""

from entitynlm.text.formats.brat.reader import read, recognise
from entitynlm.text.formats.brat.writer import write_folder

__all__ = ["read", "recognise", "write_folder"]
