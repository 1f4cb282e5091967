"""Progress: items pass through unchanged, and every one of them is reported."""

from entitynlm.progress import SILENT, Progress, track


class Record(Progress):
    def __init__(self) -> None:
        self.told: list[tuple[str, object]] = []

    def start(self, task: str, total: int | None = None) -> None:
        self.told.append((f"start {task}", total))

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        self.told.append((task, amount))

    def finish(self, task: str) -> None:
        self.told.append(("finish", task))


def test_tracked_items_are_reported_one_by_one() -> None:
    record: Progress = (told := Record())
    assert list(track(record, "words", "ab")) == ["a", "b"]
    assert told.told == [("start words", 2), ("words", 1), ("words", 1), ("finish", "words")]
    assert list(track(SILENT, "words", iter("ab"), 2)) == ["a", "b"]
