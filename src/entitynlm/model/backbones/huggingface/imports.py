"""Importing ``transformers`` without the parts of it that take seconds and that nobody here uses.

Its model classes import torch's compiler, distributed tensors and SciPy's optimisers (for the losses of object detectors), which
together take longer than everything else at a start. While the classes are imported and weights are loaded, these are said to be
missing. They are needed by nobody who runs a language model in one process without compiling it; where there is a GPU, or where
something has imported them before, nothing is left out.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any, TypeVar
from unittest import mock

import torch

from entitynlm.extras import require
from entitynlm.model.language_models import EXTRA

Result = TypeVar("Result")
COMPILER = "torch._dynamo"
MASKS = f"{COMPILER}._trace_wrapped_higher_order_op"


def import_transformers(purpose: str) -> Any:
    """The package ``transformers``, or a message that says which extra brings it."""
    transformers = require("transformers", extra=EXTRA, purpose=purpose)
    if "transformers.modeling_utils" not in sys.modules:
        with _leave_out_libraries(transformers):
            without_compiler(lambda: _import_classes(transformers))
    transformers.utils.logging.disable_progress_bar()
    return transformers


def without_compiler(function: Callable[[], Result]) -> Result:
    """Call a function; where torch's compiler has not been imported yet, decorators that talk to it do nothing meanwhile."""
    if torch.cuda.is_available() or COMPILER in sys.modules:
        return function()
    try:
        with _leave_out_the_compiler():
            return function()
    except Exception:  # a version that needs what was left out, or something else that is wrong
        return function()


def _import_classes(transformers: Any) -> None:
    importlib.import_module("transformers.modeling_layers")
    assert transformers.AutoModelForCausalLM and transformers.AutoTokenizer  # imported when they are named


@contextmanager
def _leave_out_libraries(transformers: Any) -> Iterator[None]:
    if torch.cuda.is_available():
        yield
        return
    utilities = transformers.utils
    with (
        mock.patch.object(torch.distributed, "is_available", _no),
        mock.patch.object(utilities, "is_scipy_available", _no),
        mock.patch.object(utilities.import_utils, "is_torch_flex_attn_available", _no),
    ):
        yield


@contextmanager
def _leave_out_the_compiler() -> Iterator[None]:
    stand_ins = {name: ModuleType(name) for name in (COMPILER, MASKS)}
    compiler = stand_ins[COMPILER]
    compiler.__path__ = []
    vars(compiler)["__getattr__"] = lambda name: _decorate_nothing
    vars(stand_ins[MASKS])["TransformGetItemToIndex"] = _find_transform
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(torch.compiler, "disable", _decorate_nothing))
        stack.callback(lambda: [sys.modules.pop(name) for name in stand_ins])
        sys.modules.update(stand_ins)
        yield


def _no() -> bool:
    return False


def _decorate_nothing(function: Any = None, *arguments: Any, **options: Any) -> Any:
    """Stands for decorators that tell the compiler something; they come with and without arguments."""
    return function if callable(function) else _decorate_nothing


def _find_transform(*arguments: Any, **options: Any) -> Any:
    """Torch's own, imported when somebody makes one after all."""
    return importlib.import_module(MASKS).TransformGetItemToIndex(*arguments, **options)
