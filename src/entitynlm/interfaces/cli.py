"""The command line: the verbs of ``resources/verbs.toml``, each imported when it is called.

The contract of every verb: figures on standard output (``--json FILE`` for machines), progress on standard error, exit code 2
with one readable message for a wrong call, which is found before torch is imported, and never a half-written file.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from entitynlm.config import load_toml
from entitynlm.errors import EntityNLMError

HELP_NAMES = {"help_option_names": ["-h", "--help"]}


@dataclass(frozen=True)
class Verb:
    """An entry of ``resources/verbs.toml``, where its fields are explained."""

    summary: str
    run: str = ""
    panel: str | None = None
    about: str = ""
    examples: Sequence[str] = ()

    def find(self) -> Any:
        """The function behind the verb, as typer wants it."""
        from entitynlm.interfaces.options import expand_groups

        module, _, name = self.run.partition(":")
        found = importlib.import_module(f"entitynlm.interfaces.commands.{module}")
        return expand_groups(getattr(found, name), self.about, self.examples)


RESOURCES = Path(__file__).parents[1] / "resources"
VERBS = {path: Verb(**entry) for path, entry in load_toml(RESOURCES / "verbs.toml").items()}


class LazyCommand(TyperCommand):
    """A verb that stands in its group's help with one line; its module is imported when it is called."""

    def __init__(self, name: str, verb: Verb) -> None:
        super().__init__(name, help=verb.summary, rich_help_panel=verb.panel)
        self.verb = verb

    def load(self) -> Any:
        """The whole command, with its options; a group where there are verbs below it."""
        app = typer.Typer(add_completion=False)
        below = {path.split()[1]: verb for path, verb in VERBS.items() if path.startswith(f"{self.name} ")}
        if below:
            app.callback(invoke_without_command=True, context_settings=HELP_NAMES)(self.verb.find())
        for name, verb in (below or {str(self.name): self.verb}).items():
            app.command(name, short_help=verb.summary, context_settings=HELP_NAMES)(verb.find())
        return escape_help(get_command(app))

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        return self.load().make_context(info_name, args, parent, **extra)


class VerbGroup(TyperGroup):
    """The verbs of the table; those of two words are in groups of their own."""

    def __init__(self, *arguments: Any, under: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        layout: dict[str, Any] = {"no_args_is_help": True, "context_settings": HELP_NAMES}
        for path, verb in VERBS.items():
            above, _, name = path.rpartition(" ")
            if above == under and verb.run:
                self.commands[name] = LazyCommand(name, verb)
            elif above == under:
                layout.update(help=verb.summary, rich_help_panel=verb.panel)
                self.commands[name] = VerbGroup(name=name, under=path, **layout)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)


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
