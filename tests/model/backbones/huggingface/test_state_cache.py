"""States on disk: the same as those read anew, resumable, and computed again where a file is damaged."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from entitynlm.errors import DataError
from entitynlm.model.backbones.huggingface.state_cache import read_cached
from support.tiny_language_models import draw_pieces, make_runtime

LAYERS = (1, 3)


class Counter:
    """Remembers what was reported."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.total, self.done, self.finished = 0, 0, False
        self.stop_after = stop_after

    def start(self, task: str, total: int | None = None) -> None:
        self.total = total or 0

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        self.done += amount
        if self.stop_after is not None and self.done > self.stop_after:
            raise KeyboardInterrupt

    def finish(self, task: str) -> None:
        self.finished = True

    def message(self, text: str) -> None: ...


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENTITYNLM_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def runtime() -> Any:
    return make_runtime("llama")


def files(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.npy"))


def test_states_are_those_of_the_runtime_and_kept(runtime: Any, cache: Path, monkeypatch: Any) -> None:
    documents = draw_pieces([5, 70, 0, 33, 5])
    progress = Counter()
    states = read_cached(runtime, documents, LAYERS, progress)
    direct, _ = runtime.read(documents, LAYERS)
    for own, expected in zip(states, direct, strict=True):
        assert isinstance(own, np.memmap) and own.dtype == np.float32
        assert torch.allclose(torch.from_numpy(np.array(own)), expected, atol=1e-5)
    assert progress.finished and progress.done == progress.total == sum(map(len, documents)) + len(documents)
    assert len(files(cache)) == 5
    assert {path.parent.name for path in files(cache)} == {path.name[:2] for path in files(cache)}
    monkeypatch.setattr(runtime, "read", None)
    again = read_cached(runtime, documents, LAYERS)
    assert all(map(np.array_equal, states, again))


def test_states_on_disk_begin_with_those_of_a_beginning(runtime: Any) -> None:
    """To the last digit: read together, and kept, or afresh and alone."""
    documents = draw_pieces([60, 59, 23])
    for document, kept in zip(documents, read_cached(runtime, documents, LAYERS), strict=True):
        for cut in (1, 17, len(document)):
            fresh = runtime.read([document[:cut]], LAYERS)[0][0]
            assert fresh.numpy().tobytes() == kept[: cut + 1].tobytes()


def test_language_models_and_layers_have_folders_of_their_own(cache: Path) -> None:
    documents = draw_pieces([9])
    for runtime in (make_runtime("llama"), make_runtime("qwen3")):
        for layers in ((1,), (1, 3), (3, 1)):
            read_cached(runtime, documents, layers)
    assert len({path.parents[1] for path in files(cache)}) == 6


def test_interrupted_work_goes_on(runtime: Any, cache: Path) -> None:
    documents = draw_pieces([10, 20, 30, 40])
    with pytest.raises(KeyboardInterrupt):
        read_cached(runtime, documents, LAYERS, Counter(stop_after=60))
    assert len(files(cache)) == 2
    progress = Counter()
    read_cached(runtime, documents, LAYERS, progress)
    assert progress.total == 11 + 21 and len(files(cache)) == 4


@pytest.mark.parametrize("damage", ["empty", "cut", "other"])
def test_damaged_files_are_made_again(runtime: Any, cache: Path, damage: str) -> None:
    documents = draw_pieces([10, 20])
    whole = [np.array(own) for own in read_cached(runtime, documents, LAYERS)]
    path = files(cache)[0]
    if damage == "other":
        np.save(path, np.zeros((3, 2)))
    else:
        path.write_bytes(b"" if damage == "empty" else path.read_bytes()[:-100])
    again = read_cached(runtime, documents, LAYERS)
    assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(whole, again, strict=True))


@pytest.mark.parametrize("name", ["file", "loop"])
def test_a_folder_that_cant_be_written(runtime: Any, tmp_path: Path, monkeypatch: Any, name: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.setenv("ENTITYNLM_CACHE", str(tmp_path / name))
    with pytest.raises(DataError, match="can't be written"):
        read_cached(runtime, draw_pieces([10]), LAYERS)
