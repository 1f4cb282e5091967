"""InScript's XML release: its elements, their variants, and XML that is none of it (all stories are invented)."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entitynlm.errors import DataError, EntityNLMError
from entitynlm.text.document import Document
from entitynlm.text.formats.base import Oddity, Source
from entitynlm.text.formats.inscript_xml import FORMAT

STORY = """\
<?xml version="1.0" encoding="UTF-8"?>
<story>
  <text>
    <content>I filled the kettle .
It whistled at my cat &amp; me .</content>
    <sentences>
      <sentence id="1">
        <token id="1-1" content="I"><pos type="PRP"/><lemma type="I"/><dep head="1-2" type="nsubj"/></token>
        <token id="1-2" content="filled"><pos type="VBD"/><lemma type="fill"/></token>
        <token id="1-3" content="the"><pos type="DT"/><dep head="1-4" type="det"/></token>
        <token id="1-4" content="kettle"><pos type="NN"/><dep head="1-2" type="dobj"/></token>
        <token id="1-5" content="."/>
      </sentence>
      <sentence id="2">
        <token id="2-1" content="It"/><token id="2-2" content="whistled"/><token id="2-3" content="at"/>
        <token id="2-4" content="my"/><token id="2-5" content="cat"/><token id="2-6" content="&amp;"/>
        <token id="2-7" content="me"/><token id="2-8" content="."/>
      </sentence>
    </sentences>
  </text>
  <annotations>
    <participants>
      <label id="p1" type="participant" from="1-1" name="ScrPart_drinker" text="I"/>
      <label id="p2" type="participant" from="1-3" to="1-4" name="ScrPart_kettle" text="the kettle"/>
      <label id="p3" type="participant" from="2-1" name="ScrPart_kettle" text="It"/>
      <label id="p4" type="participant" from="2-4" name="ScrPart_drinker" text="my"/>
      <label id="p5" type="participant" from="2-4" to="2-5" name="NPart" text="my cat"/>
      <label id="p6" type="participant" from="2-7" name="ScrPart_drinker" text="me"/>
    </participants>
    <events><label id="e1" type="event" from="1-2" name="ScrEv_fill" text="filled"/></events>
    <chains><chain id="c1" elements="p1 p4 p6"/><chain id="c2" elements="p2 p3"/></chains>
  </annotations>
</story>
"""


def read(text: str | bytes, oddities: list[Oddity] | None = None) -> list[Document]:
    data = text.encode() if isinstance(text, str) else text
    on_oddity = (lambda oddity: None) if oddities is None else oddities.append
    return list(FORMAT.read(Source("corpus/tea/tea_007.xml", io.BytesIO(data), on_oddity)))


def spoken(document: Document) -> dict[str, list[str]]:
    return {entity.id: [document.words(*m.span) for m in entity.mentions] for entity in document.entities}


def test_story() -> None:
    oddities: list[Oddity] = []
    (document,) = read(STORY, oddities)
    assert document.id == "tea_007"
    assert document.meta["scenario"] == "tea"
    assert document.sentences == ((0, 5), (5, 13))
    assert spoken(document) == {
        "P1_drinker": ["I", "my", "me"],
        "P1_kettle": ["the kettle", "It"],
        "P1_NPart": ["my cat"],
    }
    assert dict(document.entity_types) == {
        "P1_drinker": "drinker",
        "P1_kettle": "kettle",
        "P1_NPart": "NPart",
    }
    assert document.mentions[0].attributes == (("label", "ScrPart_drinker"),)
    assert document.columns["pos"][:5] == ("PRP", "VBD", "DT", "NN", None)
    assert document.columns["lemma"][1] == "fill"
    assert document.heads is not None
    assert document.heads[:5] == (1, -1, 3, 1, -1)
    assert document.text is not None
    assert document.offsets is not None
    assert [document.text[a:b] for a, b in document.offsets] == list(document.tokens)
    assert not oddities


def test_windows_ends_mark_and_encodings() -> None:
    (expected,) = read(STORY)
    (windows,) = read(b"\xef\xbb\xbf" + STORY.replace("\n", "\r\n").encode())
    assert windows == expected
    (wide,) = read(STORY.replace("UTF-8", "UTF-16").encode("utf-16"))
    assert wide == expected
    assert FORMAT.recognise("-", STORY.encode("utf-16"))


def test_content_alone_is_split_at_spaces_and_lines() -> None:
    text = """<script><text>The bus
