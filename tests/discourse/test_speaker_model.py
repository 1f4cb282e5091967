"""The speakers of a conversation: marginals against the sum over all readings, tags, and steps from quotation to quotation."""

import itertools

import numpy as np
import pytest

from entitynlm.discourse.conversations import Conversation, ConversationReader
from entitynlm.discourse.discourse import read_discourse
from entitynlm.discourse.speaker_features import Dialogue
from entitynlm.discourse.speakers import (
    ANSWERS,
    FIRST_OTHER,
    GOES_ON,
    JOINS,
    SpeakerModel,
    find_marginals,
)
from entitynlm.discourse.speech_tags import Tag, TagReader
from support.marked_text import read_marked


def index(text: str) -> Dialogue:
    document = read_marked(text)
    return Dialogue.of_document(read_discourse(document), document)


def score_reading(reading: tuple[int, ...], scores: np.ndarray, steps: np.ndarray) -> float:
    """One reading of a conversation, quotation by quotation."""
    total, other = float(scores[0, reading[0]]), None
    for number, (before, now) in enumerate(itertools.pairwise(reading), start=1):
        if now == before:
            move = GOES_ON
        else:
            move = FIRST_OTHER if other is None else ANSWERS if now == other else JOINS
            other = before
        total += float(steps[number, move] + scores[number, now])
    return total


def test_marginals_are_those_of_all_readings() -> None:
    random = np.random.default_rng(3)
    scores, steps = (random.normal(size=size).astype(np.float32) for size in ((4, 3), (4, 4)))
    expected = np.zeros((4, 3))
    for reading in itertools.product(range(3), repeat=4):
        expected[range(4), reading] += np.exp(score_reading(reading, scores, steps))
    assert find_marginals(scores, steps) == pytest.approx(np.log(expected), abs=1e-4)


def test_the_name_after_a_verb_of_speech_is_the_speaker_whatever_else_is_known() -> None:
    zeros, features = np.zeros((1, 2), np.float32), {"tag after verb name own": 0, "nearest before": 1}
    weights = {"linear": np.array([1.0, 9.0], np.float32), "hidden": zeros, "bias": zeros[:, 0]}
    model = SpeakerModel({**weights, "output": zeros[:, 0]}, features, {})
    rows = [[{"tag after verb name own": 1.0}, {"nearest before": 1.0}], [{}, {"nearest before": 1.0}]]
    assert model.find_speakers(Conversation(0, ["n", "i"], rows, ["start", "next"])) == ["n", "i"]


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("“Stay,” said [Nora|n] to [Ida|i].", Tag("after verb", "name", "n", None)),
        ("“Stay,” said [the old man|m].", Tag("after verb", "noun", "m", "male")),
        ("“Stay,” said [her|i] [father|f].", Tag("after verb", "noun", "f", "male")),
        ("“Stay,” she slowly answered [Ida|i].", Tag("after subject", "pronoun", None, "female")),
        (
            "[Ida|i] looked at [Nora|n] and [she|n] said: “Stay.”",
            Tag("before verb", "pronoun", "n", "female"),
        ),
        ("[Ida|i] turned to [Nora|n]: “Stay.”", Tag("before other", "name", "i", None)),
        ("“Stay,” said I.", Tag("after verb", "i", None, None)),
        ("“Stay.” [Ida|i] sat down.", None),
        ("“Stay.”\n\n[Ida|i] said nothing.", None),
    ],
)
def test_tags(text: str, tag: Tag | None) -> None:
    assert TagReader(index(text)).read(0) == tag


def test_a_name_in_a_tag_belongs_to_the_entity_that_mostly_has_it() -> None:
    text = "[Nora|n] came. [Nora|n] sat. [Nora|n] read. “Stay,” said [Nora|x]. “Go,” said Nora."
    reader = TagReader(index(text))
    assert [reader.read(number).entity for number in range(2)] == ["n", "n"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("“No,” said [Nora|n], “not today.”\n\nIt rained.", "same, inside, tag"),
        ("“No.”\n\n“Yes.”", "next"),
        ("“No,” said [Nora|n].\n\n“Yes.”", "next, tail"),
        ("“It was long ago.\n\n“Then you came.”", "monologue"),
        ("“No.”\n\nIt rained.\n\n“Yes.”", "gap, one"),
        ("“No.” “Yes.”", "unknown, none"),
    ],
)
def test_steps(text: str, step: str) -> None:
    assert ConversationReader(index(text)).describe_step(1) == step


def test_a_long_pause_ends_a_conversation() -> None:
    text = (
        "“No,” said [Nora|n].\n\n"
        + "It rained. " * 50
        + "\n\n“Yes,” said [Ida|i].\n\n“When?” asked [Nora|n]."
    )
    found = list(ConversationReader(index(text)).read())
    assert [(c.first, len(c.steps)) for c in found] == [(0, 1), (1, 2)]
    assert set(found[1].participants) == {"n", "i"}
