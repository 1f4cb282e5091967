"""CoNLL-U with entities: OntoGUM's bare and CorefUD's full form, text and offsets, and back."""

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.base import Oddity
from entitynlm.text.formats.registry import get_format
from support.format_samples import read_data, write_data
from support.strategies import documents

FORM = get_format("conllu")
read = partial(read_data, "conllu", path="tale.conllu")
write = partial(write_data, "conllu")

BARE = """\
# newdoc id = tale_dog
# global.Entity = GRP
# meta::genre = tale
# meta::title = A dog = a friend
# newpar
# sent_id = tale_dog-1
# speaker = Ann
# text = Old Marta doesn't sleep.
1\tOld\told\tADJ\tJJ\tDegree=Pos\t2\tamod\t2:amod\tEntity=(1|MSeg=Old
2\tMarta\tMarta\tPROPN\tNNP\tNumber=Sing\t5\tnsubj\t5:nsubj\tEntity=1)
3-4\tdoesn't\t_\t_\t_\t_\t_\t_\t_\t_
3\tdoes\tdo\tAUX\tVBZ\t_\t5\taux\t5:aux\t_
4\tn't\tnot\tPART\tRB\t_\t5\tadvmod\t5:advmod\t_
5\tsleep\tsleep\tVERB\tVB\t_\t0\troot\t0:root\tSpaceAfter=No
5.1\tsleep\t_\t_\t_\t_\t_\t_\t0:root\tCopyOf=5
6\t.\t.\tPUNCT\t.\t_\t5\tpunct\t5:punct\tDiscourse=x:1->2:0

# newpar
# sent_id = tale_dog-2
# text = She snores.
1\tShe\tshe\tPRON\tPRP\t_\t2\tnsubj\t2:nsubj\tEntity=(1)
2\tsnores\tsnore\tVERB\tVBZ\t_\t0\troot\t0:root\tSpaceAfter=No
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t2:punct\t_

"""


def rows(*misc: str, header: str | None = "GRP-etype-head-other") -> str:
    """A sentence of the words w1, w2, … with these MISC columns; an id before ``:`` makes an empty node."""
    comment = f"# global.Entity = {header}\n" if header else ""
    body, number = "", 0
    for cell in misc:
        if cell.startswith("."):
            word_id, cell = f"{number}.{cell[1]}", cell[3:]
        else:
            number += 1
            word_id = str(number)
        body += f"{word_id}\tw{word_id}\t_\t_\t_\t_\t_\t_\t_\t{cell or '_'}\n"
    return f"# newdoc id = test\n{comment}{body}\n"


def spans_of(document: Document) -> dict[str, list[Span]]:
    return {entity.id: [mention.span for mention in entity.mentions] for entity in document.entities}


# -- reading -------------------------------------------------------------------------------------------------------


def test_the_bare_form_is_read_with_columns_heads_and_text() -> None:
    oddities: list[Oddity] = []
    (document,) = read(BARE, oddities)
    assert oddities == []
    assert document.id == "tale_dog"
    assert document.tokens == ("Old", "Marta", "does", "n't", "sleep", ".", "She", "snores", ".")
    assert document.sentences == ((0, 6), (6, 9))
    assert spans_of(document) == {"1": [(0, 2), (6, 7)]}
    assert document.text == "Old Marta doesn't sleep.\nShe snores."
    assert [document.words(i, i + 1) for i in range(len(document))] == list(document.tokens)
    assert document.heads == (1, 4, 4, 4, -1, 4, 7, -1, 7)
    assert document.columns["pos"][:3] == ("JJ", "NNP", "VBZ")
    assert document.columns["upos"][:3] == ("ADJ", "PROPN", "AUX")
    assert document.columns["lemma"][3] == "not"
    assert document.columns["feats"][:3] == ("Degree=Pos", "Number=Sing", None)
    assert document.columns["deprel"][4] == "root"
    assert document.columns["speaker"] == ("Ann",) * 6 + (None,) * 3
    assert dict(document.meta) == {"genre": "tale", "title": "A dog = a friend"}


def test_the_bare_form_comes_back_without_multiword_tokens() -> None:
    (document,) = read(BARE)
    written = write(document)
    assert read(written) == [document]
    assert "3\tdoes\tdo\tAUX\tVBZ\t_\t5\taux\t_\tSpaceAfter=No\n" in written
    assert "# speaker = Ann\n# text = Old Marta doesn't sleep.\n" in written


