"""Who is refused, and what every answer says to browsers."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from entitynlm.explorer import security
from entitynlm.explorer.security import Guard, list_hosts, make_token

HOST = {"host": "127.0.0.1:8000"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1:8001"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"x-explorer-token": ""}, 401),
        ({"x-explorer-token": "tökén"}, 401),
        ({"origin": "http://127.0.0.1:8000"}, 200),
    ],
)
def test_strangers_are_refused_in_json(client: Any, headers: dict[str, str], status: int) -> None:
    answer = client.http.get("/api/about", headers={k: v.encode() for k, v in headers.items()})
    assert answer.status_code == status
    assert status == 200 or set(answer.json()) == {"error"}


@pytest.mark.parametrize("path", ["/", "/static/main.js", "/api/about", "/api/nothing", "/nothing"])
def test_every_answer_has_the_headers(client: Any, path: str) -> None:
    headers = client.http.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    "path",
    ["/static/../verbs.toml", "/static/%2e%2e/verbs.toml", "/static//etc/passwd", "/static/..%2fverbs.toml"],
)
def test_no_file_outside_of_the_page_is_given(client: Any, path: str) -> None:
    assert client.http.get(path).status_code == 404


def test_a_large_body_is_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "MOST_BYTES", 1000)
    answer = client.http.post("/api/texts", json={"text": "word " * 400})
    assert answer.status_code == 413 and "error" in answer.json()
    answer = client.http.post("/api/files?name=x.txt", content=iter([b"x" * 600] * 3))  # of unknown length
    assert answer.status_code == 411 and "error" in answer.json()


def upload(client: Any, name: str, content: bytes) -> str:
    """The reason for which a file is refused."""
    answer = client.http.post("/api/files", params={"name": name}, content=content)
    assert answer.status_code == 422, answer.text
    return str(answer.json()["error"])


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(client: Any) -> None:
    bomb = gzip.compress(b"word " * 6_000_000)
    assert len(bomb) < 100_000
    assert upload(client, "a.txt.gz", bomb).startswith(
        "a.txt.gz: it can't be unpacked (it has more than 20,971,520 bytes"
    )


def test_a_page_that_pandoc_takes_long_for_is_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pypandoc")
    monkeypatch.setattr("entitynlm.text.formats.pandoc.LONGEST_OF_UPLOADS", 0.001)
    assert "pandoc did not convert it within 0.001 seconds" in upload(client, "a.html", b"<p>Anna ran.</p>")


def test_an_upload_opens_no_file(client: Any, tmp_path: Path) -> None:
    """Annotations are about a text in a file beside them: that of an upload's name is not looked for."""
    (tmp_path / "secret.txt").write_text("Anna has a secret .")
    annotation = b"T1\tPerson 0 4\tAnna\n"
    name = str(tmp_path / "secret.ann")
    assert "have no text beside them" in upload(client, name, annotation)


def test_errors_are_json(client: Any, story: str) -> None:
    assert "at" in client.get(f"{story}/step", 422, at="soon")["error"]
    assert client.get("/texts/nothing", 404)["error"].startswith("there is no text 'nothing'")
    assert client.get(f"{story}/words", 422, start=5, stop=5)["error"]
    assert client.http.put("/api/texts").status_code == 405
    assert client.http.post("/api/texts", content=b"{", headers={"content-type": "application/json"}).json()[
        "error"
    ]
    assert "nonsense" in client.post("/texts", 422, text="A word.", nonsense=1)["error"]
    assert "model" in client.post("/texts", 422, text="A word.", model="/etc")["error"]


def test_hosts_are_those_of_the_address() -> None:
    assert list_hosts("127.0.0.1", 80)[:2] == ["127.0.0.1:80", "localhost:80"]
    assert list_hosts("10.0.0.7", 9000) == ["10.0.0.7:9000"]
    assert "[::1]:9000" in list_hosts("::1", 9000)
    assert len(make_token()) >= 32 and make_token() != make_token()
    guard = Guard(None, token="t", hosts=["h:1"])  # type: ignore[arg-type]
    assert guard.refuse("/", {"host": "h:1", "content-length": "-5"}) is not None
