"""A small valid file of every format, for tests of recognition and for damage of all kinds."""

import io
import json
import tempfile
from pathlib import Path

from entitynlm.errors import EntityNLMError
from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.base import Oddity, Source
from entitynlm.text.formats.registry import FORMATS, read_documents, write_documents

STORY = Document(
    "tale",
    ("Old", "Marta", "fed", "her", "dog", ".", "It", "slept", ",", "she", "said", "."),
    ((0, 6), (6, 12)),
    (
        Mention(0, 2, "1", head=1),
        Mention(3, 4, "1"),
        Mention(3, 5, "2"),
        Mention(6, 7, "2"),
        Mention(9, 10, "1", attributes=(("infstat", "giv"),)),
    ),
    {"1": "person"},
    text="Old Marta fed her dog. It slept, she said.",
    offsets=(
        (0, 3),
        (4, 9),
        (10, 13),
        (14, 17),
        (18, 21),
        (21, 22),
        (23, 25),
        (26, 31),
        (31, 32),
        (33, 36),
        (37, 41),
        (41, 42),
    ),
    columns={"pos": ("JJ", "NNP", "VBD", "PRP$", "NN", ".", "PRP", "VBD", ",", "PRP", "VBD", ".")},
    heads=(1, 2, -1, 4, 2, 2, 7, 10, 10, 10, -1, 10),
)
E2E = {
    "sentences": [["Ann", "met", "Bo"], ["He", "left"]],
    "clusters": [[[2, 2], [3, 3]]],
    "speakers": [["A"] * 3, ["B"] * 2],
}
READ_ONLY = {
    "brat": b"T1\tperson 0 9\tOld Marta\nT2\tperson 14 17\ther\nT3\tX 14 21\ther dog\nT4\tX 23 25\tIt\n"
    b"*\tCoref T1 T2\nR1\tCoref Arg1:T4 Arg2:T3\n",
    "pandoc": "<h1>Old <i>Marta</i></h1>\n<p>“Sleep!” she said to <a href='x.y'>Bo</a> &amp; Dr. Ode.</p>\n".encode(),
    "inscript": b"#id=1\n#text=I slept .\n1-1\tI\t1-2_nsubj\tsleep\tPRP\tP1_sleeper\n1-2\tslept\tO\tO\tVBD\tO\n"
    b"1-3\t.\tO\tO\t.\tO\n\n",
    "text": "# Old *Marta*\n\n“Sleep!” she said to [Bo](x.y) & <b>Dr. Ode</b>.\n\n- one\n- two\n".encode(),
}


def make_sample(name: str) -> bytes:
    """A small valid file of a format."""
    if name in READ_ONLY:
        return READ_ONLY[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tale"
        write_documents([STORY, STORY.with_clusters([[(0, 1)]])], path, name)
        return path.read_bytes()


SAMPLES = {name: make_sample(name) for name in FORMATS}
SAMPLES["e2e"] = json.dumps(E2E).encode() + b"\n"
SAMPLES["fastcoref"] = json.dumps({"text": "Ann left. She ran.", "clusters": [[[0, 3], [10, 13]]]}).encode()


def exhaust(path: Path, format: str | None) -> None:
    """Read a file to its end; what comes out must be fit to be written."""
    written = path.with_name("again.jsonl")
    try:
        found = list(read_documents(path, format))
    except EntityNLMError as error:
        assert path.name.split(".")[0] in str(error)
        assert "Traceback" not in str(error)
        return
    write_documents(found, written, "jsonl")
    assert list(read_documents(written, "jsonl")) == found


def read_data(
    format: str,
    data: str | bytes,
    oddities: list[Oddity] | None = None,
    path: str = "dir/tale",
    **options: object,
) -> list[Document]:
    """Read the documents of a file's content, and put what is odd in it into ``oddities``."""
    raw = data.encode() if isinstance(data, str) else data
    on_oddity = [].append if oddities is None else oddities.append
    return list(FORMATS[format].read(Source(path, io.BytesIO(raw), on_oddity, dict(options))))


def write_data(format: str, *documents: Document) -> str:
    """Write documents into the content of a file."""
    write = FORMATS[format].write
    assert write is not None
    stream = io.StringIO()
    write(documents, stream)
    return stream.getvalue()
