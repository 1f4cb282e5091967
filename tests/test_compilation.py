"""Compiled functions: their cache survives two processes that fill it at once."""

from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile

from entitynlm.compilation import SignatureCacheFile, njit

FIRST, SECOND = ("float32",), ("float64",)


def save_while_another_saves(kind: type[IndexDataCacheFile], folder: Path) -> IndexDataCacheFile:
    """A cache whose writer of FIRST is overtaken by a writer of SECOND right after its index."""
    ours, theirs = (kind(str(folder), "function", "stamp") for _ in range(2))
    keep_index = ours._save_index

    def save_index(overloads: dict[Any, str]) -> None:
        keep_index(overloads)
        theirs._save_index({})  # the other process has not seen ours
        theirs.save(SECOND, "code for float64")

    ours._save_index = save_index
    ours.save(FIRST, "code for float32")
    return kind(str(folder), "function", "stamp")


def test_a_signature_never_finds_the_code_of_another(tmp_path: Path) -> None:
    cache = save_while_another_saves(SignatureCacheFile, tmp_path)
    assert cache.load(FIRST) in (None, "code for float32")
    assert cache.load(SECOND) == "code for float64"


def test_numba_s_own_cache_needs_this(tmp_path: Path) -> None:
    """The reason for the class: once numba's own passes this, it can go."""
    cache = save_while_another_saves(IndexDataCacheFile, tmp_path)
    assert cache.load(SECOND) == "code for float32"


def test_compiled_functions_compute_and_are_kept() -> None:
    """Both signatures in one test, because tests that run at the same time share the function's cache."""
    for value in (3, 2.5):
        double = njit(nogil=True)(add_to_itself)
        assert double(value) == 2 * value
        assert isinstance(double._cache._cache_file, SignatureCacheFile)
        again = njit(nogil=True)(add_to_itself)
        assert again(value) == 2 * value
        assert sum(again.stats.cache_hits.values()) == 1


def add_to_itself(x: float) -> float:
    return x + x
