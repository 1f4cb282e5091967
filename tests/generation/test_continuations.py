"""Continuations for people: readable text, names and wishes, nothing that nobody should read."""

from __future__ import annotations

import re

import pytest

from entitynlm.errors import ConfigError
from entitynlm.generation.continuations import generate_continuations
from entitynlm.generation.request import ContinuationRequest
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.text.detokenization import (
    capitalise_start,
    ends_sentence,
    join_tokens,
    learn_capitals,
    list_unopened,
    restore_capitals,
)
from entitynlm.text.document import Document, Mention
from support.small_bundles import make_bundle, make_documents


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("“ Well , ” said Anna , “ I do n't know . ”", "“Well,” said Anna, “I don't know.”"),
        ('He said " yes " , and ( twice ) " no " .', 'He said "yes", and (twice) "no".'),
        ("Anna 's mother-in-law paid $ 5 , or 5 % !", "Anna's mother-in-law paid $5, or 5%!"),
        ("a well - known man ; they 'll see : it 's he", "a well-known man; they'll see: it's he"),
        ("-LRB- so it is -RRB- `` quoted ''", "(so it is) “quoted”"),
        ("Yes — or no ?", "Yes — or no?"),
    ],
)
def test_words_become_text(tokens: str, text: str) -> None:
    words = tokens.split()
    joined, offsets = join_tokens(words)
    assert joined == text
    assert len(offsets) == len(words)
    assert offsets[0][0] == 0 and offsets[-1][1] == len(text)


def test_capitals() -> None:
    capitals = learn_capitals([("Then", "Anna", "met", "McKay")], [("the", "Old", "Man")])
    assert capitals == {"anna": "Anna", "mckay": "McKay", "old": "Old", "man": "Man"}
    assert restore_capitals(["i", "met", "mckay"], capitals) == ["I", "met", "McKay"]
    assert capitalise_start(["“", "well", ",", "so"]) == ["“", "Well", ",", "so"]
    assert capitalise_start(["iPhone", "x"]) == ["iPhone", "x"]


def test_where_a_text_breaks_off() -> None:
    assert ends_sentence("“ Yes . ”".split()) and ends_sentence([])
    assert not ends_sentence("Anna went to the".split())
    assert "”" in list_unopened(["(", "a"]) and ")" not in list_unopened(["(", "a"])


def make_prompt() -> Document:
    return Document(
        "prompt",
        ("Ann", "saw", "Zebedee", ".", "She", "ran", "."),
        ((0, 4), (4, 7)),
        (Mention(0, 1, "a"), Mention(2, 3, "z"), Mention(4, 5, "a")),
    )


def test_nothing_unreadable_is_told() -> None:
    pretrained, _ = make_bundle(std=1.0)
    for seed in range(5):
        for story in generate_continuations(
            pretrained, make_prompt(), ContinuationRequest(words=50), count=2, seed=seed
        ):
            assert not re.search(r"<|>|\bunk\b|\bnum\b", story.text.lower())
            assert re.match(r"[A-Z]", story.text) and story.text.endswith(".")
            assert " ." not in story.text and story.document.text == story.text


def test_unknown_names_are_spelled() -> None:
    pretrained, _ = make_bundle(std=1.0)
    texts = [
        story.text
        for seed in range(8)
        for story in generate_continuations(
            pretrained,
            make_prompt(),
            ContinuationRequest(words=40, next_entity="zebedee", new_entities=False),
            seed=seed,
        )
    ]
    assert any("Zebedee" in text for text in texts)


def test_wishes_are_kept() -> None:
    pretrained, _ = make_bundle()
    request = ContinuationRequest(words=40, next_entity="Ann", new_entities=False)
    for story in generate_continuations(pretrained, make_prompt(), request, count=5, seed=3):
        mentions = story.document.mentions
        assert mentions[0].entity == "1" and {mention.entity for mention in mentions} <= {"1", "2"}
        assert story.names["1"] == "Ann"


