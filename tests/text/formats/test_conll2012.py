"""CoNLL-2012: the shared task's columns, LitBank's and the scorer's variants, and back."""

import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats import registry
from entitynlm.text.formats.base import Oddity, find_layers
from entitynlm.text.formats.registry import get_format
from support.format_samples import read_data, write_data
from support.strategies import documents, sorted_clusters

FORM = get_format("conll2012")
read = partial(read_data, "conll2012", path="tale.conll")
write = partial(write_data, "conll2012")

GOLD = """\
#begin document (nw/tale/00/tale_0001); part 000
nw/tale/00/tale_0001   0   0    Old    JJ  (TOP(S(NP*     -    -   -   Ann_Lee   (PERSON*   (ARG0*    (0|(1
nw/tale/00/tale_0001   0   1  Marta   NNP          *      -    -   -   Ann_Lee        *)        *         -
nw/tale/00/tale_0001   0   2    and    CC          *      -    -   -   Ann_Lee        *         *        1)
nw/tale/00/tale_0001   0   3    her  PRP$        (NP*     -    -   -   Ann_Lee        *         *       (1)
nw/tale/00/tale_0001   0   4    dog    NN         *))     -    -   1   Ann_Lee        *         *)        0)
nw/tale/00/tale_0001   0   5  slept   VBD     (VP*)))  sleep  01   1   Ann_Lee        *        (V*)        -

nw/tale/00/tale_0001   0   0   They   PRP  (TOP(S(NP*)    -    -   -   -   *   (0)
nw/tale/00/tale_0001   0   1  snore   VBP     (VP*)))     -    -   -   -   *    -

#end document
#begin document (nw/tale/00/tale_0001); part 001
nw/tale/00/tale_0001   1   0    Rain    NN    (TOP(NP*))     -    -   -   -   *    -

#end document
"""


def rows(*cells: str) -> str:
    """A document in the official scorer's short form with these coreference cells."""
    body = "".join(f"test 0 {n} w{n} {cell}\n" for n, cell in enumerate(cells))
    return f"#begin document (test); part 000\n{body}\n#end document\n"


def spans_of(document: Document) -> dict[str, list[Span]]:
    return {entity.id: [mention.span for mention in entity.mentions] for entity in document.entities}


# -- reading -------------------------------------------------------------------------------------------------------


def test_a_gold_file_is_read_with_all_its_columns() -> None:
    oddities: list[Oddity] = []
    first, second = read(GOLD, oddities)
    assert oddities == []
    assert first.id == "nw/tale/00/tale_0001"
    assert second.id == "nw/tale/00/tale_0001#001"
    assert dict(first.meta) == {"name": "nw/tale/00/tale_0001", "part": "000"}
    assert first.tokens == ("Old", "Marta", "and", "her", "dog", "slept", "They", "snore")
    assert first.sentences == ((0, 6), (6, 8))
    assert spans_of(first) == {"0": [(0, 5), (6, 7)], "1": [(0, 3), (3, 4)]}
    assert first.columns["pos"] == ("JJ", "NNP", "CC", "PRP$", "NN", "VBD", "PRP", "VBP")
    assert first.columns["lemma"] == (None,) * 5 + ("sleep", None, None)
    assert first.columns["frameset"][5] == "01"
    assert first.columns["sense"] == (None, None, None, None, "1", "1", None, None)
    assert first.columns["speaker"] == ("Ann_Lee",) * 6 + (None, None)
    assert first.columns["ner"][:2] == ("(PERSON*", "*)")
    assert first.columns["args"] == ("(ARG0*", "*", "*", "*", "*)", "(V*)", None, None)
    assert set(second.columns) == {"pos", "parse"}


def test_a_gold_file_comes_back_field_by_field() -> None:
    written = write(*read(GOLD))
    assert [line.split() for line in written.splitlines()] == [line.split() for line in GOLD.splitlines()]


def test_litbank_has_tabs_underscores_and_an_empty_last_column() -> None:
    text = "#begin document (x_brat); part 0\n"
    for number, (word, cell) in enumerate((("Up", ""), ("Mount", "(3|(4"), ("Doom", "3)|4)"))):
        text += "\t".join(("x_brat", "0", str(number), word, *"________", cell)) + "\n"
    document = read(text + "\n#end document\n")[0]
    assert document.id == "x_brat"
    assert spans_of(document) == {"3": [(1, 3)], "4": [(1, 3)]}
    assert dict(document.columns) == {}


