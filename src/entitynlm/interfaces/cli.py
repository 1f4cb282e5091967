"""The command line: a table of verbs, each imported when it is called; a verb's help is its docstring.

The contract of every verb: figures on standard output (``--json FILE`` for machines), progress on standard error, exit code 2
with one readable message for a wrong call, which is found before torch is imported, and never a half-written file.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import os
import sys
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from entitynlm.errors import EntityNLMError

HELP_NAMES = {"help_option_names": ["-h", "--help"]}


VERBS = {  # a verb, and where its function is in the folder commands; a group of verbs is called like a module there
    "annotate": "annotate:annotate",
    "surprisal": "surprisal:surprisal",
    "report": "report:report",
    "explore": "explore:explore",
    "characters": "characters:characters",
    "batch annotate": "batch:batch_annotate",
    "batch surprisal": "batch:batch_surprisal",
    "batch characters": "batch:batch_characters",
    "generate": "generate:generate",
    "predict-entity": "predict_entity:predict_entity",
    "demo": "demo:demo",
    "score": "score:score",
    "rerank": "rerank:rerank",
    "ranker train": "ranker:train",
    "ranker apply": "ranker:apply",
    "data list": "data_sources:list_corpora",
    "data get": "data_sources:get",
    "data stats": "data:stats",
    "data convert": "data:convert",
    "data check": "data:check",
    "data show": "data:show",
    "train": "train:train",
    "sweep": "sweep:sweep",
    "models": "models:models",
    "evaluate coref": "evaluate:evaluate_coref",
    "evaluate entity": "evaluate:evaluate_entity",
    "evaluate lm": "evaluate:evaluate_lm",
    "evaluate quotations": "evaluate_quotations:evaluate_quotations",
}
PANELS = {  # of the help
    "Read and write texts": (
        "annotate", "surprisal", "report", "explore", "characters", "batch", "generate", "predict-entity", "demo",
    ),
    "Coreference systems": ("score", "rerank", "ranker"),
    "Corpora, training, experiments": ("data", "train", "sweep", "models", "evaluate"),
}  # fmt: skip


def find_function(place: str) -> Any:
    """Import the function of a verb, in the form that typer takes."""
    from entitynlm.interfaces.options import make_command

    module, _, name = place.partition(":")
    return make_command(getattr(importlib.import_module(f"entitynlm.interfaces.commands.{module}"), name))


def read_summary(place: str) -> str:
    """Read the first line of a verb's docstring (of a group: of its module's) without importing the module."""
    module, _, name = place.partition(":")
    tree = ast.parse((Path(__file__).parent / "commands" / f"{module}.py").read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    return (ast.get_docstring(functions[name] if name else tree) or "").partition("\n")[0]


class LazyCommand(TyperCommand):
    """A verb whose module is imported when the verb is called."""

    def __init__(self, path: str) -> None:
        super().__init__(path.split()[-1])
        self.path = path

    def load(self) -> Any:
        """Build the whole command with its options; a group where there are verbs below it."""
        app = typer.Typer(add_completion=False)
        below = {path: place for path, place in VERBS.items() if path.startswith(f"{self.path} ")}
        if below:
            own = find_function(VERBS[self.path])
            app.callback(invoke_without_command=True, context_settings=HELP_NAMES)(own)
        for path, place in (below or {self.path: VERBS[self.path]}).items():
            app.command(path.split()[-1], context_settings=HELP_NAMES)(find_function(place))
        return escape_help(get_command(app))

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        return self.load().make_context(info_name, args, parent, **extra)


class VerbGroup(TyperGroup):
    """The verbs of the table; those of two words are in groups of their own."""

    def __init__(self, *arguments: Any, under: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.under = under
        for path in VERBS:
            above, _, name = path.rpartition(" ")
            if above == under:
                self.commands[name] = LazyCommand(path)
            elif not under and above not in VERBS:
                layout = {"no_args_is_help": True, "context_settings": HELP_NAMES}
                self.commands.setdefault(above, VerbGroup(name=above, under=above, **layout))

    def list_commands(self, ctx: Any) -> list[str]:
        """List the verbs for the help, each with its panel and summary."""
        panels = {name: panel for panel, names in PANELS.items() for name in names}
        for name, command in self.commands.items():
            command.help = read_summary(VERBS.get(f"{self.under} {name}".strip(), name))
            command.rich_help_panel = None if self.under else panels[name]  # type: ignore[attr-defined]
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.help = read_summary(self.under) if self.under else self.help
        super().format_help(ctx, formatter)


def escape_help(command: Any) -> Any:
    """Keep what stands in square brackets: rich would take it for markup and print nothing."""
    for thing in (command, *command.params, *map(escape_help, getattr(command, "commands", {}).values())):
        if getattr(thing, "help", None):
            thing.help = thing.help.replace("[", r"\[")
    return command


app = typer.Typer(
    name="entitynlm",
    cls=VerbGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=HELP_NAMES,
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    """A language model that knows who it is talking about."""
    if version:
        from entitynlm import __version__

        typer.echo(__version__)
        raise typer.Exit()


def main() -> None:
    """The console script: run the app, and turn every error of a user's making into one readable message."""
    os.environ.setdefault(
        "OMP_WAIT_POLICY", "PASSIVE"
    )  # a text is short: torch's threads would spin longer than they work
    gc.set_threshold(100_000, 50, 100)  # importing makes a million objects, of which none is garbage
    try:
        try:
            app(prog_name="entitynlm")
        finally:
            sys.stdout.flush()  # a full disk is told here, not by the interpreter when it ends
            gc.freeze()  # what is left ends with the process: looking through it takes the better part of a second
    except EntityNLMError as error:
        end(f"error: {error}", 2)
    except KeyboardInterrupt:
        end("interrupted", 130)
    except BrokenPipeError:
        end(None, 0)  # the reader of our output went away (a `| head`): nobody is left to tell
    except OSError as error:
        end(f"error: {error.filename or 'the output'}: {error.strerror or error}", 2)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate" not in str(error):  # torch has no MemoryError
            raise
        end("error: there is not enough memory for this; take fewer samples, or a shorter text", 2)


def end(message: str | None, code: int) -> None:
    """Say why, if anybody can still hear it, and exit; what could not be written is not tried again."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    with contextlib.suppress(OSError):
        if message is not None:
            from entitynlm.files import make_printable

            typer.secho(
                make_printable(message), err=True, fg=typer.colors.RED if sys.stderr.isatty() else None
            )
    sys.exit(code)


if __name__ == "__main__":
    main()
