"""The joint over everything that can happen in a text of a given length sums to one."""

from itertools import product
from typing import Any

import pytest
import torch

from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.noise import FixedNoise
from support.enumeration import enumerate_analyses, sum_documents, with_analysis
from support.scoring import score_encoded
from support.small_models import assert_close, make_document, make_network

SENTENCES = [0, 0, 1, 1]
ONE = torch.ones((), dtype=torch.float64)

OPTIONS: list[dict[str, Any]] = [
    {},
    {"mention_types": 2, "mention_positions": 2},
    {"mention_positions": 1},
    {"softmax": "full", "features": "rich"},
    {"softmax": "full", "tied": True, "mention_types": 2, "new_entity": "zero"},
    {"new_entity": "zero", "features": "none"},
    {"tied": True, "sigma": 1.0},
]


def enumerate_documents(
    size: int, *, words: int, max_length: int, mention_types: int = 1, x: tuple[int, ...] | None = None
) -> list[EncodedDocument]:
    """Every (X, R, E, L) of ``size`` words with fixed sentences; or every (R, E, L) over the words ``x``."""
    texts = product(range(1, words), repeat=size) if x is None else [x]
    analyses = list(enumerate_analyses(size, max_length=max_length, mention_types=mention_types))
    return [
        with_analysis(make_document(list(text), sentences=SENTENCES[:size]), analysis)
        for text in texts
        for analysis in analyses
    ]


def test_the_enumeration_is_complete() -> None:
    """Two words, two kinds, mentions of up to two words: counted by hand."""
    untyped = list(enumerate_analyses(2, max_length=2, mention_types=1))
    # both outside; first or second alone; both as one mention; two mentions of one entity or of two
    assert len(untyped) == 1 + 2 + 1 + 2
    typed = list(enumerate_analyses(2, max_length=2, mention_types=2))
    # as above, with a kind for each mention; two mentions: same entity (2 kinds) or two entities (4 pairs of kinds)
    assert len(typed) == 1 + 4 + 2 + (2 + 4)
    assert len({(*r, *e, *l) for r, e, l in typed}) == len(typed)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("size", "words"), [(1, 4), (2, 4), (3, 3)])
def test_the_fast_path_sums_to_one(options: dict[str, Any], size: int, words: int) -> None:
    network = make_network(words=words, max_length=3, **options)
    documents = enumerate_documents(
        size, words=words, max_length=3, mention_types=network.config.mention_types
    )
    with torch.no_grad():
        joint = sum_documents(score_encoded(network, documents, noise=FixedNoise(1)))
    assert len(joint) == len(documents)
    assert_close(joint.exp().sum(), ONE, 1e-12)


@pytest.mark.parametrize("mention_types", [1, 2])
@pytest.mark.parametrize("new_entity", ["noise", "zero"])
def test_a_proposal_sums_to_one_over_the_analyses_of_a_text(mention_types: int, new_entity: str) -> None:
    network = make_network(
        words=4, max_length=3, mode="causal", mention_types=mention_types, new_entity=new_entity
    )
    for x in [(1,), (3, 1), (1, 3, 2)]:
        documents = enumerate_documents(len(x), words=4, max_length=3, mention_types=mention_types, x=x)
        with torch.no_grad():
            conditional = sum_documents(score_encoded(network, documents, noise=FixedNoise(1)))
        assert_close(conditional.exp().sum(), ONE, 1e-12)
