"""An explorer that runs on this machine while a test lasts, and Debian's Chromium to look at it."""

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from entitynlm.api import load
from entitynlm.explorer.application import make_app
from entitynlm.explorer.security import list_hosts
from entitynlm.explorer.texts import LazyModel, TextShelf, measure_text

SMALL = "entitynlm-en"
TOKEN = "a-token-for-tests"
CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
REDRAWN = ("StaleElementReferenceException", "ElementNotInteractableException")
WHY_NOT = "the browser tests need Chromium: apt-get install chromium chromium-driver"


def make_shelf(name: str = SMALL, **limits: int) -> TextShelf:
    return TextShelf(LazyModel(name, lambda: load(name)), measure_text, **limits)


@contextmanager
def run_explorer(shelf: TextShelf | None = None) -> Iterator[tuple[str, Any]]:
    """The address of a running explorer, and its application."""
    import uvicorn

    shelf = shelf or make_shelf()
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    app = make_app(shelf, token=TOKEN, hosts=list_hosts("127.0.0.1", port))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}", app
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
        shelf.shut()


@contextmanager
def run_chromium(
    *, width: int = 1280, height: int = 860, dark: bool = False, downloads: str | None = None
) -> Iterator[Any]:
    """A browser without a window."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    arguments = [
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--hide-scrollbars",
    ]
    for argument in (*arguments, f"--window-size={width},{height}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    if downloads:
        allow = {"profile.default_content_setting_values.automatic_downloads": 1}
        options.add_experimental_option("prefs", {"download.default_directory": downloads, **allow})
    browser = webdriver.Chrome(options=options, service=Service(DRIVER))
    browser.set_script_timeout(60)
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    if width < 500:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": True}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield browser
    finally:
        browser.quit()


def wait_until(question: Callable[[], Any], seconds: float = 60.0, what: str = "") -> Any:
    """The answer, as soon as it is one."""
    end = time.monotonic() + seconds

    def ask() -> Any:
        try:
            return question()
        except Exception as error:  # an element that was drawn anew in this very moment
            if type(error).__name__ not in REDRAWN:
                raise
            return None

    while not (answer := ask()):
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds:.0f} s in vain {what}")
        time.sleep(0.1)
    return answer
