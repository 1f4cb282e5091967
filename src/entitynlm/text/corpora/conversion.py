"""Conversion of a corpus into another format, with one file per split or one file per file."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from entitynlm.text.corpora.corpus import Corpus
from entitynlm.text.document import Document
from entitynlm.text.formats.base import ENDINGS, Report, ignore, strip_endings
from entitynlm.text.formats.registry import get_format, read_documents, write_documents

Layout = Literal["merged", "folders"]


@dataclass(frozen=True)
class ConversionStep:
    """One file (or, for brat, one folder) to write, and the files it is made of."""

    split: str
    sources: tuple[Path, ...]
    target: Path


def plan_conversion(
    corpus: Corpus, out: Path, *, to: str, layout: Layout | None = None
) -> list[ConversionStep]:
    """List the files to write for a corpus: ``merged`` makes one file per split, ``folders`` one for each file of the corpus.

    The default is ``folders`` for CoNLL-2012, named so that they are recognised again (``development/…/name.v4_gold_conll``).
    """
    form = get_format(to)
    layout = layout or ("folders" if to == "conll2012" else "merged")
    steps = []
    for split, files in corpus.splits.items():
        if layout == "merged":
            target = out / split if form.write_folder else out / f"{split}{form.suffix}"
            steps.append(ConversionStep(split, files, target))
            continue
        folder = out / ("development" if to == "conll2012" and split == "dev" else split)
        suffix = ".v4_gold_conll" if to == "conll2012" else form.suffix
        base = Path(os.path.commonpath([path.parent for path in files]))
        for path in files:
            name = strip_endings(path.name, (*ENDINGS, "_gold_conll", "_auto_conll"))
            stem = path.relative_to(base).with_name(re.sub(r"(?<=.)\.v\d+$", "", name))
            target = folder if form.write_folder else folder / f"{stem}{suffix}"
            steps.append(ConversionStep(split, (path,), target))
    return steps


def run_step(step: ConversionStep, *, to: str, format: str | None = None, on_oddity: Report = ignore) -> int:
    """Write one file of the plan, streaming; the number of documents."""
    count = 0

    def documents() -> Iterator[Document]:
        nonlocal count
        for path in step.sources:
            for document in read_documents(path, format, on_oddity=on_oddity):
                count += 1
                yield document

    write_documents(documents(), step.target, to)
    return count
