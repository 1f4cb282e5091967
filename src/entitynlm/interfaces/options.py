"""Options that mean the same in every verb, declared once and checked before torch is imported.

A check is the option's callback, so that a wrong path, name or format is reported while the command line is parsed. Options that
belong together are a dataclass (``ModelOptions``, ``Terminal``): a verb takes the object, and ``make_command`` makes an option of
each field.
"""

import contextlib
import copy
import functools
import inspect
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from entitynlm.cache import cache_folder
from entitynlm.default_model import choose_model, explain_default
from entitynlm.errors import DataError, ModelError
from entitynlm.files import STANDARD, CommandFiles, guarding
from entitynlm.model.devices import check_device, prepare_torch
from entitynlm.model.language_models import BACKBONE_PREFIX, check_language_model, strip_prefix
from entitynlm.model.packaged import CONFIG_FILE, check_language_model_of, find_model
from entitynlm.text.formats.registry import get_format, get_writable

if TYPE_CHECKING:
    from entitynlm.interfaces.console import Terminal
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.document import Document

KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
LARGEST_SEED = 2**32 - 1  # what every generator of random numbers takes


def check_writable(path: Any) -> Any:
    """Return the path if a file can be written there; missing folders will be made."""
    if path is None or str(path) == STANDARD:
        return path
    place = whole = Path(path).absolute()
    try:
        while not place.exists():
            place = place.parent
    except OSError as error:
        raise DataError(f"can't be written ({error.strerror})", path=path) from error
    if place != whole and not place.is_dir():
        raise DataError(f"can't be written ({place} is a file, not a folder)", path=path)
    if not os.access(place, os.W_OK):
        raise DataError(f"can't be written ({place} is write-protected)", path=path)
    return path


def check_folder(path: Any) -> Any:
    """Return the folder if it exists or can be made; a verb keeps its own files in it and may overwrite them."""
    if path is not None and Path(path).is_file():
        raise DataError("this is a file, and a folder is wanted", path=path)
    return check_writable(path)


def check_exists(path: Any) -> Any:
    """Return the path, or several, if there is a file or folder at each."""
    for one in path if isinstance(path, list) else [path]:
        if one is not None and str(one) != STANDARD and not Path(one).exists():
            hint = "Check the spelling of the path"
            raise DataError("there is no such file or folder", path=one, hint=hint)
    return path


def check_model(model: Any) -> Any:
    """Return the name if it is a packaged model, a model folder or a language model."""
    language_model = strip_prefix(model) if model is not None else None
    if language_model is not None:
        return f"{BACKBONE_PREFIX}{check_language_model(language_model)}"
    if model is not None:
        folder = find_model(model)
        if not (folder / CONFIG_FILE).is_file():
            hint = f"Train one with: entitynlm train CORPUS --out {folder}"
            raise ModelError(f"{folder}: there is no model here (no {CONFIG_FILE}). {hint}")
        check_language_model_of(folder)
    return model


def check_model_or_default(model: Any) -> Any:
    """Check a model as :func:`check_model` does, or the default model where none is named."""
    try:
        return check_model(model or choose_model(None))
    except ModelError as error:
        if model:
            raise
        raise ModelError(f"the default model can't be used ({explain_default()[1]}): {error}") from error


def _count(help: str | None = None, most: int = 10_000_000) -> Any:
    return typer.Option(min=1, max=most, help=help)


# Where an alias has no help, the docstring of each verb that uses it says what the option means there (":param out: …").
Existing = Annotated[str, typer.Option(callback=check_exists)]
OptionalExisting = Annotated[str | None, typer.Option(callback=check_exists)]
OptionalPath = Annotated[Path | None, typer.Option(callback=check_exists)]
Output = Annotated[str, typer.Option("--out", "-o", callback=check_writable)]
OutputPath = Annotated[Path, typer.Option("--out", "-o", callback=check_writable)]
OutputFolder = Annotated[Path, typer.Option("--out", "-o", callback=check_folder)]
OptionalFolder = Annotated[Path | None, typer.Option("--out", "-o", callback=check_folder)]

