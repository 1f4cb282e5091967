"""A continuation while it is generated, which can be kept and gone back to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from entitynlm.generation.generator import Constraints, GeneratedWord
from entitynlm.inference.story_state import StoryState


@dataclass
class PartialText:
    """What was generated so far.

    :param tokens: all words, those of the prompt included.  :param fresh: whether a sentence has just ended, or none has begun.
    :param length: words of the sentence so far.
    """

    state: StoryState
    constraints: Constraints
    tokens: list[str]
    fresh: bool
    words: list[GeneratedWord] = field(default_factory=list)
    sentences: int = 0
    length: int = 0

    def copy(self) -> PartialText:
        return replace(self, tokens=[*self.tokens], words=[*self.words])

    def add(self, state: StoryState, word: GeneratedWord, token: str, *, fresh: bool) -> None:
        self.state, self.fresh = state, fresh
        self.words.append(word)
        self.tokens.append(token)
        self.constraints = self.constraints.settle(word.e, word.l)
        self.sentences += word.ends_sentence
        self.length = 0 if fresh else self.length + 1

    def is_enough(self, words: int, sentences: int | None) -> bool:
        """Whether there are so many sentences, or where that is not asked for so many words in whole sentences."""
        return (
            self.sentences >= sentences if sentences is not None else len(self.words) >= words and self.fresh
        )
