"""``entitynlm explore``: a page on this machine on which a person watches a model read."""

import socket
import threading
import warnings
import webbrowser
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.errors import ConfigError, require
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.inputs import name_of, read_input

if TYPE_CHECKING:
    from entitynlm.api import EntityNLM
    from entitynlm.text.document import Document


def explore(
    *,
    file: Annotated[str | None, typer.Argument(metavar="FILE", callback=options.check_exists)] = None,
    model: options.ModelOptions,
    document: options.DocumentId = None,
    format: options.Format = None,
    host: str = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser")] = True,
    terminal: Terminal,
) -> None:
    """Open a page in the browser to watch the model read, and correct it.

    The page shows the text with its entities and its surprisal, what the model expects at every word from the words
    before it, and drawings. Everything stays on this machine: the server listens at 127.0.0.1 unless --host says
    otherwise, and only the printed address opens it. Needs the extra web.

    Examples:

      entitynlm explore
      entitynlm explore story.txt
      entitynlm explore story.txt --model entitynlm-en --no-browser --port 8765

    :param file: The text to open; default: the page asks for one.
    :param host: The address to listen at. People who can reach it and know the printed address can use the explorer.
    :param port: The port to listen at; 0: any free port.
    :param browser: Open the page in the browser at once; otherwise its address is only printed.
    """
    for module in ("fastapi", "uvicorn"):
        require(module, extra="web", purpose="entitynlm explore")
    if file is None and document is not None:
        raise ConfigError("--document belongs to a FILE")
    opened = None if file is None else read_input(file, terminal, format, document)
    listener = listen(host, port)
    serve(listener, host, model, opened, name_of(file) if file else "", terminal, browser=browser)


def listen(host: str, port: int) -> socket.socket:
    """Open a socket at the address, or raise an error that says what is wrong with it."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigError(
            f"can't listen at {host}, port {port} ({error.strerror or error}); try another --port"
        ) from error


def serve(
    listener: socket.socket, host: str, model: options.ModelOptions,
    opened: "Document | None", name: str, terminal: Terminal, *, browser: bool,
) -> None:  # fmt: skip
    """Answer until Ctrl-C. The page is there at once; models are loaded while it is looked at."""
    import uvicorn

    from entitynlm.explorer.application import make_app
    from entitynlm.explorer.security import list_hosts, make_token
    from entitynlm.explorer.texts import LazyModel, TextShelf, measure_text

    def load() -> "EntityNLM":
        from entitynlm.api import EntityNLM

        return EntityNLM(model.load(terminal))

    port, token = listener.getsockname()[1], make_token()
    shelf = TextShelf(LazyModel(model.model, load), measure_text)
    app = make_app(shelf, token=token, hosts=list_hosts(host, port))
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/#token={token}"
    if opened is not None:
        text = app.state.routes.open_document(opened, name)
        address += f"&text={text.id}"
    else:  # load the model before the first request for it
        shelf.worker.submit(lambda job: shelf.model.get())
    terminal.print(f"the explorer is at {address}", markup=False)
    terminal.remark("Ctrl-C ends it", markup=False)
    if browser:
        threading.Timer(0.3, webbrowser.open, [address]).start()
    # doubts about a text are shown on the page
    warnings.filterwarnings("ignore", category=UserWarning, module="entitynlm.explorer")
    config: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False}
    server = uvicorn.Server(uvicorn.Config(app, limit_concurrency=256, timeout_keep_alive=30, **config))
    server.run(sockets=[listener])
    shelf.shut()
