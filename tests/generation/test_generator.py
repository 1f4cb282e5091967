"""Generation: the grammar of R, E and L, the constraints, and a state that equals reading the same text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import torch

from entitynlm.errors import ConfigError
from entitynlm.generation.generator import Constraints, GeneratedWord, Generator
from entitynlm.inference.story_state import StoryState
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.preprocessing import SENTENCE_END
from entitynlm.model.encoding.variables import Analysis
from support.letter_backbone import Letters, make_letter_network
from support.small_models import make_network

END = 2


def make_generator(seed: int = 0, **options: object) -> Generator:
    network = make_network(mode="generative", **options)
    return Generator(network, sentence_end=END, generator=torch.Generator().manual_seed(seed))


class Generated(NamedTuple):
    """The variables of generated words."""

    r: list[int]
    e: list[int]
    l: list[int]
    x: list[int]


def generate(generator: Generator, state: StoryState, words: int, constraints: Constraints) -> Generated:
    generated: list[GeneratedWord] = []
    while len(generated) < words:
        state, word = generator.step(state, constraints)
        generated.append(word)
        constraints = constraints.settle(word.e, word.l)
    return Generated(*(list(values) for values in zip(*(word[:4] for word in generated), strict=True)))


def as_document(generated: list[GeneratedWord]) -> EncodedDocument:
    arrays = [np.array([getattr(word, name) for word in generated], dtype=np.int64) for name in "xrel"]
    sentence = np.concatenate([[0], np.cumsum(arrays[0] == END)[:-1]])
    return EncodedDocument("generated", *arrays, sentence, np.arange(len(sentence)))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mention_types": 2, "features": "rich"},
        {"mention_positions": 2},
        {"mention_positions": 1, "copying": True},
    ],
)
def test_generated_words_obey_the_grammar(options: dict[str, object]) -> None:
    generator = make_generator(**options)
    generated = generate(generator, generator.start(), 60, Constraints(banned=(1,)))
    analysis = Analysis(*(np.array(values) for values in (generated.r, generated.e, generated.l)))
    assert len(analysis) == len(generated.x) >= 60
    assert 1 not in generated.x and generator.network.backbone.start_word not in generated.x
    assert max(generated.e) >= 2


def test_a_prompt_leaves_the_state_of_having_generated_it() -> None:
    generator = make_generator(sigma=0.0, features="rich", mention_types=2)
    state = generator.start()
    generated: list[GeneratedWord] = []
    while len(generated) < 40 or state.history.remaining:
        state, word = generator.step(state, Constraints())
        generated.append(word)
    read = generator.read_prompt(as_document(generated))
    assert np.allclose(state.vectors, read.vectors)
    assert np.allclose(state.e_current, read.e_current)
    assert torch.allclose(state.carry[0], read.carry[0])
    assert state.sentence == read.sentence
    assert np.array_equal(state.history.table, read.history.table)
    assert (state.history.position, state.history.mentions, state.history.current) == (
        read.history.position,
        read.history.mentions,
        read.history.current,
    )


def test_constraints_on_entities_are_kept() -> None:
    generator = make_generator()
    state = generator.add_entity(generator.add_entity(generator.start(), [3, 4]), [5])
    generated = generate(generator, state, 80, Constraints(next_entity=2, new_entities=False))
    mentioned = [e for e in generated.e if e]
    assert mentioned[0] == 2
    assert set(mentioned) <= {1, 2}


def test_a_name_is_spelled_at_the_first_mention() -> None:
    generator = make_generator(mention_positions=2)
    state = generator.add_entity(generator.start(), [3, 4, 5])
    constraints = Constraints(next_entity=1, names={1: (3, 4, 5)}, mention=True)
    generated = generate(generator, state, 80, constraints)
    assert generated.x[:3] == [3, 4, 5] and generated.e[:3] == [1, 1, 1] and generated.l[:3] == [3, 2, 1]
    later = [at for at in range(3, 80) if generated.e[at] == 1]
    assert later and [generated.x[at] for at in later[:3]] != [3, 4, 5]  # only the first one is scripted


@pytest.mark.parametrize(
    ("name", "value"), [("temperature", 0.0), ("temperature", float("nan")), ("top_p", 0.0), ("top_p", 1.5)]
)
def test_constraints_that_make_no_sense_are_refused(name: str, value: float) -> None:
    with pytest.raises(ConfigError):
        Constraints(**{name: value})


@pytest.mark.parametrize("copying", [False, True])
def test_words_of_several_pieces_are_drawn_with_their_probability(copying: bool) -> None:
    """A word of one or two letters, spelled letter by letter or copied from the entity's name, against equation 6."""
    tokenizer, draws = Letters("ab", 2), 3_000
    network = make_letter_network(tokenizer, mention_positions=2, copying=copying)
    seeded = torch.Generator().manual_seed(0)
    end = tokenizer.sentence_end
    generator = Generator(network, sentence_end=end, generator=seeded, tokenizer=tokenizer)
    name = [generator.words.learn(word) for word in ("ab", "a")]
    state = generator.add_entity(generator.start(), name).choose(1, 1, 2)
    drawn = [generator.step(state, Constraints())[1].x for _ in range(draws)]
    words = [word for word in tokenizer.list_words() if word != SENTENCE_END]
    probs = np.zeros(len(words))
    with torch.no_grad():
        for number, word in enumerate(words):
            carry = state.carry
            for place, piece in enumerate(tokenizer.pieces(word)):
                log_probs = state.log_prob_pieces(network.backbone.state(carry), place)
                probs[number] += float(log_probs[piece])
                carry = network.backbone.step(carry, torch.tensor([piece]))
        share, candidates = state.expect_copy(network.backbone.state(state.carry))
    keys = tokenizer.encode(words)
    copies = np.array([candidates.count(key) / max(1, len(candidates)) for key in keys.tolist()])
    expected = (1 - share) * np.exp(probs) + share * copies
    expected /= expected.sum()  # a mention does not hold a sentence's end
    assert (share > 0.01) == copying and (candidates == name[:1]) == copying
    found = np.array([drawn.count(key) for key in keys.tolist()]) / draws
    np.testing.assert_allclose(found, expected, atol=4 * 0.5 / np.sqrt(draws))  # four standard errors
