"""Make pictures of the explorer and of a report from the real pages, to be looked at, and those of README and docs.

    python scripts/screenshots.py --out docs/images                        # the pictures of the docs, with a story of ours
    python scripts/screenshots.py --out build/pictures --all my-chapter.txt  # three widths, light and dark

Needs the extras web and dev, and Chromium: apt-get install chromium chromium-driver.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

STORY = Path(__file__).resolve().parents[1] / "src/entitynlm/resources/demo/captain-reed.txt"
VIEWS = {  # name → what the address says, what must be there
    "look": ("", "#network"),
    "entities": ("&at=144&tab=entities&entity=2", ".card"),
    "expect": ("&at=71&tab=expect", ".referent"),
}
PICTURES = {"explorer": ("look", False), "explorer-expect": ("expect", True)}
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-sync"
)


def open_browser() -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in FLAGS.split():
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def set_screen(browser: Any, width: int, height: int, *, dark: bool) -> None:
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def wait_for(browser: Any, code: str, seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not browser.execute_script(f"return {code}"):
        if time.monotonic() > end:
            raise SystemExit(f"the page never showed {code}")
        time.sleep(0.3)


def show(browser: Any, address: str, view: str) -> None:
    """Show a view of the explorer when all of it is there."""
    place, needed = VIEWS[view]
    browser.get("about:blank")
    browser.get(address + place)
    wait_for(browser, "document.querySelector('#progress')?.textContent.includes('log P =')")
    wait_for(browser, f"Boolean(document.querySelector('{needed}'))")
    time.sleep(1)


def take(browser: Any, path: Path) -> None:
    browser.save_screenshot(str(path))
    print(f"wrote {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("text", type=Path, nargs="?", default=STORY)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--model", default="entitynlm-en")
    parser.add_argument("--all", action="store_true", help="every view at three widths, light and dark")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    verb = [sys.executable, "-u", "-m", "entitynlm.interfaces.cli"]
    report = (given.out / "report.html").resolve()
    subprocess.run(
        [*verb, "report", str(given.text), "--model", given.model, "--out", str(report), "--force"],
        check=True,
    )
    command = [*verb, "explore", str(given.text), "--model", given.model, "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found, "the explorer did not start"
        browser = open_browser()
        if given.all:
            for width, height in ((390, 844), (820, 1100), (1440, 900)):
                for dark in (False, True):
                    set_screen(browser, width, height, dark=dark)
                    ending = f"{width}-{'dark' if dark else 'light'}.png"
                    for view in VIEWS:
                        show(browser, found.group(), view)
                        take(browser, given.out / f"{view}-{ending}")
                    browser.get(report.as_uri())
                    for part in ("", "characters", "network"):
                        browser.execute_script(f"document.getElementById('{part}')?.scrollIntoView()")
                        take(browser, given.out / f"report-{part or 'top'}-{ending}")
        else:
            for name, (view, dark) in PICTURES.items():
                set_screen(browser, 1280, 800, dark=dark)
                show(browser, found.group(), view)
                take(browser, given.out / f"{name}.png")
            set_screen(browser, 1180, 760, dark=False)
            browser.get(report.as_uri())
            take(browser, given.out / "report.png")
        browser.quit()
    finally:
        server.terminate()
        server.wait(30)
        report.unlink()


if __name__ == "__main__":
    main()
