"""The command line: a table of verbs, each imported when it is called; a verb's help is its docstring.

Every verb prints figures on standard output (``--json FILE`` for machines) and progress on standard error, ends with exit code 2
and one readable message for a wrong call, which is checked before torch is imported, and never leaves a half-written file.
"""

import contextlib
import gc
import io
import os
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from entitynlm.errors import EntityNLMError

HELP_NAMES = {"help_option_names": ["-h", "--help"]}


PANELS = {  # the verbs as the help groups them; the function of "data get" is data_get in the module data of the folder commands
    "Read and write texts": (
        "annotate", "surprisal", "report", "explore", "characters", "batch annotate", "batch surprisal", "batch characters",
        "generate", "predict-entity",
    ),
    "Coreference systems": ("score", "rerank"),
    "Corpora, training, experiments": (
        "data list", "data get", "data stats", "data convert", "train", "sweep", "models",
        "evaluate books", "evaluate coref", "evaluate entity", "evaluate lm",
    ),
}  # fmt: skip
VERBS = [path for paths in PANELS.values() for path in paths]


class VerbGroup(TyperGroup):
    """The verbs of the table, or those whose first word is ``under``; the module of a verb is imported at its first use."""

    def __init__(self, *arguments: Any, under: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.under = under
        paths = [path.removeprefix(under).split()[0] for path in VERBS if path.startswith(under)]
        self.commands = dict.fromkeys(paths)  # type: ignore[assignment] # loaded when they are needed

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def get_command(self, ctx: Any, name: str) -> Any:
        if name not in self.commands:
            return None
        path = f"{self.under}{name}"
        command = make_verb(path) if path in VERBS else self.make_group(name)
        panels = (panel for panel, paths in PANELS.items() if name in {path.split()[0] for path in paths})
        command.rich_help_panel = None if self.under else next(panels)
        return command

    def make_group(self, name: str) -> Any:
        """Make the group of verbs that share a first word; its help is the docstring of the module of that name."""
        told = import_module(f"entitynlm.interfaces.commands.{name}").__doc__
        layout: dict[str, Any] = {"no_args_is_help": True, "context_settings": HELP_NAMES, "help": told}
        return VerbGroup(name=name, under=f"{name} ", **layout)


def make_verb(path: str) -> Any:
    """Import the function of a verb, and make a command of it."""
    from entitynlm.interfaces.options import make_command

    module, function = (words.replace("-", "_") for words in (path.split()[0], path.replace(" ", "_")))
    verb = getattr(import_module(f"entitynlm.interfaces.commands.{module}"), function)
    app = typer.Typer(add_completion=False)
    app.command(path.split()[-1], context_settings=HELP_NAMES)(make_command(verb))
    command: Any = get_command(app)
    for thing in (command, *command.params):  # rich would take square brackets for markup and print nothing
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
    """Run the command line, and turn every error of a user's making into one readable message."""
    # a text is short: torch's threads would spin longer than they work
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    open_streams()
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
        end(None, 0)  # the reader of our output went away (a `| head`)
    except OSError as error:
        end(f"error: {error.filename or 'the output'}: {error.strerror or error}", 2)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate" not in str(error):  # torch has no MemoryError
            raise
        end("error: there is not enough memory for this; take fewer samples, or a shorter text", 2)


def open_streams() -> None:
    """Open the null device for standard streams that the caller has closed, and replace characters that a stream can't encode."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        if isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def end(message: str | None, code: int) -> None:
    """Print a message where standard error is open, and exit without a second attempt to flush output that failed."""
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
