"""Compile by ``numba.njit`` with a cache on disk that several processes may fill at once.

Numba numbers the files of a function's cache in the order of its signatures. Two processes that compile different
signatures at the same moment both write file number 1; a process that reads the index later may call machine code that was made
for other types, which ends in a segmentation fault. Here a file is named after its signature, so that the worst that can
happen is that a function is compiled twice.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile


class SignatureCacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """A function's cache on disk: one file per signature, and an index of them."""

    def save(self, key: tuple[Any, ...], data: Any) -> None:
        """Keep the compiled function of a signature; the file comes before the index that refers to it."""
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        name = self._index_name.removesuffix("nbi") + f"{digest}.nbc"
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})


def njit(*, makes_arrays: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a decorator that compiles a function at its first call with each signature and keeps the result on disk.

    :param makes_arrays: whether the function makes arrays or returns any. Without, references to those that it is given are not
        counted, which takes a small function longer than its arithmetic.
    :param options: those of ``numba.njit``, but for ``cache``.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        compiled = numba.njit(cache=True, _nrt=makes_arrays, **options)(function)
        cache = getattr(compiled, "_cache", None)  # absent where compilation is switched off
        if cache is not None:
            cache._cache_file.__class__ = SignatureCacheFile
        return compiled

    return decorate
