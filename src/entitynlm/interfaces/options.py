"""Options that mean the same in every verb, declared once and checked before torch is imported.

A check is the option's callback, so a wrong path, name or format is answered while the command line is parsed. Options that
belong together are a dataclass (``ModelOptions``, ``Terminal``): a verb takes the object, and ``expand_groups`` makes options of
its fields.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import inspect
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from entitynlm.errors import ConfigError, DataError, ModelError
from entitynlm.files import STANDARD
from entitynlm.model.devices import check_device, prepare_torch
from entitynlm.model.packaged import DEFAULT, find_model, list_models
from entitynlm.text.formats.registry import FORMATS, get_format, parse_format

if TYPE_CHECKING:
    from entitynlm.interfaces.console import Terminal
    from entitynlm.model.pretrained import Pretrained

FIGURE_ENDINGS = (".png", ".svg", ".pdf")


# -- checks ----------------------------------------------------------------------------------------------------------------


def check_writable(path: Any) -> Any:
    """The path itself if something can be written there; folders that are still missing will be made."""
    if path is None or str(path) == STANDARD:
        return path
    place = whole = Path(path).absolute()
    while not place.exists():
        place = place.parent
    if place != whole and not place.is_dir():
        raise DataError(f"can't be written ({place} is a file, not a folder)", path=path)
    if not os.access(place, os.W_OK):
        raise DataError(f"can't be written ({place} is write-protected)", path=path)
    return path


def check_exists(path: Any) -> Any:
    """The path itself if there is a file or folder; several paths if there is something at each."""
    for one in path if isinstance(path, list) else [path]:
        if one is not None and str(one) != STANDARD and not Path(one).exists():
            hint = "Check the spelling of the path"
            raise DataError("there is no such file or folder", path=one, hint=hint)
    return path


def check_format(format: str | None) -> str | None:
    """The format's name itself if we read it with the options that stand behind it."""
    if format is not None:
        parse_format(format)
    return format


def check_output_format(format: str | None) -> str | None:
    """The format's name itself if documents can be written in it."""
    if format is not None and not get_format(format).writable:
        writable = ", ".join(name for name, form in FORMATS.items() if form.writable)
        raise ConfigError(f"format {format!r} can be read but not written; writable are {writable}")
    return format


def check_model(model: Any) -> Any:
    """The name itself if the package carries a model of that name, or the folder has a model in it."""
    if model is not None and str(model) not in list_models():
        folder = find_model(model)
        if not (folder / "model.json").is_file():
            hint = f"Train one with: entitynlm train CORPUS --out {folder}"
            raise ModelError(f"{folder}: there is no model here (no model.json). {hint}")
    return model


def check_figure(path: Path) -> Path:
    """The path itself if matplotlib writes figures with its ending."""
    if path.suffix not in FIGURE_ENDINGS:
        raise ConfigError(f"{path}: a figure's file ends in one of {', '.join(FIGURE_ENDINGS)}")
    check_writable(path)
    return path


# -- options ---------------------------------------------------------------------------------------------------------------
# A verb's own options have their help in its docstring (":param samples: Particles."); those of several verbs have it here.

Existing = Annotated[str, typer.Option(callback=check_exists)]
OptionalExisting = Annotated[str | None, typer.Option(callback=check_exists)]
Output = Annotated[str, typer.Option("--out", "-o", callback=check_writable)]
OutputPath = Annotated[Path, typer.Option("--out", "-o", callback=check_writable)]
_FIGURE = "The figure's file: .png, .svg or .pdf."
Figure = Annotated[Path, typer.Option("--out", "-o", callback=check_figure, help=_FIGURE)]

