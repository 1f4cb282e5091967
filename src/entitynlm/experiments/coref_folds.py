"""Cross-validation of reranking over all documents of a corpus, so that a difference has documents enough to show.

Every document is tested once, by a ranker, a model and weights that have not seen it: with F folds, fold f is tested, the next
one is for development (stopping, weights), and the others are trained on. Folds take every F-th document of the list, so that
genres which stand together in it are spread.

A fold's own development documents are a tenth of a corpus, on which several weights overfit. The tested lists of the other folds
were made and scored without having seen the documents, too: weights searched on them are the rows called "pooled".
"""

from __future__ import annotations

from collections.abc import Sequence

from entitynlm.coref.candidates.kbest import join_counts
from entitynlm.coref.metrics.coreference import CorpusCounts
from entitynlm.coref.reranking.weight_search import search_weights
from entitynlm.errors import ConfigError
from entitynlm.experiments.coref_blocks import DEVELOPMENT, TESTED, Block, list_combinations
from entitynlm.experiments.runner import Documents
from entitynlm.text.document import Document


def make_folds(documents: Sequence[Document], count: int) -> list[Documents]:
    """``count`` divisions into train, dev and test, in which each document is tested once and is development once."""
    if count < 3:
        raise ConfigError(f"cross-validation with weights of its own needs three folds at least, not {count}")
    if len(documents) < count:
        raise ConfigError(f"{len(documents)} documents can't be divided into {count} folds")
    parts = [list(documents[index::count]) for index in range(count)]
    folds: list[Documents] = []
    for tested in range(count):
        development = (tested + 1) % count
        train = [d for n, part in enumerate(parts) if n not in (tested, development) for d in part]
        folds.append({"train": train, DEVELOPMENT: parts[development], TESTED: parts[tested]})
    return folds


def join_folds(folds: Sequence[Block]) -> Block:
    """All folds' documents as one block; rows that some fold lacks are left out, and those with pooled weights follow."""
    rows = {}
    for split in (DEVELOPMENT, TESTED):
        tables = [fold.rows[split] for fold in folds]
        common = [name for name in tables[0] if all(name in table for table in tables)]
        rows[split] = {name: join_counts([table[name] for table in tables]) for name in common}
    rows[TESTED] |= pool_folds(folds)
    return Block(f"{len(folds)} folds", rows)


def pool_folds(folds: Sequence[Block]) -> dict[str, CorpusCounts]:
    """Rows over all folds' tested documents, in their order, with weights searched on the other folds."""
    rows = {}
    for method, lists in folds[0].lists.items():
        for name, features in list_combinations(lists[0][0].parts if lists else ()).items():
            chosen: list[CorpusCounts] = []
            for fold in folds:
                others = [pair for other in folds if other is not fold for pair in other.lists[method]]
                scored_lists, counted = zip(*others, strict=True)
                found = search_weights(scored_lists, counted, features).combination
                chosen += [counts.take([found.choose(scored)]) for scored, counts in fold.lists[method]]
            rows[f"{method}: {name}, pooled"] = join_counts(chosen)
    return rows