def test_the_cast_is_introduced_by_name() -> None:
    pretrained, _ = make_bundle()
    request = ContinuationRequest(
        words=60, cast=("Old Bo", "Xanthippe"), next_entity="old bo", new_entities=False
    )
    for story in generate_continuations(pretrained, None, request, count=5, seed=1):
        first: dict[str, str] = {}
        for mention in story.document.mentions:
            first.setdefault(mention.entity, story.document.words(*mention.span))
        assert first["1"] == "Old Bo"
        assert first.get("2", "Xanthippe") == "Xanthippe"
        assert next(iter(first)) == "1"


def test_a_member_of_the_cast_who_is_in_the_text_is_the_one_of_the_text() -> None:
    pretrained, _ = make_bundle()
    story = generate_continuations(
        pretrained, make_prompt(), ContinuationRequest(words=30, cast=("Ann",), new_entities=False)
    )[0]
    assert set(story.names.values()) <= {"Ann", "Zebedee"}


def test_sentences_can_be_counted() -> None:
    pretrained, _ = make_bundle()
    story = generate_continuations(pretrained, None, ContinuationRequest(sentences=4), seed=2)[0]
    assert len(story.document.sentences) == 4


def test_a_sentence_ends_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    from entitynlm.generation import continuations as storytelling

    monkeypatch.setattr(storytelling, "LONGEST_SENTENCE", 5)
    pretrained, _ = make_bundle()
    story = generate_continuations(pretrained, None, ContinuationRequest(sentences=6), seed=2)[0]
    assert len(story.document.sentences) == 6
    assert max(end - start for start, end in story.document.sentences) <= 5 + 2 + 1  # a mention, a full stop


def test_a_text_that_breaks_off_goes_on() -> None:
    pretrained, _ = make_bundle(std=1.0)
    broken = Document("d", ("Ann", "saw"))
    story = generate_continuations(pretrained, broken, ContinuationRequest(sentences=1), seed=1)[0]
    assert story.text[0].islower() or story.text[0] in "IAB"
    whole = Document("d", ("Ann", "ran", "."))
    assert (
        generate_continuations(pretrained, whole, ContinuationRequest(sentences=1), seed=1)[0]
        .text[0]
        .isupper()
    )


def test_the_same_seed_tells_the_same() -> None:
    pretrained, _ = make_bundle()
    one, same, other = (
        [story.text for story in generate_continuations(pretrained, make_prompt(), count=2, seed=seed)]
        for seed in (1, 1, 2)
    )
    assert one == same != other
    assert one[0] != one[1]


def test_a_model_with_types_and_capitals() -> None:
    from entitynlm.config import ModelConfig
    from entitynlm.model.encoding.encoder import Encoder
    from entitynlm.model.pretrained import Pretrained

    documents = [
        Document(d.id, d.tokens, d.sentences, d.mentions, {"ann": "person", "bo": "person", "thing": "thing"})
        for d in make_documents()
    ]
    recipe = Recipe(lowercase=False, punctuation="keep", numbers=False)
    encoder = Encoder.fit(documents, recipe=recipe, singletons="keep", typed=True, max_length=4)
    pretrained = Pretrained(encoder, None)
    pretrained.add(
        ModelConfig(
            hidden_size=6,
            embedding_size=6,
            max_length=4,
            mention_types=3,
            mention_positions=2,
            softmax="full",
        )
    )
    story = generate_continuations(
        pretrained, None, ContinuationRequest(words=40, cast=("Ann", "Bo")), seed=5
    )[0]
    assert set(story.document.entity_types.values()) <= {"person", "thing", "other"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"next_entity": "Nobody"}, "no entity is called 'Nobody'; the text has: Ann, Zebedee"),
        ({"cast": ("a b c d",)}, "more than the 2 words"),
        ({"cast": ("",)}, "empty name"),
        ({"words": 0}, "one word"),
        ({"temperature": 0}, "temperature"),
    ],
)
def test_what_can_not_be_told(options: dict[str, object], message: str) -> None:
    pretrained, _ = make_bundle()
    with pytest.raises(ConfigError, match=re.escape(message)):
        generate_continuations(pretrained, make_prompt(), ContinuationRequest(**options))  # type: ignore[arg-type]
