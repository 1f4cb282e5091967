"""What the page can ask: opening, looking, stepping, correcting, saving."""

import json
from pathlib import Path
from typing import Any

import pytest

from entitynlm.explorer.texts import follow
from entitynlm.text.formats.registry import FORMATS

TEXT = "/texts/{id}"


def mentions_of(client: Any, path: str) -> list[tuple[int, int, str]]:
    words = client.get(f"{path}/words", start=0, stop=100)
    return [(one["start"], one["end"], one["entity"]) for one in words["mentions"]]


# -- opening and looking -------------------------------------------------------------------------------------------------


def test_about_lists_formats_and_examples(client: Any) -> None:
    about = client.get("/about")
    assert {one["name"] for one in about["formats"]} == {f.name for f in FORMATS.values() if f.writable}
    for example in about["examples"]:
        text = client.wait(client.post("/texts", example=example["id"])["id"])
        assert text["state"] == "done", text


def test_words_have_surprisal_and_mentions(client: Any, story: str) -> None:
    words = client.get(f"{story}/words", start=0, stop=100)
    assert words["tokens"][:4] == ["Anna", "lost", "her", "key"] and words["gaps"][:2] == ["", " "]
    assert len(words["surprisal"]) == len(words["tokens"]) and all(value > 0 for value in words["surprisal"])
    assert any(one["start"] == 0 and one["end"] == 1 for one in words["mentions"])
    part = client.get(f"{story}/words", start=5, stop=9)
    assert part["tokens"] == words["tokens"][5:9] and part["surprisal"] == words["surprisal"][5:9]


def test_entities_have_cards_with_every_mention(client: Any, story: str) -> None:
    entities = client.get(f"{story}/entities")
    counts = [one["mentions"] for one in entities]
    assert counts == sorted(counts, reverse=True)
    for entity in entities:
        card = client.get(f"{story}/entity", entity=entity["id"])
        assert len(card["mentions"]) == entity["mentions"]
    anna = next(one for one in entities if one["name"] == "Anna")
    card = client.get(f"{story}/entity", entity=anna["id"])
    assert card["mentions"][0]["new"] is True and card["movement"]["drawing"].strip().startswith("<svg")
    assert client.get(f"{story}/entity", 404, entity="nobody")["error"]


def test_a_file_in_any_format_opens_with_its_own_mentions(client: Any) -> None:
    record = {"doc_key": "d", "sentences": [["Ann", "saw", "Bo", "."]], "clusters": [[[0, 0]], [[2, 2]]]}
    answer = client.http.post(
        "/api/files", params={"name": "d.jsonl"}, content=json.dumps(record).encode() + b"\n"
    )
    text = client.wait(answer.json()["id"])
    assert len(mentions_of(client, TEXT.format(id=text["id"]))) == 2


@pytest.mark.parametrize("ending", ["epub", "docx"])
def test_a_book_opens_as_its_text(client: Any, tmp_path: Path, ending: str) -> None:
    pypandoc = pytest.importorskip("pypandoc")
    path = tmp_path / f"mill.{ending}"
    pypandoc.convert_text("# The Mill\n\nAnna saw Bob.", ending, "markdown", outputfile=str(path))
    answer = client.http.post("/api/files", params={"name": path.name}, content=path.read_bytes())
    words = client.get(f"/texts/{answer.json()['id']}/words", start=0, stop=100)
    assert words["tokens"] == ["The", "Mill", "Anna", "saw", "Bob", "."] and words["gaps"][2] == "\n"


@pytest.mark.parametrize(
    ("content", "name"), [(b"", "empty.txt"), (b"\xff\xfe\x00", "odd.txt"), (b"{broken", "x.jsonl")]
)
def test_a_broken_file_is_explained_by_its_own_name(client: Any, content: bytes, name: str) -> None:
    answer = client.http.post("/api/files", params={"name": f"../../{name}"}, content=content)
    assert answer.status_code == 422
    assert "/tmp" not in answer.json()["error"]


