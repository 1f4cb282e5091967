"""The public Python interface: one class that loads a model and answers questions about documents."""

from __future__ import annotations

from pathlib import Path

from entitynlm.data.document import Document
from entitynlm.model.bundle import Bundle, load_bundle, save_bundle
from entitynlm.tasks.scoring import DocumentScore, score_document


class EntityNLM:
    """A trained model: P, its proposals, and all that turns documents into numbers.

    >>> model = EntityNLM.from_pretrained("runs/stories")  # doctest: +SKIP
    >>> model.log_prob(document).log_prob  # doctest: +SKIP
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle

    @classmethod
    def from_pretrained(cls, path: str | Path, *, device: str = "cpu") -> EntityNLM:
        """Load a model from the folder that ``entitynlm train`` or ``save_pretrained`` wrote."""
        return cls(load_bundle(path, device=device))

    def save_pretrained(self, path: str | Path) -> None:
        """Store the model in a folder (weights as safetensors, the rest as JSON)."""
        save_bundle(self.bundle, path)

    def log_prob(self, document: Document) -> DocumentScore:
        """log P(R, E, L, X) of an annotated document, with its parts per variable and per word."""
        encoder = self.bundle.encoder
        encoded = encoder.encode(document)
        words = tuple(encoder.vocabulary.decode(encoded.x.tolist()))
        return score_document(self.bundle.get("generative"), encoded, words)
