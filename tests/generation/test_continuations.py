"""Continuations: readable text, with the names and the entities that were asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from entitynlm.api import as_document
from entitynlm.errors import ConfigError
from entitynlm.generation import continuations
from entitynlm.generation.continuations import generate_continuations, is_next_mention, share_border
from entitynlm.generation.request import ContinuationRequest
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document, Mention
from support.prose_model import make_prose_model
from support.small_bundles import make_bundle


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> Pretrained:
    return make_prose_model(tmp_path_factory.mktemp("lm"))


PROMPT = Document(
    "prompt",
    ("Anna", "saw", "Zebedee", ".", "She", "ran", "."),
    ((0, 4), (4, 7)),
    (Mention(0, 1, "a"), Mention(2, 3, "z"), Mention(4, 5, "a")),
)


def test_a_closed_vocabulary_writes_no_prose() -> None:
    pretrained, _ = make_bundle()
    with pytest.raises(ConfigError, match=r"closed vocabulary and writes no prose.*--plan"):
        generate_continuations(pretrained, PROMPT)


def test_wishes_are_kept_and_a_seed_says_the_same(pretrained: Pretrained) -> None:
    request = ContinuationRequest(words=20, next_entity="anna", new_entities=False)
    stories = generate_continuations(pretrained, PROMPT, request, count=3, seed=3)
    for story in stories:
        mentions = story.document.mentions
        assert mentions[0].entity == "1" and {mention.entity for mention in mentions} <= {"1", "2"}
        assert story.names["1"] == "Anna" and story.document.text == story.text
    assert stories == generate_continuations(pretrained, PROMPT, request, count=3, seed=3)
    assert len({story.text for story in stories}) == 3


def test_the_cast_is_introduced_by_name(pretrained: Pretrained) -> None:
    request = ContinuationRequest(words=20, cast=("old Bob", "Anna"), next_entity="Bob", new_entities=False)
    (story,) = generate_continuations(pretrained, PROMPT, request, seed=1)
    first = story.document.mentions[0]
    assert story.document.words(*first.span).lower() == "old bob" and first.entity == "3"
    assert set(story.names.values()) <= {"Anna", "Zebedee", "old Bob"}  # Anna is the text's


def test_sentences_are_counted_and_end_at_last(
    pretrained: Pretrained, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(continuations, "LONGEST_SENTENCE", 5)
    (story,) = generate_continuations(pretrained, None, ContinuationRequest(sentences=3), seed=2)
    assert story.text.count(".") >= 3 or sum(map(story.text.count, ".!?")) >= 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"next_entity": "Nobody"}, "no entity is called 'Nobody'; the text has: Anna, Zebedee"),
        ({"cast": (" ".join("a" * 99),)}, "words of a mention"),
        ({"cast": ("",)}, "empty name"),
        ({"words": 0}, "one word"),
        ({"temperature": 0}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_p": 1.5}, "top-p"),
    ],
)
def test_requests_that_make_no_sense_are_refused(
    pretrained: Pretrained, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        generate_continuations(pretrained, PROMPT, ContinuationRequest(**options))  # type: ignore[arg-type]


def test_the_next_mention_is_the_first_and_outermost() -> None:
    document = as_document("Anna lost her key. Her old key was gone.")
    mentions = [Mention(0, 1, "a"), Mention(2, 4, "k"), Mention(5, 6, "a"), Mention(5, 8, "k")]
    annotated = document.with_mentions(mentions)
    assert is_next_mention(annotated, 5, (5, 8), [(2, 4)]) and is_next_mention(annotated, 5, (7, 8), ())
    assert not is_next_mention(annotated, 5, (5, 8), [(0, 1)])  # it is linked to another entity
    assert not is_next_mention(document, 5, (5, 8), ())
    assert share_border((5, 6), (5, 8)) and not share_border((5, 6), (6, 8))


def test_the_stored_model_goes_on_from_its_own_text(pretrained: Pretrained, tmp_path: Path) -> None:
    from entitynlm.api import EntityNLM

    model = EntityNLM(pretrained)
    (story,) = model.generate(PROMPT, words=8, seed=4)
    whole = model.join(PROMPT, story)
    assert whole.tokens[: len(PROMPT)] == PROMPT.tokens and whole.mentions[:3] == PROMPT.mentions
    assert len(whole) == len(PROMPT) + len(story.document)