DefaultModel = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        callback=check_model_or_default,
        show_default=False,
        help="A model's folder, the name of a packaged model (entitynlm models lists them), or huggingface:NAME "
        "for a pretrained language model alone. Default: the model that the environment variable "
        "ENTITYNLM_MODEL names, else entitynlm-en-smollm2 where its language model is installed, else entitynlm-en.",
    ),
]
_DEVICE = "Where to compute: cpu, cuda, cuda:1 or mps."
Device = Annotated[str, typer.Option(callback=check_device, help=_DEVICE)]
_THREADS = "Number of CPU threads. Default: torch chooses."
Threads = Annotated[int | None, typer.Option(min=1, max=4096, help=_THREADS)]
_BACKBONE = (
    "A pretrained causal language model that reads the text in place of the LSTM: smollm2, a folder in the "
    "format of transformers, a .gguf file, or a name on the Hugging Face hub."
)
Backbone = Annotated[
    str | None,
    typer.Option(metavar="NAME", callback=lambda name: name and check_language_model(name), help=_BACKBONE),
]

_FILE = "A text in any readable format; '-' is standard input."
File = Annotated[str, typer.Argument(metavar="FILE", callback=check_exists, help=_FILE)]
_CORPUS = "A corpus folder (entitynlm data list) or a file in any readable format; '-' is standard input."
Corpus = Annotated[str, typer.Argument(metavar="CORPUS", callback=check_exists, help=_CORPUS)]
_FORMAT = "Format of the input. Default: recognised from the file."
Format = Annotated[
    str | None, typer.Option(callback=lambda name: name and get_format(name).name, help=_FORMAT)
]
_DOCUMENT = "Take the document with this id. Default: the first one of the file."
DocumentId = Annotated[str | None, typer.Option(metavar="ID", help=_DOCUMENT)]
_SPLIT = "Use this split of the corpus (train, dev or test). Default: all of it."
Split = Annotated[str | None, typer.Option(help=_SPLIT)]
_CONFIG = "A TOML file of settings (the folder configs/ has examples)."
Config = Annotated[Path | None, typer.Option("--config", "-c", callback=check_exists, help=_CONFIG)]
_SET = "Change one setting, for example model.dropout=0.5. May be repeated."
Set = Annotated[list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help=_SET)]

_TO = "Format of the output: jsonl, conll2012 or conllu. Default: by the ending of --out."
To = Annotated[str | None, typer.Option(callback=lambda name: name and get_writable(name).name, help=_TO)]
_JSON = "Write the figures as JSON to FILE; with '-', standard output has the JSON and nothing else."
Json = Annotated[str | None, typer.Option("--json", metavar="FILE", callback=check_writable, help=_JSON)]
_FORCE = "Write over existing files; files that the command reads are never overwritten."
Force = Annotated[bool, typer.Option("--force", help=_FORCE)]
_QUIET = "Print no progress and no remarks on standard error."
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help=_QUIET)]

_MENTIONS = (
    "given: condition on the mentions in the text; sampled: sum over possible mentions with a particle filter; "
    "auto: given if the text has mentions, else sampled."
)
Mentions = Annotated[Literal["auto", "given", "sampled"], typer.Option(help=_MENTIONS)]
Samples = Annotated[int, _count("Number of particles of each estimate.", 100_000)]
_CHOSEN_SAMPLES = "Number of particles of each estimate. Default: 12, or 16 on a pretrained language model."
ChosenSamples = Annotated[int | None, _count(_CHOSEN_SAMPLES, 100_000)]
Repeats = Annotated[int, _count("Number of independent estimates; their spread gives the standard error.")]
_SHARE = (
    "Share of P in the mixture of P and Q that is sampled from, from 0 (as in the paper) to 1. Default: 0.8."
)
PriorShare = Annotated[float | None, typer.Option(min=0.0, max=1.0, help=_SHARE)]
_BASE = "Base of the logarithm: 2 (bits), e (nats) or 10."
Base = Annotated[Literal["2", "bits", "e", "nats", "10"], typer.Option(help=_BASE)]
Candidates = Annotated[int, _count("Number of candidates per document.")]
Trials = Annotated[int, _count("Number of shuffles of the randomisation test.")]
_SEED = "Seed of all random draws: the same seed gives the same figures."
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help=_SEED)]
Seeds = Annotated[str, typer.Option(help="Seeds of the trainings, separated by commas.")]
_ROWS = "Rows of the table, from always-new,shallow,modi,entitynlm,ours,ensemble,human. Default: all that the corpus allows."
Rows = Annotated[str | None, typer.Option(help=_ROWS)]


