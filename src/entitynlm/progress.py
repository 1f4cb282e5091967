"""Report the progress of long work to a terminal's bars, to a log file, or to no one."""

from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

Item = TypeVar("Item")


class Progress:
    """Ignore the progress of a long computation; a subclass shows it, and stops the work by KeyboardInterrupt in ``advance``."""

    def start(self, task: str, total: int | None = None) -> None:
        """Begin a task with this number of items, if that is known; a task that was begun before starts again."""

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        """Count items of a task that are done."""

    def finish(self, task: str) -> None:
        """End a task."""

    def message(self, text: str) -> None:
        """Tell of a step in words."""


SILENT = Progress()


def track(progress: Progress, task: str, items: Iterable[Item], total: int | None = None) -> Iterator[Item]:
    """Go through ``items`` as a task of ``progress``."""
    progress.start(task, len(items) if total is None and isinstance(items, Sized) else total)
    for item in items:
        yield item
        progress.advance(task)
    progress.finish(task)
