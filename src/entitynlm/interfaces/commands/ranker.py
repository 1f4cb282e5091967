"""``entitynlm ranker``: train the coreference baseline, apply it, and make k-best lists from its (or
anyone's) scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.options import FormatOption, JsonOption, QuietOption, SeedOption

if TYPE_CHECKING:
    from entitynlm.coref.candidates.antecedents import AntecedentScores
    from entitynlm.coref.ranker.model import Ranker
    from entitynlm.text.document import Document

app = typer.Typer(
    help="A coreference baseline that ranks antecedents: train, apply, kbest.", no_args_is_help=True
)

CorpusOption = Annotated[
    str, typer.Option("--corpus", help="A corpus folder or a file in any readable format.")
]


class Mentions(str, Enum):
    """Where mentions come from."""

    syntax = "syntax"
    learned = "learned"
    given = "given"


class Method(str, Enum):
    """How a k-best list is made."""

    swaps = "swaps"
    samples = "samples"


MentionsOption = Annotated[
    Mentions | None,
    typer.Option(
        help="Mentions from syntax, from a learned finder, or as given; default: what the documents allow."
    ),
]


@app.command(epilog="Example: entitynlm ranker train --corpus corpora/ontogum --out runs/ranker")
def train(
    corpus: CorpusOption,
    out: Annotated[Path, typer.Option("--out", help="The folder to write the ranker to.")],
    split: Annotated[
        str | None, typer.Option(help="The split to train on; default: train where there is one.")
    ] = None,
    types: Annotated[
        str | None,
        typer.Option(
            help="A corpus with entity types (GUM, LitBank's brat): its lexicon of types becomes a feature."
        ),
    ] = None,
    mentions: MentionsOption = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the documents.")] = 4,
    format: FormatOption = None,
    seed: SeedOption = 0,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Train a ranker on annotated documents (OntoGUM's 177 take about a minute)."""
    terminal = Terminal(quiet=quiet, json_path=json)
    from entitynlm.coref.ranker.learning import learn_types, train_ranker
    from entitynlm.coref.ranker.mentions import MentionSource
    from entitynlm.coref.ranker.model import RankerSettings

    documents = list(_read(corpus, format, split or "train", required=split is not None))
    lexicon = learn_types(_read(types, None, "train", required=False)) if types else None
    settings = RankerSettings(
        mentions=MentionSource(mentions.value) if mentions else None, epochs=epochs, seed=seed
    )
    losses: list[float] = []
    with terminal.progress() as progress:
        task = progress.add_task("training", total=epochs, note="")

        def report(epoch: int, loss: float) -> None:
            losses.append(loss)
            progress.update(task, completed=epoch, note=f"loss {loss:,.0f}")

        ranker = train_ranker(documents, settings, types=lexicon, on_epoch=report)
    ranker.save(out)
    terminal.print(
        f"trained on {len(documents)} documents, mentions: {ranker.source.value}, "
        f"singletons: {'yes' if ranker.singletons else 'no'}; written to {print_path(out)}"
    )
    terminal.write_json(
        {
            "documents": len(documents),
            "losses": losses,
            "mentions": ranker.source.value,
            "singletons": ranker.singletons,
        }
    )