def test_the_short_form_of_the_official_scorer() -> None:
    document = read(rows("(0", "0)", "-", "(1)|(2)"))[0]
    assert document.tokens == ("w0", "w1", "w2", "w3")
    assert spans_of(document) == {"0": [(0, 2)], "1": [(3, 4)], "2": [(3, 4)]}
    assert dict(document.columns) == {}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("(1", "(1)", "1)"), {"1": [(0, 3), (1, 2)]}),
        (("(1|(1", "1)", "1)"), {"1": [(0, 3), (0, 2)]}),
        (("(1", "(2", "1)", "2)"), {"1": [(0, 3)], "2": [(1, 4)]}),
        (("(1(2)", "(3", "1)3)"), {"1": [(0, 3)], "2": [(0, 1)], "3": [(1, 3)]}),
        (("(1|1)", "_", "*"), {"1": [(0, 1)]}),
        (("(1", "1)|(1", "1)"), {"1": [(0, 3), (1, 2)]}),  # as the official scorer: open before close
        (("(ACT_7", "ACT_7)"), {"ACT_7": [(0, 2)]}),
    ],
)
def test_brackets_pair_with_the_last_opened(cells: tuple[str, ...], expected: dict[str, list[Span]]) -> None:
    oddities: list[Oddity] = []
    assert spans_of(read(rows(*cells), oddities)[0]) == expected
    assert oddities == []


@pytest.mark.parametrize(
    ("header", "id", "part"),
    [
        ("#begin document (a b/c); part 000", "a b/c", "000"),
        ("#begin document (a); part 0", "a", "0"),
        ("#begin document (a); part 012", "a#012", "012"),
        ("#begin document (a);", "a", None),
        ("#begin document a.xml", "a.xml", None),
        ("#begin document (a); part 5); part 001", "a); part 5#001", "001"),
        ("#begin document ()", "tale", None),
    ],
)
def test_headers(header: str, id: str, part: str | None) -> None:
    document = read(f"{header}\nx 0 0 w -\n\n#end document\n")[0]
    assert document.id == id
    assert document.meta.get("part") == part


def test_words_and_mentions_are_enough_for_scoring(tmp_path: Path) -> None:
    path = tmp_path / "gold.conll"
    path.write_text(GOLD)
    whole = list(registry.read_documents(path))
    bare = list(registry.read_documents(path, words_only=True))
    assert [(d.id, d.tokens, d.sentences, d.mentions) for d in bare] == [
        (d.id, d.tokens, d.sentences, d.mentions) for d in whole
    ]
    assert any(document.columns for document in whole)
    assert not any(document.columns for document in bare)


# -- oddities and errors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "part_of_message", "clusters"),
    [
        (rows("(1", "(2)", "-"), 2, "never closed", [((1, 2),)]),
        (rows("1)", "(2)"), 2, "not opened", [((1, 2),)]),
        (rows("(2)", "7", "-"), 3, "was skipped", [((0, 1),)]),
        (rows("(2)").replace("#end document\n", ""), None, "no '#end document'", [((0, 1),)]),
        (rows("(2)").replace("test 0 0", "test 0 5"), 2, "count 0, 1, 2", [((0, 1),)]),
        ("t 0 0 a (1)\nt 0 1 b -\n#end document\n", 1, "without '#begin document'", [((0, 1),)]),
        (rows("-", "(2)").replace(" -", ""), 2, "fewer columns", [((1, 2),)]),
        (rows("(2)").replace("\ntest", "\n# a remark\ntest"), 2, "comment", [((0, 1),)]),
        (rows("(2)") + "#end document\n", 5, "without a document", [((0, 1),)]),
        ("#begin document (t);\nt (2)\nt \n#end document\n", 3, "without coreference", [((0, 1),)]),
    ],
)
def test_odd_files_are_read_and_reported(
    text: str, line: int | None, part_of_message: str, clusters: list[tuple[Span, ...]]
) -> None:
    oddities: list[Oddity] = []
    (document,) = read(text, oddities)
    assert sorted_clusters(document) == clusters
    assert [oddity.line for oddity in oddities] == [line]
    assert part_of_message in oddities[0].message