@dataclass(frozen=True)
class ModelOptions:
    """Options that choose a model and the device that it computes on."""

    model: DefaultModel = ""
    device: Device = "cpu"
    threads: Threads = None

    def load(self, terminal: "Terminal", *, start_piece: str | None = None) -> "Pretrained":
        """Load the model onto its device; torch is imported here, not before."""
        prepare_torch(self.device, self.threads)
        return terminal.load_model(self.model, self.device, start_piece=start_piece)


def sign(document: "Document", model: str) -> "Document":
    """Add the model's name to a document's metadata, which some formats write."""
    return replace(document, meta={**document.meta, "model": model})


def make_command(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Make a typer command from a verb: an option for each field of its dataclasses, help from its docstring.

    A dataclass with a ``close`` method is closed when the verb has ended.
    """
    signature = inspect.signature(verb, eval_str=True)
    text, helps = split_docstring(verb)
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for name, own in signature.parameters.items():
        if is_dataclass(own.annotation):
            groups[name] = own.annotation
            parameters += list_fields(own.annotation)
        else:
            parameters.append(add_help(own, helps.pop(name, None)))
    if helps:
        raise TypeError(f"{verb.__name__}: no parameter is called {', '.join(helps)}")

    @functools.wraps(verb)
    def call(**values: Any) -> Any:
        files = guard_files(parameters, values)
        with contextlib.ExitStack() as stack:
            for name, group in groups.items():
                values[name] = group(**{one.name: values.pop(one.name) for one in fields(group)})
                if hasattr(group, "close"):
                    stack.callback(values[name].close)
            stack.enter_context(guarding(files))
            return verb(**values)

    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__doc__ = text
    return call


def split_docstring(thing: Any) -> tuple[str, dict[str, str]]:
    """Split a docstring into its text, with one line per paragraph, and the help of its ``:param name: …`` lines by name."""
    text, *found = re.split(r"^:param (\w+): ", inspect.getdoc(thing) or "", flags=re.MULTILINE)
    helps = {name: " ".join(words.split()) for name, words in zip(found[::2], found[1::2], strict=True)}
    return re.sub(r"(?<=\S)\n(?=\S)", " ", text.strip()), helps


def list_fields(group: Any) -> Iterator[inspect.Parameter]:
    """List the fields of a dataclass as parameters of a function."""
    types, helps = get_type_hints(group, include_extras=True), split_docstring(group)[1]
    for one in fields(group):
        default = inspect.Parameter.empty if one.default is MISSING else one.default
        own = inspect.Parameter(one.name, KEYWORD_ONLY, default=default, annotation=types[one.name])
        yield add_help(own, helps.get(one.name))


def add_help(parameter: inspect.Parameter, help: str | None) -> inspect.Parameter:
    """Add a docstring's help to a parameter; an option that is off by default gets no ``--no-…`` beside it."""
    if help is None:
        return parameter
    annotated = get_origin(parameter.annotation) is Annotated  # with an option or argument of typer's
    plain, *infos = get_args(parameter.annotation) if annotated else (parameter.annotation,)
    names = [f"--{parameter.name.replace('_', '-')}"] if plain is bool and not parameter.default else []
    info = copy.copy(infos[0]) if infos else typer.Option(*names)
    info.help = help
    return parameter.replace(annotation=Annotated[plain, info])


def guard_files(parameters: Sequence[inspect.Parameter], values: dict[str, Any]) -> CommandFiles:
    """Find from the checks of a command's options which files it reads and writes, and refuse files that it may not write."""

    def list_paths(*checks: Callable[..., Any]) -> list[tuple[str, Path]]:
        found: list[tuple[str, Path]] = []
        for parameter in parameters:
            infos = get_args(parameter.annotation)[1:]
            if infos and getattr(infos[0], "callback", None) in checks:
                value = values[parameter.name]
                named = value if isinstance(value, list) else [value]
                found += [(parameter.name, Path(one)) for one in named if one not in (None, STANDARD)]
        return found

    from entitynlm.interfaces.inputs import expand_files

    models = [path for _, path in list_paths(check_model, check_model_or_default) if path.is_dir()]
    folders = [cache_folder(), *(path for _, path in list_paths(check_folder)), *models]
    files = CommandFiles(folders, force=bool(values.get("force")))
    for _, path in list_paths(check_exists, expand_files):
        files.note_input(path)
    for name, path in list_paths(check_writable):
        files.check_output(path)
        files.claim(path, name)
    return files
