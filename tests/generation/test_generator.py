"""Sampling: the grammar of R, E and L, the constraints, words with their probability, and states that equal reading the text."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
import torch

from entitynlm.generation.agreement import MentionAgreement
from entitynlm.generation.generator import (
    Constraints,
    GeneratedWord,
    Generator,
    PieceTree,
    refuse_word,
    run_together,
)
from entitynlm.generation.open_vocabulary import OpenVocabulary
from entitynlm.generation.opening import begin_story
from entitynlm.inference.story_state import StoryState, log_prob_pieces
from entitynlm.model.encoding.preprocessing import SENTENCE_END
from entitynlm.model.pretrained import Pretrained
from support.letter_backbone import Letters, make_letter_network
from support.prose_model import make_prose_model


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> Pretrained:
    return make_prose_model(tmp_path_factory.mktemp("lm"))


def take_step(
    generator: Generator, state: StoryState, constraints: Constraints
) -> tuple[StoryState, GeneratedWord]:
    return run_together(generator.network.backbone, [generator.step(state, constraints)])[0]


@pytest.fixture
def generator(pretrained: Pretrained) -> Generator:
    words = OpenVocabulary(pretrained.encoder.tokenizer)
    return Generator(pretrained.get("generative"), words, torch.Generator().manual_seed(1))


class Generated(NamedTuple):
    """The variables of generated words."""

    r: list[int]
    e: list[int]
    l: list[int]
    x: list[int]


def generate(generator: Generator, state: StoryState, words: int, constraints: Constraints) -> Generated:
    generated: list[GeneratedWord] = []
    while len(generated) < words or state.history.remaining:
        state, word = take_step(generator, state, constraints)
        generated.append(word)
        constraints = replace(constraints, due=(), form=word.form if word.l > 1 else ())
    return Generated(*(list(values) for values in zip(*(word[:4] for word in generated), strict=True)))


def add_entity(generator: Generator, state: StoryState, *name: str) -> StoryState:
    """Add an entity with a random vector and a name."""
    vector = np.random.default_rng(1).normal(size=generator.network.config.hidden_size).astype(np.float32)
    for word in name:
        generator.words.learn(word)
    return state.add_entity(1, vector)


def test_generated_words_obey_the_grammar(generator: Generator) -> None:
    generated = generate(generator, begin_story(generator.network), 60, Constraints())
    previous, known = (0, 0, 1), 0
    for r, e, l in zip(generated.r, generated.e, generated.l, strict=True):
        if previous[2] > 1:
            assert (r, e, l) == (*previous[:2], previous[2] - 1), "a mention goes on to its end"
        elif r == 0:
            assert (e, l) == (0, 1)
        else:
            assert 1 <= e <= known + 1, "new entities get the next number"
        previous, known = (r, e, l), max(known, e)
    assert len(generated.x) >= 60
    assert known >= 2


def test_words_are_drawn_with_the_pieces_that_are_read_on(generator: Generator) -> None:
    """Each word ends once, begins with no END, and the state afterwards is that of having read all pieces."""
    state, tokenizer, pieces = begin_story(generator.network), generator.words.tokenizer, []
    for _ in range(30):
        state, word = take_step(generator, state, Constraints())
        assert tokenizer.ends_word(word.pieces[-1]) and not any(map(tokenizer.ends_word, word.pieces[:-1]))
        assert not {*word.pieces} & {*tokenizer.never_generated}
        assert generator.words[word.x] == tokenizer.join(word.pieces)
        pieces += word.pieces
    backbone, carry = generator.network.backbone, generator.network.backbone.start()
    for piece in pieces:
        carry = backbone.step(carry, torch.tensor([piece]))
    assert torch.allclose(backbone.state(carry), backbone.state(state.carry), atol=1e-4)


def test_constraints_on_entities_are_kept(generator: Generator) -> None:
    state = add_entity(generator, begin_story(generator.network), "Anna", "Miller")
    state = add_entity(generator, state, "Bob")
    generated = generate(generator, state, 60, Constraints(due=(2,), new_entities=False))
    mentioned = [e for e in generated.e if e]
    assert mentioned[0] == 2 and set(mentioned) <= {1, 2}


def test_a_name_is_spelled_at_the_first_mention(generator: Generator) -> None:
    state = add_entity(generator, begin_story(generator.network), "old", "Anna")
    name = tuple(generator.words.learn(word) for word in ("old", "Anna"))
    generated = generate(generator, state, 2, Constraints(due=(1,), list_forms=lambda entity: [name]))
    assert generated.x[:2] == list(name) and generated.e[:2] == [1, 1] and generated.l[:2] == [2, 1]


def test_words_of_several_pieces_are_drawn_with_their_probability() -> None:
    """A word of one or two letters, spelled letter by letter, against equation 6."""
    tokenizer, draws = Letters("ab", 2), 3_000
    network = make_letter_network(tokenizer, mention_positions=2)
    generator = Generator(network, OpenVocabulary(tokenizer), torch.Generator().manual_seed(0))
    end = generator.words.learn(SENTENCE_END)
    state = add_entity(generator, begin_story(network), "ab", "a").choose(1, 1, 2)
    drawn = [take_step(generator, state, Constraints(banned=(end,)))[1].x for _ in range(draws)]
    words = [word for word in tokenizer.list_words() if word != SENTENCE_END]
    probs = np.zeros(len(words))
    with torch.no_grad():
        for number, word in enumerate(words):
            carry = state.carry
            for place, piece in enumerate(tokenizer.pieces(word)):
                log_probs = log_prob_pieces([state], network.backbone.state(carry), place)[0]
                probs[number] += float(log_probs[piece])
                carry = network.backbone.step(carry, torch.tensor([piece]))
    keys = tokenizer.encode(words)
    expected = np.exp(probs)
    expected /= expected.sum()  # a mention does not hold a sentence's end
    found = np.array([drawn.count(key) for key in keys.tolist()]) / draws
    np.testing.assert_allclose(found, expected, atol=4 * 0.5 / np.sqrt(draws))  # four standard errors


def test_a_refused_word_leaves_the_others_their_proportions() -> None:
    """As drawing again would: of the words ac, ad and b, without ac."""
    tree: PieceTree = {
        (): (None, torch.tensor([0.6, 0.4, 0.0, 0.0], dtype=torch.float64)),  # a, b
        (0,): (None, torch.tensor([0.0, 0.0, 0.25, 0.75], dtype=torch.float64)),  # c, d
    }
    assert refuse_word(tree, (0, 2))
    first, second = tree[()][1], tree[0,][1]
    assert (first / first.sum()).tolist() == pytest.approx([0.45 / 0.85, 0.4 / 0.85, 0, 0])
    assert (second / second.sum()).tolist() == pytest.approx([0, 0, 0, 1])
    assert refuse_word(tree, (1,)) and not refuse_word(tree, (0, 3))


class FirstWordsOnly(MentionAgreement):
    """No word may go on with a mention."""

    def introduces(self, word: str, before: tuple[str, ...], *, last: bool) -> bool:
        return not before


def test_a_mention_ends_early_where_no_word_can_go_on(generator: Generator) -> None:
    state = add_entity(generator, begin_story(generator.network), "Anna").choose(1, 1, 2)
    after, word = take_step(generator, state, Constraints(begun=("The",), agreement=FirstWordsOnly()))
    assert (word.r, word.e, word.l) == (0, 0, 1) and not after.history.remaining
