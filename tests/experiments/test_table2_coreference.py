"""Table 2 from scores: tables with gains over the one best, weights as remarks, and the paper's figures in the summary."""

from __future__ import annotations

import pytest

from entitynlm.coref.candidates.candidate_files import KBestList, ScoredClustering
from entitynlm.experiments.coref_blocks import Reranking, make_splits
from entitynlm.experiments.runner import Runner
from entitynlm.experiments.table2_coreference import Coreference, describe, get_paper_figure
from entitynlm.text.document import Document

TOKENS = tuple("Anna met Berta . She laughed .".split())
GOLD = (((0, 1), (4, 5)),)


def test_tables_and_summary_of_given_lists() -> None:
    document = Document("d", TOKENS, ((0, 4), (4, 7))).with_clusters(GOLD)
    splits = make_splits({"dev": [document], "test": [document]}, singletons=False)
    lists = [KBestList("d", (ScoredClustering((), 1.0), ScoredClustering(GOLD, 0.0)))]
    experiment = Coreference(Runner(), Reranking(k=2), trials=10)
    found = experiment.evaluate(splits, {"mine": {"dev": lists, "test": lists}}, None)
    result = describe(found, experiment, corpus="tales", facts={"model": None})
    assert [table.title for table in result.tables] == [
        "mine, dev (1 documents, F1)",
        "mine, test (1 documents, F1)",
    ]
    best, oracle = result.tables[1].list_cells()
    assert (best[:2], oracle[:2]) == (["one best", "0.00"], ["given: oracle", "100.00"])
    assert oracle[-1].startswith("+100.00, p = ")
    assert [row.system for row in result.summary.rows] == ["mine, one best", "mine, given: oracle"]
    assert [row.paper for row in result.summary.rows] == [62.93, None]
    assert result.figures["blocks"][0]["splits"]["test"]["documents"] == 1
    assert result.figures["model"] is None


@pytest.mark.parametrize(
    ("name", "figure"),
    [("one best", 62.93), ("swaps: P", 64.0), ("given: P + baseline", 64.04), ("samples: P", None)],
)
def test_only_rows_of_the_papers_kind_have_its_figures(name: str, figure: float | None) -> None:
    assert get_paper_figure(name) == figure
