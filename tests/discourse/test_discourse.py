"""The discourse structure of a text is found once; annotated quotations are kept."""

from entitynlm.api import as_document
from entitynlm.discourse.discourse import read_discourse
from entitynlm.text.document import Document

TEXT = "Ida sat.\n\n“Come in,” said Nora, “and sit.”\n\nThe nora fish swam; a nora it was."


def test_every_token_knows_its_quotation_and_paragraph() -> None:
    discourse = read_discourse(as_document(TEXT))
    tokens, numbers = discourse.document.tokens, discourse.quotation_of
    assert [tokens[place] for place in range(len(tokens)) if numbers[place] == 1] == [
        "“",
        "and",
        "sit",
        ".",
        "”",
    ]
    assert numbers[0] == numbers[-1] == -1 and len(numbers) == len(tokens)
    assert [discourse.paragraph_of(place) for place in (0, 3, len(tokens) - 1)] == [1, 2, 3]
    assert "nora" in discourse.common_words and discourse.has_paragraphs


def test_annotated_quotations_are_kept_and_an_empty_text_has_none() -> None:
    assert list(read_discourse(as_document(TEXT), [(0, 2)]).quotations) == [(0, 2)]
    empty = read_discourse(Document("x", ()))
    assert empty.quotation_of == [] and list(empty.quotations) == [] and not empty.has_paragraphs
