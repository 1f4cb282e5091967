"""The models that the explorer may use: those of the package and those named at its start, each loaded when first asked for.

A page may only name models that are in this list, so no request makes the explorer look at another folder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from entitynlm.default_model import list_usable
from entitynlm.errors import Busy, EntityNLMError, ModelError

if TYPE_CHECKING:
    from entitynlm.api import EntityNLM

WAIT = 60.0  # seconds that a request waits for a model that is being loaded or used


class ModelShelf:
    """The models by name.

    :param load: how one is loaded.
    """

    def __init__(self, names: Sequence[str], load: Callable[[str], EntityNLM]) -> None:
        self.names = tuple(dict.fromkeys([*names, *list_usable()]))
        self._load = load
        self._loaded: dict[str, EntityNLM] = {}
        self._locks = {name: threading.RLock() for name in self.names}
        self.failures: dict[str, str] = {}

    def check(self, name: str | None) -> str:
        """Check that a model of this name is here; None stands for the first one."""
        if name is None:
            return self.names[0]
        if name not in self.names:
            raise ModelError(f"there is no model {name!r} here; there are {', '.join(self.names)}")
        return name

    def get(self, name: str) -> EntityNLM:
        """Get a model, loaded when it is first asked for; requests at the same time wait for the loading."""
        lock = self._locks[self.check(name)]
        if name not in self._loaded:
            if not lock.acquire(timeout=WAIT):
                raise Busy(f"the model {name} is still being loaded; try again soon")
            try:
                if name not in self._loaded:
                    loaded = self._load(name)
                    loaded.hold_weights()
                    self._loaded[name] = loaded
            except EntityNLMError as error:
                self.failures[name] = str(error)
                raise
            finally:
                lock.release()
        return self._loaded[name]

    def is_loaded(self, name: str) -> bool:
        return name in self._loaded

    def use(self, name: str, wait: float = WAIT) -> AbstractContextManager[object]:
        """Hold a model while computing with it. A pretrained language model remembers what it read, so one at a time uses it."""
        if not self.get(name).has_memory:
            return nullcontext()
        return Held(self._locks[name], wait, f"the model {name} is busy with another text; try again soon")


class Held(AbstractContextManager[object]):
    """A lock that is held, or :class:`Busy` after some seconds."""

    def __init__(self, lock: threading.RLock, wait: float, message: str) -> None:
        self.lock, self.wait, self.message = lock, wait, message

    def __enter__(self) -> object:
        if not self.lock.acquire(timeout=self.wait):
            raise Busy(self.message)
        return self

    def __exit__(self, *_: object) -> None:
        self.lock.release()