def test_the_full_form_has_types_heads_and_attributes() -> None:
    text = rows(
        "Entity=(1-person-new-2-Ann_%28x%2Dy%29-cf1:a%2Cb",
        "Entity=1)",
        "Entity=(2-place(1-person-giv)",
        "Entity=2)",
        header="GRP-etype-infstat-head-identity-other",
    )
    (document,) = read(text)
    assert dict(document.entity_types) == {"1": "person", "2": "place"}
    first, place, again = document.mentions
    assert first == Mention(0, 2, "1", 1, (("infstat", "new"), ("identity", "Ann_(x-y)"), ("cf1", "a,b")))
    assert place == Mention(2, 4, "2")
    assert again == Mention(2, 3, "1", None, (("infstat", "giv"),))
    assert read(write(document)) == [document]
    assert "Entity=(1-person-2-infstat:new,identity:Ann_%28x%2Dy%29,cf1:a%2Cb\n" in write(document)


def test_the_header_holds_for_the_documents_after_it() -> None:
    text = rows("Entity=(1-person)", header="eid-etype") + rows("Entity=(2-place)", header=None).replace(
        "test", "other"
    )
    assert [dict(document.entity_types) for document in read(text)] == [{"1": "person"}, {"2": "place"}]


def test_the_type_of_most_mentions_is_the_type_of_the_entity() -> None:
    oddities: list[Oddity] = []
    (document,) = read(rows("Entity=(1-x)", "Entity=(1-y)", "Entity=(1)", "Entity=(1-y)"), oddities)
    assert dict(document.entity_types) == {"1": "y"}
    assert "several types" in oddities[0].message
    assert read(write(document)) == [document]


def test_discontinuous_mentions_are_read_from_their_first_to_their_last_word() -> None:
    text = rows("Entity=(5[1/2]-x-3", "Entity=5[1/2])", "", "Entity=(5[2/2]-x-3)(5)", "Entity=(5[1/1]-x-1)")
    (document,) = read(text)
    assert document.mentions == (Mention(0, 4, "5"), Mention(3, 4, "5"), Mention(4, 5, "5", 4))
    assert read(write(document)) == [document]


def test_brackets_at_empty_nodes_are_skipped() -> None:
    oddities: list[Oddity] = []
    (document,) = read(rows("Entity=(1)", ".1:Entity=(2-thing-1)", ""), oddities)
    assert document.mentions == (Mention(0, 1, "1"),)
    assert ["empty node" in oddity.message for oddity in oddities] == [True]


def test_multiword_tokens_that_their_words_do_not_spell_are_shared_out() -> None:
    text = (
        "# text = Du pain\n1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tde\t_\t_\t_\t_\t_\t_\t_\tEntity=(1)\n2\tle\t_\t_\t_\t_\t_\t_\t_\t_\n3\tpain\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    )
    (document,) = read(text)
    assert document.text == "Du pain"
    assert document.offsets == ((0, 1), (1, 2), (3, 7))
    assert document.id == "tale"


def test_a_file_that_says_nothing_of_its_text_has_none() -> None:
    (document,) = read(rows("", "Entity=(1)"))
    assert document.text is None
    assert document.offsets is None
    assert document.heads is None
    assert dict(document.columns) == {}


def test_spaces_as_udpipe_writes_them() -> None:
    text = rows(r"SpacesBefore=\s\s|SpacesAfter=\n\t", "SpaceAfter=No", r"SpacesAfter=\p\\")
    (document,) = read(text)
    assert document.text == "  w1\n\tw2w3|\\"
    assert read(write(document)) == [document]


# -- oddities and errors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "part_of_message"),
    [
        (rows("Entity=(1)(2", ""), 3, "never closed"),
        (rows("Entity=(1)2)", ""), 3, "not opened"),
        (rows("Entity=(1)", "Entity=)"), 4, "was skipped"),
        (rows("Entity=(1)(-x)"), 3, "without an entity"),
        (rows("Entity=(1-person)", header=None), 2, "no '# global.Entity'"),
        (rows("Entity=(1--7)"), 3, "not one of its words"),
        (rows("Entity=(1)").replace("1\tw1", "7\tw1"), 3, "count 1, 2, 3"),
        (rows("Entity=(1)").replace("\t_\tEntity", "\tEntity") + "", 3, "9 columns"),
        (rows("Entity=(1)").replace("\tw1\t_\t_\t_\t_\t_", "\tw1\t_\t_\t_\t_\t9"), 3, "not a word of"),
        (rows("Entity=(1)", "").replace("\n2\t", "\n# stray\n2\t"), 4, "comment after the rows"),
        (rows("Entity=(1)").replace("\n1\t", "\n# text = other\n1\t"), 4, "'# text'"),
        (rows("Entity=(1)").replace("\n1\t", "\n1-3\tx\t_\t_\t_\t_\t_\t_\t_\t_\n1\t"), 3, "multiword"),
        (rows("Entity=(1)").replace("\tw1\t", "\t\t"), 3, "word is empty"),
    ],
)
def test_odd_files_are_read_and_reported(text: str, line: int, part_of_message: str) -> None:
    oddities: list[Oddity] = []
    (document,) = read(text, oddities)
    assert part_of_message in oddities[0].message
    assert oddities[0].line == line
    if "columns" not in part_of_message:
        assert (0, 1) in [mention.span for mention in document.mentions]


