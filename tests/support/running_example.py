"""The paper's running example (its first two figures), annotated: what people see first, and a golden test."""

from pathlib import Path

from entitynlm.text.formats import registry

FILE = Path(registry.__file__).parents[2] / "resources" / "demo" / "running-example.jsonl"
(RUNNING_EXAMPLE,) = registry.read_documents(FILE)
