"""Downloads against a local server that misbehaves on purpose."""

import dataclasses
import errno
import hashlib
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pooch
import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.text.corpora import catalogue
from entitynlm.text.corpora.catalogue import CatalogueEntry, download_file, get_corpus

FILES = {
    "conll/anna.conll": b"Anna sleeps .\n" * 40,
    "conll/bert.conll": b"Bert reads a book .\n" * 50,
    "notes.txt": "Überall Wörter.\n".encode(),
}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class Behaviour:
    """What the server holds and how it misbehaves."""

    files: dict[str, bytes] = field(default_factory=dict)
    cut_after: list[int] = field(default_factory=list)  # bytes of each answer before the connection is cut
    requests: list[str] = field(default_factory=list)


class Handler(http.server.BaseHTTPRequestHandler):
    behaviour: Behaviour

    def do_GET(self) -> None:
        state = self.behaviour
        state.requests.append(self.path)
        content = state.files.get(self.path.lstrip("/"))
        if content is None:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: state.cut_after.pop(0)] if state.cut_after else content)
        return None

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@pytest.fixture
def server() -> Iterator[tuple[Behaviour, str]]:
    behaviour = Behaviour()
    handler = type("ThisHandler", (Handler,), {"behaviour": behaviour})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield behaviour, f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()
        thread.join()


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> CatalogueEntry:
    """A corpus of three invented files, at its source under ``texts/``."""
    offer = CatalogueEntry(
        name="tiny",
        description="three files",
        documents=2,
        licence="none",
        home="nowhere",
        remote={"conll/": "texts/"},
    )
    monkeypatch.setitem(offer.__dict__, "files", {name: digest(content) for name, content in FILES.items()})
    return offer


def at(offer: CatalogueEntry, url: str) -> CatalogueEntry:
    """The corpus at another address."""
    moved = dataclasses.replace(offer, url=url)
    moved.__dict__["files"] = offer.files
    return moved


def serve(behaviour: Behaviour) -> None:
    behaviour.files = {name.replace("conll/", "texts/"): content for name, content in FILES.items()}


def read_corpus(folder: Path) -> dict[str, bytes]:
    """The files that are in a folder, but for the lock."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Tests don't wait, but they know for how long they would have."""
    seconds: list[float] = []
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=seconds.append))
    return seconds


# -- one file ------------------------------------------------------------------------------------------------


def test_nothing_is_left_of_a_file_that_could_not_be_fetched(
    server: tuple[Behaviour, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behaviour, url = server
    monkeypatch.setattr(catalogue, "ATTEMPTS", 1)
    behaviour.files = {"a.bin": b"0123456789" * 100}
    behaviour.cut_after = [300]
    with pytest.raises(DataError, match="the download failed 1 times"):
        download_file(url + "a.bin", tmp_path / "a.bin", digest(behaviour.files["a.bin"]))
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_hash_is_refused_and_nothing_is_left(server: tuple[Behaviour, str], tmp_path: Path) -> None:
    behaviour, url = server
    behaviour.files = {"a.txt": b"something else"}
    with pytest.raises(DataError, match=r"not what this package knows.*expected the catalogue's SHA-256"):
        download_file(url + "a.txt", tmp_path / "a.txt", digest(b"hello"))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_said_with_what_to_do(server: tuple[Behaviour, str], tmp_path: Path) -> None:
    _, url = server
    with pytest.raises(DataError, match=r"404 Client Error.*The file may have moved.*name of its folder"):
        download_file(url + "gone.txt", tmp_path / "gone.txt", digest(b""))


def test_no_server_at_all_ends_with_a_readable_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: list[float]
) -> None:
    monkeypatch.setattr(catalogue, "ATTEMPTS", 3)
    with pytest.raises(DataError, match="failed 3 times"):
        download_file("http://127.0.0.1:9/a", tmp_path / "a", digest(b""))
    assert waits == [1.0, 2.0]


# -- a corpus ------------------------------------------------------------------------------------------------


def test_a_corpus_is_assembled_from_its_public_layout(
    server: tuple[Behaviour, str], offer: CatalogueEntry, tmp_path: Path
) -> None:
    behaviour, url = server
    serve(behaviour)
    get_corpus(at(offer, url), tmp_path / "tiny")
    assert read_corpus(tmp_path / "tiny") == FILES


def test_a_second_try_fetches_only_what_is_missing(
    server: tuple[Behaviour, str], offer: CatalogueEntry, tmp_path: Path
) -> None:
    behaviour, url = server
    serve(behaviour)
    bert = behaviour.files.pop("texts/bert.conll")
    with pytest.raises(DataError, match="404"):
        get_corpus(at(offer, url), tmp_path / "tiny")
    behaviour.files["texts/bert.conll"] = bert
    behaviour.requests.clear()
    get_corpus(at(offer, url), tmp_path / "tiny")
    assert "/texts/anna.conll" not in behaviour.requests
    assert read_corpus(tmp_path / "tiny") == FILES


def test_a_full_disk_is_said(offer: CatalogueEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(url: str, path: Path, digest: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(catalogue, "download_file", fill)
    with pytest.raises(DataError, match=r"No space left on device.*Repeat the command when there is room"):
        get_corpus(at(offer, "http://127.0.0.1:9/"), tmp_path / "tiny")


def test_another_file_of_the_same_name_is_never_overwritten(offer: CatalogueEntry, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"notes\.txt exists already and is not that of tiny"):
        get_corpus(at(offer, "http://127.0.0.1:9/"), tmp_path)
    assert read_corpus(tmp_path) == {"notes.txt": b"mine"}


def test_what_only_a_person_can_fetch_says_how(tmp_path: Path) -> None:
    licensed = CatalogueEntry("conll2012", "OntoNotes", 1, "LDC", "https://example.org/licence")
    with pytest.raises(ConfigError, match=r"https://example\.org/licence \(licensed\)"):
        get_corpus(licensed, tmp_path / "x")
