"""Corrections: what each makes of the mentions, and what it refuses."""

from typing import Any

import pytest

from entitynlm.errors import ConfigError
from entitynlm.explorer.edits import edit
from entitynlm.explorer.schemas import Edit
from entitynlm.explorer.texts import Version
from entitynlm.text.document import Document, Mention, Quotation

TOKENS = tuple("Ann saw Bo and she saw him there .".split())
MENTIONS = (Mention(0, 1, "a"), Mention(2, 3, "b"), Mention(4, 5, "a"), Mention(6, 7, "b"))
START = Version(Document("d", TOKENS, mentions=MENTIONS, entity_types={"a": "person"}), found=True)


def correct(action: Any, **fields: Any) -> Edit:
    """A correction whose spans are pairs."""
    for name, prefix in (("span", ""), ("to_span", "to_")):
        if name in fields:
            fields[f"{prefix}start"], fields[f"{prefix}end"] = fields.pop(name)
    return Edit(action=action, **fields)


def apply(action: Any, **fields: Any) -> list[tuple[int, int, str]]:
    after = edit(START, correct(action, **fields))
    assert not after.found and after.what and START.document.mentions == MENTIONS
    return [(*mention.span, mention.entity) for mention in after.document.mentions]


def test_a_mention_is_added_removed_and_changed() -> None:
    assert (7, 8, "3") in apply("add", span=(7, 8))
    assert (7, 8, "a") in apply("add", span=(7, 8), entity="a")
    assert apply("remove", span=(4, 5), entity="a") == [(0, 1, "a"), (2, 3, "b"), (6, 7, "b")]
    assert (3, 5, "a") in apply("change", span=(4, 5), entity="a", to_span=(3, 5))
    assert (4, 5, "b") in apply("change", span=(4, 5), entity="a", to_entity="b")
    assert (4, 5, "3") in apply("change", span=(4, 5), entity="a", to_entity="new")


def test_entities_are_merged_split_and_renamed() -> None:
    assert {mention[2] for mention in apply("merge", entity="b", to_entity="a")} == {"a"}
    split = edit(START, correct("split", entity="a", span=(4, 5)))
    assert [m.entity for m in split.document.mentions] == ["a", "b", "3", "b"]
    assert split.document.entity_types == {"a": "person", "3": "person"}
    renamed = edit(START, correct("rename", entity="a", name="  Ann  Smith "))
    assert renamed.labels == {"a": "Ann Smith"} and renamed.document is START.document and renamed.found


@pytest.mark.parametrize(
    ("action", "fields", "message"),
    [
        ("add", {}, "one word at least"),
        ("add", {"span": (8, 12)}, "within the 9 words"),
        ("add", {"span": (3, 3)}, "one word at least"),
        ("add", {"span": (0, 1), "entity": "a"}, "already"),
        ("add", {"span": (0, 1), "entity": "nobody"}, "no entity"),
        ("remove", {"span": (0, 2), "entity": "a"}, "no mention"),
        ("change", {"span": (0, 1), "entity": "a"}, "changes nothing"),
        ("change", {"span": (0, 1), "entity": "a", "to_span": (4, 5)}, "already"),
        ("merge", {"entity": "a", "to_entity": "a"}, "changes nothing"),
        ("split", {"entity": "a", "span": (0, 1)}, "after the first"),
        ("rename", {"entity": "a", "name": " "}, "one character"),
    ],
)
def test_what_makes_no_sense_is_refused(action: Any, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        edit(START, correct(action, **fields))


def test_a_merged_speaker_still_says_what_was_said() -> None:
    said = Version(START.document.with_quotations([Quotation(1, 3, "b", "a")]))
    (quotation,) = edit(said, correct("merge", entity="b", to_entity="a")).document.quotations
    assert (quotation.speaker, quotation.addressee) == ("a", "a")


def test_a_merge_keeps_no_span_twice() -> None:
    twice = Version(START.document.with_mentions([*MENTIONS, Mention(0, 1, "b")]))
    assert len(edit(twice, correct("merge", entity="b", to_entity="a")).document.mentions) == 4
