"""Experimental items: regions, equal rows for equal texts, differences with small errors, files of all kinds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entitynlm.api import EntityNLM, as_document
from entitynlm.errors import ConfigError, DataError
from entitynlm.lm.items import (
    Item,
    compare_conditions,
    measure_items,
    name_conditions,
    read_items,
    split_regions,
    tabulate_items,
)
from entitynlm.lm.surprisal import measure_surprisal, put_before
from entitynlm.model.pretrained import load_pretrained
from entitynlm.text.document import Document
from support.small_bundles import make_bundle

PRETRAINED, _ = make_bundle(std=0.8)
SAMPLING: dict[str, Any] = {"samples": 8, "repeats": 3}
WORDS = st.lists(st.sampled_from(["Ann", "saw", "Bo", "She", "ran", "Zeb"]), min_size=1, max_size=6)


@settings(max_examples=10, deadline=None)
@given(words=WORDS, others=WORDS)
def test_equal_items_have_equal_rows_whatever_stands_between(words: list[str], others: list[str]) -> None:
    same, other = split_regions(" ".join(words)), split_regions(" ".join(others))
    items = [Item("1", "", "", same), Item("2", "", "", other), Item("1", "", "", same)]
    first, _, last = measure_items(PRETRAINED, items, **SAMPLING)
    assert first.rows == last.rows


def test_regions_add_up_and_the_context_is_read() -> None:
    item = Item("1", "a", "Ann saw Bo.", ("She", "saw it ran"))
    (found,) = measure_items(PRETRAINED, [item], **SAMPLING)
    document, _ = item.make_document()
    tokens = measure_surprisal(PRETRAINED, document, mentions="sampled", **SAMPLING).tokens
    assert [row.token for row in tokens] == ["Ann", "saw", "Bo", ".", "She", "saw", "it", "ran"]
    assert found.rows[0].surprisal == tokens[4].surprisal and found.rows[0].error == pytest.approx(
        tokens[4].error
    )
    assert found.rows[1].surprisal == pytest.approx(sum(row.surprisal or 0 for row in tokens[5:]))
    assert [row.words for row in found.rows] == [1, 3]
    (alone,) = measure_items(PRETRAINED, [Item("1", "b", "", item.regions)], **SAMPLING)
    assert alone.rows[0].surprisal != found.rows[0].surprisal


def test_conditions_are_compared_within_items() -> None:
    items = [
        Item(str(number), condition, "", ("Ann saw", word))
        for number in (1, 2)
        for condition, word in (("a", "Bo"), ("b", "it"))
    ]
    rows = [row for row, _ in compare_conditions(list(measure_items(PRETRAINED, items, **SAMPLING)))]
    assert [(row.item, row.region) for row in rows] == [
        (item, region) for item in ("1", "2", "mean") for region in (1, 2)
    ]
    assert {(row.condition, row.minus) for row in rows} == {("b", "a")}
    assert rows[0].difference == 0 and rows[0].error == 0  # the same words, the same random numbers
    assert rows[1].difference == rows[3].difference != 0
    assert rows[-1].difference == pytest.approx(rows[1].difference) and rows[-1].error == 0
    assert [row.n for row in rows] == [1, 1, 1, 1, 2, 2] and rows[-1].without_entities_error == 0
    with pytest.raises(ConfigError, match="two conditions"):
        compare_conditions(list(measure_items(PRETRAINED, items[:1], **SAMPLING)))


def test_items_with_referents_are_counted_apart() -> None:
    targets = {"1": "[Ann:ann] ran.", "2": "It ran."}
    contexts = {"near": "[Ann:ann] saw it.", "far": "[Ann:ann] saw Bo. It ran."}
    items = [
        Item(number, condition, context, (target,))
        for number, target in targets.items()
        for condition, context in contexts.items()
    ]
    rows = [row for row, _ in compare_conditions(list(measure_items(PRETRAINED, items, **SAMPLING)))]
    assert [(row.item, row.n, row.referent_n) for row in rows] == [("1", 1, 1), ("2", 1, 0), ("mean", 2, 1)]
    assert rows[2].referent_surprisal == rows[0].referent_surprisal != 0


def test_any_column_can_be_compared() -> None:
    """Within an item, where the condition is the same."""
    cells = [(condition, form) for condition in ("near", "far") for form in ("name", "pronoun")]
    items = [Item("1", condition, "", ("Ann", form), {"form": form}) for condition, form in cells]
    measured = list(measure_items(PRETRAINED, name_conditions(items, "form"), **SAMPLING))
    rows = [row for row, _ in compare_conditions(measured)]
    assert [(row.item, row.condition, row.minus) for row in rows][::2] == [
        ("1 near", "pronoun", "name"),
        ("1 far", "pronoun", "name"),
        ("mean", "pronoun", "name"),
    ]
    with pytest.raises(ConfigError, match="no column 'list'"):
        name_conditions(items, "list")
    with pytest.raises(
        ConfigError, match=r"no item has two conditions to compare: .* other values in the column"
    ):
        compare_conditions(measured[::2])


def test_an_item_counts_once_in_a_mean() -> None:
    """However many of its lines are compared: two differences of one item are no two observations."""
    cells = [("1", "near"), ("1", "far"), ("2", "near")]
    words = {("1", "near"): "Bo", ("1", "far"): "it ran", ("2", "near"): "Zeb"}
    items = [
        Item(item, condition, "", (form or words[item, condition],), {"form": form or "other", "list": "A"})
        for item, condition in cells for form in ("Ann", "")
    ]  # fmt: skip
    measured = list(measure_items(PRETRAINED, name_conditions(items, "form"), **SAMPLING))
    *rows, mean = tabulate_items(measured, "differences").rows
    one, two, three = (row.difference for row in rows)
    assert (mean.n, mean.list, hasattr(mean, "form")) == (2, "", False)
    assert mean.difference == pytest.approx(((one + two) / 2 + three) / 2)
    assert mean.error == pytest.approx(abs((one + two) / 2 - three) / 2) != 0


def test_marked_mentions_are_the_referents_of_regions() -> None:
    item = Item(
        "1", "a", "[Ann:ann] saw [Bo:bo].", ("[She:ann]", "saw [[her:ann] it:it]", "ran"), {"list": "A"}
    )
    document, starts = item.make_document()
    assert document.text == "Ann saw Bo. She saw her it ran" and starts == [12, 16, 27]
    spans = [(document.words(*mention.span), mention.entity) for mention in document.mentions]
    assert sorted(spans) == [("Ann", "ann"), ("Bo", "bo"), ("She", "ann"), ("her", "ann"), ("her it", "it")]
    (found,) = measured = list(measure_items(PRETRAINED, [item], **SAMPLING))
    tables = measure_surprisal(PRETRAINED, document)
    she = next(row for row in tables.mentions if row.mention == "She")
    assert found.rows[0].referent_surprisal == she.referent_surprisal > 0
    assert found.rows[0].referent_entropy == she.entropy and found.rows[2].referent_surprisal is None
    assert found.rows[0].surprisal == tables.tokens[4].surprisal and found.rows[1].text == "saw her it"
    table = tabulate_items(measured, "mentions")
    shown = [(row.item, row.region, row.mention, row.entity, row.list) for row in table.rows]
    assert shown == [
        ("1", 1, "She", "ann", "A"),
        ("1", 2, "her it", "it", "A"),
    ]  # of nested ones, P sees the outer
    frame = tabulate_items(measured, "tokens").to_pandas()
    assert frame.shape[0] == 3 and frame.list.tolist() == ["A"] * 3


def test_differences_have_all_measures_and_keep_columns() -> None:
    items = [
        Item(str(number), name, "[Ann:ann] saw [Bo:bo].", (f"[She:{name}]",), {"list": "A", "name": name})
        for number in (1, 2, 3) for name in ("ann", "bo")
    ]  # fmt: skip
    measured = list(measure_items(PRETRAINED, items, **SAMPLING))
    table = tabulate_items(measured, "differences")
    row, mean = table.rows[0], table.rows[-1]
    two, one = measured[0].rows[0].referent_surprisal, measured[1].rows[0].referent_surprisal
    assert two is not None and one is not None and row.referent_surprisal == one - two != 0
    assert (row.list, row.name, mean.item, mean.n, mean.list) == ("A", "", "mean", 3, "")
    assert mean.referent_surprisal_error == 0 and mean.referent_entropy_error == 0  # the items are the same
    assert mean.without_entities_error == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[She ran.", "item 1: a bracket without an entity"),
        ("[The man | who ran:tom] sat.", r"a bracket without an entity; found '\[The man'"),
        ("She:anna] ran.", "an entity without a bracket"),
        ("[:anna] ran.", "a mention without words"),
        ("[[ :anna] man:tom] ran.", "a mention without words"),
    ],
)
def test_marks_that_are_not_whole_are_refused(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "items.txt").write_text(f"{line}\n")
    with pytest.raises(DataError, match=rf"{message}.*\[She:Anna\], within one region"):
        read_items(tmp_path / "items.txt")


def test_chance_that_conditions_share_cancels() -> None:
    """Over seeds, the difference of two conditions varies less than it would with other random numbers for each."""
    packaged, sampling = load_pretrained("entitynlm-en"), {"samples": 8, "repeats": 1}
    pair = [Item("1", place, f"Anna met Bob in the {place}.", ("She",)) for place in ("garden", "kitchen")]
    found = np.array(
        [
            [item.rows[0].surprisal for item in measure_items(packaged, pair, seed=seed, **sampling)]
            for seed in range(20)
        ]
    )
    assert np.diff(found, axis=1).var() < 0.5 * found.var(axis=0).sum()


def test_conditions_are_compared_in_one_direction_and_region_by_region() -> None:
    """In whichever order an item's lines stand; a region that a condition lacks is compared with nothing."""
    items = [
        Item("1", "a", "", ("Ann", "", "ran")),
        Item("1", "b", "", ("Ann", "saw", "ran")),
        Item("2", "b", "", ("Bo", "saw", "ran")),
        Item("2", "a", "", ("Bo", "", "ran")),
        Item("2", "c", "", ("Bo", "saw", "")),
    ]
    measured = list(measure_items(PRETRAINED, items, **SAMPLING))
    assert [row.region for row in measured[0].rows] == [1, 3]
    rows = [row for row, _ in compare_conditions(measured)]
    assert [(row.item, row.region, row.condition, row.minus) for row in rows] == [
        ("1", 1, "b", "a"), ("1", 3, "b", "a"), ("2", 1, "b", "a"), ("2", 3, "b", "a"), ("2", 1, "c", "a"),
        ("mean", 1, "b", "a"), ("mean", 3, "b", "a"), ("mean", 1, "c", "a"),
    ]  # fmt: skip
    expected = measured[2].rows[2].surprisal - measured[3].rows[1].surprisal
    assert rows[3].difference == pytest.approx(expected) and rows[2].difference == 0
    with pytest.raises(ConfigError, match="item 2 has the condition 'c' twice"):
        compare_conditions([*measured, measured[-1]])


