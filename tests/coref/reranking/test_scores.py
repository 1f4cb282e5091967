"""Candidates scored together must get what each of them would get by itself: from the encoder, and from the scoring pass."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from entitynlm.config import ModelConfig
from entitynlm.coref.candidates.candidate_files import Clusters
from entitynlm.coref.reranking import add_singletons, score_candidates, view_candidates
from entitynlm.errors import ConfigError
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.model.encoding.word_classes import assign_classes
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.text.document import Document
from support.scoring import score_encoded

WORDS = ("Anna", "saw", "Berta", ",", "her", "old", "friend", ".", "she", "12", "laughed", "and")


@st.composite
def documents(draw: st.DrawFn) -> Document:
    tokens = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=24))
    cuts = sorted(draw(st.sets(st.integers(1, len(tokens)), max_size=4)) | {len(tokens)})
    return Document("d", tuple(tokens), tuple(zip([0, *cuts[:-1]], cuts, strict=True)))


@st.composite
def clusterings(draw: st.DrawFn, size: int) -> Clusters:
    """Any spans, nested and crossing ones among them, each once, in clusters of any size."""
    span = st.tuples(st.integers(0, size - 1), st.integers(1, 7)).map(
        lambda s: (s[0], min(s[0] + s[1], size))
    )
    spans = sorted(draw(st.sets(span, max_size=9)))
    owners = [draw(st.integers(0, 3)) for _ in spans]
    groups = (tuple(s for s, o in zip(spans, owners, strict=True) if o == n) for n in range(4))
    return tuple(group for group in groups if group)


@st.composite
def lists(draw: st.DrawFn) -> tuple[Document, list[Clusters]]:
    document = draw(documents())
    return document, draw(st.lists(clusterings(len(document)), min_size=1, max_size=6))


def make_encoder(singletons: Any, max_length: int = 4) -> Encoder:
    recipe = Recipe(minimum_count=1)
    return Encoder.fit([Document("all", WORDS)], recipe=recipe, singletons=singletons, max_length=max_length)


def make_network(encoder: Encoder, seed: int, **options: Any) -> EntityNetwork:
    size = len(encoder.vocabulary)
    classes = assign_classes([np.arange(1, size)], size)
    config = ModelConfig(hidden_size=5, embedding_size=5, max_length=encoder.max_length, **options)
    network = EntityNetwork(config, size, encoder.vocabulary.start, classes)
    generator = torch.Generator().manual_seed(seed)
    for parameter in network.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.7
    return network.double().eval()


@given(lists(), st.sampled_from(["keep", "drop"]), st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_views_are_what_the_encoder_makes(
    case: tuple[Document, list[Clusters]], singletons: str, max_length: int
) -> None:
    document, candidates = case
    encoder = make_encoder(singletons, max_length)
    words, analyses, view_of = view_candidates(encoder, document, candidates)
    for candidate, view in zip(candidates, view_of, strict=True):
        expected = encoder.encode(document.with_clusters(candidate))
        assert words.x.tolist() == expected.x.tolist()
        assert analyses[:, view].tolist() == np.stack([expected.r, expected.e, expected.l]).tolist()
    rows = {analyses[:, v].tobytes() for v in range(analyses.shape[1])}
    assert len(rows) == analyses.shape[1]


@given(
    lists(),
    st.integers(0, 1000),
    st.sampled_from(["generative", "causal"]),
    st.sampled_from(["paper", "rich", "none"]),
    st.sampled_from([0, 2]),
    st.sampled_from(["classes", "full"]),
    st.sampled_from(["noise", "zero"]),
)
@settings(max_examples=80, deadline=None)
def test_scores_are_those_of_a_pass_for_each_candidate(
    case: tuple[Document, list[Clusters]],
    seed: int,
    mode: str,
    features: str,
    positions: int,
    softmax: str,
    new_entity: str,
) -> None:
    document, candidates = case
    encoder = make_encoder("keep")
    network = make_network(
        encoder, seed, mode=mode, features=features, mention_positions=positions, softmax=softmax,
        new_entity=new_entity, sigma=0.5,
    )  # fmt: skip
    found = score_candidates(network, encoder, document, candidates)
    for index, candidate in enumerate(candidates):
        encoded = encoder.encode(document.with_clusters(candidate))
        if not len(encoded):
            assert found[index].tolist() == [0.0] * 4
            continue
        with torch.no_grad():
            scores = score_encoded(network, [encoded], noise=None)
        expected = [float(part.sum()) for part in (scores.r, scores.e, scores.l, scores.x)]
        assert found[index] == pytest.approx(expected, abs=1e-8)


def test_candidates_that_differ_inside_of_mentions_are_one_to_the_model() -> None:
    document = Document("d", ("her", "old", "friend", "saw", "her", "friend"))
    outer = ((0, 3), (4, 6))
    candidates: list[Clusters] = [(outer,), (outer, ((0, 1), (4, 5))), ()]
    encoder = make_encoder("drop")
    assert view_candidates(encoder, document, candidates)[2].tolist() == [0, 0, 1]
    totals = score_candidates(make_network(encoder, 1), encoder, document, candidates).sum(axis=1)
    assert totals[0] == totals[1] != totals[2]


def test_models_with_types_are_refused() -> None:
    document = Document("d", ("Anna", "saw", "Berta"))
    typed = Encoder.fit([document], recipe=Recipe(minimum_count=1), singletons="keep", typed=True)
    with pytest.raises(ConfigError, match="types"):
        view_candidates(typed, document, [()])


@given(lists())
@settings(max_examples=60, deadline=None)
def test_singletons_are_added_where_nothing_is_in_the_way(case: tuple[Document, list[Clusters]]) -> None:
    _, candidates = case
    known = {span for clusters in candidates for cluster in clusters for span in cluster}
    for clusters, completed in zip(candidates, add_singletons(candidates), strict=True):
        assert completed[: len(clusters)] == clusters
        added = [span for cluster in completed[len(clusters) :] for span in cluster]
        assert len(added) == len(completed) - len(clusters)
        kept = [span for cluster in clusters for span in cluster]
        for number, (start, end) in enumerate(added):
            others = [*kept, *added[:number]]
            assert all(end <= other or last <= start for other, last in others)
        for start, end in known - set(kept) - set(added):
            assert any(start < last and other < end for other, last in [*kept, *added])


def test_singletons_come_from_the_system_where_it_tells_them() -> None:
    candidates: list[Clusters] = [(((0, 1), (4, 5)),), ()]
    mentions = [(0, 1), (2, 4), (2, 3), (4, 5)]
    assert add_singletons(candidates, mentions) == [
        (((0, 1), (4, 5)), ((2, 4),)),
        (((0, 1),), ((2, 4),), ((4, 5),)),
    ]
