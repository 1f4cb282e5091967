"""The generator: seeded annotated stories, one after the other, each a document of its own.

Story ``i`` depends on the seed and ``i`` alone, so a corpus can be cut, streamed or made longer without changing what
it has. Stories are always named as generated, in their id and in their metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from entitynlm.errors import ConfigError
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.stories.cast import Cast
from entitynlm.text.stories.chance import choose, choose_weighted, make_random
from entitynlm.text.stories.detours import DETOURS
from entitynlm.text.stories.discourse import Discourse
from entitynlm.text.stories.lexicon import look_up
from entitynlm.text.stories.plot import Event, Plot, Scenario, draw_event
from entitynlm.text.stories.realisation import OPENERS, Sentence, detokenise, find_upos, realise
from entitynlm.text.stories.scenarios import SCENARIOS
from entitynlm.text.stories.templates import Slot, Template, compile_event

SPLITS = ("train", "dev", "test")
OPENER_PROBABILITY = 0.15
SENTENCES, TOKENS, ENTITIES = (8, 20), (80, 250), (10, 25)
"""Bounds, both ends included, within which every story is; others are drawn again."""


@dataclass(frozen=True, eq=False)
class Beat:
    """One sentence as it was drawn: the plot with the event on top, its wording, and who fills the slots."""

    before: Plot
    plot: Plot
    template: Template
    opened: bool
    slots: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Telling:
    """A story with the choices that made it, for the reader who knows the scripts."""

    document: Document
    beats: tuple[Beat, ...]


def generate_stories(documents: int, *, seed: int, split: str | None = None) -> Iterator[Document]:
    """Generate a corpus of so many stories, or those of one split of it, one by one."""
    if documents < 1:
        raise ConfigError(f"a corpus of {documents} stories makes no sense; ask for at least one")
    if split is not None and split not in SPLITS:
        raise ConfigError(f"there is no split {split!r}; choose one of {', '.join(SPLITS)}")
    for story in range(documents):
        if split is None or find_split(story) == split:
            yield tell_story(story, seed=seed).document


def split_stories(documents: int, *, seed: int) -> dict[str, list[Document]]:
    """The same stories as train, dev and test: eight, one and one of every ten."""
    splits: dict[str, list[Document]] = {name: [] for name in SPLITS}
    for story, document in enumerate(generate_stories(documents, seed=seed)):
        splits[find_split(story)].append(document)
    return splits


def find_split(story: int) -> str:
    """The split of a story by its number, so that a longer corpus never moves a story elsewhere."""
    return {4: "dev", 9: "test"}.get(story % 10, "train")


def tell_story(story: int, *, seed: int) -> Telling:
    """Tell one story; drafts that come out too short or too long are thrown away."""
    random = make_random(seed, story)
    while True:
        scenario = choose(SCENARIOS, random)
        beats, sentences, discourse = _draft(scenario, random)
        if _fits(sentences):
            document = _document(story, seed, scenario, sentences, discourse)
            return Telling(document, tuple(beats))


def _draft(scenario: Scenario, random: Random) -> tuple[list[Beat], list[Sentence], Discourse]:
    narrator = scenario.hero if random.random() < scenario.narrated else None
    discourse = Discourse(Cast(scenario.roles, narrator, random), random)
    plot = Plot(scenario.steps, {"hero": scenario.hero})
    beats: list[Beat] = []
    sentences: list[Sentence] = []
    while True:
        drawn = draw_event(plot, DETOURS, random)
        if drawn is None:
            return beats, sentences, discourse
        for scene in drawn.scenes[len(plot.scenes) :]:
            discourse.cast.add_roles(scene.roles)
        event = drawn.agenda[0]
        assert isinstance(event, Event)
        template = choose_weighted(compile_event(event), random)
        opened = bool(beats) and can_open(event, template) and random.random() < OPENER_PROBABILITY
        discourse.registers = drawn.registers
        opener = int(random.random() * len(OPENERS)) if opened else -1
        sentence = realise(discourse, drawn, event, template, opener)
        beats.append(Beat(plot, drawn, template, opened, tuple(sentence.slots)))
        sentences.append(sentence)
        for role, adjective in event.gains:
            discourse.cast[drawn.resolve(role)].gained = None if adjective == "-" else look_up(adjective)
        plot = drawn.pass_event(event, sentence.slots)
        discourse.sentence += 1


def can_open(event: Event, template: Template) -> bool:
    """Whether a linking phrase may come first: the event allows it and the wording begins with a mention."""
    return event.opener and isinstance(template.items[0], Slot)


def _fits(sentences: list[Sentence]) -> bool:
    tokens = sum(len(sentence.tokens) for sentence in sentences)
    entities = len({key for sentence in sentences for _, _, key, _ in sentence.mentions})
    measured = ((len(sentences), SENTENCES), (tokens, TOKENS), (entities, ENTITIES))
    return all(low <= value <= high for value, (low, high) in measured)


def _document(
    story: int, seed: int, scenario: Scenario, sentences: list[Sentence], discourse: Discourse
) -> Document:
    """Put the sentences together; entities are numbered in the order of their first mention."""
    tokens = [token for sentence in sentences for token in sentence.tokens]
    text, offsets = detokenise(tokens)
    spans: list[Span] = []
    heads: list[int] = []
    mentions: list[Mention] = []
    numbers: dict[str, str] = {}
    start = 0
    for sentence in sentences:
        end = start + len(sentence.tokens)
        spans.append((start, end))
        heads += [token.head + start if token.head >= 0 else -1 for token in sentence.tokens]
        for first, last, key, head in sorted(sentence.mentions, key=lambda m: (m[0], -m[1])):
            number = numbers.setdefault(key, str(len(numbers) + 1))
            mentions.append(Mention(start + first, start + last, number, head=start + head))
        start = end
    return Document(
        id=f"stories-{seed}-{story:06d}",
        tokens=tuple(token.form for token in tokens),
        sentences=tuple(spans),
        mentions=tuple(mentions),
        entity_types={number: discourse.cast[key].type for key, number in numbers.items()},
        text=text,
        offsets=offsets,
        columns={
            "pos": tuple(token.pos for token in tokens),
            "upos": tuple(find_upos(token) for token in tokens),
            "lemma": tuple(token.lemma for token in tokens),
            "deprel": tuple(token.relation for token in tokens),
        },
        heads=tuple(heads),
        meta={
            "scenario": scenario.name,
            "generated": f"entitynlm stories, seed={seed}",
            "seed": str(seed),
            "story": str(story),
        },
    )
