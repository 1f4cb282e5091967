"""Pretrained causal language models behind the story; importing this package loads none of the libraries that run them."""

from entitynlm.model.backbones.huggingface import backbone as backbone
from entitynlm.model.backbones.huggingface import tokenizer as tokenizer
