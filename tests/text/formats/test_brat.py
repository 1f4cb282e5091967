"""brat standoff: text spans, links, LitBank's layers."""

from pathlib import Path

import pytest

from entitynlm.errors import DataError
from entitynlm.text.document import Document
from entitynlm.text.formats.base import Oddity, Source
from entitynlm.text.formats.registry import get_format, read_documents

FORM = get_format("brat")

RAW = "Old Marta fed her dog. It slept, she said.\n"
ANN = """\
T1\tPerson 0 9\tOld Marta
T2\tPerson 14 17\ther
T3\tAnimal 14 21\ther dog
T4\tAnimal 23 25\tIt
T5\tPerson 33 36\tshe
E1\tFeed:T9
A1\tSure E1
#1\tAnnotatorNotes T1\ta note
*\tCoref T1 T2
R1\tCoref Arg1:T5 Arg2:T2
R2\tCoreference Arg1:T4 Arg2:T3\t
R3\tLikes Arg1:T1 Arg2:T3
"""
TOKENISED = "Marta 's dog slept .\nShe , Marta , wept .\n"
LAYERS = """\
T1\tPROP_PER 0 5\tMarta
T2\tNOM_PER 0 12\tMarta 's dog
T3\tPRON_PER 21 24\tShe
T4\tPROP_PER 27 32\tMarta
T5\tMarta-1 0 5\tMarta
T6\tMarta__s_dog-2 0 12\tMarta 's dog
T7\tMarta-1 21 24\tShe
R1\tappos Arg1:T4 Arg2:T3
R2\tcop Arg1:T4 Arg2:T77
"""


def read(folder: Path, ann: str, text: str, *, oddities: list[Oddity] | None = None) -> Document:
    (folder / "tale.txt").write_bytes(text.encode())
    (folder / "tale.ann").write_bytes(ann.encode())
    on_oddity = (lambda oddity: None) if oddities is None else oddities.append
    with (folder / "tale.ann").open("rb") as stream:
        (document,) = FORM.read(Source(str(folder / "tale.ann"), stream, on_oddity))
    return document


def spoken(document: Document) -> list[list[str]]:
    return [[document.words(*mention.span) for mention in entity.mentions] for entity in document.entities]


def test_raw_text_with_links(tmp_path: Path) -> None:
    oddities: list[Oddity] = []
    document = read(tmp_path, ANN, RAW, oddities=oddities)
    assert document.id == "tale"
    assert document.text == RAW
    assert spoken(document) == [["Old Marta", "her", "she"], ["her dog", "It"]]
    assert [entity.type for entity in document.entities] == ["Person", "Animal"]
    assert [document.words(*sentence) for sentence in document.sentences] == [
        "Old Marta fed her dog.",
        "It slept, she said.",
    ]
    assert not oddities


def test_relations_that_are_not_understood_are_named(tmp_path: Path) -> None:
    oddities: list[Oddity] = []
    ann = "T1\tX 0 5\tMarta\nT2\tX 21 24\tShe\nR1\tSame Arg1:T1 Arg2:T2\n"
    assert len(read(tmp_path, ann, TOKENISED, oddities=oddities).entities) == 2
    assert "there are Same" in oddities[0].message


def test_litbank_layers(tmp_path: Path) -> None:
    oddities: list[Oddity] = []
    document = read(tmp_path, LAYERS, TOKENISED, oddities=oddities)
    assert document.tokens == tuple(TOKENISED.split())
    assert document.sentences == ((0, 5), (5, 11))
    assert {e.id: [m.span for m in e.mentions] for e in document.entities} == {
        "Marta__s_dog-2": [(0, 3)],
        "Marta-1": [(0, 1), (5, 6)],
        "T4": [(7, 8)],
    }
    assert set(document.entity_types.values()) == {"PER"}
    assert [dict(mention.attributes)["label"] for mention in document.mentions] == [
        "NOM_PER",
        "PROP_PER",
        "PRON_PER",
        "PROP_PER",
    ]
    assert [(oddity.line, "T77" in oddity.message) for oddity in oddities] == [(9, True)]


def test_discontinuous_mentions_are_read_from_their_first_to_their_last_word(tmp_path: Path) -> None:
    document = read(tmp_path, "T1\tX 0 5;13 18\tMarta slept\nT2\tX 0 5;6 8\tMarta 's\n", TOKENISED)
    assert [mention.span for mention in document.mentions] == [(0, 4), (0, 2)]


def test_a_cut_word_is_taken_whole_and_reported(tmp_path: Path) -> None:
    oddities: list[Oddity] = []
    document = read(tmp_path, "T1\tX 1 5\tarta\nT2\tX 5 6\t \n", TOKENISED, oddities=oddities)
    assert [mention.span for mention in document.mentions] == [(0, 1)]
    assert [oddity.line for oddity in oddities] == [1, 2]


def test_types_that_differ_within_an_entity(tmp_path: Path) -> None:
    oddities: list[Oddity] = []
    document = read(
        tmp_path, "T1\tA 0 5\tMarta\nT2\tB 21 24\tShe\n*\tCoref T1 T2\n", TOKENISED, oddities=oddities
    )
    assert dict(document.entity_types) == {"T1": "A"}
    assert [mention.attributes for mention in document.mentions] == [(), (("label", "B"),)]
    assert "types A, B" in oddities[0].message


def test_surface_that_differs_is_reported(tmp_path: Path) -> None:
    oddities: list[Oddity] = []
    read(tmp_path, "T1\tX 0 5\tAgnes\n", TOKENISED, oddities=oddities)
    assert "'Agnes'" in oddities[0].message


@pytest.mark.parametrize(
    ("ann", "message"),
    [
        ("T1\tX 0\tMarta", "no label or no ranges"),
        ("T1\tX 5 5\t", "empty or runs backwards"),
        ("T1\tX 5 1000\tMarta", "the text has"),
        ("Marta slept", "not a brat annotation"),
        ("T1 X 0 5 Marta", "not a brat annotation"),
    ],
)
def test_lines_that_make_no_sense(tmp_path: Path, ann: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, f"T8\tX 0 5\tMarta\n{ann}\n", TOKENISED)
    assert caught.value.line == 2


def test_a_missing_text(tmp_path: Path) -> None:
    (tmp_path / "alone.ann").write_text(LAYERS)
    with pytest.raises(DataError, match=r"alone\.ann: the text .*alone\.txt"):
        list(read_documents(tmp_path / "alone.ann"))


@pytest.mark.corpora
def test_litbank_in_brat_has_the_clusters_of_its_columns(corpora_path: Path) -> None:
    for path in sorted((corpora_path / "litbank/brat").glob("*.ann"))[::10]:
        (document,) = read_documents(path)
        (columns,) = read_documents(corpora_path / "litbank/conll" / f"{path.stem}.conll")
        assert document.tokens == columns.tokens
        assert sorted(document.clusters()) == sorted(columns.clusters()), path.name
