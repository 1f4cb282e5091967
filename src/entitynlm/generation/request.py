"""The request for a continuation, and its result."""

from collections.abc import Mapping
from dataclasses import dataclass

from entitynlm.errors import ConfigError
from entitynlm.results import Result
from entitynlm.text.document import Document

COLDEST, HOTTEST = 0.01, 100.0  # the likeliest word alone; all words alike: logits stay finite between them


@dataclass(frozen=True)
class ContinuationRequest:
    """A request for a continuation.

    :param words: least number of words; the continuation goes on to a sentence's end.
    :param temperature: temperature of words; below one, likely words are preferred (entities are drawn from the model unchanged).
    :param top_p: words are drawn from the smallest set with this probability.
    :param cast: names of entities to mention, each as the subject of a sentence, as long as there are sentences.
    :param next_entity: name of the entity that the continuation begins with.
    :param new_entities: whether other entities may be mentioned.
    """

    words: int = 60
    temperature: float = 0.6
    top_p: float = 0.95
    cast: tuple[str, ...] = ()
    next_entity: str | None = None
    new_entities: bool = True

    def __post_init__(self) -> None:
        if self.words < 1:
            raise ConfigError("a continuation has one word at least")
        if not COLDEST <= self.temperature <= HOTTEST:  # which nan is not either
            raise ConfigError(
                f"the temperature is a number from {COLDEST} to {HOTTEST}, not {self.temperature}"
            )
        if not 0 < self.top_p <= 1:
            raise ConfigError(f"top-p must be above zero and at most one, not {self.top_p}")
        for name in self.cast:
            if not name.split():
                raise ConfigError("a member of the cast has an empty name")


@dataclass(frozen=True, eq=False, repr=False)
class Continuation(Result):
    """A generated text, its document with mentions, the names of its entities, and members of the cast that it lacks."""

    text: str
    document: Document
    names: Mapping[str, str]
    missing: tuple[str, ...] = ()
