"""The cache folder is where the environment or the platform says."""

import sys
from pathlib import Path

import pytest

from entitynlm.cache import cache_folder


def test_the_variable_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ENTITYNLM_CACHE", str(tmp_path / "here"))
    assert cache_folder() == tmp_path / "here"
    assert not cache_folder().exists()


def test_without_it_the_platform_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ENTITYNLM_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().name == "entitynlm"
    if sys.platform == "linux":
        assert cache_folder() == tmp_path / "entitynlm"
