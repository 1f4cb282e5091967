"""Read uploads from memory; what is large or packed is read in a process of its own, with a limit of time and memory.

A file of a few kilobytes can unpack to gigabytes, and one of some megabytes can keep a reader busy for minutes.
"""

import contextlib
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from entitynlm.errors import DataError, EntityNLMError
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import read_upload

MOST_UNPACKED = 20 << 20  # bytes
MOST_MEMORY = 1 << 30  # bytes of address space for reading, beyond those of the libraries
SMALL_UPLOAD = 256 << 10  # bytes that are read at once, because another process takes a second to start
PACKED = (b"\x1f\x8b", b"PK")  # how gzip and zip begin
MOST_OTHERS = 5  # documents of a file that are named, besides the one that is opened
SECONDS = 60.0


Found = tuple[Document, list[str]]  # one document of a file, and what a person should know about the file


def read_file(content: bytes, name: str) -> Found:
    """Read the first document of an upload."""
    small = len(content) <= SMALL_UPLOAD and not content.startswith(PACKED)
    return (read_one if small else read_apart)(content, name)


def read_apart(content: bytes, name: str) -> Found:
    """Read a document as :func:`read_one` does, in a process that ends with an error where a limit is passed."""
    request = json.dumps(name).encode() + b"\n" + content
    command = [sys.executable, "-m", "entitynlm.explorer.uploads"]
    try:
        done = subprocess.run(command, input=request, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise DataError(f"it can't be read within {SECONDS:g} seconds", path=name) from None
    if done.returncode != 0:
        raise DataError("it can't be read within the memory that there is for uploads", path=name)
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise DataError(answer["error"])
    return Document.from_dict(answer["document"]), answer["remarks"]


def read_one(content: bytes, name: str) -> Found:
    """Read the first document of a file that is in memory."""
    remarks: list[str] = []
    documents = read_upload(
        content, name, most=MOST_UNPACKED, on_oddity=lambda oddity: remarks.append(oddity.message)
    )
    found = next(documents, None)
    if found is None:
        raise DataError("there is no document in this file", path=name, expected="a text with a word in it")
    del remarks[5:]
    others = [document.id for document in itertools.islice(documents, MOST_OTHERS)]
    if others:
        remarks.insert(0, f"this is the document {found.id}; the file also has {', '.join(others)}")
    return found, remarks


def answer_request(request: bytes) -> dict[str, Any]:
    """Read the file of a request of :func:`read_apart`, and describe its document or the error as JSON has it."""
    head, _, content = request.partition(b"\n")
    try:
        document, remarks = read_one(content, json.loads(head))
    except EntityNLMError as error:
        return {"error": str(error)}
    return {"document": document.to_dict(), "remarks": remarks}


def limit_memory() -> None:
    """Bound the address space of this process, where the system can (not on Windows)."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        import spacy  # noqa: F401 its libraries are mapped before the limit counts

        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MOST_MEMORY, used + MOST_MEMORY))


if __name__ == "__main__":
    limit_memory()
    sys.stdout.buffer.write(json.dumps(answer_request(sys.stdin.buffer.read())).encode())
