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

from entitynlm.config import load_toml
from entitynlm.errors import ConfigError, DataError, ModelError
from entitynlm.files import STANDARD, keeping_pipes, watched_by
from entitynlm.interfaces.default_model import choose_model, explain_default
from entitynlm.interfaces.outputs import OutputGuard
from entitynlm.model.devices import check_device, prepare_torch
from entitynlm.model.language_models import PREFIX, check_language_model, strip_prefix
from entitynlm.model.packaged import CONFIG_FILE, check_language_model_of, find_model
from entitynlm.text.formats.registry import FORMATS, get_format, parse_format

if TYPE_CHECKING:
    from entitynlm.interfaces.console import Terminal
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.document import Document

LARGEST_SEED = 2**32 - 1  # what every generator of random numbers takes
FIGURE_ENDINGS = (".png", ".svg", ".pdf")


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


def check_folder(path: Any) -> Any:
    """The folder itself if it is one, or can be made; a verb keeps its own files in it and may write them again."""
    if path is not None and Path(path).is_file():
        raise DataError("this is a file, and a folder is wanted", path=path)
    return check_writable(path)


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
    """The name itself if the package carries a model of that name, the folder has a model in it, or it is a language model's."""
    language_model = strip_prefix(model) if model is not None else None
    if language_model is not None:
        return f"{PREFIX}{check_language_model(language_model)}"
    if model is not None:
        folder = find_model(model)
        if not (folder / CONFIG_FILE).is_file():
            hint = f"Train one with: entitynlm train CORPUS --out {folder}"
            raise ModelError(f"{folder}: there is no model here (no {CONFIG_FILE}). {hint}")
        check_language_model_of(folder)
    return model


def check_model_or_default(model: Any) -> Any:
    """The same; where none is named, the default model."""
    try:
        return check_model(model or choose_model(None))
    except ModelError as error:
        if model:
            raise
        raise ModelError(f"the default model can't be used ({explain_default()[1]}): {error}") from error


def check_backbone(name: str | None) -> str | None:
    """The language model's name itself (a path made absolute) if it may be one that can be read here."""
    return None if name is None else check_language_model(name)


def check_figure(path: Path) -> Path:
    """The path itself if matplotlib writes figures with its ending."""
    if path.suffix not in FIGURE_ENDINGS:
        raise ConfigError(f"{path}: a figure's file ends in one of {', '.join(FIGURE_ENDINGS)}")
    return Path(check_writable(path))


# A verb's own options have their help in its docstring (":param samples: Particles."), those of several verbs in this file.
SHARED_HELP = load_toml(Path(__file__).parents[1] / "resources" / "options.toml")
_FIGURE = "The figure's file: .png, .svg or .pdf."

Existing = Annotated[str, typer.Option(callback=check_exists)]
OptionalExisting = Annotated[str | None, typer.Option(callback=check_exists)]
Backbone = Annotated[str | None, typer.Option(metavar="NAME", callback=check_backbone)]
OptionalPath = Annotated[Path | None, typer.Option(callback=check_exists)]
DefaultModel = Annotated[
    str,
    typer.Option("--model", "-m", callback=check_model_or_default, show_default=False),
]
Output = Annotated[str, typer.Option("--out", "-o", callback=check_writable)]
OutputPath = Annotated[Path, typer.Option("--out", "-o", callback=check_writable)]
OutputFolder = Annotated[Path, typer.Option("--out", "-o", callback=check_folder)]
OptionalFolder = Annotated[Path | None, typer.Option("--out", "-o", callback=check_folder)]
Figure = Annotated[Path, typer.Option("--out", "-o", callback=check_figure, help=_FIGURE)]
Config = Annotated[Path | None, typer.Option("--config", "-c", callback=check_exists)]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE")]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE", callback=check_writable)]
Force = Annotated[bool, typer.Option("--force")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q")]
Colour = Annotated[bool | None, typer.Option("--colour/--no-colour")]
Device = Annotated[str, typer.Option(callback=check_device)]
Threads = Annotated[int | None, typer.Option(min=1)]
Format = Annotated[str | None, typer.Option(callback=check_format)]
To = Annotated[str | None, typer.Option(callback=check_output_format)]
File = Annotated[str, typer.Argument(metavar="FILE", callback=check_exists)]
Corpus = Annotated[str, typer.Argument(metavar="CORPUS", callback=check_exists)]
DocumentId = Annotated[str | None, typer.Option(metavar="ID")]
Mentions = Literal["auto", "given", "sampled"]
Count = Annotated[int, typer.Option(min=1, max=10_000_000)]
Samples = Annotated[int, typer.Option(min=1, max=100_000)]  # each is a row of several arrays
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED)]