def test_a_document_that_is_not_closed_ends_where_the_next_begins() -> None:
    text = rows("(1)").replace("#end document\n", "") + rows("-", "(1)").replace("(test)", "(other)")
    oddities: list[Oddity] = []
    assert [document.id for document in read(text, oddities)] == ["test", "other"]
    assert [oddity.line for oddity in oddities] == [4]


def test_second_documents_of_a_name_get_another_id_and_come_back_with_it() -> None:
    oddities: list[Oddity] = []
    twice = read(rows("(1)") + rows("-"), oddities)
    assert [document.id for document in twice] == ["test", "test~2"]
    assert "already here" in oddities[0].message
    assert [document.id for document in read(write(*twice))] == ["test", "test~2"]


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("#begin document (a); part 000\na 0 0 x -\na 0\n", 3, "at least document"),
        ("It was a dark night.\n", 1, "word number"),
    ],
)
def test_unusable_rows_say_where_and_what(text: str, line: int, expected: str) -> None:
    with pytest.raises(DataError) as error:
        read(text)
    assert error.value.path == "tale.conll"
    assert error.value.line == line
    assert expected in (error.value.expected or "")
    assert error.value.hint is not None


# -- writing -------------------------------------------------------------------------------------------------------


def test_documents_of_other_formats_get_what_the_shared_task_writes_for_missing_annotation() -> None:
    document = Document("d", ("One", "two", "three", "four"), ((0, 3), (3, 4)), (Mention(0, 2, "bath"),))
    assert write(document).splitlines() == [
        "#begin document (d); part 000",
        "d\t0\t0\tOne\tXX\t(TOP*\t-\t-\t-\t-\t*\t(0",
        "d\t0\t1\ttwo\tXX\t*\t-\t-\t-\t-\t*\t0)",
        "d\t0\t2\tthree\tXX\t*)\t-\t-\t-\t-\t*\t-",
        "",
        "d\t0\t0\tfour\tXX\t(TOP*)\t-\t-\t-\t-\t*\t-",
        "",
        "#end document",
    ]
    assert dict(read(write(document))[0].columns) == {}


def test_entity_ids_that_are_numbers_stay_and_others_become_free_numbers() -> None:
    mentions = (Mention(0, 1, "bath"), Mention(1, 2, "0"), Mention(2, 3, "07"), Mention(3, 4, "2"))
    back = read(write(Document("d", ("a", "b", "c", "d"), mentions=mentions)))[0]
    assert spans_of(back) == {"1": [(0, 1)], "0": [(1, 2)], "3": [(2, 3)], "2": [(3, 4)]}


def test_crossing_mentions_of_one_entity_get_a_second_number() -> None:
    mentions = (Mention(0, 3, "5"), Mention(2, 4, "5"), Mention(1, 5, "9"))
    text = write(Document("d", ("a", "b", "c", "d", "e"), mentions=mentions))
    assert spans_of(read(text)[0]) == {"5": [(0, 3)], "0": [(2, 4)], "9": [(1, 5)]}


def test_whitespace_in_words_and_values_does_not_break_rows() -> None:
    document = Document("my doc", ("10 000", "b\tc", "\u00a0"), columns={"speaker": ("Ann Lee", None, None)})
    back = read(write(document))[0]
    assert back.id == "my doc"
    assert back.tokens == ("10_000", "b_c", "_")
    assert back.columns["speaker"] == ("Ann_Lee", None, None)
    assert all(len(line.split()) in (0, 2, 5, 6, 12) for line in write(document).splitlines())


# -- properties ------------------------------------------------------------------------------------------------------

COLUMNS = ("pos", "lemma", "frameset", "sense", "speaker", "ner", "parse")
plain_documents = documents(
    text=False, heads=False, types=False, attributes=False, mention_heads=False, meta=False, columns=COLUMNS
)


