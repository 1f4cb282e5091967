"""Weights from files of any origin: safetensors, which hold no code, and no memory for sizes that a file merely claims.

The library compares a file's header with the file's length. The sizes of a network, though, stand in JSON: so a network is built
on torch's meta device, where numbers take no room, and gets the file's weights only if they have just these sizes.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch.overrides import TorchFunctionMode

from entitynlm.errors import EntityNLMError, MissingExtraError, ModelError

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


class WithoutDrawing(TorchFunctionMode):
    """Skip the drawing of random numbers: stored ones follow, and torch would import its compiler for the meta device."""

    def __torch_function__(
        self, function: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> torch.Tensor:
        if getattr(function, "__name__", "") in ("normal_", "uniform_"):
            return next(iter((*arguments, *(options or {}).values())))
        return function(*arguments, **(options or {}))


def build_network(make: Callable[[], NetworkType], weights: Weights, where: str | Path) -> NetworkType:
    """Build a network with stored weights of any float precision, if they are the ones that it needs.

    :param where: the file or component that errors name.
    """
    try:
        with torch.device("meta"), WithoutDrawing():
            network = make()
    except MissingExtraError:
        raise
    except (EntityNLMError, RuntimeError, TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{where}: a network with these settings can't be made ({error})") from error
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
