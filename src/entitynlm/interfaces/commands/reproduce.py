"""``entitynlm reproduce``: the paper's tables from nothing but a corpus, one module per task."""

from __future__ import annotations

import typer

from entitynlm.interfaces.commands import reproduce_all, reproduce_coref, reproduce_entity, reproduce_lm

app = typer.Typer()
app.callback(invoke_without_command=True)(reproduce_all.reproduce_all)
app.command("coref")(reproduce_coref.reproduce_coref)
app.command("entity")(reproduce_entity.reproduce_entity)
app.command("lm")(reproduce_lm.reproduce_lm)
