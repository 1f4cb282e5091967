"""The model of the explorer, loaded when it is first asked for: the page is there at once."""

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
    """A model by its name.

    :param load: how it is loaded.
    """

    def __init__(self, name: str, load: "Callable[[], EntityNLM]") -> None:
        self.name, self._load = name, load
        self._loaded: EntityNLM | None = None
        self._lock = threading.RLock()

    def get(self, wait: float = WAIT) -> "EntityNLM":
        """Get the model; requests at the same time wait for its loading."""
        if self._loaded is None:
            with hold(self._lock, f"the model {self.name} is still being loaded", wait):
                self._loaded = self._loaded or self._load()
        return self._loaded

    def use(self, wait: float = WAIT) -> AbstractContextManager[object]:
        """Hold the model while computing with it: a pretrained language model remembers what it read, so requests take turns."""
        if not self.get().has_memory:
            return nullcontext()
        return hold(self._lock, f"the model {self.name} is busy with another text", wait)
