"""The context of a slot: the words before it, and where and how each entity so far was mentioned.

All choosers but EntityNLM see a story only through :class:`Context`, so that none can use the mention itself or the text after it
by mistake.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from entitynlm.text.document import Document, Mention

SENTENCE_START = "<s>"
PRONOUN_HEADS = frozenset(
    "i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself "
    "it its itself they them their theirs themselves this that these those one ones who which everyone someone".split()
)


@dataclass(frozen=True, slots=True)
class CandidateEntity:
    """An entity that was mentioned before."""

    entity: str
    heads: tuple[str, ...]  # the last word of each mention, stemmed
    contexts: tuple[str, ...]  # the word before each mention
    starts: tuple[int, ...]  # the first token of each mention
    last: int  # the last token of its latest mention
    sentence: int  # of that mention
    rank: int  # how many mentions had started before that one
    first_sentence: int


@dataclass(frozen=True, slots=True)
class Context:
    """A position where a mention starts."""

    position: int
    sentence: int
    offset: int  # how many words of its sentence stand before it
    mentions: int  # how many mentions started before
    latest: str  # the stem of the latest mention's head
    before: tuple[str, ...]  # the words of its sentence before it
    candidates: tuple[CandidateEntity, ...]

    @property
    def entities(self) -> list[str]:
        return [candidate.entity for candidate in self.candidates]

    @property
    def by_recency(self) -> list[int]:
        """The numbers of the candidates, the most recent first."""
        return sorted(range(len(self.candidates)), key=lambda number: -self.candidates[number].rank)

    def find_answer(self, story: Document) -> int:
        """Return the number of the true candidate, or the number of candidates if the entity is new; for training."""
        entities = self.entities
        entity = self.find_mention(story).entity
        return entities.index(entity) if entity in entities else len(entities)

    def find_mention(self, story: Document) -> Mention:
        return next(mention for mention in story.mentions if mention.start == self.position)


def stem(word: str) -> str:
    """Put a word in lower case and remove its plural ending, so that "tires" and "tire" count as one head word."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if is_plural else word


def extract_contexts(story: Document, positions: Sequence[int]) -> list[Context]:
    words = [word.lower() for word in story.tokens]
    found: dict[int, Context] = {}
    known: dict[str, CandidateEntity] = {}
    latest, done = "", 0
    for position in sorted(set(positions)):
        while done < len(story.mentions) and story.mentions[done].start < position:
            mention = story.mentions[done]
            last = min(mention.end, position) - 1
            latest = stem(words[last])
            sentence = story.sentence_of[mention.start]
            old = known.get(mention.entity) or CandidateEntity(mention.entity, (), (), (), 0, 0, 0, sentence)
            opens = mention.start == story.sentences[sentence][0]
            known[mention.entity] = replace(
                old,
                heads=(*old.heads, latest),
                contexts=(*old.contexts, SENTENCE_START if opens else words[mention.start - 1]),
                starts=(*old.starts, mention.start),
                last=last,
                sentence=sentence,
                rank=done,
            )
            done += 1
        sentence, begin = find_sentence(story, position)
        found[position] = Context(
            position,
            sentence,
            position - begin,
            done,
            latest,
            tuple(words[begin:position]),
            tuple(known.values()),
        )
    return [found[position] for position in positions]


def find_sentence(story: Document, position: int) -> tuple[int, int]:
    """Find the number and the first token of a position's sentence; after the text's last full stop a new sentence begins."""
    if position < len(story):
        sentence = story.sentence_of[position]
        return sentence, story.sentences[sentence][0]
    if not story.tokens:
        return 0, 0
    last = story.sentence_of[-1]
    if story.tokens[-1] in {".", "!", "?", '"', "''"}:
        return last + 1, position
    return last, story.sentences[-1][0]


EDGES = (
    (1, 2, 3, 4, 5, 7, 10, 15, 22, 32, 50, 80),
    (0, 1, 2, 3, 4, 6, 9),
    (1, 2, 3, 4, 5, 7, 10, 16),
    (1, 2, 3, 4, 6, 9, 14),
)
"""Lower edges of the buckets of the distances in tokens, sentences and mentions, and of the number of mentions."""
NUMBER_OF_BUCKETS = sum(map(len, EDGES))
FIRST_PERSON_HEADS = frozenset("i me my mine myself we us our".split())
THIRD_PERSON_HEADS = frozenset("he him she her they them".split())
CANDIDATE_COLUMNS = (
    "latest", "second_latest", "most_frequent", "log_token", "log_count", "share", "in_sentence",
    "last_in_sentence_before", "last_is_pronoun", "only_pronouns", "first_person", "third_person", "opens_sentences",
    "last_opened", "same_context", "last_same_context", "one_mention", "recently_introduced",
)  # fmt: skip
CONTEXT_COLUMNS = ("no_candidates", "log_candidates", "log_position", "offset", "opening")
SIZE = NUMBER_OF_BUCKETS + 1 + len(CANDIDATE_COLUMNS) + len(CONTEXT_COLUMNS)


def extract_shallow_features(context: Context) -> np.ndarray:
    """Return (candidates + 1, buckets + 1) one-hot recency and frequency; the last row, a new entity, has its own column."""
    found = np.zeros((len(context.candidates) + 1, NUMBER_OF_BUCKETS + 1), dtype=np.float32)
    for row, candidate in enumerate(context.candidates):
        values = (
            context.position - candidate.last,
            context.sentence - candidate.sentence,
            context.mentions - candidate.rank,
            len(candidate.starts),
        )
        column = 0
        for edges, value in zip(EDGES, values, strict=True):
            found[row, column + max(0, bisect_right(edges, value) - 1)] = 1
            column += len(edges)
    found[-1, -1] = 1
    return found


def extract_candidate_features(context: Context) -> np.ndarray:
    """Return (candidates + 1, SIZE): buckets, "is the new entity", and the columns above; those of the context on every row."""
    shallow = extract_shallow_features(context)
    counts = [len(candidate.starts) for candidate in context.candidates]
    own = np.zeros((len(shallow), len(CANDIDATE_COLUMNS)), dtype=np.float32)
    for row, candidate in enumerate(context.candidates):
        own[row] = _describe_candidate(context, candidate, counts)
    shared = (
        not context.candidates,
        np.log1p(len(context.candidates)) / 3,
        np.log1p(context.position) / 6,
        min(context.offset, 30) / 15,
        context.offset == 0,
    )
    return np.hstack([shallow, own, np.tile(np.array(shared, dtype=np.float32), (len(shallow), 1))])


def _describe_candidate(context: Context, candidate: CandidateEntity, counts: list[int]) -> tuple[float, ...]:
    previous = context.before[-1] if context.before else SENTENCE_START
    pronouns = [head in PRONOUN_HEADS for head in candidate.heads]
    back = context.mentions - candidate.rank
    count = len(candidate.starts)
    return (
        back == 1,
        back == 2,
        count == max(counts),
        np.log(context.position - candidate.last) / 5,
        np.log(count) / 3,
        count / sum(counts),
        candidate.sentence == context.sentence,
        candidate.sentence == context.sentence - 1,
        pronouns[-1],
        all(pronouns),
        any(head in FIRST_PERSON_HEADS for head in candidate.heads),
        any(head in THIRD_PERSON_HEADS for head in candidate.heads),
        candidate.contexts.count(SENTENCE_START) / count,
        candidate.contexts[-1] == SENTENCE_START,
        candidate.contexts.count(previous) / count,
        candidate.contexts[-1] == previous,
        count == 1,
        context.sentence - candidate.first_sentence <= 2,
    )