_JSON = "Write the figures as JSON to FILE; '-' is standard output, and nothing else is printed there."
Json = Annotated[str | None, typer.Option("--json", metavar="FILE", callback=check_writable, help=_JSON)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks on standard error.")]
_COLOUR = "Use colours; default: only in a terminal."
Colour = Annotated[bool | None, typer.Option("--colour/--no-colour", help=_COLOUR)]
_DEVICE = "Where to compute: cpu, cuda, cuda:1 or mps."
Device = Annotated[str, typer.Option("--device", callback=check_device, help=_DEVICE)]
_THREADS = "Number of CPU threads; default: as many as torch chooses."
Threads = Annotated[int | None, typer.Option("--threads", min=1, help=_THREADS)]
_SEED = "Seed of all random draws: the same seed gives the same figures."
Seed = Annotated[int, typer.Option("--seed", help=_SEED)]

_FORMAT = "Format of the input, with reading options as in jsonl:spans=exclusive; default: recognised."
Format = Annotated[str | None, typer.Option("--format", callback=check_format, help=_FORMAT)]
_TO = "Format of the output: jsonl, conll2012, conllu, brat, spacy; default: by the ending of --out."
To = Annotated[str | None, typer.Option("--to", callback=check_output_format, help=_TO)]
_FILE = "A text in any readable format; '-': standard input."
File = Annotated[str, typer.Argument(metavar="FILE", callback=check_exists, help=_FILE)]
_CORPUS = "A corpus folder (see: entitynlm data list) or a file in any readable format; '-': standard input."
Corpus = Annotated[str, typer.Argument(metavar="CORPUS", callback=check_exists, help=_CORPUS)]
_SPLIT = "Use this split of the corpus (train, dev, test); default: all of it."
Split = Annotated[str | None, typer.Option("--split", help=_SPLIT)]
_DOCUMENT = "Take the document with this id; default: the file's first."
DocumentId = Annotated[str | None, typer.Option("--document", metavar="ID", help=_DOCUMENT)]

_MENTIONS = (
    "given: condition on the text's own mentions; sampled: sum over possible ones by a particle filter; "
    "auto: given if the text has any."
)
Mentions = Annotated[Literal["auto", "given", "sampled"], typer.Option("--mentions", help=_MENTIONS)]
Samples = Annotated[int, typer.Option("--samples", min=1, help="Particles of each estimate.")]
_REPEATS = "Independent estimates; their spread gives the standard error."
Repeats = Annotated[int, typer.Option("--repeats", min=1, help=_REPEATS)]
K = Annotated[int, typer.Option("--k", min=1, help="Candidates per document.")]

_MODEL = "A model's folder, or the name of a model that the package carries."


@dataclass(frozen=True)
class ModelOptions:
    """Which model a verb uses, and what it computes on."""

    model: Annotated[str, typer.Option("--model", "-m", callback=check_model, help=_MODEL)] = DEFAULT
    device: Device = "cpu"
    threads: Threads = None

    def load(self, terminal: Terminal) -> Pretrained:
        """The model, on its device. Torch is imported here and not before."""
        prepare_torch(self.device, self.threads)
        return terminal.load_model(self.model, self.device)


# -- groups of options -----------------------------------------------------------------------------------------------------


def expand_groups(
    verb: Callable[..., Any], about: str = "", examples: Sequence[str] = ()
) -> Callable[..., Any]:
    """A verb as typer wants it: a dataclass is taken as options for its fields, and help comes from the docstring.

    A group with a ``close`` method is closed when the verb has ended.
    """
    hints = get_type_hints(verb, include_extras=True)
    hints.pop("return", None)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)}
    text, helps = split_docstring(verb)
    parameters: list[inspect.Parameter] = []

    def add(name: str, hint: Any, help: str | None, default: Any) -> None:
        annotation = add_help(name, hint, help, default)
        default = inspect.Parameter.empty if default is dataclasses.MISSING else default
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))

    for name, own in inspect.signature(verb).parameters.items():
        if name in groups:
            types = get_type_hints(groups[name], include_extras=True)
            _, given = split_docstring(groups[name])
            for field in dataclasses.fields(groups[name]):
                add(field.name, types[field.name], given.get(field.name), field.default)
        else:
            add(name, hints[name], helps.pop(name, None), own.default)
    assert not helps, f"{verb.__name__}: no parameter is called {', '.join(helps)}"

    @functools.wraps(verb)
    def call(**values: Any) -> Any:
        with contextlib.ExitStack() as stack:
            for name, group in groups.items():
                own = {field.name: values.pop(field.name) for field in dataclasses.fields(group)}
                values[name] = group(**own)
                if hasattr(group, "close"):
                    stack.callback(values[name].close)
            return verb(**values)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    listed = "\n".join(["Examples:\n", *(f"  {line}" for line in examples)]) if examples else ""
    call.__doc__ = "\n\n".join(part for part in (text, " ".join(about.split()), listed) if part)
    return call


def split_docstring(thing: Any) -> tuple[str, dict[str, str]]:
    """Its docstring without the ``:param name: …`` lines, and these by name."""
    text = inspect.cleandoc(thing.__doc__ or "")
    pattern = re.compile(r"^:param (\w+): (.*(?:\n    .*)*)\n?", re.MULTILINE)
    helps = {name: " ".join(words.split()) for name, words in pattern.findall(text)}
    return re.sub(r"\n{3,}", "\n\n", pattern.sub("", text)).strip(), helps


def add_help(name: str, hint: Any, help: str | None, default: Any) -> Any:
    """A type with help for its option; one that is an option or argument already keeps its other settings."""
    if help is None:
        return hint
    plain, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    switch = plain is bool and not default  # beside one that is true by default there is a --no-…
    info = copy.copy(notes[0]) if notes else typer.Option(*[f"--{name.replace('_', '-')}"] * switch)
    info.help = help
    return Annotated[plain, info]
