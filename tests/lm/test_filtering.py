"""A word to come changes nothing before it, and what is believed at a word is the posterior given the words up to it."""

import itertools
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from entitynlm.inference.marginal import make_filter
from entitynlm.inference.readings import Readings
from entitynlm.lm.surprisal import TokenRow, measure_surprisal
from entitynlm.lm.surprisal_words import estimate_words
from entitynlm.model.pretrained import Pretrained, load_pretrained
from entitynlm.text.document import Document
from support.enumeration import list_analyses, score_analyses
from support.small_bundles import cut_document, make_bundle
from support.surprisal_rows import assert_same_rows

WORDS = ("Ann", "saw", "Bo", "She", "He", "it", "ran", "Zeb", ".")


@cache
def load_bundle(**options: Any) -> Pretrained:
    return make_bundle(std=0.8, **options)[0]


@cache
def load_packaged() -> Pretrained:
    return load_pretrained("entitynlm-en")


def make_text(words: Sequence[str]) -> Document:
    """Sentences end with a full stop."""
    ends = [i + 1 for i, word in enumerate(words) if word == "."] + [len(words)]
    bounds = sorted({0, *ends})
    return Document("text", tuple(words), tuple(itertools.pairwise(bounds)))


@settings(max_examples=25, deadline=None)
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=2, max_size=90),
    cut=st.integers(1, 89),
    options=st.sampled_from([{}, {"mention_positions": 2, "sigma": 0.1}]),
    seed=st.integers(0, 3),
)
def test_the_table_of_a_beginning_is_the_beginning_of_the_table(
    words: list[str], cut: int, options: dict[str, Any], seed: int
) -> None:
    pretrained, cut = load_bundle(**options), min(cut, len(words) - 1)
    sampling: dict[str, Any] = {"samples": 12, "repeats": 3, "seed": seed}
    whole = measure_surprisal(pretrained, make_text(words), **sampling)
    start = measure_surprisal(pretrained, make_text(words[:cut]), **sampling)
    assert_same_rows(start.tokens, whole.tokens[:cut])
    assert_same_rows(start.mentions, whole.mentions[: len(start.mentions)])
    later = whole.mentions[len(start.mentions) :]
    assert all((row.sentence_id, row.first_token_id) > locate(start.tokens[-1]) for row in later)


@pytest.mark.parametrize("cut", [1, 6, 31, 42])
def test_that_of_the_packaged_model_too(cut: int) -> None:
    """In single precision and with matrices of some size, where products of other shapes have other last digits."""
    words = (
        "Anna met Bob at the door . She thanked him for the book . He asked her aunt about it . " * 3
    ).split()
    whole, start = (
        measure_surprisal(load_packaged(), make_text(part), samples=6, repeats=2).tokens
        for part in (words, words[:cut])
    )
    assert_same_rows(start, whole[:cut])


def locate(row: TokenRow) -> tuple[int, int]:
    return row.sentence_id, row.token_id


@settings(max_examples=10, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=40))
def test_only_sentence_ends_are_in_the_probability_of_the_text_and_in_no_row(words: list[str]) -> None:
    found = measure_surprisal(load_bundle(), make_text(words), samples=9)
    assert found.words == (found.encoded.origin >= 0).sum()
    assert 0 <= found.total <= -found.log_prob / math.log(2) + 1e-9


def test_equal_particles_are_one() -> None:
    pretrained, documents = make_bundle(std=0.7)
    model, proposal = pretrained.get("generative"), pretrained.get("causal")
    found = make_filter(model, proposal, documents[0], particles=500)
    for chunk in Readings(documents[0]).read(model, proposal):
        found.advance(chunk, end=len(documents[0]))
    assert found.population.particles.copies.sum() == 500
    assert found.population.used < 250


def test_beliefs_are_the_posterior_given_the_words_so_far() -> None:
    """By enumeration of the analyses of a text and of its beginnings."""
    pretrained, documents = make_bundle(std=0.7)
    model, proposal = pretrained.get("generative"), pretrained.get("causal")
    document = cut_document(documents[0], 3)
    reader = estimate_words(model, proposal, document, particles=2_000, repeats=4).reader
    assert reader is not None
    for t in range(3):
        beginning = cut_document(document, t + 1)
        analyses = list_analyses(model, beginning)
        posterior = softmax(score_analyses(model, beginning, analyses))
        inside = posterior @ [a.mention_type[t] > 0 for a in analyses]
        starts = posterior @ [a.mention_type[t] > 0 and (t == 0 or a.remaining[t - 1] == 1) for a in analyses]
        assert reader.mention_found[t] == pytest.approx(inside, abs=0.02)
        assert reader.mention_starts[t] == pytest.approx(starts, abs=0.02)
        if (entity := reader.entity[t]) >= 0:  # by the word of its first mention
            own = [a.entity[t] > 0 and int(np.argmax(a.entity == a.entity[t])) == entity for a in analyses]
            assert reader.probability[t] == pytest.approx(posterior @ own, abs=0.02)
    assert reader.mention_starts[0] == pytest.approx(reader.mention_found[0])
    assert reader.referent[0] == pytest.approx(0.0) and reader.entropy[0] == pytest.approx(0.0)  # who else?
    assert (reader.mention_starts <= reader.mention_found + 1e-12).all()
    assert ((reader.entity >= 0) == (reader.mention_found >= 0.5)).all()
    assert (reader.entity <= np.arange(3)).all()
