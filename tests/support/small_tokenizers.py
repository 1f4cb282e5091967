"""Tokenizers of the kinds that language models have, trained on a few sentences; with them, a SubwordTokenizer of each."""

import json
from copy import deepcopy
from functools import cache
from typing import Any

import pytest

TOKENIZERS = pytest.importorskip(
    "tokenizers", reason="the extra [pretrained] is not installed: pip install 'entitynlm[pretrained]'"
)

SENTENCES = [
    "Anna lost her key and called Bob, who didn't hear it.",
    '"Where is the key?" she asked. "I can\'t find it," said Bob (who cannot see well).',
    "The café of 1999 had 1,250 guests; it's Bob's café, and Anna's.",
    "She went into the garden, and the dog went with her. He wouldn't say so.",
]
SPECIAL = "<|endoftext|>"
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA_3 = QWEN.replace(r"\p{N}|", r"\p{N}{1,3}|", 1)
BYTE_LEVEL = ("gpt2", "qwen", "llama3", "smollm")
KINDS = (*BYTE_LEVEL, "llama2", "metaspace")


@cache
def train_tokenizer(kind: str) -> Any:
    """A fast tokenizer that prepares texts as the models of this kind do."""
    return _train_byte_level(kind) if kind in BYTE_LEVEL else _train_metaspace(kind)


def _train_byte_level(kind: str) -> Any:
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=kind in ("gpt2", "smollm"))
    first: list[Any] = []
    if kind == "smollm":
        first = [pre_tokenizers.Digits(individual_digits=True)]
    elif kind != "gpt2":
        pattern = Regex(QWEN if kind == "qwen" else LLAMA_3)
        first = [pre_tokenizers.Split(pattern, "isolated")]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*first, byte_level])
    if kind == "qwen":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[SPECIAL],
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES * 2, trainer)
    return tokenizer


def _train_metaspace(kind: str) -> Any:
    """As SentencePiece makes them: spaces are "▁", one is added before a text, unknown characters are spelled by bytes."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    special = ["<unk>", "<s>", "</s>"]
    trainer = trainers.BpeTrainer(vocab_size=180, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES * 2, trainer)
    settings = json.loads(tokenizer.to_str())
    vocabulary = settings["model"]["vocab"]
    for byte in range(256):
        vocabulary[f"<0x{byte:02X}>"] = len(vocabulary)
    settings["model"]["byte_fallback"] = True
    tokenizer = Tokenizer.from_str(json.dumps(settings))
    if kind == "llama2":
        tokenizer.pre_tokenizer = None
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    return tokenizer


@cache
def make_subwords(kind: str, *, boundaries: bool = True) -> Any:
    """A SubwordTokenizer, of a language model that has an output for three numbers more than there are pieces."""
    from entitynlm.model.backbones.huggingface.tokenizer import SubwordTokenizer

    trained = train_tokenizer(kind)
    size = trained.get_vocab_size() + 3
    known = {"model": kind, "digest": "0" * 16, "size": size, "start": 0}
    return SubwordTokenizer(deepcopy(trained), boundaries=boundaries, **known)
