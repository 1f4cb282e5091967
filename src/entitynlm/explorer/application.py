"""The explorer as an ASGI application: the page's files, the requests under ``/api``, and errors in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from entitynlm import __version__
from entitynlm.errors import Busy, EntityNLMError
from entitynlm.explorer.routes import Routes
from entitynlm.explorer.security import Guard
from entitynlm.explorer.texts import Dropped, Missing, TextShelf

PAGE = Path(__file__).parents[1] / "resources" / "explorer"
STATUS: tuple[tuple[type[EntityNLMError], int], ...] = (
    (Missing, 404),
    (Dropped, 410),
    (Busy, 503),
    (EntityNLMError, 422),
)


class Application(Guard):
    """Serve the routes behind the guard; ``routes`` lets the command open a text before the server starts."""

    def __init__(self, app: FastAPI, routes: Routes, *, token: str, hosts: Sequence[str]) -> None:
        super().__init__(app, token=token, hosts=hosts)
        self.routes, self.openapi = routes, app.openapi


def make_app(shelf: TextShelf, *, token: str, hosts: Sequence[str]) -> Application:
    """The application; it answers for these hosts, to those who know the token."""

    app = FastAPI(
        title="entitynlm explorer",
        version=__version__,
        description="What the page of `entitynlm explore` asks. Every request needs the header `X-Explorer-Token`.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    routes = Routes(shelf)
    app.include_router(routes.router)

    @app.exception_handler(EntityNLMError)
    async def explain(_: Request, error: EntityNLMError) -> JSONResponse:
        status = next(code for kind, code in STATUS if isinstance(error, kind))
        return JSONResponse({"error": str(error)}, status)

    @app.exception_handler(HTTPException)
    async def refuse(_: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)

    @app.exception_handler(RequestValidationError)
    async def correct(_: Request, error: RequestValidationError) -> JSONResponse:
        found = "; ".join(
            f"{'.'.join(str(part) for part in one['loc'] if part not in ('body', 'query', 'path'))}: {one['msg']}"
            for one in error.errors()[:3]
        )
        return JSONResponse({"error": f"this request can't be understood: {found}"}, 422)

    @app.exception_handler(Exception)
    async def admit(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": f"something went wrong in entitynlm: {type(error).__name__}"}, 500)

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html", media_type="text/html")

    app.mount("/static", StaticFiles(directory=PAGE), name="static")
    return Application(app, routes, token=token, hosts=hosts)
