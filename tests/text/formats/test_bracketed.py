"""What the bracket formats share: layers of crossing spans, unique document names, counted oddities."""

import io
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.base import DocumentNames, Oddity, OddityCounter, Source, find_layers

SPANS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 6)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    max_size=8,
).map(lambda spans: sorted(spans, key=lambda span: (span[0], -span[1])))


def make_source() -> tuple[Source, list[Oddity]]:
    oddities: list[Oddity] = []
    return Source("a.conll", io.BytesIO(), oddities.append), oddities


def list_layers(*spans: Span) -> list[int]:
    return find_layers(Document("d", ("w",) * 20, mentions=tuple(Mention(*span, "1") for span in spans)))


def test_mentions_of_an_entity_that_cross_are_in_two_layers_and_others_in_one() -> None:
    assert list_layers((0, 9), (1, 4), (2, 3), (5, 9)) == [0, 0, 0, 0]
    assert list_layers((0, 4), (2, 6), (3, 8)) == [0, 1, 2]
    assert list_layers((0, 3), (2, 5)) == [0, 1]  # one shared word: the scorer opens before it closes
    mentions = (Mention(0, 3, "1"), Mention(2, 5, "2"))
    assert find_layers(Document("d", ("w",) * 5, mentions=mentions)) == [0, 0]


@given(SPANS)
def test_no_two_spans_of_a_layer_cross(spans: list[Span]) -> None:
    layers = list_layers(*spans)
    for ((a, b), one), ((c, d), other) in combinations(zip(spans, layers, strict=True), 2):
        if one == other:
            assert c >= b or (a <= c and d <= b)


def test_names_are_made_unique_with_a_report() -> None:
    source, oddities = make_source()
    names = DocumentNames(source)
    assert [names.claim(name, 7) for name in ("d", "d~2", "d", "e")] == ["d", "d~2", "d~2~2", "e"]
    assert "'d' was already here" in oddities[0].message and oddities[0].line == 7


def test_oddities_of_one_kind_are_reported_once_with_their_count() -> None:
    source, oddities = make_source()
    counter = OddityCounter(source)
    for line in (3, 5, 9):
        counter.add("a cell was skipped", line, f"cell {line}")
    counter.add("a row is short", 4)
    counter.send()
    counter.send()
    assert [str(oddity) for oddity in oddities] == [
        "a.conll:3: a cell was skipped: 'cell 3' (3 times in this document)",
        "a.conll:4: a row is short",
    ]
