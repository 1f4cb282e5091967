"""What is promised about every generated story, and that chance is the same everywhere."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from entitynlm.errors import ConfigError
from entitynlm.stories import SPLITS, generate_stories, write_stories
from entitynlm.stories.reference import load_scenarios
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import read_documents


@pytest.fixture(scope="module")
def stories() -> list[Document]:
    return list(generate_stories(240, seed=1))


def test_a_story_depends_on_seed_and_number_alone() -> None:
    assert list(generate_stories(6, seed=3))[:4] == list(generate_stories(4, seed=3))
    assert next(generate_stories(1, seed=3)).text != next(generate_stories(1, seed=4)).text


def test_the_same_seed_gives_the_same_stories_on_every_python() -> None:
    """The digest changes when scripts or wordings are changed; the failing assertion prints the new one."""
    digest = hashlib.sha256()
    for document in generate_stories(40, seed=7):
        digest.update(repr((document.text, document.clusters())).encode())
    assert digest.hexdigest()[:16] == "f2422566b220b50b"


def test_stories_are_neither_short_nor_long(stories: list[Document]) -> None:
    for document in stories:
        assert 10 <= len(document.sentences) <= 30
        assert 80 <= len(document) <= 250
        assert 10 <= len(document.entities) <= 30


def test_all_scenarios_are_used_and_no_text_comes_twice(stories: list[Document]) -> None:
    used = Counter(document.meta["scenario"] for document in stories)
    assert set(used) == {scenario.name for scenario in load_scenarios()}
    assert len({document.text for document in stories}) == len(stories)
    assert len({document.id for document in stories}) == len(stories)


def test_mentions_nest_and_never_cross_or_double(stories: list[Document]) -> None:
    for document in stories:
        spans = [mention.span for mention in document.mentions]
        assert len(set(spans)) == len(spans)
        for start, end in spans:
            for other_start, other_end in spans:
                assert not start < other_start < end < other_end


def test_entities_are_typed_and_numbered_by_first_mention(stories: list[Document]) -> None:
    types = Counter()
    for document in stories:
        assert [entity.id for entity in document.entities] == [
            str(number) for number in range(1, len(document.entities) + 1)
        ]
        types.update(entity.type for entity in document.entities)
    assert set(types) == {"person", "animal", "thing", "place", "time", "event"}


def test_there_is_all_that_a_model_should_learn_from(stories: list[Document]) -> None:
    lengths = Counter(len(mention) for document in stories for mention in document.mentions)
    nested = [
        inner
        for document in stories
        for inner in document.mentions
        if any(o.start <= inner.start and inner.end <= o.end and o != inner for o in document.mentions)
    ]
    sizes = [len(entity.mentions) for document in stories for entity in document.entities]
    texts = [document.text or "" for document in stories]
    assert max(lengths) >= 7
    assert all(lengths[length] > 10 for length in range(1, 7))
    assert len(nested) > 4 * len(stories)
    assert 0.4 < sizes.count(1) / len(sizes) < 0.7
    assert sum('"' in text for text in texts) > len(texts) / 3
    assert sum(any(token.isdigit() for token in document.tokens) for document in stories) > len(texts) / 10
    assert 550 <= len({token.lower() for document in stories for token in document.tokens}) <= 1500


def test_splits_are_eight_one_one_of_ten_and_hold_every_story_once() -> None:
    splits = {split: list(generate_stories(30, seed=2, split=split)) for split in SPLITS}
    assert {name: len(documents) for name, documents in splits.items()} == {"train": 24, "dev": 3, "test": 3}
    assert sorted(d.id for documents in splits.values() for d in documents) == [
        document.id for document in generate_stories(30, seed=2)
    ]


def test_requests_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ConfigError, match="at least one"):
        next(generate_stories(0, seed=1))
    with pytest.raises(ConfigError, match="train, dev, test"):
        next(generate_stories(1, seed=1, split="validation"))


def test_the_folder_holds_the_splits_and_says_that_it_is_generated(tmp_path: Path) -> None:
    write_stories(20, tmp_path, seed=3)
    for split in SPLITS:
        stories = list(generate_stories(20, seed=3, split=split))
        assert list(read_documents(tmp_path / f"{split}.jsonl")) == stories
    card = json.loads((tmp_path / "corpus.json").read_text(encoding="utf-8"))
    assert card == {"corpus": "stories (generated)", "generated": True, "documents": 20, "seed": 3}
