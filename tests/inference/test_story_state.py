"""StoryState against the slow twin, word by word, and against scoring whole documents."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from entitynlm.inference.readings import Readings, WordTables
from entitynlm.inference.story_state import StoryState, log_prob_pieces, read_along
from entitynlm.model.batch.document_index import COUNT
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import FixedNoise
from support.scoring import score_encoded
from support.slow_twin import SlowTwin
from support.small_models import encoded_documents, make_network, model_options


def log_prob_words(state: StoryState, tables: WordTables, at: int) -> torch.Tensor:
    """(V,) equation 6 for every word of a vocabulary."""
    return log_prob_pieces([state], torch.from_numpy(tables.contexts[at : at + 1]))[0]


def score_by_state(network: EntityNetwork, document: EncodedDocument) -> dict[str, np.ndarray]:
    """log-probabilities of a document's variables, asked of the state before each word."""
    found = {name: np.zeros(len(document)) for name in "relx"}
    for t, step in enumerate(read_along(network, document, Readings(document).read(network))):
        state, r, e, l = step.before, int(document.r[t]), int(document.e[t]), int(document.l[t])
        assert state.history.position == t
        if not state.history.remaining:
            expected = state.expect(step.tables, step.at, step.new_entities)
            found["r"][t] = expected.log_types[r]
            if r:
                candidate = e - 1 if e <= expected.known else expected.known + r - 1
                found["e"][t] = expected.log_entities[candidate]
                lengths = expected.log_lengths(np.array([candidate]))[0]
                at_least = t + l >= len(document)  # the text's end may have cut the mention
                found["l"][t] = np.logaddexp.reduce(lengths[l - 1 :]) if at_least else lengths[l - 1]
                state = state.choose(r, e, l, step.new_entities[r - 1])
        if network.config.mode == "generative":
            found["x"][t] = float(log_prob_words(state, step.tables, step.at)[document.x[t]])
    return found


@given(st.data(), model_options("generative", "causal"))
@settings(max_examples=60, deadline=None)
def test_a_state_expects_what_the_slow_twin_and_the_batch_score(
    data: st.DataObject, options: dict[str, Any]
) -> None:
    network = make_network(**options)
    document = data.draw(encoded_documents(mention_types=options["mention_types"]))
    found = score_by_state(network, document)
    with torch.no_grad():
        twin = SlowTwin(network, FixedNoise()).score(document)
        batch = score_encoded(network, [document], noise=FixedNoise()) if len(document) else None
    for name in "relx":
        expected = np.array([float(getattr(score, name)) for score in twin])
        np.testing.assert_allclose(found[name], expected, atol=1e-10)
        if batch is not None:
            np.testing.assert_allclose(found[name], getattr(batch, name).numpy(), atol=1e-10)


def make_states(words: int, entities: int, size: int = 16) -> tuple[StoryState, EncodedDocument]:
    """The state after a text in which every second word is a mention, of one entity after the other."""
    network = make_network(mode="generative", hidden_size=size).eval()
    t = np.arange(words)
    e = np.where(t % 2 == 0, 1 + (t // 2) % entities, 0)
    x = 3 + t % 5
    document = EncodedDocument("long", x, (e > 0).astype(np.int64), e, np.ones_like(e), t // 10, t)
    for step in read_along(network, document, Readings(document).read(network), starts_only=True):
        state = step.after
    return state, document


def test_states_are_immutable_and_branch() -> None:
    network = make_network(mode="generative", mention_positions=2)
    document = EncodedDocument(
        "d", *(np.array(a) for a in ([4, 5, 6], [1, 0, 1], [1, 0, 2], [1, 1, 1])), np.zeros(3), np.arange(3)
    )
    (chunk,) = Readings(document).read(network)
    tables = chunk.model
    start = StoryState.begin(network, tables)
    first = start.observe((4, 1, 1, 1), tables, 0)
    vectors = first.vectors.copy()
    one = first.observe((5, 1, 1, 1), tables, 1)
    other = first.observe((6, 1, 2, 1), tables, 2)
    assert start.history.entities == 0 and np.array_equal(first.vectors, vectors)
    assert one.history.entities == 1 and other.history.entities == 2
    assert not np.array_equal(one.vectors[0], vectors[0]) and np.array_equal(other.vectors[0], vectors[0])


def test_many_entities_share_their_memory() -> None:
    state, _ = make_states(4_000, 300)
    assert state.history.entities == 300 and state.history.mentions == 2_000
    assert state.states.used < 3_000  # a row per new entity and per word of a mention
    assert state.history.table[COUNT].sum() == 2_000


@pytest.mark.parametrize("options", [{}, {"mention_positions": 2}])
def test_words_are_a_distribution_with_and_without_the_entity(options: dict[str, Any]) -> None:
    network = make_network(mode="generative", **options)
    document = EncodedDocument(
        "d", *(np.array(a) for a in ([4, 5], [1, 0], [1, 0], [1, 1])), np.zeros(2), np.arange(2)
    )
    (chunk,) = Readings(document).read(network)
    tables = chunk.model
    state = StoryState.begin(network, tables).observe((4, 1, 1, 1), tables, 0)
    outside, inside = (log_prob_words(s, tables, 1).double().exp() for s in (state, state.choose(1, 1, 2)))
    assert float(outside.sum()) == pytest.approx(1) and float(inside.sum()) == pytest.approx(1)
