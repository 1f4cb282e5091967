"""The models that the explorer may use: those of the package and those named at its start, each loaded when first asked for.

A page may only name models that are in this list, so no request makes the explorer look at another folder.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from entitynlm.default_model import list_usable
from entitynlm.errors import Busy, ModelError

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


class ModelShelf:
    """The models by name.

    :param load: how one is loaded.
    """

    def __init__(self, names: Sequence[str], load: "Callable[[str], EntityNLM]") -> None:
        self.names = tuple(dict.fromkeys([*names, *list_usable()]))
        self._load = load
        self._loaded: dict[str, EntityNLM] = {}
        self._locks = {name: threading.RLock() for name in self.names}

    def check(self, name: str | None) -> str:
        """Check that a model of this name is here; None stands for the first one."""
        if name is None:
            return self.names[0]
        if name not in self.names:
            raise ModelError(f"there is no model {name!r} here; there are {', '.join(self.names)}")
        return name

    def get(self, name: str, wait: float = WAIT) -> "EntityNLM":
        """Get a model, loaded when it is first asked for; requests at the same time wait for the loading."""
        if self.check(name) not in self._loaded:
            with hold(self._locks[name], f"the model {name} is still being loaded", wait):
                if name not in self._loaded:
                    self._loaded[name] = self._load(name)
        return self._loaded[name]

    def use(self, name: str, wait: float = WAIT) -> AbstractContextManager[object]:
        """Hold a model while computing with it. A pretrained language model remembers what it read, so one at a time uses it."""
        if not self.get(name).has_memory:
            return nullcontext()
        return hold(self._locks[name], f"the model {name} is busy with another text", wait)
