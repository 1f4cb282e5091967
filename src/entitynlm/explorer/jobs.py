"""Background work: one job after the other, each with its progress, and a way to stop it."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

from entitynlm.errors import EntityNLMError
from entitynlm.progress import Progress

State = Literal["waiting", "running", "done", "cancelled", "failed"]


class Cancelled(Exception):
    """Raised inside of a job that was asked to stop."""


@dataclass
class Job(Progress):
    """A piece of work in the background: requests read its progress, and a cancelled job stops at its next report."""

    stage: str = "waiting"
    state: State = "waiting"
    done: int = 0
    total: int | None = None
    failure: str = ""
    stop: threading.Event = field(default_factory=threading.Event, repr=False)

    def begin(self, stage: str) -> None:
        """Begin a stage with this description; the work counts its progress in tasks of the stage."""
        self.stage = stage
        self.start(stage)

    def start(self, task: str, total: int | None = None) -> None:
        self.done, self.total = 0, total
        self.check()

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        self.done += amount
        self.check()

    def check(self) -> None:
        if self.stop.is_set():
            raise Cancelled

    def cancel(self) -> None:
        """Ask the work to stop: it counts as cancelled at once, and ends where it next reports progress."""
        self.stop.set()
        if self.state in ("waiting", "running"):
            self.state = "cancelled"


class JobQueue:
    """Runs jobs, the earliest first."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="explorer")

    def submit(self, work: Callable[[Job], object]) -> Job:
        """Queue some work, a function that is called with its job, to which it reports."""
        job = Job()

        def run() -> None:
            try:
                job.check()
                job.state = "running"
                work(job)
                job.check()
                job.state = "done"
            except Cancelled:
                job.state = "cancelled"
            except EntityNLMError as error:
                job.state, job.failure = "failed", str(error)
            except Exception as error:  # a bug of ours must not look like work that never ends
                job.state, job.failure = "failed", f"something went wrong in entitynlm: {error!r}"

        self._pool.submit(run)
        return job

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
