"""The paper's running example (its first two figures), annotated: what people see first, and a golden test."""

from entitynlm.text.document import Document, Mention

WORDS = (
    "John wanted to go to the coffee shop in downtown Copenhagen . He was told that it sold the best beans ."
)

RUNNING_EXAMPLE = Document(
    id="running-example",
    tokens=tuple(WORDS.split()),
    sentences=((0, 12), (12, 22)),
    mentions=(
        Mention(0, 1, "john"),
        Mention(5, 8, "shop"),
        Mention(9, 11, "copenhagen"),
        Mention(12, 13, "john"),
        Mention(16, 17, "shop"),
        Mention(18, 21, "beans"),
    ),
    entity_types={"john": "person", "shop": "place", "copenhagen": "place", "beans": "thing"},
)
