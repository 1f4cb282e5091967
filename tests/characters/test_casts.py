"""The main cast of twenty short texts (``casts/*.toml``), with both packaged models.

A text that a model does not get right yet has a line under ``known`` with the reason; the test is strict, so that a text that
comes right is noticed.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from entitynlm.api import as_document
from entitynlm.characters.character import Cast, Character, list_characters
from entitynlm.config import load_toml
from entitynlm.coref.annotation import annotate_document
from entitynlm.discourse.quotations import strip_marks
from entitynlm.model.pretrained import Pretrained, load_pretrained
from entitynlm.text.document import Document

TEXTS = {path.stem: load_toml(path) for path in sorted(Path(__file__).with_name("casts").glob("*.toml"))}
MODELS = ("entitynlm-en", "entitynlm-en-smollm2")


@cache
def load(model: str) -> Pretrained:
    return load_pretrained(model)


def list_mistakes(cast: Cast, expected: Mapping[str, Any]) -> Iterator[str]:
    """List what is wrong in a cast: persons without a row of their own, genders, aliases, speakers, things in the cast."""
    rows: dict[str, list[Character]] = {}
    for character in cast.characters:
        rows.setdefault(character.name.lower(), []).append(character)
    for absent in expected.get("absent", ()):
        yield from (f"{name} is in the cast" for name in rows if absent.lower() in name)
    for person in expected["cast"]:
        found = rows.get(person["name"].lower(), [])
        if len(found) != 1:
            yield f"{person['name']} has {len(found)} rows in {sorted(rows)}"
            continue
        yield from compare(cast.document, found[0], person)
        others = {alias for other in cast.characters if other is not found[0] for alias in other.aliases}
        for name in {person["name"], *person.get("aliases", ())} & others:
            yield f"{name} is another's"


def compare(document: Document, character: Character, person: Mapping[str, Any]) -> Iterator[str]:
    name = person["name"]
    if character.gender != person.get("gender", character.gender):
        yield f"{name} is {character.gender}"
    if character.is_narrator != person.get("narrator", False):
        yield f"{name} narrates: {character.is_narrator}"
    for alias in person.get("aliases", ()):
        if alias not in character.aliases:
            yield f"{name} is not {alias}"
    for verb in person.get("does", ()):
        if verb not in character.actions:
            yield f"{name} does not {verb}"
    spoken = [document.words(*strip_marks(document, quotation.span)) for quotation in character.quotations]
    for words in person.get("says", ()):
        if not any(quotation.startswith(words) for quotation in spoken):
            yield f"{name} does not say {words!r}"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", TEXTS)
def test_main_cast(name: str, model: str, request: pytest.FixtureRequest) -> None:
    expected = TEXTS[name]
    reason = expected.get("known", {}).get(model)
    if reason is not None:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    document = as_document(expected["text"].strip())
    cast = list_characters(annotate_document(load(model), document, exact=True))
    assert list(list_mistakes(cast, expected)) == []
