"""Call verbs in a process of its own, whose PYTHONHASHSEED the caller has chosen, and list what they print and write.

Standard input is JSON, verb → arguments; standard output is JSON, verb → the SHA-256 of each output by its name.
"""

import hashlib
import json
import os
import re
import shutil
import sys
from pathlib import Path

from typer.testing import CliRunner

from entitynlm.interfaces.cli import app

TIMES = re.compile(rb'"(seconds|tokens_per_second)": [\d.]+')
"""Speed is measured, so it is never the same; it is also in checkpoints, and logs have the time in them."""


def call(verb: str, arguments: str) -> bytes:
    result = CliRunner().invoke(app, [*verb.split(), *arguments.split()])
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.stdout_bytes


def list_outputs(verb: str, arguments: str) -> dict[str, str]:
    """Hash what a verb prints, and writes into the folder ``new``."""
    found = {"standard output": call(verb, arguments)}
    for path in sorted(Path("new").rglob("*")):
        timed = path.suffix in (".log", ".db") or {"log.txt", "checkpoints"} & {*path.parts}
        if path.is_file() and not timed:
            found[str(path)] = path.read_bytes()
    return {
        name: hashlib.sha256(TIMES.sub(b"", content)).hexdigest()
        for name, content in found.items()
        if content
    }


if __name__ == "__main__":
    inputs, folder = Path(sys.argv[1]), Path(sys.argv[2]) / "here"
    outputs = {}
    for name, words in json.load(sys.stdin).items():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(inputs, folder)
        os.chdir(folder)
        outputs[name] = list_outputs(name, words)
        os.chdir(folder.parent)
    print(json.dumps(outputs))