was  late .
</text><annotations><participants><label from="1-1" to="1-2" name="ScrPart_bus"/></participants></annotations>
</script>"""
    (document,) = read(text)
    assert document.tokens == ("The", "bus", "was", "late", ".")
    assert document.sentences == ((0, 2), (2, 5))
    assert spoken(document) == {"P1_bus": ["The bus"]}
    assert document.text is not None
    assert document.text.startswith("The bus\nwas")


def test_chains_of_labels() -> None:
    text = """<story><text><content>He saw him</content></text><annotations>
<participants><label id="a" from="1-1" name="x"/><label id="b" from="1-3" name="x"/></participants>
<chains><chain><label id="a"/><label id="b"/></chain></chains></annotations></story>"""
    (document,) = read(text)
    assert spoken(document) == {"P1_x": ["He", "him"]}


def test_many_stories_in_a_file() -> None:
    story = "<story id='{}'><text><content>A b</content></text></story>"
    text = f"<stories>{story.format('x_1')}{story.format('')}{story.format('x_3')}</stories>"
    assert [document.id for document in read(text)] == ["x_1", "tea_007#2", "x_3"]


def test_odd_labels_are_reported_and_read_over() -> None:
    text = """<story><text><content>He left it</content></text><annotations><participants>
<label id="a" from="1-1" name="x"/>
<label id="b" from="9-9" name="lost"/>
<label id="c" from="1-3" to="1-1" name="backwards"/>
</participants><chains><chain elements="a zz"/><chain elements="a"/></chains></annotations></story>"""
    oddities: list[Oddity] = []
    (document,) = read(text, oddities)
    assert spoken(document) == {"P1_x": ["He"]}
    assert sorted(oddity.line or 0 for oddity in oddities) == [3, 4, 5, 5]


def test_entity_bombs_are_refused() -> None:
    bomb = """<?xml version="1.0"?>
<!DOCTYPE story [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<story><text><content>&b;</content></text></story>"""
    with pytest.raises(DataError, match=r"tea_007\.xml:2: the file declares an entity"):
        read(bomb)
    outside = """<!DOCTYPE story [<!ENTITY x SYSTEM "file:///etc/hostname">]><story>&x;</story>"""
    with pytest.raises(DataError, match="declares an entity"):
        read(outside)


def test_a_plain_doctype_does_no_harm() -> None:
    text = "<!DOCTYPE story><story><text><content>Hi there</content></text></story>"
    assert [document.tokens for document in read(text)] == [("Hi", "there")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not well-formed"),
        ("words", "not well-formed"),
        (STORY[:900], "not well-formed"),
        ("<story>&nbsp;</story>", "not well-formed"),
        ('<?xml version="1.0" encoding="klingon"?><a/>', "not well-formed"),
        ("<html><p>Hello</p></html>", "no story"),
    ],
)
def test_other_files_are_refused(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(text)
    assert caught.value.path == "corpus/tea/tea_007.xml"


def test_recognition() -> None:
    assert FORMAT.recognise("-", STORY.encode())
    assert FORMAT.recognise("-", b"\xef\xbb\xbf<story>\n<annotations>")
    assert not FORMAT.recognise("-", b"<3 is a heart")


TAGS = (
    "story",
    "text",
    "content",
    "sentences",
    "sentence",
    "token",
    "pos",
    "dep",
    "chain",
    "chains",
    "label",
)


@settings(max_examples=60)
@given(
    st.recursive(
        st.text("ab <&\n", max_size=4), lambda inside: st.tuples(st.sampled_from(TAGS), st.lists(inside))
    )
)
def test_elements_in_any_order(tree: object) -> None:
    """Whatever stands inside of what: documents or a readable error."""

    def show(node: object) -> str:
        if isinstance(node, str):
            return node.replace("&", "&amp;").replace("<", "&lt;")
        assert isinstance(node, tuple)
        tag, children = node
        inside = "".join(map(show, children))
        return f'<{tag} id="1-1" content="w" from="1-1" elements="1-1 q" head="1-1" type="participant">{inside}</{tag}>'

    try:
        for document in read(f"<story>{show(tree)}</story>"):
            assert document.tokens
    except EntityNLMError as error:
        assert "tea_007.xml" in str(error)
