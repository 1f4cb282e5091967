"""Options that the verbs of the language-modelling table share, and how they become what the task wants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from entitynlm.errors import ConfigError

if TYPE_CHECKING:
    from rich.progress import Progress

    from entitynlm.lm.evaluation import OnDocument, Sampling
    from entitynlm.text.corpora.corpus import Corpus

SamplesOption = Annotated[int, typer.Option("--samples", min=1, help="N: samples per document and repeat.")]
RepeatsOption = Annotated[
    int, typer.Option("--repeats", min=1, help="Independent estimates; their spread gives the error.")
]
MethodOption = Annotated[
    str, typer.Option("--method", help="How P(X) is estimated: particle-filter or importance.")
]
ProposalOption = Annotated[
    str | None,
    typer.Option(
        "--proposal", help="Q: causal or lookahead; default: lookahead where the model has it, else causal."
    ),
]
PriorOption = Annotated[
    float | None,
    typer.Option(
        "--prior-share",
        help="How much of P's own choices is mixed into Q's, 0 to 1 (the paper: 0); default: 0.8.",
    ),
]
CacheOption = Annotated[
    float,
    typer.Option(
        "--cache",
        min=0.0,
        help="Add rows for the LSTM and EntityNLM with a word cache of this share, e.g. 0.12: what mere repetition is worth.",
    ),
]
ReadingsOption = Annotated[
    str,
    typer.Option(
        "--readings", help="Rows of EntityNLM: some of marginal, words-only, joint, given-entities."
    ),
]
SplitOption = Annotated[
    str | None, typer.Option("--split", help="Splits to measure; default: dev and test, where they are.")
]
WorkersOption = Annotated[
    int, typer.Option("--workers", min=1, help="Documents estimated at the same time; changes no figure.")
]
NgramOption = Annotated[bool, typer.Option("--ngram/--no-ngram", help="With or without the 5-gram row.")]

ALL_READINGS = "marginal,words-only,joint,given-entities"


def split_list(text: str) -> list[str]:
    """``dev,test`` as its parts."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def parse_numbers(text: str, option: str) -> list[int]:
    """``1,2,3`` as numbers."""
    try:
        numbers = [int(part) for part in split_list(text)]
    except ValueError:
        raise ConfigError(f"{option} wants whole numbers with commas between them, not {text!r}") from None
    if not numbers:
        raise ConfigError(f"{option} wants one number at least")
    return numbers


def make_sampling(
    *,
    samples: int,
    repeats: int,
    method: str,
    proposal: str | None,
    prior_share: float | None,
    seed: int,
    workers: int,
    cache: float = 0.0,
) -> Sampling:
    """The options as the task wants them; the task itself says what is wrong with them."""
    from entitynlm.inference.marginal import PRIOR_SHARE
    from entitynlm.lm.evaluation import Sampling

    return Sampling(
        samples,
        repeats,
        cast(Any, method),
        cast(Any, proposal),
        seed,
        workers,
        PRIOR_SHARE if prior_share is None else prior_share,
        cache,
    )


def choose_splits(corpus: Corpus, wanted: str | None) -> list[str]:
    """The splits asked for (all must be there), or those of dev and test that are, or all that there is."""
    if wanted is not None:
        splits = split_list(wanted)
        for split in splits:
            corpus.files(split)
        if not splits:
            raise ConfigError("--split wants one split at least")
        return splits
    return [split for split in ("dev", "test") if split in corpus.splits] or list(corpus.splits)


def follow_documents(progress: Progress) -> OnDocument:
    """A progress bar per row; a row that starts again (the next split) starts its bar again."""
    tasks: dict[str, Any] = {}

    def tell(row: str, done: int, total: int) -> None:
        if row not in tasks:
            tasks[row] = progress.add_task(row, total=total, note="documents")
        progress.update(tasks[row], completed=done, total=total)

    return tell
