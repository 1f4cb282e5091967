"""The explorer under load: how long a step takes for one reader, and for fifty readers at once.

    python -m benchmarks.explorer --model entitynlm-en --readers 50 --out explorer.json

The server runs in a process of its own, as ``entitynlm explore`` starts it. Every reader steps through the same text from a place
of its own, and waits for each answer before the next step.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

STORY = Path(__file__).resolve().parents[1] / "src/entitynlm/resources/demo/captain-reed.txt"


class Reader:
    """One who asks the server."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self.headers = address, {"X-Explorer-Token": token}

    def get(self, path: str) -> Any:
        request = urllib.request.Request(f"{self.address}/api{path}", headers=self.headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def step(self, text: str, at: int, by: str) -> float:
        """Seconds until the answer; a server that is still reading is asked again."""
        started = time.perf_counter()
        while "wait" in self.get(f"/texts/{text}/step?at={at}&by={by}"):
            pass
        return time.perf_counter() - started


def write_text(words: int, folder: Path) -> Path:
    """A text of so many words: the demo's story, again and again."""
    story = STORY.read_text(encoding="utf-8").split()
    path = folder / "long.txt"
    path.write_text(" ".join((story * (words // len(story) + 1))[:words]), encoding="utf-8")
    return path


def describe(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    at = {"median": 0.5, "slowest_tenth": 0.9, "slowest_hundredth": 0.99}
    return {
        name: round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)
        for name, share in at.items()
    }


def measure(reader: Reader, text: str, words: int, readers: int, steps: int) -> dict[str, Any]:
    """Milliseconds: one reader who steps on, one who jumps about, and many at once."""
    for by in ("words", "mentions"):
        reader.step(text, words - 1, by)  # once to the end: what is kept on the way is there from now on
    half, gap = words // 2, words // readers
    found = {f"{readers} readers at once": read_together(reader, text, readers, min(steps, gap), gap)}
    for by in ("words", "mentions"):
        on = [reader.step(text, at, by) for at in range(half, half + 60)]
        jumps = [half + 60 + (at * 389) % (words - half - 60) for at in range(40)]
        found[f"stepping by {by}"] = describe(on)
        found[f"jumping by {by}"] = describe([reader.step(text, at, by) for at in jumps])
    return found


def read_together(reader: Reader, text: str, readers: int, steps: int, gap: int) -> dict[str, float]:
    """All readers at once in the first half of the text, every other one along words, the others along mentions."""
    errors: list[str] = []
    times: list[float] = []
    together = threading.Barrier(readers)

    def read(number: int) -> None:
        together.wait()
        first = (number // 2) * gap
        for at in range(first, first + steps):
            try:
                times.append(reader.step(text, at, "mentions" if number % 2 else "words"))
            except OSError as error:
                errors.append(str(error))

    started = time.perf_counter()
    with ThreadPoolExecutor(readers) as pool:
        list(pool.map(read, range(readers)))
    seconds = time.perf_counter() - started
    return {**describe(times), "errors": len(errors), "steps_per_second": round(len(times) / seconds, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", default="entitynlm-en")
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--steps", type=int, default=10, help="of each reader")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = write_text(given.words, Path(folder))
        command = ["explore", str(path), "--model", given.model, "--no-browser", "--threads", "1"]
        server = subprocess.Popen(
            [sys.executable, "-u", "-m", "entitynlm.interfaces.cli", *command],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            line = re.search(r"(http://[\w.:]+)/#token=([\w-]+)&text=([\w-]+)", server.stdout.readline())
            assert line, "the explorer did not start"
            reader, text = Reader(line.group(1), line.group(2)), line.group(3)
            started = time.perf_counter()
            while (info := reader.get(f"/texts/{text}"))["state"] in ("waiting", "running"):
                time.sleep(0.2)
            figures = {
                "model": given.model,
                "words": info["tokens"],
                "analysis_seconds": round(time.perf_counter() - started, 1),
                "milliseconds": measure(reader, text, info["tokens"], given.readers, given.steps),
            }
        finally:
            server.terminate()
            server.wait(30)
    print(json.dumps(figures, indent=2))
    if given.out:
        given.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
