"""Fine-tuning a language model by LoRA (Hu et al., 2022): a product of two thin matrices is added to each frozen one.

For people with a GPU: states then change with every update, so that none can be kept on disk.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping

from torch import Tensor, nn

from entitynlm.errors import ConfigError, ModelError
from entitynlm.extras import require
from entitynlm.model.backbones.huggingface.reader import LanguageModelRuntime

PURPOSE = "Fine-tuning a language model by LoRA"


def attach_lora(
    runtime: LanguageModelRuntime, rank: int, *, scale: float = 2.0, targets: str | list[str] = "all-linear"
) -> LanguageModelRuntime:
    """A runtime that shares all frozen weights with ``runtime``, with trainable matrices of a low rank added to them.

    At first these add nothing: the states are those of the language model as it came.

    :param scale: what the product is multiplied by (α / r in the paper).
    :param targets: names of the layers to change; all linear ones but the output layer.
    """
    if rank < 1:
        raise ConfigError(f"the rank of LoRA's matrices is at least 1, not {rank}")
    peft = require("peft", extra="lora", purpose=PURPOSE)
    shared = {id(parameter): parameter for parameter in runtime.model.parameters()}
    model = copy.deepcopy(runtime.model, shared)
    twin = LanguageModelRuntime(
        model, runtime.tokenizer, name=runtime.name, digest=runtime.digest, window=2 * runtime.half
    )
    transposed = any(
        type(part).__name__ == "Conv1D" for part in model.modules()
    )  # as GPT-2 stores its matrices
    config = peft.LoraConfig(
        r=rank,
        lora_alpha=scale * rank,
        target_modules=targets,
        fan_in_fan_out=transposed,
        task_type="CAUSAL_LM",
    )
    try:
        peft.inject_adapter_in_model(config, model)
    except ValueError as error:
        raise ConfigError(f"{runtime.name}: LoRA can't be added to {targets!r} ({error})") from error
    twin.trainable = True
    return twin


def lora_parameters(runtime: LanguageModelRuntime) -> dict[str, nn.Parameter]:
    """The trainable matrices by name: what an optimiser gets and what is stored with a model."""
    return {name: parameter for name, parameter in runtime.model.named_parameters() if "lora_" in name}


def load_lora(runtime: LanguageModelRuntime, tensors: Mapping[str, Tensor]) -> None:
    """Set the trainable matrices to stored ones."""
    own = lora_parameters(runtime)
    wrong = [
        name
        for name in sorted({*own, *tensors})
        if name not in own or name not in tensors or own[name].shape != tensors[name].shape
    ]
    if wrong:
        raise ModelError(
            f"the stored LoRA matrices are of another rank or language model ({wrong[0]} differs)"
        )
    for name, tensor in tensors.items():
        own[name].data.copy_(tensor)
