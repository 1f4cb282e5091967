"""Cross-validation of reranking over all documents of a corpus, so that a difference has documents enough to show.

Every document is tested once, by a ranker, a model and weights that have not seen it: with F folds, fold f is tested, the next
one is for development (stopping, weights), and the others are trained on. Folds take every F-th document of the list, so that
genres which stand together in it are spread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from entitynlm.coref.candidates.kbest import join_counts
from entitynlm.errors import ConfigError
from entitynlm.experiments.coref_table import DEVELOPMENT, Block, Row
from entitynlm.text.document import Document

TESTED = "test"


@dataclass(frozen=True)
class Fold:
    """One way to divide the documents."""

    number: int
    train: Sequence[Document]
    development: Sequence[Document]
    test: Sequence[Document]


def make_folds(documents: Sequence[Document], count: int) -> list[Fold]:
    """``count`` divisions, in which each document is tested once and is development once."""
    if count < 3:
        raise ConfigError(f"cross-validation with weights of its own needs three folds at least, not {count}")
    if len(documents) < count:
        raise ConfigError(f"{len(documents)} documents can't be divided into {count} folds")
    parts = [list(documents[index::count]) for index in range(count)]
    folds = []
    for number in range(count):
        held_out = (number, (number + 1) % count)
        train = [d for index, part in enumerate(parts) if index not in held_out for d in part]
        folds.append(Fold(number, train, parts[held_out[1]], parts[held_out[0]]))
    return folds


def join_blocks(title: str, blocks: Sequence[Block]) -> Block:
    """The documents of all folds as one split, developed on and tested; rows that some fold lacks are left out."""
    return Block(title, {split: _join_rows(split, blocks) for split in (DEVELOPMENT, TESTED)})


def _join_rows(split: str, blocks: Sequence[Block]) -> list[Row]:
    by_name = [{row.name: row for row in block.rows[split]} for block in blocks]
    common = [name for name in by_name[0] if all(name in rows for rows in by_name)]
    return [Row(name, join_counts([found[name].counts for found in by_name])) for name in common]


def cross_validate(
    documents: Sequence[Document], count: int, measure: Callable[[Fold], Block]
) -> tuple[Block, list[Block]]:
    """``measure`` makes a block with the splits dev and test of each fold; the joined block, and those of the folds."""
    blocks = []
    for fold in make_folds(documents, count):
        block = measure(fold)
        if TESTED not in block.rows or DEVELOPMENT not in block.rows:
            raise ConfigError("a fold's block needs the splits dev and test")
        blocks.append(block)
    return join_blocks(f"{count} folds", blocks), blocks
