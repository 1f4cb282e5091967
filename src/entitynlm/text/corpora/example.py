"""The paper's running example (its first two figures), annotated: what people see first, and a golden test."""

from pathlib import Path

from entitynlm.text.formats.registry import read_documents

FILE = Path(__file__).parents[2] / "resources" / "demo" / "running-example.jsonl"
(RUNNING_EXAMPLE,) = read_documents(FILE)
