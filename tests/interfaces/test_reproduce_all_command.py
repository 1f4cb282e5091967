"""``entitynlm reproduce`` without a task: three tables from their figures, and one report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from entitynlm.errors import ConfigError
from entitynlm.experiments.paper_tables import PaperRow, PaperTable, from_coref, from_entity, from_lm
from entitynlm.interfaces.cli import app
from entitynlm.interfaces.paper_report import draw_paper_table, write_html, write_markdown

LM = {
    "corpus": {"name": "stories"},
    "seeds": [1, 2],
    "sampling": {"method": "particle-filter", "particles": 20, "repeats": 2},
    "splits": {
        "test": {
            "rows": [
                {"model": "RNNLM", "reading": "exact", "mean": 20.0, "spread": 1.0},
                {"model": "EntityNLM", "reading": "marginal", "mean": 18.5, "spread": None},
                {"model": "EntityNLM", "reading": "joint", "mean": 99.0, "spread": None},
            ]
        }
    },
    "paper": {"perplexity": {"RNNLM": 134.79, "EntityNLM": 131.64}},
}
ENTITY = {
    "corpus": {"name": "stories"},
    "split": "test",
    "slots": 1200,
    "stories": 40,
    "rows": {
        "always-new": {"accuracy": 33.1, "paper": 31.08},
        "entitynlm": {"accuracy": 50.0, "paper": 74.23},
    },
    "seeds": {"rows": {"entitynlm": {"mean": 51.0, "spread": 0.5}}},
}
COREF = {
    "corpus": {"name": "stories"},
    "k": 20,
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
    "alone": {"test": [{"name": "greedy, causal", "conll": 40.0}]},
    "paper": {"f1": {"one best": {"conll": 62.93}, "P": {"conll": 64.0}}},
}


def test_tables_have_our_figures_and_the_papers() -> None:
    assert [row.show() for row in from_lm(LM).rows] == [
        ("RNNLM", "20.00 ± 1.00", "134.79"),
        ("EntityNLM", "18.50", "131.64"),
    ]
    assert [row.show() for row in from_entity(ENTITY).rows] == [
        ("Always new", "33.10", "31.08"),
        ("EntityNLM", "51.00 ± 0.50", "74.23"),
    ]
    rows = from_coref(COREF).rows
    assert [(row.ours, row.paper) for row in rows] == [
        (60.0, 62.93),
        (61.5, 64.0),
        (61.0, None),
        (40.0, None),
    ]
    assert rows[1].note == "+1.50, p = 0.010"


def test_markdown_and_page_hold_every_table() -> None:
    tables = [from_lm(LM), from_coref(COREF), from_entity(ENTITY)]
    markdown = write_markdown(tables, title="All", remarks=["done"])
    assert markdown.count("\n## Table") == 3 and "| EntityNLM | 18.50 | 131.64 | marginal |" in markdown
    page = write_html(tables, title="All", remarks=["done"])
    assert page.count("<table>") == 3 and "134.79" in page and not re.search(r"https?://", page)
    assert draw_paper_table(tables[1]).row_count == 4


def test_names_can_not_break_a_report() -> None:
    table = PaperTable("lm", "a|b<c>", (PaperRow("x|y<script>", 1.0, None, None),), ("f<i>",))
    assert "x\\|y&lt;script>" in write_markdown([table], title="t", remarks=[])
    assert "<script>" not in write_html([table], title="t", remarks=[])


def test_the_verbs_of_single_tasks_are_still_there() -> None:
    for arguments in (
        ["reproduce", "--help"],
        ["reproduce", "lm", "--help"],
        ["reproduce", "coref", "--help"],
    ):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0 and "--corpus" in result.output


def test_an_unknown_task_is_told() -> None:
    result = CliRunner().invoke(app, ["reproduce", "--tasks", "lm,parsing"])
    assert isinstance(result.exception, ConfigError) and "parsing" in str(result.exception)


@pytest.mark.slow
def test_all_three_tables_from_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    small = ["--documents", "60", "--set", "training.epochs=1", "--samples", "3", "--k", "5"]
    rows = ["--rows", "always-new,entitynlm"]
    arguments = ["reproduce", "--out", str(out), *small, *rows, "--json", str(tmp_path / "all.json")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert [table["task"] for table in json.loads((tmp_path / "all.json").read_text())["tables"]] == [
        "lm",
        "coref",
        "entity",
    ]
    assert (out / "tables.html").exists() and "paper (CoNLL-2012 test)" in (out / "tables.md").read_text()
