"""What may be seen where a mention starts: the words before it and, of each entity so far, where and how it was mentioned.

Everything that chooses an entity looks through this window, so that nothing of the mention itself, and nothing to its right,
can be seen by mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from entitynlm.text.document import Document

START = "<s>"
REACH = 40
PRONOUNS = frozenset(
    "i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself "
    "it its itself they them their theirs themselves this that these those one ones who which everyone someone".split()
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that was mentioned before.

    :param heads: the last words of its mentions, stemmed, in text order.
    :param contexts: the word before each mention.
    :param starts: the first word of each mention.  :param last: the last word of its latest mention.
    :param sentence: the sentence of its latest mention.  :param rank: how many mentions had started before its latest one.
    """

    entity: str
    heads: tuple[str, ...]
    contexts: tuple[str, ...]
    starts: tuple[int, ...]
    last: int
    sentence: int
    rank: int
    first_sentence: int


@dataclass(frozen=True, slots=True)
class Context:
    """A place where a mention starts.

    :param sentence: the number of its sentence, :param offset: how many words of that are before it.
    :param mentions: how many mentions started before.  :param latest: the stem of the latest mention's head.
    :param before: the words of its sentence before it, :param past: up to :data:`REACH` words before that sentence.
    """

    position: int
    sentence: int
    offset: int
    mentions: int
    latest: str
    before: tuple[str, ...]
    past: tuple[str, ...]
    candidates: tuple[Candidate, ...]


def stem(word: str) -> str:
    """Lower case, and without a plural's ending: enough to see that "tires" speaks of what "tire" does."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return (
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    )


def look_around(story: Document, positions: Sequence[int]) -> list[Context]:
    """The situation at each position, in the order asked for."""
    words = [word.lower() for word in story.tokens]
    owners = story.sentence_of
    order = sorted(range(len(positions)), key=lambda index: positions[index])
    found: dict[int, Context] = {}
    known: dict[str, Candidate] = {}
    mentions, latest, done = story.mentions, "", 0
    for index in order:
        position = positions[index]
        while done < len(mentions) and mentions[done].start < position:
            mention = mentions[done]
            head = stem(words[min(mention.end, position) - 1])
            sentence = owners[mention.start]
            context = words[mention.start - 1] if mention.start > story.sentences[sentence][0] else START
            old = known.get(mention.entity)
            known[mention.entity] = Candidate(
                mention.entity,
                (*old.heads, head) if old else (head,),
                (*old.contexts, context) if old else (context,),
                (*old.starts, mention.start) if old else (mention.start,),
                min(mention.end, position) - 1,
                sentence,
                done,
                old.first_sentence if old else sentence,
            )
            latest = head
            done += 1
        sentence, begin = _find_sentence(story, owners, position)
        found[index] = Context(
            position,
            sentence,
            position - begin,
            done,
            latest,
            tuple(words[begin:position]),
            tuple(words[max(0, begin - REACH) : begin]),
            tuple(known.values()),
        )
    return [found[index] for index in range(len(positions))]


def _find_sentence(story: Document, owners: Sequence[int], position: int) -> tuple[int, int]:
    """Number and first word of the sentence at a position; after a text's end the last sentence goes on unless it is closed."""
    if position < len(owners):
        return owners[position], story.sentences[owners[position]][0]
    if not owners:
        return 0, 0
    if story.tokens[-1] in {".", "!", "?", '"', "''"}:
        return owners[-1] + 1, position
    return owners[-1], story.sentences[-1][0]
