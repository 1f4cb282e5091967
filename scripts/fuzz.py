"""Give every target of ``tests/support/fuzz_targets.py`` its share of a million inputs that follow the coverage (atheris).

    python scripts/fuzz.py --inputs 1000000 --out build/fuzz

Each target runs in a process of its own, with a limit of time for one input and of memory. An input that raises anything but an
error of ours is kept in ``OUT/TARGET/``, one for each place in the code, and the target goes on; the exit code is 1 if there is
one. Move such a file to ``tests/fuzz_findings/``, where the default suite tries it from then on.
"""

import argparse
import hashlib
import json
import logging
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLLOWED = [  # whose branches are followed; functions that numba compiles can't be
    *(
        f"entitynlm.{name}"
        for name in ("config", "files", "text", "coref.candidates", "coref.metrics", "lm.items", "generation")
    ),
    "entitynlm.interfaces.commands",
    "entitynlm.explorer",
    *(f"entitynlm.model.{name}" for name in ("packaged", "pretrained", "stored_weights", "encoding.encoder")),
    "entitynlm.model.encoding.embeddings",
]
LIMITS = ["-timeout=30", "-rss_limit_mb=3000", "-max_len=6000", "-print_final_stats=0", "-verbosity=0"]


def fuzz(name: str, inputs: int, seed: int, folder: Path) -> None:
    """Run one target in this process, which libFuzzer ends."""
    import atheris

    sys.path.insert(0, str(ROOT / "tests"))
    warnings.simplefilter("ignore")
    logging.disable()
    with atheris.instrument_imports(include=FOLLOWED):
        from support.fuzz_targets import TARGETS
    target = TARGETS[name]
    corpus = folder / "seeds"
    corpus.mkdir(parents=True, exist_ok=True)
    found_before = sorted((ROOT / "tests" / "fuzz_findings" / folder.name).glob("*"))
    seeds = [*target.make_seeds(), *(path.read_bytes() for path in found_before)]
    for number, data in enumerate(seeds):
        (corpus / str(number)).write_bytes(data)
        target.try_input(data)  # what is imported and compiled at first is not counted as time of an input
    found: dict[str, str] = {}
    count, started = 0, time.process_time()

    def try_one(data: bytes) -> None:
        nonlocal count
        count += 1
        try:
            target.try_input(data)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
            if where not in found:
                found[where] = hashlib.sha256(data).hexdigest()[:12]
                (folder / found[where]).write_bytes(data)
                print(f"   {name}: {where} ({error!s:.120}): {folder / found[where]}", flush=True)
        if count % 1000 == 0 or count >= inputs:
            figures = {"inputs": count, "seconds": round(time.process_time() - started, 1), "findings": found}
            (folder / "figures.json").write_text(json.dumps(figures))

    arguments = [
        sys.argv[0],
        str(corpus),
        f"-runs={inputs}",
        f"-seed={seed}",
        f"-artifact_prefix={folder}/",
        *LIMITS,
    ]
    atheris.Setup(arguments, try_one)
    atheris.Fuzz()


def read_figures(folder: Path) -> dict[str, Any]:
    path = folder / "figures.json"
    figures: dict[str, Any] = {"inputs": 0, "seconds": 0.0, "findings": {}}
    return json.loads(path.read_text()) if path.exists() else figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--only", help="a target, instead of all", default="")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        fuzz(given.only, given.inputs, given.seed, given.out)
        return 0
    sys.path.insert(0, str(ROOT / "tests"))
    from support.fuzz_targets import TARGETS, remove_folders

    remove_folders()
    chosen = [target for target in TARGETS.values() if given.only in ("", target.name)]
    shares = sum(target.share for target in chosen)
    bad = total = 0
    for target in chosen:
        folder = given.out / target.name.replace(" ", "-")
        inputs = max(1, given.inputs * target.share // shares)
        command = [sys.executable, __file__, "--here", "--only", target.name, "--inputs", str(inputs)]
        done = subprocess.run(
            [*command, "--seed", str(given.seed), "--out", str(folder)], stderr=subprocess.PIPE, text=True
        )
        figures = read_figures(folder)
        stopped = [
            path.name for path in folder.glob("*-*") if path.name.startswith(("timeout-", "oom-", "crash-"))
        ]
        bad += len(figures["findings"]) + len(stopped) + bool(done.returncode)
        total += figures["inputs"]
        numbers = f"{figures['inputs']:>9,} inputs {figures['seconds']:>8,.0f} CPU-s"
        print(f"{target.name:28} {numbers}  {len(figures['findings'])} findings", flush=True)
        if stopped or done.returncode:
            print(f"   stopped: {', '.join(stopped) or done.stderr[-400:]}", flush=True)
    print(f"{total:,} inputs, {bad} findings")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
