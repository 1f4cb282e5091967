"""An explorer with the small model, without a browser: its texts are analysed once for all tests that only look."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from entitynlm.explorer.application import make_app
from entitynlm.explorer.texts import TextShelf
from support.explorer import TOKEN, make_shelf, wait_until

STORY = "Anna lost her key. She called Bob, and he came to the house with a lamp. Bob found it under the mat."


class Client:
    """Asks as the page does."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.http = TestClient(
            app,
            headers={"x-explorer-token": TOKEN},
            base_url="http://127.0.0.1:8000",
            raise_server_exceptions=False,
        )

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        answer = self.http.get(f"/api{path}", params=query)
        assert answer.status_code == status, answer.text
        return answer.json()

    def post(self, path: str, status: int = 200, **json: Any) -> Any:
        answer = self.http.post(f"/api{path}", json=json)
        assert answer.status_code == status, answer.text
        return answer.json()

    def wait(self, id: str) -> Any:
        """The text, when its analysis has ended."""
        ended = ("done", "failed", "cancelled")

        def ask() -> Any:
            text = self.get(f"/texts/{id}")
            return text if text["state"] in ended else None

        return wait_until(ask, 120)

    def open(self, text: str = STORY, **more: Any) -> str:
        return str(self.wait(self.post("/texts", text=text, **more)["id"])["id"])


@pytest.fixture(scope="session")
def shelf() -> Iterator[TextShelf]:
    shelf = make_shelf()
    yield shelf
    shelf.shut()


@pytest.fixture(scope="session")
def client(shelf: TextShelf) -> Client:
    return Client(make_app(shelf, token=TOKEN, hosts=["127.0.0.1:8000"]))


@pytest.fixture(scope="session")
def story(client: Client) -> str:
    """The path of a text that nobody changes."""
    return f"/texts/{client.open()}"