def test_heads_follow_the_ids_even_where_these_are_odd() -> None:
    text = "3\ta\t_\t_\t_\t_\t5\t_\t_\t_\n5\tb\t_\t_\t_\t_\t0\t_\t_\t_\n\n"
    assert read(text)[0].heads == (1, -1)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# newdoc id = a\n1 spaces are no tabs _ _ _ _ _ _\n", 2),
        ("# newdoc id = a\n\nnot a row\n", 3),
        ("# newdoc id = a\nx\tw\t_\t_\t_\t_\t_\t_\t_\t_\n", 2),
    ],
)
def test_unusable_rows_say_where_and_what(text: str, line: int) -> None:
    with pytest.raises(DataError) as error:
        read(text)
    assert error.value.path == "tale.conllu"
    assert error.value.line == line
    assert error.value.found is not None
    assert "ten columns" in (error.value.expected or "")


# -- properties ------------------------------------------------------------------------------------------------------


@given(documents(columns=("pos", "upos", "lemma", "feats", "deprel"), spelled=True))
def test_round_trip(document: Document) -> None:
    assert read(write(document)) == [document]


# -- recognising and real files --------------------------------------------------------------------------------------

ROW = "1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        (BARE.encode(), True),
        (BARE.encode()[:300], True),
        (BARE.encode()[:60], True),
        (ROW.encode(), True),
        (ROW.strip().encode(), True),
        (b"\xef\xbb\xbf\r\n\r\n# hello\r\n" + ROW.replace("\n", "\r\n").encode(), True),
        (b"# newdoc id = a\n\n", True),
        (b"", False),
        (b"#id=1\n#text=The bath .\n1-1\tThe\tO\tO\tDT\tO\n", False),
        (b"#begin document (a); part 000\na\t0\t0\tw\tXX\t*\t-\t-\t-\t-\t*\t-\n", False),
        (b"# Title\n\n1. first\n2. second\n", False),
        (b"# text about texts\n\nA paragraph.\n", False),
        (b"1 Hi hi INTJ UH _ 0 root _ _\n", False),
        (b'{"sentences": [["a"]]}\n', False),
        (b"\x00\xff\xfe", False),
    ],
)
def test_recognising(sample: bytes, expected: bool) -> None:
    assert FORM.recognise("file", sample) is expected


@pytest.mark.corpora
@pytest.mark.parametrize("corpus", ["ontogum", "gum"])
def test_real_documents_come_back_and_keep_their_clusters_through_conll2012(
    corpora_path: Path, corpus: str
) -> None:
    paths = sorted((corpora_path / corpus / "conllu").glob("*.conllu"))
    assert len(paths) == 237
    for path in paths[::60]:
        data = path.read_bytes()
        assert FORM.recognise(str(path), data[:65536])
        oddities: list[Oddity] = []
        (document,) = read(data, oddities)
        assert oddities == []
        assert read(write(document)) == [document]
        narrow = read_data("conll2012", write_data("conll2012", document))
        (again,) = read(write(*narrow))
        assert (again.id, again.tokens, again.sentences) == (document.id, document.tokens, document.sentences)
        assert again.clusters() == document.clusters()
        assert again.columns["pos"] == document.columns["pos"]
