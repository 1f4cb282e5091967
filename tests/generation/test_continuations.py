"""Continuations: readable text, with the names and the entities that were asked for."""

import re
from typing import Any

import pytest

from entitynlm.errors import ConfigError
from entitynlm.generation.agreement import MentionAgreement
from entitynlm.generation.continuations import PartialText, generate_continuations
from entitynlm.generation.generator import LONGEST_PHRASE, GeneratedWord
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


def test_the_cast_comes_up_by_name_or_is_missing(pretrained: Pretrained) -> None:
    request = ContinuationRequest(
        words=30, cast=("old Bob", "Anna", "Zoe"), next_entity="Bob", new_entities=False
    )
    for story in generate_continuations(pretrained, PROMPT, request, seed=1, count=3):
        first = story.document.mentions[0]
        assert story.text.startswith("Old Bob") and first.start == 0 and first.entity == "3"
        assert set(story.names.values()) <= {"Anna", "Zebedee", "old Bob", "Zoe"}  # Anna is the text's
        assert {*request.cast} - {*story.names.values()} == {*story.missing}
        for mention in story.document.mentions:
            assert mention.end - mention.start <= LONGEST_PHRASE


def test_an_entity_is_found_by_a_name_with_an_apostrophe(pretrained: Pretrained) -> None:
    tokens = ("The", "baker", "'s", "wife", "ran", ".")
    prompt = Document("prompt", tokens, ((0, 6),), (Mention(0, 4, "w"),))
    request = ContinuationRequest(words=5, next_entity="the baker's wife")
    (story,) = generate_continuations(pretrained, prompt, request)
    assert story.names["1"] == "The baker's wife" and story.text.startswith("The baker's wife")


def test_words_are_told_as_they_come(pretrained: Pretrained) -> None:
    told: dict[int, str] = {1: "", 2: ""}

    def record(number: int, word: GeneratedWord, text: str) -> None:
        told[number] += text

    stories = generate_continuations(pretrained, PROMPT, ContinuationRequest(12), count=2, on_word=record)
    assert [text.strip() for text in told.values()] == [story.text for story in stories]


def test_a_continuation_stays_in_the_paragraph_and_ends_its_quotation(pretrained: Pretrained) -> None:
    tokens = ("Anna", "ran", ".", '"', "She", "saw", "Bob")
    whole = Document("prompt", tokens[:3], ((0, 3),), text="Anna ran.")
    said = Document("prompt", tokens, ((0, 3), (3, 7)), text='Anna ran. "She saw Bob')
    told: list[str] = []
    marks = 0
    for prompt in (whole, said):
        stories = generate_continuations(
            pretrained, prompt, count=4, on_word=lambda number, word, text: told.append(text)
        )
        for story in stories:
            assert "\n" not in story.text
            assert story.text.count('"') % 2 == (prompt is said)
            assert " '" not in story.text and "`" not in story.text
            marks += story.text.count('"')
    assert "".join(told).count('"') == marks


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


@pytest.mark.parametrize("left", [1, 2])
def test_no_noun_goes_on_with_a_mention_that_ends_early(left: int) -> None:
    state: Any = None
    word = GeneratedWord(1, 1, left, 0)
    text = PartialText(state, ["the", "train"], False, MentionAgreement(), (), words=[word])
    assert not text.fits_outside_mentions("station", people=True) and text.fits_outside_mentions(
        "was", people=True
    )


def test_a_phrase_does_not_come_again_soon() -> None:
    state: Any = None
    tokens = "He was silent . He was silent . He was".split()
    text = PartialText(state, tokens, False, MentionAgreement(), ())
    assert text.repeats("silent") and not text.repeats("glad")  # "he was silent" comes again
    assert not text.fits_outside_mentions("silent", people=True) and text.fits_outside_mentions(
        "glad", people=True
    )
    text.tokens = [*tokens[:4], *map(str, range(200)), *tokens[:2]]
    assert not text.repeats("silent")


@pytest.mark.parametrize(
    ("said", "open"), [("“ Go", True), ('" Go ."', False), ("`` Go . ''", False), ("Go", False)]
)
def test_quotations_are_open_until_they_are_closed(said: str, open: bool) -> None:
    state: Any = None
    assert (
        PartialText(state, ["He", "said", ",", *said.split()], False, MentionAgreement(), ()).is_quoting()
        == open
    )
