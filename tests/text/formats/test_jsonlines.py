"""JSON lines: our own without loss, e2e-coref's and fastcoref's by their rules, and lines that make no sense."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given

from entitynlm.errors import DataError
from entitynlm.text.document import Document
from entitynlm.text.formats.base import Oddity, Source
from entitynlm.text.formats.registry import get_format, read_documents
from support.strategies import documents

FORM = get_format("jsonl")

E2E = {
    "doc_key": "nw/tale_0",
    "sentences": [["Marta", "fed", "her", "dog", "."], ["It", "slept", "."]],
    "speakers": [["Ann"] * 5, ["", "Bo", "Bo"]],
    "clusters": [[[0, 0], [2, 2]], [[2, 3], [5, 5]]],
    "constituents": [],
    "ner": [],
}


def read(data: object, oddities: list[Oddity] | None = None) -> list[Document]:
    """Read lines given as objects, or a text as it is."""
    if isinstance(data, list):
        data = "\n".join(json.dumps(each) for each in data)
    raw = data.encode() if isinstance(data, str) else data
    assert isinstance(raw, bytes)
    on_oddity = (lambda oddity: None) if oddities is None else oddities.append
    return list(FORM.read(Source("dir/tale.jsonl", io.BytesIO(raw), on_oddity)))


def write(*documents: Document) -> str:
    assert FORM.write is not None
    stream = io.StringIO()
    FORM.write(documents, stream)
    return stream.getvalue()


@given(documents())
def test_what_is_written_is_what_e2e_coref_reads(document: Document) -> None:
    record = json.loads(write(document))
    words = [word for sentence in record["sentences"] for word in sentence]
    assert tuple(words) == document.tokens
    assert [[len(words) for words in record["speakers"]]] == [[len(words) for words in record["sentences"]]]
    inclusive = [[[start, end - 1] for start, end in cluster] for cluster in document.clusters()]
    assert record["clusters"] == inclusive
    del record["entitynlm"]
    (plain,) = read([record])
    assert plain.clusters() == document.clusters()
    assert plain.sentences == document.sentences


def test_e2e_coref() -> None:
    (document,) = read([E2E])
    assert document.id == "nw/tale_0"
    assert document.sentences == ((0, 5), (5, 8))
    assert [[document.words(*span) for span in cluster] for cluster in document.clusters()] == [
        ["Marta", "her"],
        ["her dog", "It"],
    ]
    assert document.columns["speaker"] == ("Ann",) * 5 + (None, "Bo", "Bo")


def test_tokens_without_sentences_are_one_sentence_and_said_to_be() -> None:
    oddities: list[Oddity] = []
    (document,) = read([{"tokens": ["a", "b"]}], oddities)
    assert document.id == "tale#1"
    assert document.sentences == ((0, 2),)
    assert [oddity.line for oddity in oddities] == [1]


def test_fastcoref_output_counts_characters() -> None:
    text = "Dr. Ode lost his key. “I'm doomed!” he said."
    record = {
        "text": text,
        "clusters": [[[0, 7], [13, 16], [23, 24], [36, 38]], [[13, 20]]],
        "clusters_strings": [["Dr. Ode", "his", "I", "he"], ["his key"]],
    }
    oddities: list[Oddity] = []
    (document,) = read([record], oddities)
    found = [[document.words(*span) for span in cluster] for cluster in document.clusters()]
    assert found == record["clusters_strings"]
    assert document.text == text
    assert not oddities


def test_a_character_span_that_cuts_a_word_takes_the_word_and_says_so() -> None:
    oddities: list[Oddity] = []
    (document,) = read([{"text": "The gardener left.", "clusters": [[[4, 10]]]}], oddities)
    assert [document.words(*m.span) for m in document.mentions] == ["gardener"]
    assert "cuts a word" in oddities[0].message


def test_blank_words_are_underscores() -> None:
    oddities: list[Oddity] = []
    record = {"sentences": [["a", ""], ["b", "c"]], "clusters": [[[0, 1], [2, 3]]]}
    (document,) = read([record], oddities)
    assert document.tokens == ("a", "_", "b", "c")
    assert document.clusters() == (((0, 2), (2, 4)),)
    assert len(oddities) == 1


def test_speakers_that_do_not_fit_are_left_out() -> None:
    oddities: list[Oddity] = []
    (document,) = read([{**E2E, "speakers": [["Ann"]]}], oddities)
    assert "speaker" not in document.columns
    assert "speakers" in oddities[0].message


def test_half_characters_are_replaced() -> None:
    (document,) = read('{"sentences": [["\\ud83d", "\\ud83d\\ude42"]]}')
    assert document.tokens == ("\ufffd", "🙂")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"sentences": [["a"]], "clusters"', "not valid JSON"),
        ("[1, 2]", "not a JSON object"),
        ("{}", "no words"),
        ('{"sentences": ["a b"]}', "'sentences' can't be read .Expected `array`"),
        ('{"sentences": [[1]]}', "'sentences' can't be read .Expected `str`"),
        ('{"sentences": [["a"]], "clusters": [[[0, true]]]}', "Expected `int`"),
        ('{"sentences": [["a"]], "clusters": [[[0]]]}', "of length 2"),
        ('{"sentences": [["a"]], "clusters": [[[0, 1]]]}', "not within"),
        ('{"text": "a", "clusters": [[[0, 2]]]}', "not within"),
        ('{"doc_key": "a", "entitynlm": {"version": 99}}', "version"),
        ('{"doc_key": "", "sentences": [], "clusters": [], "entitynlm": {"version": 1}}', "id"),
        ("[" * 100_000, "not valid JSON"),
        ('{"sentences": [["a"]], "clusters": [[[0, ' + "9" * 5000 + "]]]}", "not valid JSON"),
    ],
)
def test_lines_that_make_no_sense(line: str, message: str) -> None:
    good = json.dumps(E2E)
    with pytest.raises(DataError, match=message) as caught:
        read(f"{good}\n{line}\n")
    assert caught.value.path == "dir/tale.jsonl"
    assert caught.value.line == 2


def test_places_are_whole_numbers(tmp_path: Path) -> None:
    """Not truth values, which JSON writes as true."""
    path = tmp_path / "one.jsonl"
    path.write_text(
        '{"doc_key": "d", "sentences": [["Ann", "ran"]], "clusters": [[[0, 0]]]}', encoding="utf-8"
    )
    (document,) = read_documents(path)
    assert [type(place) for place in document.mentions[0].span] == [int, int]
