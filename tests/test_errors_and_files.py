"""What errors say, how files are opened and written, and what a missing extra asks for."""

import contextlib
import gzip
import io
import os
import threading
from pathlib import Path

import pytest

from entitynlm.errors import DataError, MissingExtraError, require
from entitynlm.files import CommandFiles, decode_lines, guarding, open_binary, write_atomically, write_text


def test_an_error_names_file_line_found_expected_and_what_to_do() -> None:
    error = DataError(
        "a bad row", path="a.conll", line=3, found="x" * 200, expected="two columns", hint="Add one"
    )
    assert str(error).startswith("a.conll:3: a bad row; found 'xxx")
    assert str(error).endswith("…'; expected two columns. Add one")
    assert str(DataError("a bad row", line=3)) == "line 3: a bad row"
    assert len(str(DataError("no mentions", path="x" * 100_000))) < 1_500  # an id can be that long


def test_lines_lose_mark_and_ends() -> None:
    stream = io.BytesIO(b"\xef\xbb\xbfa\r\nb\n\nc")
    assert list(decode_lines(stream, "x")) == [(1, "a"), (2, "b"), (3, ""), (4, "c")]
    with pytest.raises(DataError, match=r"x:2: this is not UTF-8 text.*-f cp1252"):
        list(decode_lines(io.BytesIO(b"a\n\xff"), "x"))


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    with write_atomically(path) as stream:
        stream.write("one\n")
    with pytest.raises(ZeroDivisionError), write_atomically(path) as stream:
        stream.write("two\n")
        raise ZeroDivisionError
    assert path.read_text() == "one\n"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("shown", [True, False])
def test_a_terminal_gets_no_control_characters(shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: shown)
    monkeypatch.setattr("sys.stdout", screen)
    with write_atomically("-") as stream:
        stream.write("Ann\t\x1b[31m\n")
    assert screen.getvalue() == ("Ann\t\ufffd[31m\n" if shown else "Ann\t\x1b[31m\n")


def test_what_can_not_be_opened_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        open_binary(tmp_path / "none")
    with pytest.raises(DataError, match="this is a folder"):
        open_binary(tmp_path)


def test_a_missing_extra_says_what_to_install() -> None:
    with pytest.raises(MissingExtraError, match=r"Dancing needs .* pip install 'entitynlm\[dance\]'"):
        require("no_such_module", extra="dance", purpose="Dancing")


def make_pipe(content: bytes) -> str:
    """The path of a pipe that a thread writes to."""
    reading, writing = os.pipe()

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), open(writing, "wb") as stream:  # noqa: PTH123 (a descriptor)
            stream.write(content)

    threading.Thread(target=write).start()
    return f"/dev/fd/{reading}"


def test_a_pipe_can_be_opened_again_within_a_command() -> None:
    content = bytes(range(256)) * 2000
    path = make_pipe(content)
    with guarding(CommandFiles()):
        for _ in range(2):
            with open_binary(path) as stream:
                assert stream.read(1000) == content[:1000]
                assert stream.seek(-10, os.SEEK_END) == len(content) - 10 and stream.read() == content[-10:]
    os.close(int(Path(path).name))


def test_a_device_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entitynlm.files.MOST_PIPED", 1 << 20)
    with guarding(CommandFiles()), pytest.raises(DataError, match="more than 1 MB"):
        open_binary("/dev/zero")


def test_a_packed_pipe_is_unpacked_by_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    os.mkfifo(path)
    thread = threading.Thread(target=lambda: path.write_bytes(gzip.compress(b"Anna slept.")))
    thread.start()
    with guarding(CommandFiles()):
        for _ in range(2):
            with open_binary(path) as stream:
                assert stream.read() == b"Anna slept."
    thread.join()


def test_a_command_writes_over_no_input_and_no_existing_file(tmp_path: Path) -> None:
    source, other = tmp_path / "a", tmp_path / "b"
    source.write_text("a"), other.write_text("b"), (tmp_path / "empty").touch()
    with guarding(CommandFiles([tmp_path / "kept"])):
        with open_binary(source) as stream:
            stream.read()
        with pytest.raises(DataError, match="reads that file"):
            write_text(source, "new")
        with pytest.raises(DataError, match="--force"):
            write_text(other, "new")
        write_text(tmp_path / "c", "new")
        write_text(tmp_path / "empty", "new")
        (tmp_path / "kept").mkdir()
        (tmp_path / "kept" / "d").write_text("old")
        write_text(tmp_path / "kept" / "d", "new")
    with guarding(CommandFiles(force=True)):
        write_text(other, "new")
    write_text(source, "new")  # outside of a command, Python may do what it likes
