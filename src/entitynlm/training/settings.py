"""The settings of a training, from a TOML file with a section for each concern.

[preprocessing]  the recipe (model.encoding.preprocessing.Recipe)
[data]           singletons, typed
[model]          ModelConfig of P (its mode is always "generative")
[training]       TrainingConfig of P
[causal]         what differs for the proposal Q: any key of [model] or [training]
[rnnlm]          what differs for the LSTM baseline
[resolver]       ResolverSettings of the network that finds and links mentions
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from entitynlm.config import Mode, ModelConfig, Positive, TrainingConfig, from_dict, load_toml, to_dict
from entitynlm.errors import ConfigError
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.model.encoding.variables import Singletons

PRETRAINED = Path(__file__).resolve().parents[1] / "resources" / "pretrained.toml"
OTHER_PARTS = ("causal", "rnnlm")


class DataSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Choices about annotated documents: singletons kept or dropped, entity types used or not."""

    singletons: Singletons = "keep"
    typed: bool = False


class ResolverSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the resolver's training; the defaults were chosen on LitBank's development documents.

    :param rate: highest learning rate.
    :param hidden_words: share of words whose embeddings are hidden.
    :param average: decay of the running average of the weights, which is the result.
    """

    epochs: Positive = 10
    rate: float = 2e-3
    hidden_words: float = 0.15
    average: float = 0.99


class Settings(msgspec.Struct, frozen=True):
    """All settings of a training, a field per section; ``causal`` and ``rnnlm`` have only what differs from P."""

    preprocessing: Recipe = Recipe()
    data: DataSettings = DataSettings()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    causal: dict[str, Any] = {}
    rnnlm: dict[str, Any] = {}
    resolver: ResolverSettings = ResolverSettings()

    def for_part(self, mode: Mode) -> tuple[ModelConfig, TrainingConfig]:
        """Return the configuration of one part: that of P, overridden by the part's own section."""
        model, training = to_dict(self.model), to_dict(self.training)
        model["mode"] = mode
        if mode == "causal":
            model["tied"] = False  # a proposal has no output words to tie anything to
        if mode == "rnnlm":
            training["weights"] = (1.0, 1.0, 1.0, 1.0)  # there is but one part of the loss to weigh
        for key, value in getattr(self, mode, {}).items():
            target = model if key in model else training
            target[key] = value
        return from_dict(ModelConfig, model), from_dict(TrainingConfig, training)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Settings":
        """Make settings from nested plain values; anything unknown is an error that names it."""
        kinds = get_type_hints(cls)
        for name in sorted(set(values) - set(kinds)):
            raise ConfigError(f"unknown section [{name}]; there are {', '.join(kinds)}")
        known = {*ModelConfig.__struct_fields__, *TrainingConfig.__struct_fields__} - {"mode"}
        for mode in OTHER_PARTS:
            for key in sorted(set(values.get(mode, {})) - known):
                raise ConfigError(f"unknown setting {key!r} in [{mode}]")
        sections = {
            name: section if name in OTHER_PARTS else from_dict(kinds[name], section)
            for name, section in values.items()
        }
        return cls(**sections)


def load_settings(
    path: str | Path | None, changes: Mapping[str, Any] | None = None, *, language_model: str | None = None
) -> Settings:
    """Load settings from a TOML file (or the defaults), overridden by changes like ``{"model.dropout": 0.5}``.

    :param language_model: name of the pretrained language model, if any; the defaults are then those of ``PRETRAINED``.
    """
    values: dict[str, Any] = {}
    if language_model is not None:
        values = load_toml(PRETRAINED)
        changes = {**(changes or {}), "model.backbone": f"huggingface:{language_model}"}
    for key, section in (load_toml(path) if path else {}).items():
        values[key] = {**values.get(key, {}), **section} if isinstance(section, dict) else section
    for key, section in values.items():
        if not isinstance(section, dict):
            raise ConfigError(f"{path}: {key} is a section with settings in it, not {str(section)[:60]}")
    for name, value in (changes or {}).items():
        section, _, key = name.partition(".")
        if not key:
            raise ConfigError(f"name a setting as section.key, for example model.dropout, not {name!r}")
        values.setdefault(section, {})[key] = value
    try:
        return Settings.from_dict(values)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}" if path else str(error)) from error
