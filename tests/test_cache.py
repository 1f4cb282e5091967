"""Where the cache folder is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from entitynlm.cache import cache_folder


def test_the_variable_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ENTITYNLM_CACHE", str(tmp_path / "here"))
    assert cache_folder() == tmp_path / "here"
    assert not cache_folder().exists()


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", None, "~/.cache"),
        ("linux", "XDG_CACHE_HOME", ""),
        ("darwin", None, "~/Library/Caches"),
        ("win32", None, "~/AppData/Local"),
        ("win32", "LOCALAPPDATA", ""),
    ],
)
def test_the_platforms_own_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, variable: str | None, expected: str
) -> None:
    for name in ("ENTITYNLM_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    if variable is not None:
        monkeypatch.setenv(variable, str(tmp_path))
    base = tmp_path if variable is not None else Path(expected).expanduser()
    assert cache_folder() == base / "entitynlm"
