"""The public Python interface: one class that loads a model and answers questions about documents."""

from __future__ import annotations

from pathlib import Path

from entitynlm.baselines.entity_choice.choices import Choice
from entitynlm.data.document import Document
from entitynlm.errors import ConfigError
from entitynlm.model.bundle import Bundle, load_bundle, save_bundle
from entitynlm.model.shipped import DEFAULT
from entitynlm.tasks.next_entity import NetworkChooser
from entitynlm.tasks.scoring import DocumentScore, score_document


class EntityNLM:
    """A trained model: P, its proposals, and all that turns documents into numbers.

    >>> model = EntityNLM.from_pretrained("runs/stories")  # doctest: +SKIP
    >>> model.log_prob(document).log_prob  # doctest: +SKIP
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle

    @classmethod
    def from_pretrained(cls, path: str | Path = DEFAULT, *, device: str = "cpu") -> EntityNLM:
        """Load a model that ships by its name, or one from the folder that ``entitynlm train`` or ``save_pretrained`` wrote."""
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

    def next_entity(self, document: Document, position: int | None = None) -> Choice:
        """Who is mentioned next, at the end of a text or at one of its tokens: the entities so far and a new one.

        Only the words and mentions before that place are looked at. ``choice.ranked`` lists (entity, probability), the
        likeliest first; a new entity has the empty name.
        """
        place = len(document) if position is None else position
        if not 0 <= place <= len(document):
            raise ConfigError(
                f"{document.id!r} has {len(document)} tokens, so nothing is mentioned at {place}"
            )
        return NetworkChooser(self.bundle.get("generative"), self.bundle.encoder).choose(document, [place])[0]
