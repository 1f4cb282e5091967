"""The terminal: figures on standard output, remarks on standard error, and each can be silenced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from entitynlm.interfaces.console import ProgressBars, Terminal, print_path


def test_figures_and_remarks_go_to_different_streams(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    terminal.print("figure " * 30)
    terminal.remark("remark")
    out, err = capsys.readouterr()
    assert out == "figure " * 30 + "\n" and err == "remark\n"


def test_quiet_and_json_silence_one_stream_each(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(quiet=True, json_path="-")
    terminal.print("figure")
    terminal.remark("remark")
    terminal.write_json({"figure": 1})
    out, err = capsys.readouterr()
    assert json.loads(out) == {"figure": 1} and err == ""


def test_work_is_passed_through_the_progress_bars(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    assert list(terminal.track([1, 2, 3], "counting")) == [1, 2, 3]
    with terminal.progress() as bars:
        progress = ProgressBars(bars, terminal)
        progress.start("step", 2)
        progress.advance("step", 2, "loss 1.5")
        progress.finish("step")
    assert capsys.readouterr().out == ""


def test_paths_are_shown_relative_to_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert print_path(tmp_path / "a.txt") == "a.txt"
    assert print_path("/elsewhere/a.txt") == "/elsewhere/a.txt"
