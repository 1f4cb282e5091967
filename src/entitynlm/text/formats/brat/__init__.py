"""brat standoff annotation: mentions in ``name.ann`` over the characters of ``name.txt``."""

from entitynlm.text.formats.base import Format
from entitynlm.text.formats.brat.reader import read, recognise
from entitynlm.text.formats.brat.writer import write_folder

OPTIONS = {
    "tokens": "how the text is cut into words: auto, whitespace or text",
    "relations": "names of relations that mean coreference, parted by commas",
    "text": "the path of the text, where it is not beside the annotations",
}
DESCRIPTION = "brat standoff: .ann files with their .txt"
FORMAT = Format("brat", DESCRIPTION, ".ann", recognise, read, write_folder=write_folder, options=OPTIONS)
