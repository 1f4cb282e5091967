"""A stored model: weights as safetensors, everything else as one JSON file, in a folder.

    DIR/model.json              format, encoder (recipe, tokenizer, types), word classes, the configuration of each part
    DIR/generative.safetensors  P
    DIR/causal.safetensors      the proposal Q of the paper (if it was trained)
    DIR/rnnlm.safetensors       the LSTM baseline without entities (if it was trained)
    DIR/shared.safetensors      what all parts have in common (in a compact model)
    DIR/NAME.safetensors        the tensors of a trained component, whose settings are in model.json
    DIR/SHA256SUMS              the hashes of all these files, which are checked whenever the model is loaded

Files are written beside their place and renamed, the list of hashes last, so a reader never sees half a model.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, cast

import msgspec
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch.overrides import TorchFunctionMode

from entitynlm.config import Mode, ModelConfig, from_dict, to_dict
from entitynlm.errors import ConfigError, EntityNLMError, MissingExtraError, ModelError
from entitynlm.files import HASH_LIST, read_json, write_atomically, write_hash_list
from entitynlm.model.backbones.base import LanguageModel
from entitynlm.model.batch.scores import Network
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.language_models import BACKBONE_PREFIX
from entitynlm.model.packaged import CONFIG_FILE, check_hashes, check_language_model_of, find_file, find_model

if TYPE_CHECKING:
    from typing_extensions import Self

NetworkType = TypeVar("NetworkType", bound=torch.nn.Module)
Weights = Mapping[str, torch.Tensor]


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Read the tensors of a file."""
    try:
        return dict(load_file(path))
    except FileNotFoundError as error:
        raise ModelError(f"{path}: the weights are missing") from error
    except (OSError, SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise ModelError(f"{path}: the weights can't be read ({error}); the file may be damaged") from error


class SkipInitialisation(TorchFunctionMode):
    """Skip random initialisation, because stored weights follow and torch would import its compiler for the meta device."""

    def __torch_function__(
        self, function: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> torch.Tensor:
        if getattr(function, "__name__", "") in ("normal_", "uniform_"):
            return next(iter((*arguments, *(options or {}).values())))
        return function(*arguments, **(options or {}))


def build_network(make: Callable[[], NetworkType], weights: Weights, where: str | Path) -> NetworkType:
    """Build a network with stored weights of any float precision, if their names and shapes fit.

    Safetensors compares a file's header with the file's length, but the sizes of a network are given in JSON, which may be wrong:
    so the network is built on torch's meta device, which allocates no memory, and filled only if the weights have these sizes.

    :param where: file or component, for error messages.
    """
    try:
        with torch.device("meta"), SkipInitialisation():
            network = make()
    except MissingExtraError:
        raise
    except (EntityNLMError, RuntimeError, TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{where}: a network with these settings can't be built ({error})") from error
    needed = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    for name in sorted({*needed, *weights}):
        found = tuple(weights[name].shape) if name in weights else None
        if found != needed.get(name):
            sizes = f"{name} has the size {found}, expected {needed.get(name)}"
            raise ModelError(
                f"{where}: the weights don't fit the configuration and the vocabulary beside them ({sizes}); "
                "they are those of another model"
            )
    numbers = {name: value.to(torch.float32, copy=True) for name, value in weights.items()}
    if broken := [name for name, value in numbers.items() if not torch.isfinite(value.sum())]:
        raise ModelError(f"{where}: {broken[0]} has numbers that are not finite; the file is damaged")
    network.load_state_dict(numbers, assign=True)
    return network


StoredComponent = tuple[dict[str, torch.Tensor], dict[str, Any]]
"""Tensors (``NAME.safetensors``) and JSON settings of a component."""

FORMAT_VERSION = 3
SHARED = "shared"
UNTRAINED = "untrained"
"""The note of a model whose entity side has never been trained: the name of its language model."""


class Component(Protocol):
    """A trained part of a model beside its networks, such as the resolver of ``annotate``.

    The model does not know its types, so that each task can define its own.
    """

    component_name: ClassVar[str]

    def to_stored(self) -> StoredComponent:
        """Return tensors and settings from which :meth:`from_stored` makes an equal component."""
        ...

    @classmethod
    def from_stored(cls, tensors: Mapping[str, torch.Tensor], settings: Mapping[str, Any]) -> "Self":
        """Make the component that :meth:`to_stored` described."""
        ...


ComponentType = TypeVar("ComponentType", bound=Component)


class StoredSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trained component in ``model.json``: its settings, and whether it has a file of tensors."""

    settings: dict[str, Any]
    tensors: bool


class StoredModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of ``model.json``; ``shared`` are names of weights that all parts have in common."""

    format: int
    encoder: dict[str, Any]
    classes: dict[str, Any] | None
    parts: dict[Mode, ModelConfig]
    shared: list[str]
    components: dict[str, StoredSettings]
    notes: dict[str, Any]


@dataclass
class Pretrained:
    """P with its proposals, and the encoder for them.

    :param networks: P and its proposals by mode.
    :param language_model: the LSTM baseline, which reads the same numbers.
    :param stored_components: trained components as read from a folder, by name; :meth:`get_component` builds them.
    :param name: name of its folder, or of the language model alone; outputs cite it.
    :param remarks: remarks for the user about the folder that the model was loaded from.
    """

    encoder: Encoder
    classes: WordClasses | None
    networks: dict[str, EntityNetwork] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    language_model: LanguageModel | None = None
    stored_components: dict[str, StoredComponent] = field(default_factory=dict)
    name: str = ""
    remarks: list[str] = field(default_factory=list)
    _components: dict[str, Component] = field(default_factory=dict, init=False, repr=False)

    @property
    def untrained(self) -> bool:
        """Tell whether the entity side has random parameters."""
        return UNTRAINED in self.notes

    @property
    def parts(self) -> dict[str, Network]:
        """All networks by mode, the baseline included."""
        baseline: dict[str, Network] = {"rnnlm": self.language_model} if self.language_model else {}
        return {**self.networks, **baseline}

    def add(self, config: ModelConfig) -> Network:
        """Add a new network, or a new LSTM baseline, as the part that its mode names."""
        tokenizer = self.encoder.tokenizer
        sizes = (len(tokenizer), tokenizer.start, self.classes)
        if config.mode == "rnnlm":
            self.language_model = LanguageModel(config, *sizes)
            return self.language_model
        self.networks[config.mode] = EntityNetwork(config, *sizes)
        return self.networks[config.mode]

    def get(self, mode: str) -> EntityNetwork:
        """Return the part called ``mode``, or raise an error that says how to train it."""
        if mode not in self.networks:
            raise ModelError(
                f"this model has no {mode} part; it has {', '.join(self.parts) or 'none at all'}"
            )
        return self.networks[mode]

    def get_language_model(self) -> LanguageModel:
        """Return the LSTM baseline, or raise an error that says how to train it."""
        if self.language_model is None:
            raise ModelError(
                f"this model has no LSTM baseline (rnnlm); it has {', '.join(self.parts) or 'no part at all'}. "
                "Train one with: entitynlm train CORPUS --out DIR --parts rnnlm"
            )
        return self.language_model

    def get_component(self, component_type: type[ComponentType]) -> ComponentType | None:
        """Return the trained component of a type, built at the first call and kept; None if the model has none."""
        name = component_type.component_name
        if name not in self._components:
            if name not in self.stored_components:
                return None
            try:
                self._components[name] = component_type.from_stored(*self.stored_components[name])
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                raise ModelError(f"the component {name} of this model can't be used ({error})") from error
        return cast(ComponentType, self._components[name])

    def set_component(self, component: Component) -> None:
        """Add a trained component to this model, in place of an earlier one of its name."""
        self._components[component.component_name] = component


def save_pretrained(pretrained: Pretrained, folder: str | Path, *, compact: bool = False) -> None:
    """Write a model into its folder.

    A ``compact`` model has its weights in half precision (but for the scale of a language model's states), and weights that all
    parts share only once. It is read and computed with in single precision like any other.
    """
    folder = Path(folder)
    (folder / HASH_LIST).unlink(missing_ok=True)
    weights = {
        mode: {
            name: (value.half() if compact and "scaling." not in name else value).detach().cpu().contiguous()
            for name, value in network.state_dict().items()
        }
        for mode, network in pretrained.parts.items()
    }
    shared = _take_shared(weights) if compact else {}
    built = {name: component.to_stored() for name, component in pretrained._components.items()}
    components = {**pretrained.stored_components, **built}
    tensors = {name: dict(values) for name, (values, _) in components.items() if values}
    files = {**weights, **({SHARED: shared} if shared else {}), **tensors}
    for name, values in files.items():
        with write_atomically(folder / f"{name}.safetensors", "wb") as stream:
            stream.write(save(values))
    stored = StoredModel(
        FORMAT_VERSION,
        pretrained.encoder.to_dict(),
        pretrained.classes.to_dict() if pretrained.classes else None,
        {network.config.mode: network.config for network in pretrained.parts.values()},
        sorted(shared),
        {name: StoredSettings(settings, name in tensors) for name, (_, settings) in components.items()},
        pretrained.notes,
    )
    with write_atomically(folder / CONFIG_FILE) as stream:
        json.dump(to_dict(stored), stream, ensure_ascii=False, indent=None if compact else 1)
    write_hash_list(folder, [CONFIG_FILE, *(f"{name}.safetensors" for name in files)])


def _take_shared(weights: dict[str, dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Remove from all parts the weights that are equal in each of them; return these."""
    first, *others = weights.values()
    same = [
        name
        for name, value in first.items()
        if others and all(name in other and torch.equal(value, other[name]) for other in others)
    ]
    shared = {name: first[name] for name in same}
    for part in weights.values():
        for name in same:
            del part[name]
    return shared


def load_pretrained(folder: str | Path, *, device: str | torch.device = "cpu") -> Pretrained:
    """Read a model from its folder, or a packaged one by name, with readable errors for everything that can be wrong."""
    folder = find_model(folder)
    stored = read_config(folder)
    check_language_model_of(folder)
    unlisted = f"{folder}: there is no {HASH_LIST}, so damage to these files would not show"
    remarks = [] if check_hashes(folder) else [unlisted]
    try:
        encoder = Encoder.from_dict(stored.encoder)
        classes = WordClasses.from_dict(stored.classes) if stored.classes else None
    except MissingExtraError:
        raise
    except ModelError as error:
        raise ModelError(f"{folder}: {error}") from error
    except (KeyError, TypeError, ValueError, EntityNLMError) as error:
        raise ModelError(f"{folder / CONFIG_FILE}: this configuration can't be used ({error})") from error
    remarks += remark_untrained(stored.notes)
    name = folder.resolve().name
    pretrained = Pretrained(encoder, classes, notes=stored.notes, name=name, remarks=remarks)
    for name, component in stored.components.items():
        tensors = read_weights(find_file(folder, f"{name}.safetensors")) if component.tensors else {}
        pretrained.stored_components[name] = (tensors, component.settings)
    shared = read_weights(find_file(folder, f"{SHARED}.safetensors")) if stored.shared else {}
    for mode, config in stored.parts.items():
        _check_part(folder, mode, config, pretrained.encoder)
        path = find_file(folder, f"{mode}.safetensors")
        make = partial(pretrained.add, config)
        build_network(make, {**shared, **read_weights(path)}, path).to(device).eval()
    return pretrained


def _check_part(folder: Path, mode: str, config: ModelConfig, encoder: Encoder) -> None:
    """Refuse a network that does not belong to the encoder, in cases that the sizes of weights don't reveal."""
    language_model = getattr(encoder.tokenizer, "model", None)
    pairs: dict[str, tuple[object, object]] = {"mode": (config.mode, mode)}
    if language_model is not None:
        pairs["language model"] = (config.backbone, f"{BACKBONE_PREFIX}{language_model}")
    if mode != "rnnlm":
        pairs["number of mention types"] = (config.mention_types, encoder.mention_types)
        pairs["length of the longest mention"] = (config.max_length, encoder.max_length)
    for what, (found, expected) in pairs.items():
        if found != expected:
            raise ModelError(
                f"{folder / CONFIG_FILE}: the {what} of the part {mode} is {found!r}, and {expected!r} in the rest"
            )


def remark_untrained(notes: Mapping[str, Any]) -> list[str]:
    """Make the remark for a model whose entity side was never trained."""
    if UNTRAINED not in notes:
        return []
    return [
        f"the entity side of {notes[UNTRAINED]} is untrained: words are the language model's, mentions and links are guesses. "
        f"Train it with: entitynlm train CORPUS --backbone {str(notes[UNTRAINED]).partition(':')[2]} --out DIR"
    ]


def read_config(folder: Path) -> StoredModel:
    """Read and check the JSON of a stored model."""
    path = find_file(folder, CONFIG_FILE)
    try:
        config = read_json(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ModelError(
            f"{folder}: there is no model here (no {CONFIG_FILE}). Train one with: entitynlm train CORPUS --out {folder}"
        ) from error
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: this configuration can't be read ({error})") from error
    if not isinstance(config, dict) or config.get("format") != FORMAT_VERSION:
        found = config.get("format") if isinstance(config, dict) else type(config).__name__
        newer = isinstance(found, int) and found > FORMAT_VERSION
        advice = ". Update entitynlm: pip install --upgrade entitynlm" if newer else ""
        raise ModelError(
            f"{path}: this is a model of format {found!r}, and this version reads {FORMAT_VERSION}{advice}"
        )
    try:
        return from_dict(StoredModel, config)
    except ConfigError as error:
        raise ModelError(f"{path}: this configuration can't be used ({error})") from error
