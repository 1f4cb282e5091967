"""The insides of a model of ``transformers``: its layers, its positions, its start piece."""

import copy
import ctypes
import inspect
import sys
from collections.abc import Callable, Set
from contextlib import nullcontext
from mmap import PAGESIZE
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from entitynlm.errors import ModelError, require
from entitynlm.model.language_models import EXTRA, WEIGHT_FILES
from entitynlm.model.products import FEWEST_ROWS, FastAttention, apply_linear

Tensors = tuple[Tensor, ...]
ATTENTION_WINDOW = 1024
"""The window where a model has room for more: attention to more than that costs time and helps little."""
SEPARATOR = "<|endoftext|>"
STATIC_ROTATIONS = {"default", "linear", "llama3", "yarn", "proportional"}
"""Kinds of rotary positions whose angles do not depend on the length of the text."""
MADV_DONTNEED = 4
"""Linux's advice that pages of memory are not needed; Python names it only where the system has it."""
KEPT_MEMORY = {-1: 1 << 26, -3: 1 << 25}
"""Options of glibc's ``mallopt``, M_TRIM_THRESHOLD and M_MMAP_THRESHOLD: freed blocks of up to 32 MiB are used again."""
BFLOAT16_CHECKS = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
"""Functions of ``torch.cpu`` that tell of a processor with bfloat16; early versions of torch lack them."""


class LayerStack:
    """The layers of a model up to ``top``, without the output layer; parameters are shared with the model.

    :param reduced: copy the linear layers in bfloat16.
    """

    def __init__(self, base: nn.Module, layers: int, top: int, *, reduced: bool = False) -> None:
        path = next(
            (
                name
                for name, part in base.named_modules()
                if isinstance(part, nn.ModuleList) and len(part) == layers
            ),
            None,
        )
        if path is None:
            raise ModelError(f"{type(base).__name__} has no list of {layers} layers to take states from")
        self.layers = layers
        self._takes_positions = "position_ids" in inspect.signature(base.forward).parameters
        self.module = part = _copy_shallowly(base)
        *parents, last = path.split(".")
        for name in parents:
            part._modules[name] = part = _copy_shallowly(part._modules[name])
        own = list(part._modules[last])[:top]
        linear = ReducedLinear if reduced else FastLinear
        self.stack = nn.ModuleList(_replace_linear(layer, linear) for layer in own)
        part._modules[last] = self.stack

    def run(
        self,
        ids: Tensor,
        first: int | Tensor,
        keys: Tensors,
        values: Tensors,
        wanted: Set[int],
        *,
        surplus: int = 0,
        mask: Tensor | None = None,
    ) -> tuple[dict[int, Tensor], Tensors, Tensors]:
        """Return states (B, n, D) of layers after the next pieces (B, n), and keys and values extended by theirs.

        :param first: position of the first of them, for all documents or (B, 1) for each.
        :param keys: per layer, (B, heads, kept, size) keys of earlier pieces; likewise ``values``. They are not changed.
        :param surplus: number of further pieces that are computed and discarded, so that a matrix has another height.
        :param mask: (B, kept + n) zero at keys that are padding, one elsewhere; None without padding.
        """
        count = ids.shape[1]
        ids = nn.functional.pad(ids, (0, surplus))
        cache = _make_cache(keys, values)
        options: dict[str, Any] = {} if mask is None else {"attention_mask": mask}
        if self._takes_positions:
            places = first + torch.arange(count + surplus, device=ids.device).clamp_max(count - 1)
            options["position_ids"] = places.expand(len(ids), -1)
        captured: dict[int, Tensor] = {}
        handles = [_capture(self.stack, layer, captured) for layer in wanted if layer < self.layers]
        try:
            with FastAttention() if ids.numel() >= FEWEST_ROWS else nullcontext():
                output = self.module(input_ids=ids, past_key_values=cache, use_cache=True, **options)
        finally:
            for handle in handles:
                handle.remove()
        captured[self.layers] = output.last_hidden_state
        kept = slice(0, -surplus if surplus else None)
        return (
            {layer: states[:, kept] for layer, states in captured.items()},
            tuple(layer.keys[:, :, kept] for layer in cache.layers),
            tuple(layer.values[:, :, kept] for layer in cache.layers),
        )


def _make_cache(keys: Tensors, values: Tensors) -> Any:
    """Make a cache as ``transformers`` fills it, around tensors that it replaces but does not change."""
    module = require("transformers.cache_utils", extra=EXTRA, purpose="A pretrained language model")
    cache = module.DynamicCache()
    for own_keys, own_values in zip(keys, values, strict=True):
        layer = module.DynamicLayer()
        layer.lazy_initialization(own_keys, own_values)
        layer.keys, layer.values = own_keys, own_values
        cache.layers.append(layer)
    return cache


