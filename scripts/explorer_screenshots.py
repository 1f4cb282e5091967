"""Make the pictures of the explorer in README and docs from the real page, with a story of ours.

    python scripts/explorer_screenshots.py --out docs/images

Needs the extras web and dev, and Chromium: apt-get install chromium chromium-driver.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

STORY = Path(__file__).resolve().parents[1] / "src/entitynlm/resources/demo/captain-reed.txt"
PICTURES = {  # file → what the address says, what must be there, whether it is dark
    "explorer.png": ("at=102", ".referent", False),
    "explorer-entities.png": ("at=144&tab=entities&entity=2", ".card", False),
    "explorer-look.png": ("at=102&tab=look", "#network", True),
}


def open_browser() -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,800"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def wait_for(browser: Any, code: str, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not browser.execute_script(f"return {code}"):
        if time.monotonic() > end:
            raise SystemExit(f"the page never showed {code}")
        time.sleep(0.3)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--model", default="entitynlm-en")
    given = parser.parse_args()
    command = ["explore", str(STORY), "--model", given.model, "--no-browser"]
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "entitynlm.interfaces.cli", *command], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found, "the explorer did not start"
        browser = open_browser()
        for name, (place, needed, dark) in PICTURES.items():
            scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
            browser.get("about:blank")
            browser.get(f"{found.group()}&{place}")
            wait_for(browser, "document.querySelector('#progress')?.textContent.includes('log P')")
            wait_for(browser, f"Boolean(document.querySelector('{needed}'))")
            time.sleep(1.5)
            browser.save_screenshot(str(given.out / name))
            print(f"wrote {given.out / name}")
        browser.quit()
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    main()
