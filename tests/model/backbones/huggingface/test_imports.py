"""Starting is quick because torch's compiler and the like are left out, and nothing stays changed afterwards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from entitynlm.errors import MissingExtraError
from entitynlm.model.backbones.huggingface import imports
from support.tiny_language_models import save_model

SCRIPT = """
import sys
import numpy as np
import torch
from entitynlm.model.backbones.huggingface.weights import load_language_model

slow = ("torch._dynamo", "torch.distributed.tensor", "scipy.optimize")
assert not {"transformers", "tokenizers", *slow} & set(sys.modules)
disable, available = torch.compiler.disable, torch.distributed.is_available
runtime = load_language_model(sys.argv[1])
runtime.read([np.arange(60)], (3,))
assert not set(slow) & set(sys.modules), set(slow) & set(sys.modules)
assert torch.compiler.disable is disable and torch.distributed.is_available is available
import torch._dynamo
assert torch._dynamo.__file__ and torch._dynamo.is_compiling() is False
from transformers import masking_utils
with masking_utils.TransformGetItemToIndex():
    pass
"""


def test_a_fresh_process_leaves_out_what_is_slow(tmp_path: Path) -> None:
    folder = save_model(tmp_path / "tiny")
    result = subprocess.run([sys.executable, "-c", SCRIPT, str(folder)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_what_fails_without_the_compiler_is_done_with_it(monkeypatch: Any) -> None:
    monkeypatch.delitem(sys.modules, imports.COMPILER, raising=False)
    monkeypatch.delitem(sys.modules, imports.MASKS, raising=False)
    seen: list[bool] = []

    def work() -> str:
        stands_in = isinstance(sys.modules.get(imports.COMPILER), ModuleType)
        seen.append(stands_in)
        if stands_in:
            raise AttributeError("needs the compiler")
        return "done"

    assert imports.without_compiler(work) == "done"
    assert seen == [True, False]


def test_the_extra_is_named(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"A test needs .* pip install 'entitynlm\[pretrained\]'"):
        imports.import_transformers("A test")
