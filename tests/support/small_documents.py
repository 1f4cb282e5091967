"""Documents for tests: the paper's running example, and a hypothesis strategy for arbitrary small ones."""

from itertools import pairwise

from hypothesis import strategies as st

from entitynlm.text.document import Document, Mention

TEXT = (
    "John wanted to go to the coffee shop in downtown Copenhagen . He was told that it sold the best beans ."
)


def running_example() -> Document:
    """The paper's first figure."""
    spans = {
        "john": [(0, 1), (12, 13)],
        "shop": [(5, 8), (16, 17)],
        "copenhagen": [(9, 11)],
        "beans": [(18, 21)],
    }
    mentions = tuple(Mention(a, b, entity) for entity, found in spans.items() for a, b in found)
    return Document("example", tuple(TEXT.split()), ((0, 12), (12, 22)), mentions)


WORDS = (
    "Ann",
    "ann",
    "the",
    "shop",
    ",",
    ".",
    "``",
    "7",
    "1,000",
    "<unk>",
    "</s>",
    "saw",
    "Bo",
    "$",
    "-LRB-",
)


@st.composite
def documents(draw: st.DrawFn, *, words: tuple[str, ...] = WORDS, disjoint: bool = False) -> Document:
    """A document of up to 30 tokens with mentions of up to four entities: any, or none overlapping another."""
    tokens = draw(st.lists(st.sampled_from(words), min_size=1, max_size=30))
    total = len(tokens)
    borders = sorted(draw(st.sets(st.integers(1, max(1, total - 1)), max_size=4)) | {0, total})
    borders = [border for border in borders if border <= total]
    sentences = tuple(pairwise(borders))
    entities = st.sampled_from("abcd")
    if disjoint:
        cuts = sorted(draw(st.sets(st.integers(0, total), max_size=12)))
        spans = [span for span in pairwise(cuts) if draw(st.booleans())]
    else:
        pairs = st.tuples(st.integers(0, total - 1), st.integers(1, 8))
        spans = [(start, min(total, start + size)) for start, size in draw(st.lists(pairs, max_size=12))]
    mentions = tuple(Mention(start, end, draw(entities)) for start, end in spans)
    types = draw(st.dictionaries(entities, st.sampled_from(["person", "place"])))
    return Document("drawn", tuple(tokens), sentences, mentions, types)
