"""Result tables beside the paper's figures."""

import math

from entitynlm.experiments import table1_language_modelling as table1
from entitynlm.experiments.table import Figure
from entitynlm.interfaces.training_options import draw_results
from entitynlm.lm.evaluation import Sampling
from entitynlm.lm.scores import DocumentLogProb, ModelScores, SplitScores


def make_scores(**perplexities: float) -> SplitScores:
    rows = []
    for name, perplexity in perplexities.items():
        model, _, likelihood = name.partition("_")
        document = DocumentLogProb("d", 10, -10 * math.log(perplexity))
        rows.append(ModelScores(model, likelihood, (document,)))  # type: ignore[arg-type]
    return SplitScores("test", tuple(rows), 0)


def test_tables_have_our_figures_and_the_papers() -> None:
    scores = [
        make_scores(RNNLM_exact=20 + offset, EntityNLM_marginal=18.5, EntityNLM_joint=99.0)
        for offset in (math.sqrt(0.5), -math.sqrt(0.5))
    ]
    found = table1.Perplexities({"test": scores}, Sampling(particles=20, repeats=2), (1, 2))
    result = table1.describe(found, corpus="stories", facts={})
    (table,) = result.tables
    assert table.list_cells() == [
        ["RNNLM", "exact", "20.00 ± 1.00", "134.79"],
        ["EntityNLM", "marginal", "18.50", "131.64"],
        ["EntityNLM", "joint *", "99.00", ""],
    ]
    drawn = draw_results(table)
    assert [column.justify for column in drawn.columns] == ["left", "left", "right", "right"]
    assert drawn.row_count == 3


def test_figures_are_printed_with_their_errors() -> None:
    assert str(Figure.over_seeds([1.0])) == "1.00"
    assert str(Figure.over_seeds([1.0, 3.0])) == "2.00 ± 1.41"
    assert str(Figure.with_error(5.0, math.nan)) == str(Figure.with_error(5.0, 0.0)) == "5.00"
    assert str(Figure(0.5, digits=1)) == "0.5"
