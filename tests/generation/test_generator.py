"""Stories told forward: the grammar of R, E, L, the wishes, and a state that equals reading the same text."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from entitynlm.errors import ConfigError
from entitynlm.generation.generator import Teller, Told, Wishes
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.variables import Analysis
from support.small_models import make_network

END = 2


def make_teller(seed: int = 0, **options: object) -> Teller:
    network = make_network(mode="generative", **options)
    return Teller(network, sentence_end=END, generator=torch.Generator().manual_seed(seed))


def as_document(told: Told) -> EncodedDocument:
    arrays = [np.array(values, dtype=np.int64) for values in (told.x, told.r, told.e, told.l)]
    sentence = np.concatenate([[0], np.cumsum(arrays[0] == END)[:-1]])
    return EncodedDocument("told", *arrays, sentence, np.arange(len(sentence)))


@pytest.mark.parametrize(
    "options",
    [{}, {"kinds": 2, "features": "rich"}, {"word_states": 2, "layers": 2}, {"word_states": 1, "echo": True}],
)
def test_what_is_told_obeys_the_story(options: dict[str, object]) -> None:
    teller = make_teller(**options)
    told = teller.tell(teller.listen(None), 60, Wishes(banned=(1,)))
    analysis = Analysis(*(np.array(values) for values in (told.r, told.e, told.l)))
    assert len(analysis) == len(told.x) >= 60
    assert 1 not in told.x and teller.network.reader.start not in told.x
    assert max(told.e) >= 2


def test_listening_gives_the_state_of_having_told() -> None:
    """The state after telling word by word is the one that the batched path has after reading the same text."""
    teller = make_teller(sigma=0.0, features="rich", kinds=2)
    story = teller.listen(None)
    told = Told()
    while len(told.x) < 40 or story.past.remaining:
        story, values = teller.step(story, Wishes())
        told.append(*values)
    heard = teller.listen(as_document(told))
    assert torch.allclose(story.entities, heard.entities)
    assert torch.allclose(story.e_current, heard.e_current)
    assert torch.allclose(story.lstm[0], heard.lstm[0])
    assert story.sentence == heard.sentence
    for name in ("kinds", "last_token", "last_sentence", "last_mention", "counts"):
        assert np.array_equal(getattr(story.past, name), getattr(heard.past, name)), name
    assert (story.past.position, story.past.mentions, story.past.current) == (
        heard.past.position,
        heard.past.mentions,
        heard.past.current,
    )


def test_wishes_about_entities_are_kept() -> None:
    teller = make_teller()
    story = teller.introduce(teller.introduce(teller.listen(None), [3, 4]), [5])
    told = teller.tell(story, 80, Wishes(next_entity=2, new_entities=False))
    mentioned = [e for e in told.e if e]
    assert mentioned[0] == 2
    assert set(mentioned) <= {1, 2}


def test_a_name_is_spelled_at_the_first_mention() -> None:
    teller = make_teller(word_states=2)
    story = teller.introduce(teller.listen(None), [3, 4, 5])
    wishes = Wishes(next_entity=1, names={1: (3, 4, 5)}, insist=True)
    told = teller.tell(story, 80, wishes)
    assert told.x[:3] == [3, 4, 5] and told.e[:3] == [1, 1, 1] and told.l[:3] == [3, 2, 1]
    later = [at for at in range(3, 80) if told.e[at] == 1]
    assert later and [told.x[at] for at in later[:3]] != [3, 4, 5]  # only the first one is scripted


def test_the_same_seed_tells_the_same_story() -> None:
    stories = []
    for seed in (1, 1, 2):
        teller = make_teller(seed=seed)
        stories.append(teller.tell(teller.listen(None), 30, Wishes(temperature=0.8, top_p=0.9)).x)
    assert stories[0] == stories[1] != stories[2]


@pytest.mark.parametrize("wishes", [{"temperature": 0.0}, {"top_p": 0.0}, {"top_p": 1.5}])
def test_wishes_that_make_no_sense_are_refused(wishes: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Wishes(**wishes)
