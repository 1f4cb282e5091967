"""Forms of referring expressions: pronoun, name, definite or indefinite description."""

import pytest

from entitynlm.lm.mention_forms import read_form
from entitynlm.text.document import Document, Mention


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ("he", "pronoun"),
        ("Themselves", "pronoun"),
        ("Mr. Brown", "name"),
        ("the old man", "definite"),
        ("her sister", "definite"),
        ("Anna 's house", "definite"),
        ("a stranger", "indefinite"),
        ("two men", "indefinite"),
        ("Prague", "name"),
    ],
)
def test_forms(words: str, form: str) -> None:
    tokens = ("Yesterday", "I", "saw", *words.split(), ".")
    document = Document("d", tokens)
    assert read_form(document, Mention(3, len(tokens) - 1, "1")) == form


def test_tags_decide_where_there_are_any() -> None:
    document = Document("d", ("Roses", "fade"), columns={"pos": ("NNS", "VBP")})
    assert read_form(document, Mention(0, 1, "1")) == "indefinite"
    untagged = Document("d", ("Roses", "fade"))
    assert read_form(untagged, Mention(0, 1, "1")) == "name"
    assert read_form(untagged, Mention(0, 1, "1"), {"roses"}) == "indefinite"
