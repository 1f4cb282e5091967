"""Admit requests from the explorer's own pages that carry the token of this start, and no others.

A page elsewhere can send requests to a server on this machine, and a domain name elsewhere can point here (DNS rebinding). So
Host must be a host that the server was started for, Origin must be the server's own, and every request but that of a static file
needs the token, which is part of the printed address only.
"""

import secrets
from collections.abc import Mapping, Sequence

from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

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


class Guard(BaseHTTPMiddleware):
    """Check every request before the application sees it, and add the security headers to every answer."""

    def __init__(self, app: ASGIApp, *, token: str, hosts: Sequence[str]) -> None:
        super().__init__(app)
        self.token, self.hosts = token, frozenset(host.lower() for host in hosts)

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        refusal = self.refuse(request.scope["path"], request.headers)
        if refusal is None:
            answer = await call_next(request)
        else:
            status, reason = refusal
            answer = JSONResponse({"error": reason}, status)
        answer.headers.update(HEADERS)
        return answer

    def refuse(self, path: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Return the status and the reason with which a request is refused; None if it is admitted."""
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        if host not in self.hosts:
            return 421, f"this explorer does not answer for the host {host!r}"
        if origin is not None and origin.lower() not in {f"http://{known}" for known in self.hosts}:
            return 403, "requests from other pages are refused"
        if path.startswith("/api") and not secrets.compare_digest(
            headers.get(TOKEN_HEADER, "").encode(), self.token.encode()
        ):
            return 401, "the token is missing or is not that of this start; open the address that was printed"
        if "transfer-encoding" in headers:  # without a length, which the server holds a request to
            return 411, "a request says how long it is"
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, f"a request has at most {MOST_BYTES >> 20} MB"
        return None


def make_token() -> str:
    return secrets.token_urlsafe(24)


def list_hosts(host: str, port: int) -> list[str]:
    """List the values of ``Host`` that a browser sends for an address that the server is bound to."""
    names = {host, "localhost", "127.0.0.1"} if host in ("127.0.0.1", "localhost", "::1") else {host}
    names |= {"[::1]"} if host == "::1" else set()
    return [f"{name}:{port}" for name in sorted(names)] + ([*sorted(names)] if port == 80 else [])