def test_drawings_of_a_stretch_have_what_is_in_it(client: Any, story: str) -> None:
    whole, part = client.get(f"{story}/drawing"), client.get(f"{story}/drawing", start=0, stop=5, width=400)
    count = whole["timeline"].count("data-at=")
    assert count == len(mentions_of(client, story)) and "polyline" in whole["timeline"]
    assert 0 < part["timeline"].count("data-at=") < count and 'viewBox="0 0 400 ' in part["timeline"]
    assert "<circle" in whole["network"] and "Anna" in whole["characters"]


def test_the_table_of_characters_has_their_quotes(client: Any) -> None:
    id = client.wait(client.post("/texts", example="captain-reed")["id"])["id"]
    table = client.get(f"{TEXT.format(id=id)}/drawing")["characters"]
    assert "you never told me that I have a brother" in table and table.count("<li>") >= 5


def test_numbers_stay_with_entities(client: Any) -> None:
    id = client.open()
    path = TEXT.format(id=id)
    before = {one["id"]: (one["number"], one["colour"]) for one in client.get(f"{path}/entities")}
    client.post(f"{path}/edits", action="add", start=1, end=2)
    ids = list(before)
    client.post(f"{path}/edits", action="merge", entity=ids[0], to_entity=ids[-1])
    after = {one["id"]: (one["number"], one["colour"]) for one in client.get(f"{path}/entities")}
    assert ids[0] not in after and all(after[one] == before[one] for one in ids[1:])
    assert len({number for number, _ in after.values()}) == len(after)


