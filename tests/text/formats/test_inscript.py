"""InScript's columns: what rows mean, what odd rows become, and the corpus itself where it is at hand."""

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.errors import DataError
from entitynlm.text.formats.base import Oddity
from entitynlm.text.formats.registry import get_format, read_documents
from support.format_samples import read_data

FORM = get_format("inscript")
read = partial(read_data, "inscript", path="data/tea_007.txt.drs")

STORY = """\
#id=1
#text=I filled " the  old kettle " , Ann .\x20
1-1	I	1-2_nsubj	fill	PRP	P1_drinker
1-2	filled	O	O	VBD	O
1-3	"	O	O	O	O
1-4	the	O	O	DT	P1_kettle
1-5	old	O	O	JJ	P1_kettle
1-6	kettle	1-2_dobj	fill	NN	P1_kettle
1-7	"	O	O	O	O
1-8	,	O	O	O	O
1-9	Ann	O	O	NNP	P2_drinker
1-10	.	O	O	O	O

#id=2
#text=It , it and my pot sang .
2-1	It	2-7_nsubj	sing	PRP	P1_kettle
2-2	,	O	O	O	O
2-3	it	O	O	PRP	P1_NPart_it
2-4	and	O	O	CC	O
2-5	my	O	O	PRP$	P1_drinker
2-6	pot	O	O	NN	P2_kettle
2-7	sang	O	O	VBD	O
2-8	.	O	O	O	O

"""


def rows(*rows: str) -> str:
    return "#id=1\n" + "".join(row.replace(" ", "\t") + "\n" for row in rows)


def test_story() -> None:
    oddities: list[Oddity] = []
    (document,) = read(STORY, oddities)
    assert document.id == "tea_007"
    assert dict(document.meta) == {"scenario": "tea"}
    assert document.sentences == ((0, 10), (10, 18))
    assert {e.id: [m.span for m in e.mentions] for e in document.entities} == {
        "P1_drinker": [(0, 1), (14, 15)],
        "P1_kettle": [(3, 6), (10, 11)],
        "P2_drinker": [(8, 9)],
        "P1_NPart_it": [(12, 13)],
        "P2_kettle": [(15, 16)],
    }
    assert document.entity_types["P2_kettle"] == "kettle"
    assert document.entity_types["P1_NPart_it"] == "NPart"
    assert document.columns["verb_head"][0] == "1-2_nsubj"
    assert document.columns["verb"][5] == "fill"
    assert document.columns["pos"][:3] == ("PRP", "VBD", None)
    assert document.columns["label"][8] == "P2_drinker"
    assert document.words(2, 7) == '" the  old kettle "'
    assert document.text is not None
    assert document.offsets is not None
    assert [document.text[a:b] for a, b in document.offsets] == list(document.tokens)
    assert not oddities


def test_a_mention_ends_with_its_sentence() -> None:
    (document,) = read(rows("1-1 a O O O P1_x") + "\n" + rows("2-1 b O O O P1_x").replace("#id=1", "#id=2"))
    assert [mention.span for mention in document.mentions] == [(0, 1), (1, 2)]


def test_a_text_that_does_not_fit_gives_way_to_the_words() -> None:
    (document,) = read(STORY.replace("#text=I filled", "#text=We filled"))
    assert document.words(0, 5) == 'I filled " the old'


@pytest.mark.parametrize(
    ("row", "tokens", "labels"),
    [
        ("1-2 b", ("a", "b", "c"), ["P1_x"]),
        ("1-2 b O O NN", ("a", "b", "c"), ["P1_x"]),
        ("1-2 b O O NN zzz P1_y", ("a", "b", "c"), ["P1_x", "P1_y"]),
        ("1-2", ("a", "c"), ["P1_x"]),
    ],
)
def test_odd_rows_are_reported_and_read(row: str, tokens: tuple[str, ...], labels: list[str]) -> None:
    oddities: list[Oddity] = []
    (document,) = read(rows("1-1 a O O O P1_x", row, "1-3 c O O O O"), oddities)
    assert document.tokens == tokens
    assert [mention.entity for mention in document.mentions] == labels
    assert 3 in [oddity.line for oddity in oddities]


def test_sentences_without_blank_lines_or_words() -> None:
    oddities: list[Oddity] = []
    text = rows("1-1 a O O O O") + "#id=2\n2-1\tb\tO\tO\tO\tO\n\n#id=3\n#text=\n\n#id=4\n4-1\tc\tO\tO\tO\tO"
    (document,) = read(text, oddities)
    assert document.sentences == ((0, 1), (1, 2), (2, 3))
    assert len(oddities) == 2


def test_an_empty_file_is_reported() -> None:
    oddities: list[Oddity] = []
    assert read("", oddities) == []
    assert len(oddities) == 1


def test_another_file() -> None:
    with pytest.raises(DataError, match=r"tea_007\.txt\.drs:1: this is not InScript"):
        read("Once upon a time\n")


def test_recognition() -> None:
    assert FORM.recognise("-", STORY.encode())
    assert FORM.recognise("-", b"\xef\xbb\xbf\r\n1-1\tI\tO\tO\tPRP\tP1_x\r\n")
    assert FORM.recognise("a.drs.gz", b"")
    assert not FORM.recognise("-", b"1-1 I O O PRP O")
    assert not FORM.recognise("-", b"# id = 1\n1\tI\t_\n")


@given(st.lists(st.sampled_from(["P1_a", "P2_a", "P1_NPart_b", "O"]), min_size=1, max_size=12))
def test_mentions_are_the_runs_of_labels(labels: list[str]) -> None:
    (document,) = read(rows(*(f"1-{n} w O O O {label}" for n, label in enumerate(labels, start=1))))
    shown = ["O"] * len(labels)
    for mention in document.mentions:
        shown[mention.start : mention.end] = [mention.entity] * len(mention)
    assert shown == labels
    edges = [mention.start for mention in document.mentions]
    assert all(start == 0 or labels[start - 1] != labels[start] for start in edges)


@pytest.mark.slow
@pytest.mark.corpora
def test_the_corpus_is_read_whole(corpora_path: Path) -> None:
    oddities: list[Oddity] = []
    files = sorted((corpora_path / "inscript/data").rglob("*.drs"))
    found = [document for path in files for document in read_documents(path, on_oddity=oddities.append)]
    assert len(found) == 892
    assert sum(len(document) for document in found) == 193_759
    assert not oddities
    spaced = [word for document in found for word in document.tokens if " " in word]
    assert spaced == ["1 1/2", "1 1/2", "2 1/4", "1 1/2"]
