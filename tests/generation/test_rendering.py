"""The prompt and its continuation as one document."""

from __future__ import annotations

from entitynlm.api import as_document
from entitynlm.generation.rendering import append_text
from entitynlm.text.document import Document


def test_a_continuation_is_appended_with_its_space() -> None:
    prompt, later = as_document("Anna lost her key. She"), as_document("called Bob. He came.")
    whole = append_text(prompt, " called Bob. He came.", later)
    assert whole.text == "Anna lost her key. She called Bob. He came."
    assert whole.tokens == (*prompt.tokens, *later.tokens)
    assert whole.sentences == ((0, 5), (5, 9), (9, 12))  # the prompt's last sentence goes on
    ended = append_text(as_document("Anna slept."), "\n\nBob came.", as_document("Bob came."))
    assert ended.text == "Anna slept.\n\nBob came." and ended.sentences == ((0, 3), (3, 6))


def test_a_prompt_without_its_text_is_written_by_the_usual_rules() -> None:
    prompt = Document("x", ("Anna", "slept", "."))
    assert append_text(prompt, " He came.", as_document("He came.")).text == "Anna slept. He came."
    assert append_text(None, "He came.", as_document("He came.")).text == "He came."
