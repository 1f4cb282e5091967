"""Single precision is enough: long texts, thousands of entities, one word again and again give figures near those of float64.

The network is the packaged one, whose weights have the scale of trained ones. 10⁻⁴ nats per word is a hundredth of what
perplexity is reported to.
"""

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

import entitynlm
from entitynlm.inference.scoring import score_baseline, score_document
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.packaged import SMALL
from entitynlm.model.pretrained import Pretrained, load_pretrained

NEAR = 1e-4  # nats per word


@cache
def load() -> Pretrained:
    return load_pretrained(SMALL)


def make_document(
    words: str, size: int, entities: int, *, crowd: float = 0.4, seed: int = 1
) -> EncodedDocument:
    """A text of nothing but ``words`` (any, unknown, one) with so many entities, mentioned again and again at random."""
    rng = np.random.default_rng(seed)
    vocabulary = load().encoder.vocabulary
    first = vocabulary.specials
    frequent = np.minimum(rng.zipf(1.3, size), len(vocabulary) - first) - 1 + first
    x = {"any": frequent, "unknown": np.full(size, vocabulary.unknown), "one": np.full(size, first + 40)}[
        words
    ]
    r, e, l = np.zeros(size, np.int64), np.zeros(size, np.int64), np.ones(size, np.int64)
    starts = np.flatnonzero(rng.random(size // 4) < crowd) * 4  # mentions of one to three words, four apart
    new = np.zeros(len(starts), bool)
    new[np.append(0, 1 + rng.choice(len(starts) - 1, entities - 1, replace=False))] = True
    for start, known, is_new in zip(starts.tolist(), np.cumsum(new).tolist(), new.tolist(), strict=True):
        length = min(int(rng.integers(1, 4)), size - start)
        own = slice(start, start + length)
        r[own], e[own] = 1, known if is_new else rng.integers(1, known + 1)
        l[own] = np.arange(length, 0, -1)
    return EncodedDocument(
        "long", x.astype(np.int64), r, e, l, np.cumsum(rng.random(size) < 0.05), np.arange(size)
    )


CASES: dict[str, dict[str, Any]] = {
    "a long text": {"words": "any", "entities": 40},
    "many entities": {"words": "any", "entities": 300, "crowd": 1.0},
    "unknown words alone": {"words": "unknown", "entities": 5},
    "one word alone": {"words": "one", "entities": 5},
}
LARGE = {"a long text": {"entities": 2_000}, "many entities": {"entities": 5_000}}


def check(document: EncodedDocument) -> None:
    """log P of the joint, variable by variable, and of the words alone, in both precisions."""
    words = ("",) * len(document)
    network, baseline = load().get("generative"), load().get_language_model()
    single = score_document(network, document, words)
    double = score_document(copy.deepcopy(network).double(), document, words)
    for name in ("r", "e", "l", "x"):
        found, expected = getattr(single, name), getattr(double, name)
        assert np.isfinite(found).all() and np.isfinite(expected).all(), name
        assert np.abs(found - expected).mean() < NEAR, name
    assert abs(single.log_prob - double.log_prob) < NEAR * len(document)
    alone = score_baseline(baseline, document)
    exact = score_baseline(copy.deepcopy(baseline).double(), document)
    assert np.isfinite(alone).all() and np.abs(alone - exact).mean() < NEAR


@pytest.mark.parametrize("case", CASES)
def test_single_precision_is_near_double_precision(case: str) -> None:
    check(make_document(size=1_500, **CASES[case]))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_single_precision_is_near_double_precision_in_a_hundred_thousand_words(case: str) -> None:
    check(make_document(size=100_000, **{**CASES[case], **LARGE.get(case, {})}))


TEXTS = {
    "unknown words alone": "Xqzv Brrk " * 60,
    "one word alone": "Anna " * 120,
    "one word and marks": "no, " * 60,
}


@pytest.mark.filterwarnings("ignore:.*does not look like English")
@pytest.mark.parametrize("text", TEXTS)
def test_surprisal_of_strange_texts_is_finite(text: str) -> None:
    model = entitynlm.load(SMALL)
    with torch.no_grad():
        rows = model.surprisal(TEXTS[text], samples=4, repeats=2).tokens
    assert len(rows) >= 120
    assert all(row.surprisal is None or np.isfinite(row.surprisal) for row in rows)
    assert sum(row.surprisal is not None for row in rows) > 50
