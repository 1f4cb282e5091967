"""The command line: a thin layer of verbs, one module each in ``commands``.

The contract of every verb: figures on standard output (``--json FILE`` for machines), progress on standard error,
exit code 2 with one readable message for a wrong input, and never a half-written file.
"""

from __future__ import annotations

import os
import sys
from copy import copy

import typer

from entitynlm.errors import EntityNLMError
from entitynlm.interfaces.commands import annotate as annotate_command
from entitynlm.interfaces.commands import data as data_command
from entitynlm.interfaces.commands import demo as demo_command
from entitynlm.interfaces.commands import evaluate as evaluate_command
from entitynlm.interfaces.commands import generate as generate_command
from entitynlm.interfaces.commands import plot as plot_command
from entitynlm.interfaces.commands import predict_entity as predict_entity_command
from entitynlm.interfaces.commands import ranker as ranker_command
from entitynlm.interfaces.commands import report as report_command
from entitynlm.interfaces.commands import reproduce as reproduce_command
from entitynlm.interfaces.commands import rerank as rerank_command
from entitynlm.interfaces.commands import score as score_command
from entitynlm.interfaces.commands import surprisal as surprisal_command
from entitynlm.interfaces.commands import train as train_command
from entitynlm.interfaces.commands import train_components as train_components_command

app = typer.Typer(
    name="entitynlm",
    help="A language model that knows who it is talking about.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("annotate")(annotate_command.annotate)
app.add_typer(data_command.app, name="data")
app.command("demo")(demo_command.demo)
app.add_typer(evaluate_command.app, name="evaluate")
app.command("generate")(generate_command.generate)
app.add_typer(plot_command.app, name="plot")
app.command("predict-entity")(predict_entity_command.predict_entity)
app.add_typer(ranker_command.app, name="ranker")
app.command("report")(report_command.report)
app.command("rerank")(rerank_command.rerank)
app.add_typer(reproduce_command.app, name="reproduce")
app.command("score")(score_command.score)
app.command("surprisal")(surprisal_command.surprisal)
app.command("train")(train_command.train)
app.command("train-components")(train_components_command.train_components)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    """Options of the program itself."""
    if version:
        from entitynlm import __version__

        typer.echo(__version__)
        raise typer.Exit()


def keep_verb(app: typer.Typer, arguments: list[str]) -> typer.Typer:
    """The app with no verb but the one that is asked for: building the options of all of them takes a third of a second."""
    asked = arguments[0] if arguments else None
    commands = [command for command in app.registered_commands if command.name == asked]
    groups = [group for group in app.registered_groups if group.name == asked]
    if not commands and not groups:
        return app
    small = copy(app)
    small.registered_commands, small.registered_groups = commands, groups
    return small


def main() -> None:
    """The console script: run the app, and turn every error of a user's making into one readable message."""
    try:
        keep_verb(app, sys.argv[1:])()
    except EntityNLMError as error:
        typer.secho(f"error: {error}", err=True, fg=typer.colors.RED if sys.stderr.isatty() else None)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output went away (a `| head`): nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
