"""The explorer as an ASGI application: the page's files, the requests under ``/api``, and errors in JSON."""

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
from entitynlm.explorer.security import HEADERS, Guard
from entitynlm.explorer.texts import Missing, TextShelf

PAGE = Path(__file__).parents[1] / "resources" / "explorer"


def make_app(shelf: TextShelf, *, token: str, hosts: Sequence[str]) -> FastAPI:
    """Make the application, which answers requests to these hosts that carry the token; ``state.routes`` handles them."""
    app = FastAPI(
        title="entitynlm explorer",
        version=__version__,
        description="What the page of `entitynlm explore` asks. Every request needs the header `X-Explorer-Token`.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,  # a redirection repeats the query, whose bytes need not be text
    )
    app.add_middleware(Guard, token=token, hosts=hosts)
    app.state.routes = Routes(shelf)
    app.include_router(app.state.routes.router)

    @app.exception_handler(EntityNLMError)
    async def explain(_: Request, error: EntityNLMError) -> JSONResponse:
        if isinstance(error, Busy):  # no error: the page asks again
            return JSONResponse({"wait": str(error)}, 202)
        return JSONResponse({"error": str(error)}, 404 if isinstance(error, Missing) else 422)

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
        return JSONResponse(
            {"error": f"something went wrong in entitynlm: {type(error).__name__}"}, 500, HEADERS
        )

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html", media_type="text/html")

    app.mount("/static", StaticFiles(directory=PAGE), name="static")
    return app