def test_tables_are_there_at_once_after_a_correction(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    id = client.open()
    path = TEXT.format(id=id)
    monkeypatch.setattr(client.app.state.routes.shelf, "_measure", lambda *_: None)  # it takes for ever
    names = {one["name"]: one["id"] for one in client.get(f"{path}/entities")}
    client.post(f"{path}/edits", action="merge", entity=names["Bob"], to_entity=names["Anna"])
    assert not client.get(f"/texts/{id}")["measured"]
    tables = {
        name: client.http.get(f"/api{path}/export", params={"format": name}).text.splitlines()
        for name in ("tokens", "mentions", "cast", "quotations")
    }
    assert len(tables["cast"]) == 2 and "Bob" in tables["cast"][1]
    columns = dict(zip(tables["tokens"][0].split("\t"), tables["tokens"][2].split("\t"), strict=True))
    assert (columns["sentence_id"], columns["token_id"], columns["token"]) == ("1", "2", "lost")
    assert columns["surprisal"] == ""
    assert len(tables["mentions"]) == 1 + len(mentions_of(client, path))
    timeline = client.get(f"{path}/drawing")["timeline"]
    assert " Bob</text>" in timeline and " Anna</text>" not in timeline


# -- stepping ------------------------------------------------------------------------------------------------------------


def test_a_step_is_a_distribution(client: Any, story: str) -> None:
    for by in ("words", "mentions"):
        for at in (0, 3, 6, 11):
            step = client.get(f"{story}/step", at=at, by=by)
            assert step["read"] and 0 <= step["starts"] <= 1 and step["starts"] + step["inside"] <= 1 + 1e-6
            chances = [one["probability"] for one in step["referents"]]
            assert chances == sorted(chances, reverse=True) and sum(chances) <= 1 + 1e-6
            assert sum(step["lengths"]) == pytest.approx(1, abs=1e-6) or not chances
            for words in (step["words"], step["words_without"], *(one["words"] for one in step["referents"])):
                assert len(words) == 8 and sum(one["probability"] for one in words) <= 1 + 1e-6


def test_a_step_knows_only_the_words_so_far(client: Any, story: str) -> None:
    """The same beginning with another end: the same answer."""
    other = f"/texts/{client.open('Anna lost her key. She called nobody. It rained all night.')}"
    for at in (0, 2, 5, 6, 7):
        one, two = client.get(f"{story}/step", at=at), client.get(f"{other}/step", at=at)
        assert one["starts"] == pytest.approx(two["starts"], abs=1e-9)
        assert [word["word"] for word in one["words"]] == [word["word"] for word in two["words"]]
        pairs = zip(one["referents"], two["referents"], strict=True)
        for a, b in pairs:
            assert a["probability"] == pytest.approx(b["probability"], abs=1e-9) and a["first"] == b["first"]


def test_a_far_word_is_read_towards_for_some_seconds(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    id = client.open("Tom ran home. " * 60)
    expected = client.get(f"{TEXT.format(id=id)}/step", at=200)
    follow.cache_clear()
    monkeypatch.setattr("entitynlm.explorer.expectation.PATIENCE", 0.0)
    answers = [client.http.get(f"/api{TEXT.format(id=id)}/step", params={"at": 200}) for _ in range(2)]
    assert "words before this one" in answers[0].json()["wait"] and answers[0].status_code == 202
    monkeypatch.undo()
    again = client.get(f"{TEXT.format(id=id)}/step", at=200)
    assert again["starts"] == pytest.approx(expected["starts"], abs=1e-6)
    assert [one["word"] for one in again["words"]] == [one["word"] for one in expected["words"]]


def test_the_coffee_shop_of_the_first_figure_is_expected(client: Any) -> None:
    id = client.wait(client.post("/texts", example="coffee-shop")["id"])["id"]
    for by in ("words", "mentions"):
        step = client.get(f"{TEXT.format(id=id)}/step", at=16, by=by)
        assert step["starts"] > 0.5
        assert "the coffee shop" in [one["name"] for one in step["referents"]]


# -- correcting ----------------------------------------------------------------------------------------------------------


def test_corrections_change_mentions_log_p_and_expectations(client: Any) -> None:
    id = client.open()
    path = TEXT.format(id=id)
    before = client.get(f"/texts/{id}")
    step = client.get(f"{path}/step", at=11, by="mentions")
    names = {one["name"]: one["id"] for one in client.get(f"{path}/entities")}
    client.post(f"{path}/edits", action="merge", entity=names["Bob"], to_entity=names["Anna"])
    after = client.wait(id)
    assert len(client.get(f"{path}/entities")) == len(names) - 1 and after["undo"] == "merge two entities"
    assert after["log_p"] != before["log_p"]
    assert client.get(f"{path}/step", at=11, by="mentions") != step
    client.post(f"{path}/moves?by=-1")
    assert client.wait(id)["log_p"] == before["log_p"]
    assert client.get(f"{path}/step", at=11, by="mentions") == step
    client.post(f"{path}/moves?by=1")
    assert client.wait(id)["log_p"] == after["log_p"]
    assert client.post(f"{path}/moves?by=1", 404)["error"] == "there is nothing to redo"


def test_a_name_is_no_new_measurement(client: Any) -> None:
    id = client.open("Anna lost her key.")
    path = TEXT.format(id=id)
    entity = client.get(f"{path}/entities")[0]["id"]
    answer = client.post(f"{path}/edits", action="rename", entity=entity, name="the  girl")
    assert answer["measured"] and answer["state"] == "done"
    assert client.get(f"{path}/entities")[0]["name"] == "the girl"
    assert "the girl" in client.get(f"{path}/drawing")["characters"]
    cast = client.http.get(f"/api{path}/export", params={"format": "cast"}).text
    assert cast.splitlines()[1].split("\t")[2] == "the girl"
    referents = client.get(f"{path}/step", at=4, by="mentions")["referents"]
    assert "the girl" in [one["name"] for one in referents]


# -- saving --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", [form.name for form in FORMATS.values() if form.writable])
def test_the_annotation_is_written_in_every_writable_format(client: Any, story: str, format: str) -> None:
    answer = client.http.get(f"/api{story}/export", params={"format": format})
    assert answer.status_code == 200 and "attachment" in answer.headers["content-disposition"]
    content, name = answer.content, answer.headers["content-disposition"].split('"')[1]
    again = client.http.post("/api/files", params={"name": name}, content=content).json()
    spans = {mention[:2] for mention in mentions_of(client, TEXT.format(id=again["id"]))}
    assert spans == {mention[:2] for mention in mentions_of(client, story)}


def test_tables_are_written(client: Any, story: str) -> None:
    for name, first in (("tokens", "sentence_id"), ("mentions", "sentence_id")):
        content = client.http.get(f"/api{story}/export", params={"format": name}).text
        assert content.startswith(first) and content.count("\n") > 3
    assert client.get(f"{story}/export", 422, format="text")["error"]
