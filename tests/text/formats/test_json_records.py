"""Documents as JSON objects: nothing is lost, edited clusters are noticed, values of another type are refused by name."""

import json
from typing import Any

from entitynlm.text.document import Document, Mention, Quotation
from entitynlm.text.formats.jsonlines import make_record, restore_document

DOCUMENT = Document(
    id="d",
    tokens=("Ann", "saw", "her", "dog", "."),
    sentences=((0, 2), (2, 5)),
    mentions=(Mention(0, 3, "1", head=2, attributes=(("status", "new"),)), Mention(2, 4, "2")),
    entity_types={"1": "person"},
    text="Ann saw her dog.",
    offsets=((0, 3), (4, 7), (8, 11), (12, 15), (15, 16)),
    columns={"pos": ("NNP", "VBD", None, "NN", ".")},
    heads=(1, -1, 3, 1, 1),
    meta={"genre": "tale"},
    quotations=(Quotation(0, 2, "1", "2"), Quotation(2, 5)),
)


def write_and_parse(document: Document) -> dict[str, Any]:
    return json.loads(json.dumps(make_record(document)))


def test_a_document_comes_back_as_it_was() -> None:
    notes: list[str] = []
    assert restore_document(write_and_parse(DOCUMENT), notes.append) == DOCUMENT
    assert not notes


def test_an_edited_record_keeps_what_still_fits_and_says_what_does_not() -> None:
    record = write_and_parse(DOCUMENT)
    record["clusters"][0].append([4, 4])
    notes: list[str] = []
    restored = restore_document(record, notes.append)
    assert [(m.span, m.entity, m.head) for m in restored.mentions] == [
        ((0, 3), "1", None),
        ((2, 4), "2", None),
        ((4, 5), "1", None),
    ]
    assert "details of the mentions of entity '1'" in notes[0]
    del record["clusters"][1]
    notes.clear()
    assert {m.entity for m in restore_document(record, notes.append).mentions} == {"1"}
    assert "numbered anew" in notes[0]
