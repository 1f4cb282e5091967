"""A block of the table as a file, so that a cross-validation of hours goes on where it was stopped.

What is stored are the counts of every document, not the scores: blocks of several folds can be joined, and differences tested.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from entitynlm.coref.metrics.coreference import CorpusCounts
from entitynlm.coref.reranking.combination import Combination
from entitynlm.coref.reranking.weight_search import Found
from entitynlm.errors import DataError
from entitynlm.experiments.coref_table import Block, Row
from entitynlm.files import write_atomically

Stored = TypeVar("Stored")


def save_block(block: Block, path: str | Path, made_with: Mapping[str, Any]) -> None:
    """Write a block and what it was made with."""
    values = {
        "made_with": dict(made_with),
        "title": block.title,
        "rows": {split: [_describe(row) for row in rows] for split, rows in block.rows.items()},
        "found": {
            name: {"weights": item.combination.to_json(), "conll": item.conll, "tried": item.tried}
            for name, item in block.found.items()
        },
    }
    with write_atomically(path) as stream:
        json.dump(values, stream)
        stream.write("\n")


def load_block(path: str | Path, made_with: Mapping[str, Any]) -> Block | None:
    """The block that lies at ``path``; None if there is none, or one that was made with other options."""

    def restore(values: Mapping[str, Any]) -> Block | None:
        if values["made_with"] != json.loads(json.dumps(dict(made_with))):
            return None
        rows = {split: [_restore(row) for row in found] for split, found in values["rows"].items()}
        found = {
            name: Found(Combination(item["weights"]), item["conll"], item["tried"])
            for name, item in values["found"].items()
        }
        return Block(values["title"], rows, found)

    return read_fold_file(path, restore, "figures")


def read_fold_file(path: str | Path, restore: Callable[[Any], Stored | None], what: str) -> Stored | None:
    """What ``restore`` makes of a fold's JSON file; None if there is no file. A broken one is named, with what to do."""
    try:
        return restore(json.loads(Path(path).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"these {what} of a fold can't be read ({error})",
            path=path,
            hint="remove the file, and the fold is measured again",
        ) from error


def _describe(row: Row) -> dict[str, Any]:
    counts = {name: values.tolist() for name, values in row.counts.by_metric.items()}
    return {"name": row.name, "documents": list(row.counts.doc_ids), "counts": counts}


def _restore(values: Mapping[str, Any]) -> Row:
    by_metric = {name: np.array(rows, dtype=np.float64) for name, rows in values["counts"].items()}
    return Row(values["name"], CorpusCounts(tuple(values["documents"]), by_metric))
