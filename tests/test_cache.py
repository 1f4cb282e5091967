"""Where the cache folder is, and how processes that fill it share the work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from entitynlm.cache import Claims, cache_folder


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


def test_claims_are_one_process_s_and_end_with_it(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from entitynlm.cache import Claims\n"
        "claims = Claims(Path(sys.argv[1])); print(claims.take('0a'), claims.take('0b'), flush=True); sys.stdin.read()"
    )
    path = tmp_path / "claims"
    with Claims(path) as claims:
        assert claims.take("0a")
        call = [sys.executable, "-c", code, str(path)]
        with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            assert other.stdout.readline().split() == ["False", "True"]
            assert not claims.take("0b") and claims.take("0c")
            other.kill()
        assert claims.take("0b")
    assert [each.name for each in path.iterdir()] == []