def test_a_text_is_put_together_as_people_write() -> None:
    document, starts = Item("1", "", " Ann saw Bo. ", ("She", "did", "n't", "", "run", ".")).make_document()
    assert document.text == "Ann saw Bo. She didn't run." and starts == [12, 16, 19, 22, 23, 26]


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def test_files_of_items(tmp_path: Path) -> None:
    plain, table = tmp_path / "items.txt", tmp_path / "items.csv"
    plain.write_text("Ann ran.\n\nBo | saw it.\n", encoding="utf-8")
    assert [item.regions for item in read_items(plain)] == [("Ann ran.",), ("Bo", "saw it.")]
    table.write_text("item,condition,context,target,list\n7,new,Ann ran.,She | saw.,A\n", encoding="utf-8")
    assert read_items(table) == [Item("7", "new", "Ann ran.", ("She", "saw."), {"list": "A"})]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", '\ufeffItem,Condition,Target,list\r\n1,a,"""No,"" | Ann said.",X\r\n\r\n'),
        ("a.csv", 'item;condition;target;list\n1;a;"""No,"" | Ann said.";X\n;;;\n'),
        ("a.csv", ' item, condition, target, list\n1, a, """No,"" | Ann said.", X\n'),
        ("a.csv", 'item\tcondition\ttarget\tlist\n1\ta\t"""No,"" | Ann said."\tX\n'),
        ("a.tsv", 'item\tcondition\ttarget\tlist\n1\ta\t"No," | Ann said.\tX\n'),
        ("a.txt", 'item\tcondition\ttarget\tlist\n1\ta\t"""No,"" | Ann said."\tX\n'),
        ("a.csv", ',item,condition,target,list\n0,1,a,"""No,"" | Ann said.",X\n'),
    ],
    ids=["excel", "semicolons", "spaces", "tabs", "bare quotes", "tabbed text", "pandas' index"],
)
def test_dialects_of_tables(tmp_path: Path, name: str, text: str) -> None:
    expected = [Item("1", "a", "", ('"No,"', "Ann said."), {"list": "X"})]
    assert read_items(write(tmp_path / name, text)) == expected


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "a,b\n1,2\n", "no column 'target' but a, b"),
        ("a.csv", "", "no column 'target' but none"),
        ("a.csv", "item,target\n1,Ann, who ran.\n", "a.csv:2: 3 cells, but 2 columns"),
        ("a.csv", 'item,target\n1,"No," Ann said.\n', "not CSV"),
        ("a.csv", 'item,target\n1,"No, Ann said.\n2,Bo ran.\n', "not CSV"),
        ("a.tsv", "item\ttarget\n\n1\tAnn\n2\t\n", "item 2 is empty"),
        ("a.tsv", "item\ttarget\n1\tAnn\n\tBo\n", "a.tsv:3: the item is empty"),
        ("a.tsv", "target\tlist\tlist\nAnn\tA\tB\n", "two columns 'list'"),
        ("a.tsv", "item\ttarget\n", "no item"),
        ("a.txt", "\n \n", "no item"),
        ("a.txt", "Ann ran.\n||\n", "item 2 is empty"),
    ],
)
def test_files_that_could_only_be_guessed_at(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_items(write(tmp_path / name, text))


@pytest.mark.parametrize(("content", "message"), [(None, "no such file"), (b"\x00\xff\xff\x81", "not UTF-8")])
def test_files_that_can_not_be_read(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "items.txt").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_items(tmp_path / "items.txt")


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_files_as_spreadsheets_write_them(tmp_path: Path, encoding: str) -> None:
    """ "Unicode text" is UTF-16, and "text" is Windows-1252: both are read, and said."""
    path, said = tmp_path / "items.tsv", []
    path.write_bytes("item\ttarget\r\n1\tAnn’s café | was “closed”.\r\n".encode(encoding))
    assert read_items(path, said.append) == [Item("1", "", "", ("Ann’s café", "was “closed”."))]
    assert len(said) == 1 and "not UTF-8" in str(said[0])


def test_items_in_python(tmp_path: Path) -> None:
    (tmp_path / "items.tsv").write_text("item\tcondition\ttarget\n1\ta\tAnn ran.\n1\tb\tBo ran.\n")
    frame = (
        EntityNLM(PRETRAINED)
        .surprisal_of_items(tmp_path / "items.tsv", compare="condition", **SAMPLING)
        .to_pandas()
    )
    assert frame.item.tolist() == ["1", "mean"] and frame.difference[0] == frame.difference[1] != 0


def test_a_continuation_is_scored_after_a_given_text(tmp_path: Path) -> None:
    """As the region of an item whose context is that text; offsets are those of the text itself."""
    given, text = "Ann saw Bo. She", "ran. Ann saw Zeb."
    found = measure_surprisal(PRETRAINED, as_document(text), given=given, top_words=2, **SAMPLING)
    whole = measure_surprisal(PRETRAINED, as_document(f"{given} {text}"), top_words=2, **SAMPLING)
    assert [text[row.start : row.end] for row in found.tokens] == ["ran", ".", "Ann", "saw", "Zeb", "."]
    assert [row.surprisal for row in found.tokens] == [row.surprisal for row in whole.tokens[5:]]
    assert [row.top_1 for row in found.tokens] == [row.top_1 for row in whole.tokens[5:]]
    sentence, rest = "Ann saw Bo.", "She ran. Ann saw Zeb."
    before = measure_surprisal(PRETRAINED, as_document(sentence), **SAMPLING)
    after = measure_surprisal(PRETRAINED, as_document(rest), given=sentence, **SAMPLING)
    assert after.log_prob == pytest.approx(whole.log_prob - before.log_prob, abs=1e-6)
    (tmp_path / "items.txt").write_text(f"{text}\n")
    table = EntityNLM(PRETRAINED).surprisal_of_items(tmp_path / "items.txt", given=given, **SAMPLING)
    assert table.rows[0].surprisal == pytest.approx(found.total)
    document, starts = Item("1", "", " Bo sat. ", ("She ran.",)).make_document("Ann ran.\n\n")
    assert document.text == "Ann ran.\n\nBo sat. She ran." and starts == [18]  # white space as it stands


def test_mentions_after_a_given_text_know_its_entities() -> None:
    text, given = "her brother that he was late.", "Margaret came home, and Margaret told"
    found = measure_surprisal(load_pretrained("entitynlm-en"), as_document(text), given=given)
    first = found.mentions[0]
    assert (first.mention, first.entity, first.start, first.is_new) == ("her", "Margaret@1", 0, False)
    assert all(text[row.start : row.end] == row.mention for row in found.mentions)


@pytest.mark.parametrize(
    ("given", "text"), [("Ann did", "n't run."), ("Ann ran ", "home."), ("Ann", "\n\nran.")]
)
def test_a_text_that_is_given_is_joined_as_people_write(given: str, text: str) -> None:
    document, before = put_before(given, as_document(text))
    assert document.text == given + text and document.text[before:] == text
    assert put_before("", document) == (document, 0)


def test_a_text_is_given_before_plain_text_alone() -> None:
    with pytest.raises(ConfigError, match="plain text alone"):
        measure_surprisal(PRETRAINED, Document("text", ("Ann",), ((0, 1),)), given="Bo ran.")


def test_items_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entitynlm.lm.items.MOST_JSON", 10)
    (tmp_path / "items.txt").write_text("Anna ran home.\n")
    with pytest.raises(DataError, match="more than 10 bytes"):
        read_items(tmp_path / "items.txt")
