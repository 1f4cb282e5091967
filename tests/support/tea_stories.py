"""Invented stories of four sentences with types, part-of-speech tags and a scenario, for tests of counts."""

from entitynlm.text.document import Document, Mention

THINGS = ("cup", "pot", "jar")


def make_tea_story(number: int) -> Document:
    """Four sentences "ann took the cup ."; who took what goes round."""
    tokens: list[str] = []
    sentences, mentions, tags = [], [], []
    for line in range(4):
        start = len(tokens)
        thing = THINGS[(number + line // 2 * (number + 1)) % 3]
        mentions += [Mention(start, start + 1, "ann"), Mention(start + 3, start + 4, thing)]
        tokens += ["ann" if line == 0 else "she", ("took", "saw")[(number + line) % 2], "the", thing, "."]
        tags += ["NN", "VBD", "DT", "NN", "."]
        sentences.append((start, len(tokens)))
    types = {m.entity: "person" if m.entity == "ann" else "vessel" for m in mentions}
    return Document(
        f"tea_{number}", tuple(tokens), tuple(sentences), tuple(mentions), types,
        columns={"pos": tuple(tags)}, meta={"scenario": ("tea", "soup")[number % 2]},
    )  # fmt: skip


def make_tea_slots(count: int) -> list[tuple[Document, list[int]]]:
    """Stories with the first words of all their mentions."""
    stories = [make_tea_story(number) for number in range(count)]
    return [(story, [mention.start for mention in story.mentions]) for story in stories]