@app.command(
    epilog="Example: entitynlm ranker apply runs/ranker --corpus corpora/ontogum --split test --out system.conll"
)
def apply(
    model: Annotated[Path, typer.Argument(help="The folder of a trained ranker.")],
    corpus: CorpusOption,
    out: Annotated[
        str | None, typer.Option("--out", help="Write the documents with their entities here.")
    ] = None,
    out_format: Annotated[str, typer.Option(help="The format of --out.")] = "conll2012",
    scores: Annotated[
        str | None, typer.Option("--scores", help="Write all antecedent scores here, as JSON lines.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="The split of the corpus; default: all.")] = None,
    mentions: MentionsOption = None,
    format: FormatOption = None,
    quiet: QuietOption = False,
) -> None:
    """Find and link the mentions of documents; writes documents, antecedent scores, or both."""
    terminal = Terminal(quiet=quiet)
    from entitynlm.coref.candidates.antecedents import write_antecedent_scores
    from entitynlm.coref.ranker.mentions import MentionSource
    from entitynlm.coref.ranker.model import load_ranker
    from entitynlm.errors import ConfigError
    from entitynlm.text.formats.registry import write_documents

    if out is None and scores is None:
        raise ConfigError("nothing to do: name a file for the documents (--out) or for the scores (--scores)")
    ranker = load_ranker(model)
    documents = list(_read(corpus, format, split, required=True))
    source = MentionSource(mentions.value) if mentions else None
    found = [ranker.score(document, mentions=source) for document in terminal.track(documents, "ranking")]
    if scores is not None:
        write_antecedent_scores(found, scores)
    if out is not None:
        write_documents(_link(ranker, documents, found), out, out_format)
    terminal.remark(f"{len(documents)} documents, {sum(map(len, found))} mentions ranked")


@app.command(epilog="Example: entitynlm ranker kbest scores.jsonl --out lists.jsonl --k 100")
def kbest(
    scores: Annotated[str, typer.Argument(help="A file of antecedent scores (JSON lines).")],
    out: Annotated[str, typer.Option("--out", help="Write the k-best lists here (JSON lines).")],
    k: Annotated[int, typer.Option("--k", min=1, help="Candidates per document.")] = 100,
    method: Annotated[
        Method,
        typer.Option(
            help="swaps: the paper's, one antecedent changed at a time; samples: whole analyses drawn."
        ),
    ] = Method.swaps,
    singletons: Annotated[
        bool, typer.Option("--singletons", help="Mentions that corefer with nothing are part of an analysis.")
    ] = False,
    key: Annotated[
        str | None,
        typer.Option(help="Annotated documents: report the one-best's and the oracle's CoNLL score."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="The split of --key.")] = None,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Make k-best lists from antecedent scores, for ``entitynlm rerank`` or your own reranker."""
    terminal = Terminal(quiet=quiet, json_path=json)
    from entitynlm.coref.candidates.antecedents import read_antecedent_scores
    from entitynlm.coref.candidates.kbest import count_candidates, find_oracle, get_decoder, join_counts
    from entitynlm.coref.candidates.kbest_lists import write_kbest_lists
    from entitynlm.coref.metrics.filters import clean_key, drop_repetitions

    keys = {d.id: d for d in _read(key, None, split, required=True)} if key else None
    decode = get_decoder(method.value)
    items = list(read_antecedent_scores(scores, keys))
    lists = [decode(item, k, singletons=singletons) for item in terminal.track(items, "decoding")]
    write_kbest_lists(lists, out)
    figures: dict[str, object] = {"documents": len(lists), "k": k, "method": method.value}
    if keys is not None:
        clean = drop_repetitions if singletons else clean_key
        chosen = [clean(keys[item.doc_id]) for item in lists]
        best = join_counts(
            [count_candidates(d, item.candidates[:1]) for d, item in zip(chosen, lists, strict=True)]
        )
        figures |= {"one_best": best.conll, "oracle": find_oracle(chosen, lists).counts.conll}
        terminal.print(f"CoNLL score: one best {best.conll:.2f}, oracle of {k} {figures['oracle']:.2f}")
    terminal.write_json(figures)


def _read(path: str, format: str | None, split: str | None, *, required: bool) -> Iterator[Document]:
    from entitynlm.text.corpora.corpus import open_corpus

    corpus = open_corpus(path, format=format)
    return corpus.documents(split if required or split in corpus.splits else None)


def _link(ranker: Ranker, documents: list[Document], found: list[AntecedentScores]) -> Iterator[Document]:
    from entitynlm.coref.candidates.kbest import decode_best

    for document, scores in zip(documents, found, strict=True):
        yield document.with_clusters(decode_best(scores, singletons=ranker.singletons))