class FastLinear(nn.Module):
    """A linear layer W x + b by :func:`apply_linear`, with the parameters of another."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias

    def forward(self, x: Tensor) -> Tensor:
        return apply_linear(x, self.weight, self.bias)


class ReducedLinear(nn.Module):
    """A linear layer W x + b that is computed in bfloat16, from float32 and to float32."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight = linear.weight.detach().bfloat16()
        self.bias = None if linear.bias is None else linear.bias.detach().bfloat16()
        release_mapped(linear.weight)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x.bfloat16(), self.weight, self.bias).float()


def has_bfloat16() -> bool:
    """Tell whether the processor multiplies bfloat16 numbers; without this, bfloat16 would be slower."""
    checks = (getattr(torch.cpu, name, None) for name in BFLOAT16_CHECKS)
    return any(check is not None and check() for check in checks)


def _replace_linear(module: Any, kind: Callable[[nn.Linear], nn.Module]) -> Any:
    """Copy a module with its linear layers replaced; all other parameters are shared."""
    if isinstance(module, nn.Linear):
        return kind(module)
    twin = _copy_shallowly(module)
    twin._modules = {name: _replace_linear(part, kind) for name, part in module._modules.items()}
    return twin


def release_mapped(weight: Tensor) -> None:
    """Release the memory of a weight in a mapped file, which the system reads again when it is needed.

    Memory that belongs to no file would be lost, so the list of mappings is checked first; without it nothing is released.
    """
    maps = Path("/proc/self/maps")
    lines = maps.read_text(encoding="utf-8").splitlines() if maps.is_file() else []
    start = -(-weight.data_ptr() // PAGESIZE) * PAGESIZE
    size = (weight.data_ptr() + weight.nbytes) // PAGESIZE * PAGESIZE - start
    for line in lines:
        low, high = (int(bound, 16) for bound in line.split()[0].split("-"))
        if line.endswith(WEIGHT_FILES[1:]) and low <= start < start + size <= high:
            ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), MADV_DONTNEED)


def keep_freed_memory() -> None:
    """Let the process reuse freed blocks of some megabytes, which saves a tenth of the time of reading.

    The system would otherwise take them back and fill them with zeros at the next request.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for option, size in KEPT_MEMORY.items():
            mallopt(option, size)


def _copy_shallowly(module: Any) -> Any:
    twin = copy.copy(module)
    twin._modules = dict(module._modules)
    return twin


def _capture(stack: nn.ModuleList, layer: int, captured: dict[int, Tensor]) -> Any:
    """Capture the state of a layer below the last one when the model runs."""

    def after(module: nn.Module, inputs: Any, output: Any) -> None:
        captured[layer] = output[0] if isinstance(output, tuple) else output

    return stack[layer - 1].register_forward_hook(after)


def find_context(config: Any) -> int:
    """Find the number of pieces that can attend to each other."""
    context = int(getattr(config, "max_position_embeddings", None) or ATTENTION_WINDOW + 1)
    kinds = getattr(config, "layer_types", None)
    sliding = getattr(config, "sliding_window", None)
    if sliding and (kinds is None or any("sliding" in kind for kind in kinds)):
        context = min(context, int(sliding))
    return context


def find_start(config: Any, tokenizer: Any) -> int:
    """Find the piece that stands before a text: the separator of documents in the model's training data.

    That is ``<|endoftext|>`` if the vocabulary has it, even where a chat tokenizer begins texts otherwise; else the piece that
    begins a text, else the one that ends it, else the first piece.
    """
    separator = tokenizer.get_vocab().get(SEPARATOR)
    # some tokenizers add pieces that the model does not have
    if separator is not None and separator < config.vocab_size:
        return int(separator)
    for source in (tokenizer, config):
        for name in ("bos_token_id", "eos_token_id"):
            value = getattr(source, name, None)
            if isinstance(value, list):
                value = value[0] if value else None
            if value is not None:
                return int(value)
    return 0


def has_static_rotation(base: nn.Module) -> bool:
    """Tell whether positions are rotary ones whose angles do not depend on the length of the text."""
    rotary = getattr(base, "rotary_emb", None)
    if rotary is None:
        return False
    kind = getattr(rotary, "rope_type", "default")
    kinds = set(kind.values()) if isinstance(kind, dict) else {kind}
    return kinds <= STATIC_ROTATIONS
