"""``entitynlm evaluate``: the paper's tables for models that are trained, one module per task."""

from __future__ import annotations

import typer

from entitynlm.interfaces.commands import evaluate_coref, evaluate_entity, evaluate_lm

app = typer.Typer(help="The paper's tables for a trained model.", no_args_is_help=True)
app.command("coref")(evaluate_coref.evaluate_coref)
app.command("entity")(evaluate_entity.evaluate_entity)
app.command("lm")(evaluate_lm.evaluate_lm)
