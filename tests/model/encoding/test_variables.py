"""Mentions as R, E and L."""

from itertools import combinations, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.model.encoding.preprocessing import Recipe, WordSequence, prepare_words
from entitynlm.model.encoding.variables import Analysis, FilterCounts, analyse, select_mentions
from entitynlm.text.document import Document, Mention
from support.small_documents import documents, running_example

PLAIN = Recipe(punctuation="keep", numbers=False, sentence_ends=False)


def make_document(
    count: int, *mentions: tuple[int, int, str], sentences: tuple[tuple[int, int], ...] = ()
) -> Document:
    tokens = tuple(f"w{index}" for index in range(count))
    return Document("d", tokens, sentences, tuple(Mention(*mention) for mention in mentions))


def select(document: Document, singletons: str = "keep") -> tuple[list[tuple[int, int, str]], FilterCounts]:
    mentions, counts = select_mentions(document, singletons=singletons)
    return [(m.start, m.end, m.entity) for m in mentions], counts


# -- golden: the paper's second figure -------------------------------------------------------------------------------


def row(text: str) -> list[int]:
    return [int(number) for number in text.split()]


def test_that_the_running_example_gives_the_papers_figure() -> None:
    document = running_example()
    words = prepare_words(document, Recipe(lowercase=False, punctuation="keep", sentence_ends=False))
    mentions, _ = select_mentions(document, singletons="keep")
    analysis, originals, counts = analyse(mentions, words)
    assert words.words == document.tokens
    # John wanted to go to the coffee shop in downtown Copenhagen . He was told that it sold the best beans .
    assert analysis.mention_type.tolist() == row("1 0 0 0 0 1 1 1 0 1 1 0  1 0 0 0 1 0 1 1 1 0")
    assert analysis.entity.tolist() == row("1 0 0 0 0 2 2 2 0 3 3 0  1 0 0 0 2 0 4 4 4 0")
    # for the last full stop the figure prints "." as R and 0 as L; by the paper's own definition they are 0 and 1
    assert analysis.remaining.tolist() == row("1 1 1 1 1 3 2 1 1 2 1 1  1 1 1 1 1 1 3 2 1 1")
    assert originals == document.mentions
    assert counts == FilterCounts()


# -- which mentions --------------------------------------------------------------------------------------------------


def test_that_singletons_are_judged_as_annotated() -> None:
    document = make_document(9, (0, 4, "a"), (1, 2, "b"), (6, 7, "b"), (8, 9, "a"))
    kept, counts = select(document, "drop")
    assert kept == [(0, 4, "a"), (6, 7, "b"), (8, 9, "a")]  # b is left with one mention, and stays
    assert counts == FilterCounts(nested=1)


def test_that_the_entity_with_more_mentions_keeps_a_shared_span() -> None:
    document = make_document(9, (0, 1, "a"), (2, 3, "a"), (2, 3, "b"), (4, 5, "b"), (6, 7, "b"))
    kept, counts = select(document)
    assert kept == [(0, 1, "a"), (2, 3, "b"), (4, 5, "b"), (6, 7, "b")]
    assert counts["duplicates"] == 1


def test_that_the_longer_of_crossing_mentions_stays_then_the_first() -> None:
    kept, counts = select(make_document(9, (0, 3, "a"), (2, 6, "b")))
    assert (kept, counts["crossing"]) == ([(2, 6, "b")], 1)
    kept, counts = select(make_document(9, (0, 3, "a"), (2, 5, "b"), (4, 7, "c")))
    assert (kept, counts["crossing"]) == ([(0, 3, "a"), (4, 7, "c")], 1)


def test_that_outermost_mentions_stay() -> None:
    kept, counts = select(make_document(9, (0, 5, "a"), (0, 2, "b"), (3, 5, "c"), (3, 4, "d"), (5, 6, "e")))
    assert kept == [(0, 5, "a"), (5, 6, "e")]
    assert counts == FilterCounts(nested=3)


def crosses(left: Mention, right: Mention) -> bool:
    first, second = sorted([left, right], key=lambda m: (m.start, -m.end))
    return first.start < second.start < first.end < second.end


@given(documents(), st.sampled_from(["keep", "drop"]))
def test_that_selection_leaves_disjoint_mentions_and_counts_add_up(
    document: Document, singletons: str
) -> None:
    mentions, counts = select_mentions(document, singletons=singletons)
    assert all(left.end <= right.start for left, right in pairwise(mentions))
    assert set(mentions) <= set(document.mentions)
    assert len(document.mentions) == sum(counts.values()) + len(mentions)
    if not any(crosses(left, right) for left, right in combinations(document.mentions, 2)):
        assert counts["crossing"] == 0
    if singletons == "keep":  # what is gone overlaps something that stayed
        for mention in document.mentions:
            assert any(mention.start < kept.end and kept.start < mention.end for kept in mentions)


# -- laying mentions on words ----------------------------------------------------------------------------------------


