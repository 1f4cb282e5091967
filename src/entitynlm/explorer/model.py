"""The explorer's model, loaded at its first use, so that the page is there at once."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from entitynlm.errors import Busy

if TYPE_CHECKING:
    from entitynlm.api import EntityNLM

WAIT = 60.0  # seconds that a request waits for a model that is being loaded or used


@contextmanager
def hold(lock: threading.RLock, message: str, wait: float) -> Iterator[None]:
    """Hold a lock, or raise :class:`Busy` after some seconds."""
    if not lock.acquire(timeout=wait):
        raise Busy(message)
    try:
        yield
    finally:
        lock.release()


class LateModel:
    """A model that is loaded at its first use.

    :param load: function that loads the model of a name.
    """

    def __init__(self, name: str, load: "Callable[[], EntityNLM]") -> None:
        self.name, self._load = name, load
        self._loaded: EntityNLM | None = None
        self._lock = threading.RLock()

    def get(self, wait: float = WAIT) -> "EntityNLM":
        """Return the model; simultaneous requests wait while it is loaded."""
        if self._loaded is None:
            with hold(self._lock, f"the model {self.name} is still being loaded", wait):
                self._loaded = self._loaded or self._load()
        return self._loaded

    def use(self, wait: float = WAIT) -> AbstractContextManager[object]:
        """Lock the model during a computation: requests take turns, since a pretrained language model caches its latest text."""
        if not self.get().has_memory:
            return nullcontext()
        return hold(self._lock, f"the model {self.name} is busy with another text", wait)
