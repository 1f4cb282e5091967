"""The settings of a whole training, from a TOML file with one section per concern.

[preprocessing]  the recipe (model.encoding.preprocessing.Recipe)
[data]           singletons, typed
[model]          ModelConfig of P (its mode is always "generative")
[training]       TrainingConfig of P
[causal]         what differs for the proposal Q: any key of [model] or [training]
[rnnlm]          what differs for the LSTM baseline
[resolver]       ResolverSettings of the network that finds and links mentions
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from entitynlm.config import Mode, ModelConfig, Positive, TrainingConfig, from_dict, load_toml, to_dict
from entitynlm.errors import ConfigError
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.model.encoding.variables import Singletons

PRETRAINED = Path(__file__).resolve().parents[1] / "resources" / "pretrained.toml"
OTHER_PARTS = ("causal", "rnnlm")
SECTIONS = ("preprocessing", "data", "model", "training", *OTHER_PARTS, "resolver")


class DataSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Choices about annotated documents: singletons kept or dropped, entity types used or not."""

    singletons: Singletons = "keep"
    typed: bool = False


class ResolverSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the resolver's training; the defaults were chosen on LitBank's development documents.

    :param rate: the highest learning rate.  :param decay: of weights.
    :param hidden_words: the share of words whose embeddings are hidden.
    :param gold_only: how often annotated mentions are linked without those that were found.
    :param found: log-odds from which a span counts as found.
    :param own_clusters: how often a mention is compared with clusters that the network found, not with the true ones.
    :param average: decay of the running average of the weights, which is what is kept.
    :param partial_epochs: epochs of the second training, with partly annotated documents.  :param partial_rate: its highest rate.
    :param partial_documents: partly annotated documents that are drawn for each epoch.
    """

    epochs: Positive = 10
    rate: float = 2e-3
    decay: float = 0.01
    hidden_words: float = 0.15
    gold_only: float = 0.3
    found: float = -0.5
    own_clusters: float = 0.5
    average: float = 0.99
    partial_epochs: Positive = 3
    partial_rate: float = 1e-3
    partial_documents: Positive = 60


@dataclass(frozen=True)
class Settings:
    """All settings of a training: ``overrides`` differ from P for each other part."""

    recipe: Recipe = field(default_factory=Recipe)
    data: DataSettings = field(default_factory=DataSettings)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    resolver: ResolverSettings = field(default_factory=ResolverSettings)

    def for_part(self, mode: Mode) -> tuple[ModelConfig, TrainingConfig]:
        """Make the configuration of one part: that of P with the part's own section laid over it."""
        model, training = to_dict(self.model), to_dict(self.training)
        model["mode"] = mode
        if mode == "causal":
            model["tied"] = False  # a proposal has no output words to tie anything to
        if mode == "rnnlm":
            training["weights"] = (1.0, 1.0, 1.0, 1.0)  # there is but one part of the loss to weigh
        for key, value in self.overrides.get(mode, {}).items():
            target = model if key in model else training
            target[key] = value
        return from_dict(ModelConfig, model), from_dict(TrainingConfig, training)

    def to_dict(self) -> dict[str, Any]:
        return {
            "preprocessing": to_dict(self.recipe),
            "data": to_dict(self.data),
            "model": to_dict(self.model),
            "training": to_dict(self.training),
            **{mode: dict(values) for mode, values in self.overrides.items()},
            "resolver": to_dict(self.resolver),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Settings":
        """Settings from nested plain values; anything unknown is an error that names it."""
        for name in sorted(set(values) - set(SECTIONS)):
            raise ConfigError(f"unknown section [{name}]; there are {', '.join(SECTIONS)}")
        overrides = {mode: dict(values[mode]) for mode in OTHER_PARTS if values.get(mode)}
        known = {*ModelConfig.__struct_fields__, *TrainingConfig.__struct_fields__}
        for mode, section in overrides.items():
            for key in section:
                if key not in known or key == "mode":
                    raise ConfigError(f"unknown setting {key!r} in [{mode}]")
        return cls(
            from_dict(Recipe, values.get("preprocessing", {})),
            from_dict(DataSettings, values.get("data", {})),
            from_dict(ModelConfig, values.get("model", {})),
            from_dict(TrainingConfig, values.get("training", {})),
            overrides,
            from_dict(ResolverSettings, values.get("resolver", {})),
        )


def load_settings(
    path: str | Path | None, changes: Mapping[str, Any] | None = None, *, language_model: str | None = None
) -> Settings:
    """Settings from a TOML file (or the defaults) with changes like ``{"model.dropout": 0.5}`` laid over it.

    :param language_model: the pretrained one to stand on, by name; the defaults are then those of ``PRETRAINED``.
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
