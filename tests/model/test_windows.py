"""A document read in windows, with the LSTM's and the entities' states carried over, has the scores of the whole."""

from itertools import pairwise
from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from entitynlm.model.batch.document_index import index_document
from entitynlm.model.batch.scores import Carried, Window, cut_windows, score_windows
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import FixedNoise
from support.scoring import score_encoded
from support.small_models import (
    VARIABLES,
    assert_close,
    encoded_documents,
    make_document,
    make_network,
    model_options,
    part,
)

NOISE = FixedNoise(2)


def cut_at(document: EncodedDocument, network: EntityNetwork, cuts: list[int]) -> list[Window]:
    """Windows between arbitrary cuts."""
    windows: list[Window] = []
    borders = [0, *cuts, len(document)]
    for start, end in pairwise(borders):
        past = windows[-1].index.future if windows else None
        index = index_document(document, network.feature_set, start=start, end=end, past=past)
        windows.append(Window(document.words[start:end], index))
    return windows


def score_in_windows(
    network: EntityNetwork, columns: list[list[Window]], carried: Carried | None = None
) -> dict[str, torch.Tensor]:
    """Scores of one document, window after window."""
    parts: dict[str, list[torch.Tensor]] = {variable: [] for variable in VARIABLES}
    for (window,) in columns:
        result = score_windows(network, [window], noise=NOISE, carried=carried)
        carried = result.carried.select(network.backbone, [0])
        for variable in VARIABLES:
            parts[variable].append(getattr(result.scores, variable))
    return {variable: torch.cat(values) for variable, values in parts.items()}


@settings(max_examples=40)
@given(options=model_options("generative", "causal"), data=st.data())
def test_windows_are_the_whole(options: dict[str, Any], data: st.DataObject) -> None:
    """Any cuts, also inside a mention, also before the first entity."""
    network = make_network(**options)
    document = data.draw(encoded_documents(mention_types=options["mention_types"], min_size=2, max_size=20))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(document) - 1), max_size=4)))
    with torch.no_grad():
        whole = score_encoded(network, [document], noise=NOISE)
        pieces = score_in_windows(network, [[window] for window in cut_at(document, network, cuts)])
    for variable in VARIABLES:
        assert_close(pieces[variable], getattr(whole, variable))


@settings(max_examples=20)
@given(options=model_options("generative", "causal"), data=st.data(), size=st.integers(1, 6))
def test_batches_of_windows(options: dict[str, Any], data: st.DataObject, size: int) -> None:
    """Documents of several lengths side by side, as in training: those that end leave the batch."""
    network = make_network(**options)
    documents = data.draw(
        st.lists(
            encoded_documents(mention_types=options["mention_types"], min_size=1, max_size=20),
            min_size=2,
            max_size=4,
        )
    )
    windows = [cut_windows(document, network, size) for document in documents]
    found: list[list[torch.Tensor]] = [[] for _ in documents]
    alive, carried = list(range(len(documents))), None
    with torch.no_grad():
        whole = score_encoded(network, documents, noise=NOISE)
        for step in range(max(len(column) for column in windows)):
            going_on = [i for i in alive if step < len(windows[i])]
            if carried is not None:
                carried = carried.select(network.backbone, [alive.index(i) for i in going_on])
            alive = going_on
            result = score_windows(network, [windows[i][step] for i in alive], noise=NOISE, carried=carried)
            carried = result.carried
            for place, i in enumerate(alive):
                found[i].append(torch.stack([part(result.scores, place, v) for v in VARIABLES]))
    for i, pieces in enumerate(found):
        assert_close(torch.cat(pieces, 1), torch.stack([part(whole, i, v) for v in VARIABLES]))


def test_carried_states_are_cut_off_from_the_gradient() -> None:
    """Truncated backpropagation: what a window starts from is a number, not a function of the parameters."""
    network = make_network()
    document = make_document([1, 2, 3, 4], [(0, 1, 1, 1), (2, 3, 1, 1)])
    result = score_windows(network, cut_windows(document, network, 2)[:1], noise=NOISE)
    assert result.carried.entities[0].requires_grad
    carried = result.carried.select(network.backbone, [0])
    assert carried.backbone is not None
    assert not any(t.requires_grad for t in (*carried.backbone, *carried.entities))
