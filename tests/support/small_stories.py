"""A few invented stories with a verb column and types, in the manner of InScript."""

import random

from entitynlm.text.document import Document, Mention

VERBS = {"took", "saw", "filled", "washed", "read", "opened"}
SCENES = {
    "garden": ("garden", ("spade", "tree", "water", "seed")),
    "library": ("library", ("book", "shelf", "card", "desk")),
}


def make_story(number: int, *, sentences: int = 6) -> Document:
    """Sentences "i took the spade ." about one of two scenes; who does it and to what is drawn."""
    rng = random.Random(number)
    scenario, (place, things) = sorted(SCENES.items())[number % 2]
    tokens: list[str] = []
    spans: list[tuple[int, int]] = []
    mentions: list[Mention] = []
    verbs: list[str | None] = []
    types: dict[str, str] = {}

    def say(word: str, entity: str = "", kind: str = "", verb: bool = False) -> None:
        if entity:
            mentions.append(Mention(len(tokens), len(tokens) + 1, entity))
            types[entity] = kind
        verbs.append("1_x" if verb else None)
        tokens.append(word)

    last = things[0]
    for _ in range(sentences):
        start = len(tokens)
        say("i", "P1_person", "person", True)
        say(rng.choice(sorted(VERBS)))
        if rng.random() < 0.3 and f"P1_{last}" in types:
            say("it", f"P1_{last}", last, True)
        else:
            last = rng.choice(things)
            say("the" if f"P1_{last}" in types else "a")
            say(last, f"P1_{last}", last, True)
        say("in")
        say("the")
        say(place, f"P1_{place}", "NPart")
        say(".")
        spans.append((start, len(tokens)))
    pos = tuple("VBD" if token in VERBS else "NN" for token in tokens)
    return Document(
        f"{scenario}_{number:03}",
        tuple(tokens),
        tuple(spans),
        tuple(mentions),
        types,
        columns={"verb_head": tuple(verbs), "pos": pos},
        meta={"scenario": scenario},
    )


def make_stories(count: int, *, first: int = 0) -> list[Document]:
    return [make_story(number) for number in range(first, first + count)]


def scramble(story: Document, position: int, *, seed: int = 0) -> Document:
    """The same story with other words, columns, sentences and labels from a position on (a mention still starts there)."""
    rng = random.Random(seed)
    size = max(len(story), position + 1)
    words = [rng.choice(("zebra", "i", "it", ".", "spade", "book")) for _ in range(size - position)]
    tokens = (*story.tokens[:position], *words)
    known = sorted({m.entity for m in story.mentions if m.start < position})
    mentions = [m for m in story.mentions if m.start < position]
    mentions.append(Mention(position, position + 1, rng.choice([*known, "P9_other"])))
    mentions += [Mention(i, i + 1, rng.choice([*known, "P8_thing"])) for i in range(position + 1, size, 2)]
    owner = story.sentence_of[position]
    sentences = [*story.sentences[:owner], (story.sentences[owner][0], size)]
    types = {**{e: t for e, t in story.entity_types.items() if e in known}, "P9_other": "person"}
    columns = {
        name: (*values[:position], *(rng.choice(("1_y", "VBD", None)) for _ in words))
        for name, values in story.columns.items()
    }
    return Document(story.id, tokens, tuple(sentences), tuple(mentions), types, columns=columns)
