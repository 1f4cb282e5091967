"""What the verbs of the coreference table share: options, reading, and printing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.errors import ConfigError, DataError

if TYPE_CHECKING:
    from rich.table import Table

    from entitynlm.coref.candidates.files import Ranked
    from entitynlm.coref.ranker.model import Ranker
    from entitynlm.experiments.coref_table import Block, KeyedSplit, Row
    from entitynlm.interfaces.console import Terminal
    from entitynlm.text.corpora.corpus import Corpus

CorpusOption = Annotated[
    Path,
    typer.Option("--corpus", help="A corpus folder with dev and test splits (see: entitynlm data list)."),
]
ScoresOption = Annotated[
    Path | None,
    typer.Option(
        "--scores",
        help="A baseline's antecedent scores or k-best lists: a folder with dev….jsonl and test….jsonl (docs/formats.md).",
    ),
]
KOption = Annotated[int, typer.Option("--k", min=1, help="Candidates per document.")]
MethodsOption = Annotated[
    str,
    typer.Option(
        "--methods",
        help="How candidates are made: swaps (the paper's), samples, or both with a comma between them.",
    ),
]
ExtraOption = Annotated[
    bool,
    typer.Option(
        "--extra/--no-extra",
        help="Also weigh the parts of log P and the proposals' log Q (not in the paper).",
    ),
]
AloneOption = Annotated[
    bool, typer.Option("--alone/--no-alone", help="Also the model by itself, without a baseline.")
]
SamplesOption = Annotated[
    int, typer.Option("--samples", min=1, help="N: the best of so many samples (the model by itself).")
]
TrialsOption = Annotated[int, typer.Option("--trials", min=1, help="Shuffles of the randomisation test.")]

METRICS = ("muc", "b3", "ceafm", "ceafe", "blanc", "lea")
WIDTH = 130  # of the table: nine figures and names beside them; a narrower window wraps its lines
TITLES = {"muc": "MUC", "b3": "B³", "ceafm": "CEAF_m", "ceafe": "CEAF_e", "blanc": "BLANC", "lea": "LEA"}


def read_splits(corpus: Corpus, names: Sequence[str], *, singletons: bool | None) -> list[KeyedSplit]:
    """The documents of some splits with their keys; whether singletons count is seen from the documents if it is not said."""
    from entitynlm.coref.metrics.filters import drop_repetitions
    from entitynlm.coref.ranker.learning import annotates_singletons
    from entitynlm.experiments.coref_table import make_split

    documents = {name: list(corpus.documents(name)) for name in names}
    everything = [document for found in documents.values() for document in found]
    if not everything:
        raise DataError("there are no documents", path=corpus.path)
    if singletons is None:
        singletons = annotates_singletons([drop_repetitions(document) for document in everything])
    return [make_split(name, found, singletons=singletons) for name, found in documents.items()]


def find_files(folder: Path, splits: Sequence[KeyedSplit]) -> dict[str, Path]:
    """The file of each split: the one whose name starts with the split's (dev.antecedents.jsonl, test.jsonl)."""
    if folder.is_file():
        if len(splits) > 1:
            raise ConfigError(
                f"{folder}: one file can't have the scores of {len(splits)} splits; name its folder"
            )
        return {splits[0].name: folder}
    found = {}
    for split in splits:
        files = sorted(folder.glob(f"{split.name}*.jsonl*"))
        if len(files) != 1:
            raise DataError(
                f"there are {len(files) or 'no'} files {split.name}*.jsonl",
                path=folder,
                expected="one for each split",
            )
        found[split.name] = files[0]
    return found


def read_ranked(path: Path, split: KeyedSplit) -> list[Ranked]:
    """Scores or lists of a split, in the order of its documents."""
    from entitynlm.coref.candidates.files import read_candidates

    documents = {document.id: document for document in split.documents}
    found = {item.doc_id: item for _, item in read_candidates(path, documents)}
    missing = [doc_id for doc_id in documents if doc_id not in found]
    if missing:
        raise DataError(
            f"{len(missing)} of the {len(documents)} documents of {split.name} have no scores ({missing[0]}, …)",
            path=path,
        )
    return [found[doc_id] for doc_id in documents]


def rank(ranker: Ranker, split: KeyedSplit, terminal: Terminal) -> list[Ranked]:
    """The antecedent scores of our own baseline."""
    documents = terminal.track(list(split.documents), f"ranking {split.name}")
    return [ranker.score(document) for document in documents]


def split_methods(text: str) -> tuple[str, ...]:
    """``swaps,samples`` as names that are known."""
    from entitynlm.coref.candidates.kbest import get_decoder

    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        get_decoder(name)
    if not names:
        raise ConfigError("--methods wants one method at least")
    return names


def follow(progress: Any) -> Any:
    """A progress bar for each step that is told about."""
    tasks: dict[str, Any] = {}

    def tell(step: str, done: int, total: int) -> None:
        if step not in tasks:
            tasks[step] = progress.add_task(step, total=total, note="documents")
        progress.update(tasks[step], completed=done)

    return tell


def print_block(block: Block, described: dict[str, Any], terminal: Terminal) -> None:
    """A table for each split, and the weights that were found."""
    for split, rows in block.rows.items():
        print_rows(f"{block.title}, {split}", rows, described["splits"][split]["rows"], terminal)
    for name, item in block.found.items():
        weights = ", ".join(f"{key} {value:.4g}" for key, value in item.combination.weights.items())
        terminal.print(f"  {name}: {weights} ({item.tried} settings, {item.conll:.2f} on dev)")


def print_rows(
    title: str, rows: Sequence[Row], described: Sequence[dict[str, Any]], terminal: Terminal
) -> None:
    """One table, in full width also where the terminal is narrow or a file."""
    table = draw_rows(title, rows, described)
    before = terminal.out.width
    terminal.out.width = max(WIDTH, before)
    try:
        terminal.print(table, crop=False)
    finally:
        terminal.out.width = before


def draw_rows(title: str, rows: Sequence[Row], described: Sequence[dict[str, Any]]) -> Table:
    """Rows as the paper prints them: CoNLL first, then F1 of every metric, then the difference from the first row."""
    from rich.table import Table

    table = Table(title=f"{title} ({len(rows[0].counts)} documents, F1)", title_justify="left", box=None)
    table.add_column("", no_wrap=True)
    for heading in ("CoNLL", *(TITLES[name] for name in METRICS), "mentions", "gain", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row, entry in zip(rows, described, strict=True):
        figures = [f"{row.counts.score(name).f1:.2f}" for name in METRICS]
        versus = entry.get("versus_first", {}).get("conll")
        gain = [f"{versus['difference']:+.2f}", f"{versus['p_value']:.3f}"] if versus else ["", ""]
        table.add_row(row.name, f"{row.conll:.2f}", *figures, f"{row.counts.score('mentions').f1:.2f}", *gain)
    return table


def describe_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows without a baseline to compare them with."""
    return [{"name": row.name, **row.counts.to_json()} for row in rows]
