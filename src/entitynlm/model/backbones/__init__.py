"""Language models behind the generative story; importing this package makes those that come with it known."""

from entitynlm.model.backbones import huggingface as huggingface
from entitynlm.model.backbones import lstm as lstm