def lay(document: Document, recipe: Recipe = PLAIN, **options: int) -> tuple[Analysis, FilterCounts]:
    analysis, _, counts = analyse(document.mentions, prepare_words(document, recipe), **options)
    return analysis, counts


def read_spans(analysis: Analysis) -> list[tuple[int, int, int, int]]:
    """Read the mentions off R, E and L: start, end, entity and type of each."""
    r, e, l = (values.tolist() for values in analysis)
    starts = [t for t in range(len(r)) if r[t] and (t == 0 or l[t - 1] == 1)]
    return [(t, t + l[t], e[t], r[t]) for t in starts]


def find_tokens(analysis: Analysis, words: WordSequence) -> tuple[Mention, ...]:
    """Find the mentions that an analysis has in the document's tokens."""
    spans = ((words.origin[start:end], entity) for start, end, entity, _ in read_spans(analysis))
    return tuple(Mention(int(tokens[0]), int(tokens[-1]) + 1, str(entity)) for tokens, entity in spans)


def test_that_a_long_mention_keeps_its_first_words() -> None:
    analysis, counts = lay(make_document(40, (3, 33, "a"), (34, 35, "a")))
    assert read_spans(analysis) == [(3, 28, 1, 1), (34, 35, 1, 1)]
    assert counts == FilterCounts(truncated=1)
    analysis, counts = lay(make_document(9, (0, 3, "a"), (3, 5, "b")), max_length=2)
    assert read_spans(analysis) == [(0, 2, 1, 1), (3, 5, 2, 1)]


def test_that_a_sentence_end_cuts_a_mention() -> None:
    document = make_document(8, (1, 6, "a"), (7, 8, "a"), sentences=((0, 3), (3, 5), (5, 8)))
    analysis, counts = lay(document, Recipe(punctuation="keep", numbers=False))
    assert read_spans(analysis) == [(1, 3, 1, 1), (9, 10, 1, 1)]
    assert counts == FilterCounts(cut=1)
    analysis, counts = lay(document)
    assert read_spans(analysis) == [(1, 6, 1, 1), (7, 8, 1, 1)]
    assert counts == FilterCounts()


def test_that_a_mention_without_words_vanishes_and_touching_ones_stay_two() -> None:
    tokens = ("Ann", ",", "Bo", "(", ")")
    mentions = (Mention(0, 1, "a"), Mention(2, 3, "a"), Mention(3, 5, "b"))
    document = Document("d", tokens, (), mentions)
    words = prepare_words(document, Recipe())
    analysis, originals, counts = analyse(mentions, words)
    assert read_spans(analysis) == [(0, 1, 1, 1), (1, 2, 1, 1)]
    assert analysis.remaining.tolist() == [1, 1, 1]
    assert originals == mentions[:2]
    assert counts == FilterCounts(outside=1)
    assert find_tokens(analysis, words) == (Mention(0, 1, "1"), Mention(2, 3, "1"))


RECIPES = (PLAIN, Recipe(), Recipe(punctuation="keep"), Recipe(sentence_ends=False))


@given(documents(), st.sampled_from(RECIPES), st.integers(1, 5), st.sampled_from(["keep", "drop"]))
def test_that_counts_add_up_and_spans_lie_in_their_mentions(
    document: Document, recipe: Recipe, max_length: int, singletons: str
) -> None:
    mentions, selection = select_mentions(document, singletons=singletons)
    words = prepare_words(document, recipe)
    analysis, originals, laid_out = analyse(mentions, words, max_length=max_length)
    counts = selection + laid_out
    removed = sum(number for name, number in counts.items() if name not in ("truncated", "cut"))
    spans = read_spans(analysis)
    assert len(document.mentions) - removed == len(spans) == len(originals)
    assert all(end <= len(words) for _, end, _, _ in spans)
    assert (analysis.remaining <= max_length).all()
    assert not analysis.mention_type[words.origin < 0].any()  # a mention never holds </s>
    back = find_tokens(analysis, words)
    names: dict[str, str] = {}
    for original, found in zip(originals, back, strict=True):
        assert original.start <= found.start < found.end <= original.end
        assert names.setdefault(original.entity, found.entity) == found.entity
    assert list(names.values()) == [str(number + 1) for number in range(len(names))]


@given(documents(words=("Ann", "saw", "the", "shop"), disjoint=True), st.booleans())
def test_that_the_way_there_and_back_is_the_identity(document: Document, lowercase: bool) -> None:
    recipe = Recipe(lowercase=lowercase, sentence_ends=False)
    words = prepare_words(document, recipe)
    analysis, originals, _ = analyse(document.mentions, words, max_length=30)
    assert originals == document.mentions
    numbers = {entity.id: str(number) for number, entity in enumerate(document.entities, start=1)}
    assert find_tokens(analysis, words) == tuple(
        Mention(m.start, m.end, numbers[m.entity]) for m in originals
    )
    again, _, _ = analyse(find_tokens(analysis, words), words, max_length=30)
    np.testing.assert_array_equal(again, analysis)