@given(st.lists(plain_documents, max_size=2, unique_by=lambda document: document.id))
def test_round_trip(originals: list[Document]) -> None:
    oddities: list[Oddity] = []
    back = read(write(*originals), oddities)
    assert oddities == []
    assert [document.id for document in back] == [document.id for document in originals]
    for document, again in zip(originals, back, strict=True):
        assert again.tokens == document.tokens
        assert again.sentences == document.sentences
        if not any(find_layers(document)):  # two crossing mentions of one entity become two entities
            assert sorted_clusters(again) == sorted_clusters(document)
        assert {k: v for k, v in again.columns.items() if k != "args"} == dict(document.columns)
        assert read(write(again))[0] == again


def read_like_the_official_scorer(text: str) -> list[dict[str, list[Span]]]:
    """The rules of the scorer 8.01 in a few lines: tabs, last column, single words, then opening, then closing."""
    found: list[dict[str, list[Span]]] = []
    half: dict[str, list[int]] = {}
    number = -1
    for line in text.splitlines():
        if re.match(r"#\s*begin document (.*?)$", line):
            found.append({})
            half, number = {}, 0
        elif re.search(r"#\s*end document", line):
            assert not any(half.values())
            number = -1
        elif line and number >= 0:
            cell = line.split("\t")[-1]
            for entity in re.findall(r"\((\d+)\)", cell):
                found[-1].setdefault(entity, []).append((number, number + 1))
            cell = re.sub(r"\((\d+)\)", "", cell)
            for entity in re.findall(r"\((\d+)", cell):
                half.setdefault(entity, []).append(number)
            for entity in re.findall(r"(\d+)\)", re.sub(r"\((\d+)", "", cell)):
                found[-1].setdefault(entity, []).append((half[entity].pop(), number + 1))
            number += 1
    return found


@given(st.lists(plain_documents, min_size=1, max_size=2, unique_by=lambda document: document.id))
def test_the_official_scorer_would_read_the_same_spans(originals: list[Document]) -> None:
    seen = read_like_the_official_scorer(write(*originals))
    for document, entities in zip(originals, seen, strict=True):
        expected = sorted(mention.span for mention in document.mentions)
        assert sorted(span for spans in entities.values() for span in spans) == expected


# -- recognising and real files --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        (GOLD.encode(), True),
        (GOLD.encode()[:100], True),
        (b"\xef\xbb\xbf\r\n\r\n# made by hand\r\n#begin document (a);\r\n", True),
        (b"#begin document a.xml\n", True),
        (("\t".join(("d", "0", "0", "w", *"XX * - - - - *".split(), "-")) + "\n").encode(), True),
        (b"", False),
        (b"# Title\n\nSome *Markdown* text that goes on for twelve or more words in a line.\n", False),
        (b"#id=1\n#text=The bath .\n1-1\tThe\tO\tO\tDT\tO\n", False),
        (b"# newdoc id = a\n# sent_id = a-1\n1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n", False),
        (b'{"doc_key": "a", "sentences": [["a"]], "clusters": []}\n', False),
        (b"\x00\xff\xfe", False),
    ],
)
def test_recognising(sample: bytes, expected: bool) -> None:
    assert FORM.recognise("file", sample) is expected


@pytest.mark.corpora
def test_litbank_is_read_without_oddities_and_comes_back(corpora_path: Path) -> None:
    paths = sorted((corpora_path / "litbank" / "conll").glob("*.conll"))
    assert len(paths) == 90
    for path in paths[::15]:
        data = path.read_bytes()
        assert FORM.recognise(str(path), data[:65536])
        oddities: list[Oddity] = []
        (document,) = read(data, oddities)
        assert oddities == []
        assert document.mentions
        assert read(write(document)) == [document]


def test_rows_of_document_and_coreference_alone_are_read(tmp_path: Path) -> None:
    """The official scorer looks at nothing but the last column, and some of its own test files have no other."""
    short, full = tmp_path / "short.conll", tmp_path / "full.conll"
    cells = ["(0)", "-", "(1", "1)", "(0)|(2)"]
    short.write_text("#begin document (a);\n" + "".join(f"a\t{c}\n" for c in cells) + "\n#end document\n")
    rows = "".join(f"a\t0\t{number}\tw\t{cell}\n" for number, cell in enumerate(cells))
    full.write_text(f"#begin document (a);\n{rows}\n#end document\n")
    (one,), (other,) = registry.read_documents(short), registry.read_documents(full)
    assert one.mentions == other.mentions and one.id == other.id and len(one) == len(other) == 5