@dataclass(frozen=True)
class ModelOptions:
    """Which model a verb uses, and what it computes on."""

    model: DefaultModel = ""
    device: Device = "cpu"
    threads: Threads = None

    def load(self, terminal: Terminal) -> Pretrained:
        """The model, on its device. Torch is imported here and not before."""
        prepare_torch(self.device, self.threads)
        return terminal.load_model(self.model, self.device)

    def sign(self, document: Document) -> Document:
        """The document with the model's name among its metadata, for formats that keep such."""
        return dataclasses.replace(document, meta={**document.meta, "model": self.model})


def expand_groups(
    verb: Callable[..., Any], about: str = "", examples: Sequence[str] = ()
) -> Callable[..., Any]:
    """A verb as typer wants it: a dataclass is taken as options for its fields, and help comes from docstrings.

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
        guard = guard_files(parameters, values)
        with contextlib.ExitStack() as stack:
            for name, group in groups.items():
                own = {field.name: values.pop(field.name) for field in dataclasses.fields(group)}
                values[name] = group(**own)
                if hasattr(group, "close"):
                    stack.callback(values[name].close)
            stack.enter_context(watched_by(guard))
            stack.enter_context(keeping_pipes())
            return verb(**values)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    listed = "\n".join(["Examples:\n", *(f"  {line}" for line in examples)]) if examples else ""
    call.__doc__ = "\n\n".join(part for part in (text, " ".join(about.split()), listed) if part)
    return call


def guard_files(parameters: Sequence[inspect.Parameter], values: dict[str, Any]) -> OutputGuard:
    """The guard of a call: which of its options are read and which are written, their checks tell."""

    def list_paths(*checks: Callable[..., Any]) -> list[Any]:
        found: list[Any] = []
        for parameter in parameters:
            notes = get_args(parameter.annotation)[1:]
            if notes and getattr(notes[0], "callback", None) in checks:
                value = values[parameter.name]
                found += value if isinstance(value, list) else [value]
        return [path for path in found if path is not None and str(path) != STANDARD]

    from entitynlm.interfaces.inputs import expand_files

    models = [Path(path) for path in list_paths(check_model, check_model_or_default) if Path(path).is_dir()]
    inputs = list_paths(check_exists, expand_files)
    guard = OutputGuard(inputs, [*list_paths(check_folder), *models], force=bool(values.get("force")))
    guard.check(list_paths(check_writable, check_figure))
    return guard


def split_docstring(thing: Any) -> tuple[str, dict[str, str]]:
    """Its docstring without the ``:param name: …`` lines, and these by name."""
    text = inspect.cleandoc(thing.__doc__ or "")
    pattern = re.compile(r"^:param (\w+): (.*(?:\n    .*)*)\n?", re.MULTILINE)
    helps = {name: " ".join(words.split()) for name, words in pattern.findall(text)}
    return re.sub(r"\n{3,}", "\n\n", pattern.sub("", text)).strip(), helps


def add_help(name: str, hint: Any, help: str | None, default: Any) -> Any:
    """A type with help for its option; one that is an option or argument already keeps its other settings."""
    plain, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    help = help or getattr(notes[0] if notes else None, "help", None) or SHARED_HELP.get(name)
    if help is None:
        return hint
    switch = plain is bool and not default  # beside one that is true by default there is a --no-…
    info = copy.copy(notes[0]) if notes else typer.Option(*[f"--{name.replace('_', '-')}"] * switch)
    info.help = help
    return Annotated[plain, info]
