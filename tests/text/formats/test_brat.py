"""brat standoff: text spans, links, LitBank's layers, collections that we wrote and someone then edited."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention, Quotation
from entitynlm.text.formats.base import Oddity, Source
from entitynlm.text.formats.registry import get_format, read_documents
from support.strategies import documents

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


def write(folder: Path, *documents: Document) -> None:
    assert FORM.write_folder is not None
    FORM.write_folder(documents, folder)


def read_folder(folder: Path, oddities: list[Oddity] | None = None) -> list[Document]:
    on_oddity = (lambda oddity: None) if oddities is None else oddities.append
    return [
        d for path in sorted(folder.glob("*.ann")) for d in read_documents(path, "brat", on_oddity=on_oddity)
    ]


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


@settings(max_examples=40)
@given(documents(max_tokens=8))
def test_annotations_stand_on_the_characters_of_their_mentions(document: Document) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), document)
        (path,) = Path(folder).glob("*.ann")
        text = path.with_suffix(".txt").read_bytes().decode()
        lines = [line.split("\t") for line in path.read_text().split("\n")[:-1]]
    spans = [line for line in lines if line[0].startswith("T")]
    assert len(spans) == len(document.mentions)
    for _, head, surface in spans:
        ranges = [tuple(map(int, each.split(" "))) for each in head.split(" ", 1)[1].split(";")]
        assert " ".join(text[a:b] for a, b in ranges).split() == surface.split()
    assert sum(line[0].startswith("R") for line in lines) == len(document.mentions) - len(document.entities)


STORY = Document(
    "tales/one",
    ("Marta", "fed", "her", "dog", ".", "It", "slept", "."),
    ((0, 5), (5, 8)),
    (Mention(0, 1, "marta"), Mention(2, 3, "marta", head=2), Mention(2, 4, "dog"), Mention(5, 6, "dog")),
    {"marta": "person/adult"},
    columns={"pos": ("NNP", "VBD", "PRP$", "NN", ".", "PRP", "VBD", ".")},
)


def test_what_brat_sees(tmp_path: Path) -> None:
    write(tmp_path / "out", STORY)
    assert (tmp_path / "out/tales_one.txt").read_text() == "Marta fed her dog .\nIt slept .\n"
    assert (tmp_path / "out/tales_one.ann").read_text().split("\n") == [
        "T1\tperson_adult 0 5\tMarta",
        "T2\tMention 10 17\ther dog",
        "T3\tperson_adult 10 13\ther",
        "T4\tMention 20 22\tIt",
        "R1\tCoref Arg1:T3 Arg2:T1",
        "R2\tCoref Arg1:T4 Arg2:T2",
        "",
    ]
    settings_file = (tmp_path / "out/annotation.conf").read_text()
    assert "person_adult" in settings_file
    assert "Coref\tArg1" in settings_file


def test_edits_in_brat_are_read(tmp_path: Path) -> None:
    write(tmp_path, STORY)
    path = tmp_path / "tales_one.ann"
    lines = path.read_text().split("\n")
    lines[1] = "T2\tAnimal 14 17\tdog"  # its span and label change
    lines[5] = "R2\tCoref Arg1:T2 Arg2:T1"  # her dog becomes Marta, "It" is alone
    lines += ["T5\tPlace 6 9\tfed", "R9\tCoref Arg1:T5 Arg2:T1"]  # a new mention joins
    path.write_text("\n".join(lines))
    (document,) = read_folder(tmp_path)
    assert {e.id: [m.span for m in e.mentions] for e in document.entities} == {
        "marta": [(0, 1), (1, 2), (2, 3), (3, 4)],
        "dog": [(5, 6)],
    }
    assert document.entity_types["marta"] == "person/adult"
    assert dict(document.mentions[1].attributes) == {"label": "Place"}
    assert document.columns["pos"] == STORY.columns["pos"]
    assert document.mentions[2].head == 2


TALK = Document(
    "talk",
    tuple("“ Come , Ida , ” said Marta . “ I come . ”".split()),
    ((0, 9), (9, 14)),
    (Mention(3, 4, "i"), Mention(7, 8, "m"), Mention(10, 11, "i")),
    quotations=(Quotation(0, 6, "m", "i"), Quotation(9, 14, "i")),
)


def test_quotations_with_speakers_are_written_and_read(tmp_path: Path) -> None:
    write(tmp_path, TALK)
    path = tmp_path / "talk.ann"
    lines = path.read_text().split("\n")
    assert "T4\tQuotation 0 16\t“ Come , Ida , ”" in lines
    assert "R1\tSpeaker Arg1:T4 Arg2:T2" in lines and "R2\tAddressee Arg1:T4 Arg2:T1" in lines
    assert list(read_folder(tmp_path)) == [TALK]
    path.write_text(
        "\n".join(line.replace("Speaker Arg1:T4 Arg2:T2", "Speaker Arg1:T4 Arg2:T1") for line in lines)
    )
    (document,) = read_folder(tmp_path)
    assert document.quotations == (Quotation(0, 6, "i", "i"), Quotation(9, 14, "i"))
    (tmp_path / "talk.tokens").unlink()
    (document,) = read_folder(tmp_path)
    ida = document.mentions[0].entity
    assert [(q.span, q.speaker) for q in document.quotations] == [((0, 6), ida), ((9, 14), ida)]


def test_a_deleted_relation_parts_an_entity(tmp_path: Path) -> None:
    write(tmp_path, STORY)
    path = tmp_path / "tales_one.ann"
    kept = [line for line in path.read_text().split("\n") if not line.startswith("R1")]
    path.write_text("\n".join(kept))
    (document,) = read_folder(tmp_path)
    assert [m.entity for m in document.mentions] == ["marta", "dog", "T3", "dog"]


def test_a_corrected_label_is_the_type_of_its_entity(tmp_path: Path) -> None:
    write(tmp_path, STORY)
    path = tmp_path / "tales_one.ann"
    text = path.read_text().replace("T2\tMention", "T2\tanimal").replace("T4\tMention", "T4\tanimal")
    path.write_text(text + "T5\tNOM_FOOD 6 9\tfed\n")
    oddities: list[Oddity] = []
    (document,) = read_folder(tmp_path, oddities)
    assert document.entity_types == {"marta": "person/adult", "dog": "animal", "T5": "FOOD"}
    assert not oddities


def test_a_deleted_mention_does_not_part_its_entity(tmp_path: Path) -> None:
    """brat deletes the relations of a mention with it; they are those by which the mentions on both sides were joined."""
    spans = tuple(Mention(place, place + 1, "m" if place % 2 else "n") for place in range(8))
    document = Document("d", tuple("abcdefgh"), ((0, 8),), spans)
    write(tmp_path, document)
    path = tmp_path / "d.ann"
    gone = {"T3", "T4", "T6", "T8"}  # of n one in the middle; of m two in the middle and the last
    kept = [line for line in path.read_text().split("\n") if not gone & set(re.split(r"[\t :]", line))]
    path.write_text("\n".join(kept))
    (read_back,) = read_folder(tmp_path)
    assert read_back.mentions == tuple(each for each in spans if f"T{each.start + 1}" not in gone)


def test_an_edited_text_is_cut_anew(tmp_path: Path) -> None:
    write(tmp_path, STORY)
    (tmp_path / "tales_one.txt").write_text("Marta fed her dog .\nIt slept well .\n")
    oddities: list[Oddity] = []
    (document,) = read_folder(tmp_path, oddities)
    assert len(document) == 9
    assert spoken(document) == [["Marta", "her"], ["her dog", "It"]]
    assert "changed" in oddities[0].message


@pytest.mark.parametrize("damage", ["{", "[]", '{"entitynlm": {}}', "\udcff"])
def test_a_damaged_companion_is_left_out(tmp_path: Path, damage: str) -> None:
    write(tmp_path, STORY)
    (tmp_path / "tales_one.tokens").write_bytes(damage.encode("utf-8", "surrogateescape"))
    oddities: list[Oddity] = []
    (document,) = read_folder(tmp_path, oddities)
    assert spoken(document) == [["Marta", "her"], ["her dog", "It"]]
    assert len(oddities) == 1


def test_names_of_documents_never_collide_or_leave_the_folder(tmp_path: Path) -> None:
    names = ["a/b", "a_b", "A b", "..", "../x", "é" * 300]
    write(tmp_path / "out", *(Document(name, ("w",)) for name in names))
    assert {document.id for document in read_folder(tmp_path / "out")} == set(names)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.corpora
def test_litbank_in_brat_has_the_clusters_of_its_columns(corpora_path: Path) -> None:
    for path in sorted((corpora_path / "litbank/brat").glob("*.ann"))[::10]:
        (document,) = read_documents(path)
        (columns,) = read_documents(corpora_path / "litbank/conll" / f"{path.stem}.conll")
        assert document.tokens == columns.tokens
        assert sorted(document.clusters()) == sorted(columns.clusters()), path.name
