"""Language models behind the generative story; importing this package registers the two that come with it."""

from entitynlm.model.backbones import huggingface as huggingface
from entitynlm.model.backbones import lstm as lstm
