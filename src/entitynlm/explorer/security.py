"""Admit requests from pages of the explorer's own origin that know the token of this start, and no others.

A page elsewhere can send requests to a server on this machine, and a name elsewhere can be made to point here (DNS rebinding). So
the Host must be one that the server was started for, an Origin must be the server's own, and everything but the page's own files
needs the token, which stands only in the address that was printed at the start.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN_HEADER = "x-explorer-token"
MOST_BYTES = 20 << 20

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}


class Guard:
    """Checks every request before the application sees it, and adds the security headers to every answer."""

    def __init__(self, app: App, *, token: str, hosts: Sequence[str], most_bytes: int = MOST_BYTES) -> None:
        self.app, self.token, self.most_bytes = app, token, most_bytes
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *own]}
            await send(message)

        refusal = self.refuse(scope["path"], headers)
        if refusal is not None:
            await self._refuse(answer, *refusal)
            return
        received = 0

        async def receive_some() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.most_bytes:
                raise HTTPException(*self._too_large())
            return message

        await self.app(scope, receive_some, answer)

    def refuse(self, path: str, headers: MutableMapping[str, str]) -> tuple[int, str] | None:
        """The status and the reason for which a request is refused; None if it may pass."""
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        if host not in self.hosts:
            return 421, f"this explorer does not answer for the host {host!r}"
        if origin is not None and origin.lower() not in {f"http://{known}" for known in self.hosts}:
            return 403, "requests from other pages are refused"
        if path.startswith("/api") and not secrets.compare_digest(
            headers.get(TOKEN_HEADER, "").encode(), self.token.encode()
        ):
            return 401, "the token is missing or is not that of this start; open the address that was printed"
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self.most_bytes:
            return self._too_large()
        return None

    def _too_large(self) -> tuple[int, str]:
        return 413, f"a request has at most {self.most_bytes >> 20} MB"

    @staticmethod
    async def _refuse(send: Send, status: int, reason: str) -> None:
        body = json.dumps({"error": reason}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def make_token() -> str:
    return secrets.token_urlsafe(24)


def list_hosts(host: str, port: int) -> list[str]:
    """The values of ``Host`` that a browser sends for an address that the server is bound to."""
    names = {host, "localhost", "127.0.0.1"} if host in ("127.0.0.1", "localhost", "::1") else {host}
    names |= {"[::1]"} if host == "::1" else set()
    return [f"{name}:{port}" for name in sorted(names)] + ([*sorted(names)] if port == 80 else [])
