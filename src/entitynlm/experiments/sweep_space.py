"""The space of a hyperparameter search, from a TOML file.

[sweep]  sampler = "grid" (every point once), "random" or "tpe"; pruner = "median", "halving" or "none"; trials
[space]  one line per dimension: a setting with a list of values, or with a range (low, high and perhaps log or step); or any
         name with a list of tables of settings that change together
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from entitynlm.config import load_toml
from entitynlm.errors import ConfigError

FOLDER = Path(__file__).resolve().parents[1] / "resources" / "sweeps"
Sampler = Literal["grid", "random", "tpe"]
Pruner = Literal["median", "halving", "none"]
RANGE = {"low", "high", "log", "step"}
DEFAULT_TRIALS = 50  # where the space is not a grid


@dataclass(frozen=True)
class SearchSpace:
    """Dimensions by name, each a list of values or a range, and how points are chosen from them."""

    dimensions: Mapping[str, Any]
    sampler: Sampler = "grid"
    pruner: Pruner = "median"
    trials: int | None = None

    def __post_init__(self) -> None:
        for name, value, known in (
            ("sampler", self.sampler, get_args(Sampler)),
            ("pruner", self.pruner, get_args(Pruner)),
        ):
            if value not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, not {value!r}")
        if self.trials is not None and (not isinstance(self.trials, int) or self.trials < 1):
            raise ConfigError(f"trials must be a number from 1, not {self.trials!r}")
        if not self.dimensions:
            raise ConfigError("[space] has no dimension")
        for name, values in self.dimensions.items():
            _check_dimension(name, values, self.sampler)

    def list_points(self, seed: int) -> list[dict[str, Any]]:
        """What each trial is given: a point of the grid, in an order that the seed fixes, or nothing (a sampler chooses)."""
        if self.sampler != "grid":
            return [{} for _ in range(self.trials or DEFAULT_TRIALS)]
        labels = [[label(value) for value in values] for values in self.dimensions.values()]
        points = [dict(zip(self.dimensions, point, strict=True)) for point in itertools.product(*labels)]
        random.Random(seed).shuffle(points)
        return points[: self.trials]

    def suggest(self, trial: Any) -> dict[str, Any]:
        """The settings of a trial of Optuna, as changes like ``{"model.dropout": 0.5}``."""
        changes: dict[str, Any] = {}
        for name, values in self.dimensions.items():
            if isinstance(values, dict):
                whole = isinstance(values["low"], int) and isinstance(values["high"], int)
                draw = trial.suggest_int if whole else trial.suggest_float
                options = {"log": values.get("log", False), "step": values.get("step", 1 if whole else None)}
                changes[name] = draw(name, values["low"], values["high"], **options)
            else:
                by_label = {label(value): value for value in values}
                chosen = by_label[trial.suggest_categorical(name, list(by_label))]
                changes |= chosen if isinstance(chosen, dict) else {name: chosen}
        return changes

    def list_corners(self) -> list[dict[str, Any]]:
        """Changes in which every value (of a range, both ends) occurs once: what can be checked before anything is trained."""
        found = []
        for name, values in self.dimensions.items():
            for value in [values["low"], values["high"]] if isinstance(values, dict) else values:
                found.append(value if isinstance(value, dict) else {name: value})
        return found


def label(value: Any) -> Any:
    """A value as Optuna stores it: lists and tables as text."""
    if isinstance(value, dict):
        return ", ".join(str(part) for part in value.values())
    return value if isinstance(value, (str, int, float)) else json.dumps(value)


def _check_dimension(name: str, values: Any, sampler: str) -> None:
    wrong = f"[space] {name!r}: "
    if isinstance(values, dict):
        if sampler == "grid":
            raise ConfigError(
                f"{wrong}a grid has no ranges; list the values, or set sampler = 'tpe' in [sweep]"
            )
        if set(values) - RANGE or not {"low", "high"} <= set(values):
            raise ConfigError(
                f"{wrong}a range is {{ low = …, high = … }}, perhaps with log or step, not {values}"
            )
        numbers = all(isinstance(values[end], (int, float)) for end in ("low", "high"))
        if not numbers or values["low"] > values["high"]:
            raise ConfigError(f"{wrong}low and high must be numbers, low not above high")
        if values.get("log") and (values["low"] <= 0 or "step" in values):
            raise ConfigError(f"{wrong}a logarithmic range is above zero and has no step")
    elif not isinstance(values, list) or not values:
        raise ConfigError(f"{wrong}a dimension is a list of values or a range, not {values!r}")
    elif not all(isinstance(value, dict) == isinstance(values[0], dict) for value in values):
        raise ConfigError(f"{wrong}either all of its values are tables of settings, or none")
    elif len({label(value) for value in values}) < len(values):
        raise ConfigError(f"{wrong}two of its values are the same")


def load_space(source: str | Path, **changes: Any) -> SearchSpace:
    """A space by the name of one in the package, or from a file; ``changes`` (but None) go over what stands in [sweep]."""
    packaged = FOLDER / f"{source}.toml"
    path = packaged if packaged.is_file() else Path(source)
    if not path.is_file():
        known = ", ".join(sorted(found.stem for found in FOLDER.glob("*.toml")))
        raise ConfigError(f"{source}: there is no such file, and no space of the package ({known})")
    values = load_toml(path)
    for name in sorted(set(values) - {"sweep", "space"}):
        raise ConfigError(f"{path}: unknown section [{name}]; there are sweep, space")
    options = {
        **values.get("sweep", {}),
        **{name: value for name, value in changes.items() if value is not None},
    }
    for name in sorted(set(options) - {"sampler", "pruner", "trials"}):
        raise ConfigError(f"{path}: unknown setting {name!r} in [sweep]; there are sampler, pruner, trials")
    try:
        return SearchSpace(values.get("space", {}), **options)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
