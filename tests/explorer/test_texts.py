"""Texts make room for each other, work is stopped, and models are those that were named."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from starlette.testclient import TestClient

from entitynlm.errors import Busy, ModelError
from entitynlm.explorer.application import make_app
from entitynlm.explorer.jobs import Job, JobQueue
from entitynlm.explorer.models import Held, ModelShelf
from entitynlm.explorer.texts import (
    MOST_STEPPED,
    Dropped,
    Missing,
    Text,
    TextAnalysis,
    TextShelf,
    Version,
)
from entitynlm.text.document import Document
from support.explorer import SMALL, TOKEN, wait_until


def make_text(words: str) -> Document:
    return Document("d", tuple(words.split()))


def leave(models: ModelShelf, text: Text, analysis: TextAnalysis, job: Job) -> None:
    """Measure nothing."""


def make_empty_shelf(**limits: int) -> TextShelf:
    return TextShelf(ModelShelf([SMALL], lambda name: pytest.fail(name)), leave, **limits)


def test_the_text_that_was_used_least_recently_makes_room() -> None:
    shelf = make_empty_shelf(most_texts=2)
    first, second = (shelf.open(make_text("a b"), name) for name in ("first", "second"))
    shelf.get(first.id)
    third = shelf.open(make_text("c"), "third")
    assert [text.id for text in shelf.list()] == [third.id, first.id]
    with pytest.raises(Dropped, match="'second' was closed to make room"):
        shelf.get(second.id)
    with pytest.raises(Missing):
        shelf.get("nothing")


def test_many_words_make_room_too_but_never_for_the_newest() -> None:
    shelf = make_empty_shelf(most_words=5)
    shelf.open(make_text("a b c"), "first")
    long = shelf.open(make_text("a b c d e f g"), "long")
    assert [text.id for text in shelf.list()] == [long.id] and list(shelf.dropped.values()) == ["first"]


def test_a_dropped_text_is_gone_with_notice() -> None:
    shelf = make_empty_shelf(most_texts=1)
    http = TestClient(make_app(shelf, token=TOKEN, hosts=["testserver"]), headers={"x-explorer-token": TOKEN})
    first = http.post("/api/texts", json={"text": "One word."}).json()["id"]
    http.post("/api/texts", json={"text": "Another one.", "name": "another"})
    assert http.get(f"/api/texts/{first}").status_code == 410
    assert http.get("/api/texts").json()["dropped"] == ["pasted text"]


def test_only_some_texts_are_ready_for_quick_steps() -> None:
    shelf = make_empty_shelf()
    texts = [shelf.open(make_text("a b"), str(number)) for number in range(MOST_STEPPED + 1)]
    for text in texts:
        text.add(SMALL, Version(text.document)).remember((0, "words", 0), {"at": 0})
        shelf.keep_readers(text)
    assert not texts[0].get(1).answers and texts[1].get(1).answers


def test_versions_are_undone_and_redone() -> None:
    analysis = TextAnalysis(1, SMALL, Version(make_text("a b")))
    analysis.change(Version(make_text("a c"), what="one"))
    analysis.change(Version(make_text("a d"), what="two"))
    stamp = analysis.stamp
    assert analysis.move(-1) is False and analysis.version.what == "one"
    analysis.change(Version(make_text("a e"), what="three"))
    assert analysis.stamp not in (stamp, 1) and len(analysis.versions) == 3
    with pytest.raises(Missing, match="redo"):
        analysis.move(1)


def test_work_is_cancelled_before_it_starts_and_while_it_runs() -> None:
    worker, reached, go_on = JobQueue(), threading.Event(), threading.Event()

    def work(job: Job) -> None:
        job.enter("long work", 10)
        reached.set()
        go_on.wait(10)
        job.advance("long work", 3)

    running, waiting = worker.submit(work), worker.submit(work)
    assert reached.wait(10) and running.stage == "long work" and running.total == 10
    waiting.cancel()
    running.cancel()
    go_on.set()
    wait_until(lambda: running.ended.is_set() and waiting.ended.is_set(), 10)
    assert (running.state, waiting.state) == ("cancelled", "cancelled")


def test_an_error_in_the_background_is_told() -> None:
    def fail(job: Job) -> None:
        raise ModelError("the weights are missing")

    def break_down(job: Job) -> None:
        raise KeyError("bug")

    worker = JobQueue()
    jobs: list[Any] = [worker.submit(fail), worker.submit(break_down)]
    wait_until(lambda: all(job.ended.is_set() for job in jobs), 10)
    assert [job.state for job in jobs] == ["failed", "failed"]
    assert jobs[0].message_ == "the weights are missing" and "bug" in jobs[1].message_


def test_models_are_those_of_the_list() -> None:
    calls: list[str] = []

    def load(name: str) -> Any:
        calls.append(name)
        raise ModelError(f"{name} is broken")

    shelf = ModelShelf(["mine"], load)
    assert shelf.names[0] == "mine" and SMALL in shelf.names and shelf.check(None) == "mine"
    with pytest.raises(ModelError, match="there is no model"):
        shelf.get("/etc")
    with pytest.raises(ModelError, match="broken"):
        shelf.get("mine")
    assert shelf.failures == {"mine": "mine is broken"} and calls == ["mine"]


def test_what_is_held_is_waited_for_in_vain() -> None:
    lock = threading.RLock()
    found: list[BaseException] = []

    def ask() -> None:
        try:
            with Held(lock, 0.05, "busy"):
                pass
        except Busy as error:
            found.append(error)

    with Held(lock, 1, "busy"):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert len(found) == 1
