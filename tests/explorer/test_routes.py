"""What the page can ask: opening, looking, stepping, correcting, comparing, writing, saving."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from entitynlm.api import as_document
from entitynlm.generation.request import Continuation
from entitynlm.text.document import Mention
from entitynlm.text.formats.registry import FORMATS
from support.explorer import SMALL, wait_until

RUNNING = "/texts/{id}/analyses/1"


def mentions_of(client: Any, path: str) -> list[tuple[int, int, str]]:
    words = client.get(f"{path}/words", start=0, stop=100)
    return [(one["start"], one["end"], one["entity"]) for one in words["mentions"]]


# -- opening and looking -------------------------------------------------------------------------------------------------


def test_about_lists_models_formats_and_examples(client: Any) -> None:
    about = client.get("/about")
    assert about["models"][0]["name"] == SMALL
    assert {one["name"] for one in about["formats"]} == set(FORMATS)
    for example in about["examples"]:
        text = client.wait(client.post("/texts", example=example["id"])["id"])
        assert text["analyses"][0]["state"] == "done", text


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
    assert card["mentions"][0]["new"] is True and card["movement"]["points"]
    assert client.get(f"{story}/entity", 404, entity="nobody")["error"]


def test_a_file_in_any_format_opens_with_its_own_mentions(client: Any) -> None:
    saved = client.http.get("/api/texts").json()["texts"]
    assert saved
    record = {"doc_key": "d", "sentences": [["Ann", "saw", "Bo", "."]], "clusters": [[[0, 0]], [[2, 2]]]}
    answer = client.http.post(
        "/api/files", params={"name": "d.jsonl"}, content=json.dumps(record).encode() + b"\n"
    )
    text = client.wait(answer.json()["id"])
    assert text["analyses"][0]["mentions"] == 2 and text["analyses"][0]["surprisal_by"] == "mentions"


@pytest.mark.parametrize(
    ("content", "name"),
    [(b"", "empty.txt"), (b"\xff\xfe\x00", "odd.txt"), (b"{broken", "x.jsonl")],
)
def test_a_broken_file_is_explained_by_its_own_name(client: Any, content: bytes, name: str) -> None:
    answer = client.http.post("/api/files", params={"name": f"../../{name}"}, content=content)
    assert answer.status_code == 422
    assert "/tmp" not in answer.json()["error"]


def test_drawings_of_a_stretch_have_what_is_in_it(client: Any, story: str) -> None:
    whole, part = client.get(f"{story}/drawing"), client.get(f"{story}/drawing", start=0, stop=5)
    count = sum(len(row["marks"]) for row in whole["rows"])
    assert count == len(mentions_of(client, story))
    assert 0 < sum(len(row["marks"]) for row in part["rows"]) < count
    assert len(whole["curve"]["with"]) == len(whole["curve"]["without"]) > 0
    numbers = {node["number"] for node in whole["nodes"]}
    assert all({edge["first"], edge["second"]} <= numbers for edge in whole["edges"])


def test_the_table_of_characters_has_their_quotes(client: Any) -> None:
    id = client.wait(client.post("/texts", example="captain-reed")["id"])["id"]
    rows = client.get(f"{RUNNING.format(id=id)}/drawing")["rows"]
    quotes = [quote["text"] for row in rows for quote in row["quotes"]]
    assert any("you never told me that I have a brother" in quote for quote in quotes)
    assert sum(row["quoted"] for row in rows) >= 5


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
    other = f"/texts/{client.open('Anna lost her key. She called nobody. It rained all night.')}/analyses/1"
    for at in (0, 2, 5, 6, 7):
        one, two = client.get(f"{story}/step", at=at), client.get(f"{other}/step", at=at)
        assert one["starts"] == pytest.approx(two["starts"], abs=1e-9)
        assert [word["word"] for word in one["words"]] == [word["word"] for word in two["words"]]
        pairs = zip(one["referents"], two["referents"], strict=True)
        for a, b in pairs:
            assert a["probability"] == pytest.approx(b["probability"], abs=1e-9) and a["first"] == b["first"]


def test_a_far_word_is_read_towards_for_some_seconds(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    id = client.open("Tom ran home. " * 60)
    analysis = client.app.routes.shelf.get(id).get(1)
    wait_until(lambda: analysis.ahead is not None and analysis.ahead.ended.is_set(), 60)
    analysis = client.app.routes.shelf.get(id).get(1)
    expected = client.get(f"{RUNNING.format(id=id)}/step", at=200)
    analysis.along_words = None
    analysis.answers.clear()
    monkeypatch.setattr("entitynlm.explorer.expectation.PATIENCE", 0.0)
    answers = [client.http.get(f"/api{RUNNING.format(id=id)}/step", params={"at": 200}) for _ in range(2)]
    assert "try again soon" in answers[0].json()["error"] and answers[0].status_code == 503
    monkeypatch.undo()
    again = client.get(f"{RUNNING.format(id=id)}/step", at=200)
    assert again["starts"] == pytest.approx(expected["starts"], abs=1e-6)
    assert [one["word"] for one in again["words"]] == [one["word"] for one in expected["words"]]


def test_the_coffee_shop_of_the_first_figure_is_expected(client: Any) -> None:
    id = client.wait(client.post("/texts", example="coffee-shop")["id"])["id"]
    for by in ("words", "mentions"):
        step = client.get(f"{RUNNING.format(id=id)}/step", at=16, by=by)
        assert step["starts"] > 0.5
        assert "the coffee shop" in [one["name"] for one in step["referents"]]


# -- correcting ----------------------------------------------------------------------------------------------------------


def test_corrections_change_mentions_log_p_and_expectations(client: Any) -> None:
    id = client.open()
    path = RUNNING.format(id=id)
    before = client.get(f"/texts/{id}")["analyses"][0]
    step = client.get(f"{path}/step", at=11, by="mentions")
    names = {one["name"]: one["id"] for one in client.get(f"{path}/entities")}
    client.post(f"{path}/edits", action="merge", entity=names["Bob"], to_entity=names["Anna"])
    after = client.wait(id)["analyses"][0]
    assert after["entities"] == before["entities"] - 1 and after["corrected"]
    assert after["log_p"] != before["log_p"]
    assert client.get(f"{path}/step", at=11, by="mentions") != step
    client.post(f"{path}/undo")
    assert client.wait(id)["analyses"][0]["log_p"] == before["log_p"]
    assert client.get(f"{path}/step", at=11, by="mentions") == step
    client.post(f"{path}/redo")
    assert client.wait(id)["analyses"][0]["log_p"] == after["log_p"]
    assert client.post(f"{path}/redo", 404)["error"] == "there is nothing to redo"


def test_a_name_is_no_new_measurement(client: Any) -> None:
    id = client.open("Anna lost her key.")
    path = RUNNING.format(id=id)
    entity = client.get(f"{path}/entities")[0]["id"]
    answer = client.post(f"{path}/edits", action="rename", entity=entity, name="the  girl")
    assert answer["analyses"][0]["measured"] and answer["analyses"][0]["state"] == "done"
    assert client.get(f"{path}/entities")[0]["name"] == "the girl"


def test_two_analyses_are_compared(client: Any) -> None:
    id = client.open()
    path = RUNNING.format(id=id)
    client.post(f"/texts/{id}/analyses", copy_of=1)
    start, end, entity = mentions_of(client, path)[0]
    client.post(f"{path}/edits", action="remove", start=start, end=end, entity=entity)
    client.wait(id)
    found = client.get(f"/texts/{id}/comparison", first=1, second=2)
    assert found["log_p"][0] != found["log_p"][1] and found["agreement"] < 100
    assert (found["differences"][0]["start"], found["differences"][0]["kind"]) == (
        start,
        "only in the second",
    )
    assert client.get(f"/texts/{id}/comparison", first=2, second=2)["differences"] == []


# -- writing -------------------------------------------------------------------------------------------------------------


def test_a_closed_vocabulary_writes_no_prose(client: Any, story: str) -> None:
    assert "closed vocabulary" in client.post(f"{story}/continuations", 422, words=8)["error"]


def test_continuations_are_accepted_as_texts_of_their_own(
    client: Any, story: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = story.split("/")[2]
    bob = next(one["id"] for one in client.get(f"{story}/entities") if one["name"] == "Bob")
    document = as_document("Bob ran.").with_mentions([Mention(0, 1, "9")])
    written = Continuation("Bob ran.", document, {"9": "Bob"})
    monkeypatch.setattr("entitynlm.api.EntityNLM.generate", lambda *_, count, **wishes: [written] * count)
    answer = client.post(f"{story}/continuations", words=8, count=2, next_entity=bob, seed=3)
    first = answer["continuations"][1]
    assert len(answer["continuations"]) == 2 and first["tokens"] == ["Bob", "ran", "."]
    longer = client.post(f"{story}/accept", number=1)
    tokens = client.get(f"{RUNNING.format(id=longer['id'])}/words", start=0, stop=200)["tokens"]
    assert longer["parent"] == id and tokens[-3:] == first["tokens"]
    client.wait(longer["id"])
    assert client.post(f"{story}/accept", 404, number=4)["error"]


# -- saving --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", [form.name for form in FORMATS.values() if form.writable])
def test_the_annotation_is_written_in_every_writable_format(client: Any, story: str, format: str) -> None:
    answer = client.http.get(f"/api{story}/export", params={"format": format})
    assert answer.status_code == 200 and "attachment" in answer.headers["content-disposition"]
    content, name = answer.content, answer.headers["content-disposition"].split('"')[1]
    if format == "brat":
        packed = zipfile.ZipFile(io.BytesIO(content))
        assert sorted(n.rsplit(".")[-1] for n in packed.namelist()) == ["ann", "conf", "tokens", "txt"]
        return
    again = client.http.post("/api/files", params={"name": name}, content=content).json()
    spans = {mention[:2] for mention in mentions_of(client, RUNNING.format(id=again["id"]))}
    assert spans == {mention[:2] for mention in mentions_of(client, story)}


def test_tables_are_written(client: Any, story: str) -> None:
    for name, first in (("tokens", "sentence_id"), ("mentions", "sentence_id")):
        content = client.http.get(f"/api{story}/export", params={"format": name}).text
        assert content.startswith(first) and content.count("\n") > 3
    assert client.get(f"{story}/export", 422, format="text")["error"]


def test_a_saved_state_goes_on_where_it_was(client: Any) -> None:
    id = client.open("Anna lost her key. She called Bob.")
    path = RUNNING.format(id=id)
    client.post(f"{path}/edits", action="add", start=1, end=2)
    entity = client.get(f"{path}/entities")[0]["id"]
    client.post(f"{path}/edits", action="rename", entity=entity, name="Her")
    saved = client.get(f"/texts/{id}/saved")
    again = client.wait(client.post("/saved", **json.loads(json.dumps(saved)))["id"])
    other = RUNNING.format(id=again["id"])
    assert mentions_of(client, other) == mentions_of(client, path)
    assert client.get(f"{other}/entities") == client.get(f"{path}/entities")
    saved["analyses"][0]["document"] = {"nonsense": 1}
    assert client.post("/saved", 422, **saved)["error"]
