"""Texts make room for each other, work is stopped, and the model is loaded late."""

import threading
from typing import Any

import pytest

from entitynlm.errors import Busy, ModelError
from entitynlm.explorer.jobs import Job, JobQueue
from entitynlm.explorer.texts import LazyModel, Missing, Text, TextShelf, Version, hold
from entitynlm.text.document import Document
from support.explorer import SMALL, wait_until


def make_text(words: str) -> Document:
    return Document("d", tuple(words.split()))


def leave(model: LazyModel, text: Text, job: Job) -> None:
    """Measure nothing."""


def make_empty_shelf(**limits: int) -> TextShelf:
    return TextShelf(LazyModel(SMALL, lambda: pytest.fail("it was loaded")), leave, **limits)


def test_the_text_that_was_used_least_recently_makes_room() -> None:
    shelf = make_empty_shelf(most_words=4)
    first, second = (shelf.open(make_text("a b"), name) for name in ("first", "second"))
    shelf.get(first.id)
    third = shelf.open(make_text("c"), "third")
    assert [text.id for text in shelf.list()] == [third.id, first.id]
    with pytest.raises(Missing, match="closed to make room"):
        shelf.get(second.id)


def test_many_words_make_room_too_but_never_for_the_newest() -> None:
    shelf = make_empty_shelf(most_words=5)
    shelf.open(make_text("a b c"), "first")
    long = shelf.open(make_text("a b c d e f g"), "long")
    assert [text.id for text in shelf.list()] == [long.id]


def test_versions_are_undone_and_redone() -> None:
    text = Text("1", "one", Version(make_text("a b")))
    text.change(Version(make_text("a c"), what="one"))
    text.change(Version(make_text("a d"), what="two"))
    number = text.version.number
    text.move(-1)
    assert text.version.what == "one"
    text.change(Version(make_text("a e"), what="three"))
    assert text.version.number > number and len(text.versions) == 3
    with pytest.raises(Missing, match="redo"):
        text.move(1)


def test_work_is_cancelled_before_it_starts_and_while_it_runs() -> None:
    worker, reached, go_on = JobQueue(), threading.Event(), threading.Event()

    def work(job: Job) -> None:
        job.begin("long work")
        job.start("words", 10)
        reached.set()
        go_on.wait(10)
        job.advance("long work", 3)

    running, waiting = worker.submit(work), worker.submit(work)
    assert reached.wait(10) and running.stage == "long work" and running.total == 10
    waiting.cancel()
    running.cancel()
    go_on.set()
    worker.submit(lambda job: None)
    assert (running.state, waiting.state) == ("cancelled", "cancelled")


def test_an_error_in_the_background_is_told() -> None:
    def fail(job: Job) -> None:
        raise ModelError("the weights are missing")

    def break_down(job: Job) -> None:
        raise KeyError("bug")

    worker = JobQueue()
    jobs: list[Any] = [worker.submit(fail), worker.submit(break_down)]
    wait_until(lambda: all(job.state == "failed" for job in jobs), 10)
    assert jobs[0].failure == "the weights are missing" and "bug" in jobs[1].failure


def test_the_model_is_loaded_once_when_it_is_asked_for() -> None:
    calls: list[str] = []

    def load() -> Any:
        calls.append("now")
        if len(calls) == 1:
            raise ModelError("it is broken")
        return "a model"

    model = LazyModel("mine", load)
    assert calls == []
    with pytest.raises(ModelError, match="broken"):
        model.get()
    assert (model.get(), model.get(), len(calls)) == ("a model", "a model", 2)


def test_what_is_held_is_waited_for_in_vain() -> None:
    lock = threading.RLock()
    found: list[BaseException] = []

    def ask() -> None:
        try:
            with hold(lock, "busy", 0.05):
                pass
        except Busy as error:
            found.append(error)

    with hold(lock, "busy", 1):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert len(found) == 1
