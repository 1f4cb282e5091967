"""The command line: the table of all verbs, each imported when it is called.

The contract of every verb: figures on standard output (``--json FILE`` for machines), progress on standard error, exit code 2
with one readable message for a wrong call, which is found before torch is imported, and never a half-written file.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from entitynlm.errors import EntityNLMError

COMMANDS = "entitynlm.interfaces.commands"
READ, COREFERENCE, TRAIN = "Read and write texts", "Coreference systems", "Corpora, training, experiments"
HELP_NAMES = {"help_option_names": ["-h", "--help"]}

VERBS: dict[str, tuple[str, str, str]] = {  # verb → module:function, panel, what it does
    "annotate": ("annotate:annotate", READ, "Find the entities of texts and link their mentions."),
    "surprisal": ("surprisal:surprisal", READ, "Measure the surprisal of every word and every referent."),
    "report": ("report:report", READ, "Make one HTML page about the entities and the surprisal of a text."),
    "generate": ("generate:generate", READ, "Continue a text, or start one, with entities that you choose."),
    "predict-entity": ("predict_entity:predict_entity", READ, "Predict the next entity at each mention."),
    "demo": ("demo:demo", READ, "See what the package does, on a text and a corpus that it carries."),
    "score": ("score:score", COREFERENCE, "Score coreference as the official CoNLL scorer does."),
    "rerank": ("rerank:rerank", COREFERENCE, "Choose the best of a system's candidates by the model."),
    "ranker": (
        "ranker",
        COREFERENCE,
        "Train and apply a baseline that ranks antecedents; make k-best lists.",
    ),
    "ranker train": ("ranker:train", "", "Train a ranker on annotated documents."),
    "ranker apply": ("ranker:apply", "", "Find and link the mentions of documents."),
    "ranker kbest": ("ranker:kbest", "", "Make k-best lists from antecedent scores."),
    "data": ("data", TRAIN, "List, get, count, convert, check and show corpora."),
    "data list": ("data_sources:list_corpora", "", "List the known corpora and how to get them."),
    "data get": ("data_sources:get_corpus", "", "Download, copy or generate a corpus."),
    "data stats": ("data:stats", "", "Count documents, words, mentions and entities per split."),
    "data convert": ("data:convert", "", "Convert a file or a corpus into another format."),
    "data check": ("data:check", "", "Read files to their end and list what is odd in them."),
    "data show": ("data:show", "", "Show a document with its mentions in colours."),
    "train": ("train:train", TRAIN, "Train a model on an annotated corpus."),
    "train-components": (
        "train_components:train_components",
        TRAIN,
        "Train what annotate needs beside the networks: mention types, mention bias, linker.",
    ),
    "evaluate": ("evaluate", TRAIN, "Measure a trained model: the paper's tables."),
    "evaluate coref": ("evaluate:evaluate_coref", "", "Table 2: rerank a coreference system's candidates."),
    "evaluate entity": ("evaluate:evaluate_entity", "", "Table 3: predict which entity is mentioned next."),
    "evaluate lm": ("evaluate:evaluate_lm", "", "Table 1: perplexity of a 5-gram, an LSTM and EntityNLM."),
    "reproduce": ("reproduce:app", TRAIN, "Make the paper's tables from a corpus: training, then figures."),
    "plot": ("plot", TRAIN, "Draw figures (PNG, SVG or PDF, by the file's ending)."),
    "plot calibration": ("plot:calibration", "", "Predicted against observed shares of referents."),
    "plot marginal": ("plot_marginal:marginal", "", "Perplexity against the number of samples."),
    "plot surprisal": ("plot:surprisal", "", "Surprisal along a text, with and without entities."),
    "plot timeline": ("plot:timeline", "", "Mentions of each entity along a text."),
    "plot training": ("plot:training", "", "Training curves."),
}


class LazyCommand(TyperCommand):
    """A verb that stands in its group's help with one line; its module is imported when it is called."""

    def __init__(self, name: str, target: str, panel: str, summary: str) -> None:
        super().__init__(name, help=summary, rich_help_panel=panel or None)
        self.target = target

    def load(self) -> Any:
        """The whole command, with its options."""
        from entitynlm.interfaces.options import expand_groups

        module, _, name = self.target.partition(":")
        found = getattr(importlib.import_module(f"{COMMANDS}.{module}"), name)
        if isinstance(found, typer.Typer):
            return escape_help(get_command(found))
        app = typer.Typer(add_completion=False)
        app.command(self.name, context_settings=HELP_NAMES)(expand_groups(found))
        return escape_help(get_command(app))

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        return self.load().make_context(info_name, args, parent, **extra)


class VerbGroup(TyperGroup):
    """The verbs of the table; those of two words are in groups of their own."""

    def __init__(self, *arguments: Any, under: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        for path, (target, panel, summary) in VERBS.items():
            above, _, name = path.rpartition(" ")
            if above != under:
                continue
            self.commands[name] = (
                LazyCommand(name, target, panel, summary)
                if ":" in target
                else VerbGroup(
                    name=name,
                    under=path,
                    help=summary,
                    rich_help_panel=panel,
                    no_args_is_help=True,
                    context_settings=HELP_NAMES,
                )
            )

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
    try:
        app(prog_name="entitynlm")
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
