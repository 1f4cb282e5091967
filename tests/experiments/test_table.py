"""Result tables: the summaries of all three experiments beside the paper's figures, as Markdown and as a page."""

from __future__ import annotations

import math
from typing import Any

from entitynlm.experiments import table1_language_modelling as table1
from entitynlm.experiments import table2_coreference as table2
from entitynlm.experiments import table3_entity_prediction as table3
from entitynlm.experiments.table import Figure, ResultRow, ResultTable, make_summary, write_markdown
from entitynlm.interfaces.result_tables import draw_results
from entitynlm.lm.evaluation import Sampling
from entitynlm.lm.scores import DocumentLogProb, ModelScores, SplitScores

ENTITY: dict[str, Any] = {
    "corpus": {"name": "stories"},
    "split": "test",
    "slots": 1200,
    "stories": 40,
    "rows": {
        "always-new": {"accuracy": 33.1, "paper": 31.08},
        "entitynlm": {"accuracy": 50.0, "paper": 74.23},
    },
    "seeds": {"rows": {"entitynlm": {"mean": 51.0, "standard_deviation": 0.5}}},
}
COREF: dict[str, Any] = {
    "blocks": [
        {
            "title": "our ranker",
            "splits": {
                "test": {
                    "rows": [
                        {"name": "one best", "conll": 60.0},
                        {
                            "name": "swaps: P",
                            "conll": 61.5,
                            "versus_first": {"conll": {"difference": 1.5, "p_value": 0.01}},
                        },
                        {"name": "samples: P", "conll": 61.0},
                    ]
                }
            },
        }
    ],
}


def make_scores(**perplexities: float) -> SplitScores:
    rows = []
    for name, perplexity in perplexities.items():
        model, _, likelihood = name.partition("_")
        document = DocumentLogProb("d", 10, -10 * math.log(perplexity))
        rows.append(ModelScores(model, likelihood, (document,)))  # type: ignore[arg-type]
    return SplitScores("test", tuple(rows), 0)


def list_summaries() -> list[ResultTable]:
    scores = [
        make_scores(RNNLM_exact=20 + offset, EntityNLM_marginal=18.5, EntityNLM_joint=99.0)
        for offset in (math.sqrt(0.5), -math.sqrt(0.5))
    ]
    found = table1.Perplexities({"test": scores}, Sampling(particles=20, repeats=2), (1, 2))
    coref = make_coref_table(COREF["blocks"][0]["splits"]["test"]["rows"]).select("CoNLL", "stories")
    return [
        table1.describe(found, corpus="stories", facts={}).summary,
        make_summary("coref", "stories", coref, []),
        table3.summarise_accuracies(ENTITY),
    ]


def make_coref_table(rows: list[dict[str, Any]]) -> ResultTable:
    metrics = {name: {"f1": 50.0} for name in table2.COREF_COLUMNS}
    return table2.make_coref_table("our ranker, test", [{**metrics, **row} for row in rows], 3)


def test_tables_have_our_figures_and_the_papers() -> None:
    lm, coref, entity = list_summaries()
    assert lm.list_cells() == [
        ["RNNLM", "20.00 ± 1.00", "134.79", "exact"],
        ["EntityNLM", "18.50", "131.64", "marginal"],
    ]
    assert entity.list_cells() == [
        ["Always new", "33.10", "31.08"],
        ["EntityNLM", "51.00 ± 0.50", "74.23"],
    ]
    figures = [row.cells["stories"] for row in coref.rows]
    assert figures == [Figure(60.0), Figure(61.5), Figure(61.0)]
    assert [row.paper for row in coref.rows] == [62.93, 64.0, None]
    assert coref.rows[1].note == "+1.50, p = 0.010"
    assert lm.to_dict()["rows"][1]["figures"] == {"stories": {"value": figures_value(lm, 1), "error": 0.0}}


def figures_value(table: ResultTable, row: int) -> float:
    cell = table.rows[row].cells["stories"]
    assert isinstance(cell, Figure)
    return cell.value


def test_markdown_has_every_table() -> None:
    tables = list_summaries()
    markdown = write_markdown(tables, title="All", remarks=["done"])
    assert markdown.count("\n## Table") == 3 and "| EntityNLM | 18.50 | 131.64 | marginal |" in markdown
    assert "|---|---:|---:|---|" in markdown
    assert draw_results(tables[1]).row_count == 3


def test_names_can_not_break_a_report() -> None:
    table = make_summary("lm", "a|b<c>", [ResultRow("x|y<script>", {"a|b<c>": Figure(1.0)})], ["f<i>"])
    assert "x\\|y&lt;script>" in write_markdown([table], title="t")


def test_figures_are_printed_with_their_errors() -> None:
    assert str(Figure.over_seeds([1.0])) == "1.00"
    assert str(Figure.over_seeds([1.0, 3.0])) == "2.00 ± 1.41"
    assert str(Figure.with_error(5.0, math.nan)) == str(Figure.with_error(5.0, 0.0)) == "5.00"
    assert str(Figure(0.5, digits=1)) == "0.5"
