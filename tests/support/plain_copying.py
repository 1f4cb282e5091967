"""Copying the plain way: what was said of each entity, as dictionaries, for a text that is read word by word."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from entitynlm.model.encoding.copying import KEPT, NO_PREDECESSOR


@dataclass
class EntityWords:
    """The same for a text that is read word by word: what has been said of each entity so far."""

    words: dict[int, deque[tuple[int, int]]] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    position: int = 0
    previous: int = NO_PREDECESSOR

    def copy(self) -> EntityWords:
        words = {entity: deque(said, KEPT) for entity, said in self.words.items()}
        return EntityWords(words, dict(self.last), self.position, self.previous)

    def read(self, x: int, entity: int) -> None:
        """The next word of the text; ``entity`` is 0 outside of mentions."""
        if entity:
            said = self.words.setdefault(entity, deque(maxlen=KEPT))
            said.append((NO_PREDECESSOR if self.opens(entity) else self.previous, x))
            self.last[entity] = self.position
        self.position, self.previous = self.position + 1, x

    def name(self, entity: int, words: Sequence[int]) -> None:
        """Words that are known of an entity though the text did not say them."""
        pairs = zip([NO_PREDECESSOR, *words], words, strict=False)
        self.words.setdefault(entity, deque(maxlen=KEPT)).extend(pairs)

    def opens(self, entity: int) -> bool:
        """Whether the next word would open a stretch of the entity's words."""
        return self.last.get(entity, self.position) != self.position - 1

    def list_copy_candidates(self, entity: int) -> list[int]:
        """What the next word could repeat, if it is the entity's."""
        before = NO_PREDECESSOR if self.opens(entity) else self.previous
        return [word for predecessor, word in self.words.get(entity, ()) if predecessor == before]

    def count(self, x: int, entity: int) -> tuple[bool, int, int]:
        """Whether the word would open a stretch, its chances and its echoes, if it is the entity's."""
        copy_candidates = self.list_copy_candidates(entity)
        return self.opens(entity), len(copy_candidates), copy_candidates.count(x)
