"""``entitynlm evaluate lm``: the paper's Table 1 for a trained model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.interfaces.commands.lm_options import (
    ALL_READINGS,
    CacheOption,
    MethodOption,
    NgramOption,
    PriorOption,
    ProposalOption,
    ReadingsOption,
    RepeatsOption,
    SamplesOption,
    SplitOption,
    WorkersOption,
    choose_splits,
    follow_documents,
    make_sampling,
    split_list,
)
from entitynlm.interfaces.commands.train import prepare_torch
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import (
    DeviceOption,
    FormatOption,
    JsonOption,
    QuietOption,
    SeedOption,
    ThreadsOption,
)

if TYPE_CHECKING:
    from entitynlm.lm.evaluation import Contenders
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.corpora.corpus import Corpus


def evaluate_lm(
    corpus: Annotated[Path, typer.Option("--corpus", help="A corpus folder (see: entitynlm data list).")],
    model: Annotated[Path, typer.Option("--model", "-m", help="A folder that entitynlm train has written.")],
    rnnlm: Annotated[
        Path | None,
        typer.Option("--rnnlm", help="The folder of the LSTM baseline; default: the one stored in --model."),
    ] = None,
    ngram: NgramOption = True,
    split: SplitOption = None,
    samples: SamplesOption = 100,
    repeats: RepeatsOption = 4,
    method: MethodOption = "particle-filter",
    proposal: ProposalOption = None,
    prior_share: PriorOption = None,
    cache: CacheOption = 0.0,
    readings: ReadingsOption = ALL_READINGS,
    workers: WorkersOption = 1,
    format: FormatOption = None,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Perplexity of a 5-gram, the LSTM baseline and EntityNLM on the same words, with a test over documents (Table 1).

    EntityNLM's figure to compare is "marginal": P(X) with mentions and entities summed over. The 5-gram is estimated from the
    corpus's training documents, by KenLM where its lmplz is installed (scripts/build_kenlm.sh), else by VariKN.

    Examples:

      entitynlm evaluate lm --corpus ../shared/data/ontogum --model runs/ontogum
      entitynlm evaluate lm --corpus stories --model runs/stories --samples 20 --readings marginal --split test --json -
    """
    from entitynlm.interfaces.lm_tables import draw_table, list_cells, list_remarks
    from entitynlm.lm.evaluation import measure_table
    from entitynlm.lm.rows import PAPER
    from entitynlm.model.pretrained import load_pretrained
    from entitynlm.text.corpora import open_corpus

    terminal = Terminal(quiet=quiet, json_path=json_path)
    sampling = make_sampling(
        samples=samples,
        repeats=repeats,
        method=method,
        proposal=proposal,
        prior_share=prior_share,
        cache=cache,
        seed=seed,
        workers=workers,
    )
    prepare_torch(device, threads)
    opened = open_corpus(corpus, format=format)
    splits = choose_splits(opened, split)
    pretrained = load_pretrained(model, device=device)
    if pretrained.encoder.recipe.warning:
        terminal.remark(f"remark: {pretrained.encoder.recipe.warning}")
    contenders = gather(opened, pretrained, rnnlm=rnnlm, ngram=ngram, device=device, terminal=terminal)
    tables = {}
    for name in splits:
        encoded = [pretrained.encoder.encode(document) for document in opened.documents(name)]
        with terminal.progress() as progress:
            tables[name] = measure_table(
                name,
                contenders,
                encoded,
                sampling=sampling,
                readings=split_list(readings),
                on_document=follow_documents(progress),
            )
    terminal.print(draw_table(f"Perplexity on {opened.name}", *list_cells(tables)))
    for line in list_remarks(tables):
        terminal.print(line)
    figures: dict[str, Any] = {
        "task": "lm",
        "corpus": {"name": opened.name, "path": str(corpus)},
        "model": str(model),
        "vocabulary": len(pretrained.encoder.vocabulary),
        "sampling": asdict(sampling),
        "splits": {name: table.to_dict() for name, table in tables.items()},
        "paper": {"corpus": "CoNLL-2012", "split": "test", "perplexity": PAPER},
    }
    terminal.write_json(figures)


def gather(
    corpus: Corpus,
    pretrained: Pretrained,
    *,
    rnnlm: Path | None,
    ngram: bool,
    device: str,
    terminal: Terminal,
) -> Contenders:
    """All models of the table; what is missing is said, not passed over."""
    from entitynlm.lm.evaluation import Contenders, check_encoders
    from entitynlm.lm.ngram import estimate_ngrams
    from entitynlm.model.pretrained import load_pretrained

    baseline = pretrained.language_model
    if rnnlm is not None:
        other = load_pretrained(rnnlm, device=device)
        baseline = other.get_language_model()
        check_encoders(pretrained.encoder, other.encoder)
    if baseline is None:
        terminal.remark(
            "remark: no RNNLM row: the model has none (train with --rnnlm, or name one with --rnnlm)"
        )
    fivegram = None
    if ngram and "train" in corpus.splits:
        train = (pretrained.encoder.encode(document) for document in corpus.documents("train"))
        fivegram = estimate_ngrams(terminal.track(train, "5-gram: reading"), pretrained.encoder)
    elif ngram:
        terminal.remark("remark: no 5-gram row: the corpus has no training documents to estimate it from")
    return Contenders(pretrained, baseline, fivegram)
