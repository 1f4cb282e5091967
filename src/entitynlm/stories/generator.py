"""The generator of annotated stories, each of which is a document.

Story ``i`` depends on the seed and ``i`` alone, so a corpus can be cut, streamed or extended without changing its stories.
Stories are always marked as generated, in their id and in their metadata.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from entitynlm.errors import ConfigError
from entitynlm.files import lock_folder, write_text
from entitynlm.progress import SILENT, Progress, track
from entitynlm.stories.reference import Phrase, StoryDiscourse, choose, draw_sentences, load_scenarios
from entitynlm.text.corpora.corpus import CARD
from entitynlm.text.detokenization import join_tokens
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.registry import write_documents

STORY_CORPUS = "stories (generated)"
SPLITS = ("train", "dev", "test")
SLOT = re.compile(r"\{(\w+)('s)?(?::(full|pro))?\}")
SPEECH = re.compile(r"\[(\w+) to (\w+)\] ")
SUBJECT_OPENERS = frozenset({'"', ",", "and", "but", "that", "while", "so"})
"""Words before a subject; a sentence may also begin with it."""
AGREEMENT = {"was": {"pl": "were"}, "is": {"1s": "am", "pl": "are"}, "does": {"1s": "do", "pl": "do"}}


def generate_stories(documents: int, *, seed: int, split: str | None = None) -> Iterator[Document]:
    """Generate a corpus of this number of stories, or one split of it, one by one."""
    if documents < 1:
        raise ConfigError(f"a corpus needs at least one story, not {documents}")
    if split is not None and split not in SPLITS:
        raise ConfigError(f"there is no split {split!r}; choose one of {', '.join(SPLITS)}")
    for story in range(documents):
        # by the story's number, so that a longer corpus has the same stories in each split
        if split in (None, {4: "dev", 9: "test"}.get(story % 10, "train")):
            yield generate_story(story, seed=seed)


def generate_story(story: int, *, seed: int) -> Document:
    """Generate one story; entities are numbered in the order of their first mention."""
    random = Random(f"entitynlm stories {seed} {story}")  # a text as seed is hashed alike everywhere
    scenario = choose(load_scenarios(), random)
    discourse = StoryDiscourse(scenario.roles, random)
    tokens: list[str] = []
    spans: list[Span] = []
    mentions: list[Mention] = []
    numbers: dict[str, str] = {}
    for told in draw_sentences(scenario, random):
        sentence = realise(discourse, told)
        start = len(tokens)
        tokens += sentence.words
        spans.append((start, len(tokens)))
        for first, last, key, head in sorted(sentence.mentions, key=lambda m: (m[0], -m[1])):
            number = numbers.setdefault(key, str(len(numbers) + 1))
            mentions.append(Mention(start + first, start + last, number, head=start + head))
        discourse.sentence += 1
    text, offsets = join_tokens(tokens)
    return Document(
        id=f"stories-{seed}-{story:06d}",
        tokens=tuple(tokens),
        sentences=tuple(spans),
        mentions=tuple(mentions),
        entity_types={number: scenario.roles[key].type for key, number in numbers.items()},
        text=text,
        offsets=offsets,
        meta={
            "scenario": scenario.name,
            "generated": f"entitynlm stories, seed={seed}",
            "seed": str(seed),
            "story": str(story),
        },
    )


def realise(discourse: StoryDiscourse, told: str) -> Phrase:
    """Realise a sentence of the script: fill its slots with mentions, and let verbs agree with the subject before them."""
    speech = SPEECH.match(told)
    pieces = SPEECH.sub("", told).split()
    sentence = Phrase()
    agreement, quoted = "", False
    for index, piece in enumerate(pieces):
        slot = SLOT.fullmatch(piece)
        if slot is None:
            quoted ^= piece == '"'
            sentence.words.append(AGREEMENT.get(piece, {}).get(agreement, piece))
            agreement = ""
            continue
        is_subject = stands_as_subject(pieces, index)
        second = index > 0 and pieces[index - 1].startswith("{")  # gave her it is no English
        form = "poss" if slot[2] else slot[3] or ("full" if second else "")
        discourse.speech = speech.groups() if speech and quoted else ()
        phrase = discourse.refer(slot[1], form, is_subject=is_subject)
        sentence.append(phrase)
        agreement = phrase.agreement if is_subject else ""
    words = sentence.words
    for index in [0, 1] if words[0] == '"' else [0]:
        words[index] = words[index][0].upper() + words[index][1:]
    return sentence


def stands_as_subject(pieces: Sequence[str], index: int) -> bool:
    """Tell whether a mention is a subject by the words around it, which suffices because sentences are short main clauses."""
    before = pieces[index - 1] if index else '"'
    joined = before == "and" and pieces[index + 1] in (".", ",")  # flour and butter
    return before in SUBJECT_OPENERS and not joined


def write_stories(documents: int, target: Path, *, seed: int, progress: Progress = SILENT) -> None:
    """Generate stories into a folder, a file per split; the same seed gives the same bytes.

    ``corpus.json``, which is written last, says how they were made.
    """
    card = {"corpus": STORY_CORPUS, "generated": True, "documents": documents, "seed": seed}
    with lock_folder(target, "another command is writing into this folder"):
        for split in SPLITS:
            stories = track(
                progress, f"{split}: stories", generate_stories(documents, seed=seed, split=split)
            )
            write_documents(stories, target / f"{split}.jsonl", "jsonl")
        write_text(target / CARD, json.dumps(card, indent=2) + "\n")
