"""``entitynlm evaluate coref``: the paper's Table 2 for a baseline and a model that are trained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from entitynlm.interfaces.commands.coref_options import (
    AloneOption,
    CorpusOption,
    ExtraOption,
    KOption,
    MethodsOption,
    SamplesOption,
    ScoresOption,
    TrialsOption,
    describe_rows,
    find_files,
    follow,
    print_block,
    print_rows,
    rank,
    read_ranked,
    read_splits,
    split_methods,
)
from entitynlm.interfaces.commands.lm_options import SplitOption, choose_splits
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


def evaluate_coref(
    corpus: CorpusOption,
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="A folder that entitynlm train has written: the reranker."),
    ] = None,
    scores: ScoresOption = None,
    ranker: Annotated[
        Path | None, typer.Option("--ranker", help="A folder that entitynlm ranker train has written.")
    ] = None,
    split: SplitOption = None,
    k: KOption = 100,
    methods: MethodsOption = "swaps,samples",
    extra: ExtraOption = True,
    alone: AloneOption = True,
    samples: SamplesOption = 100,
    weights_out: Annotated[
        Path | None,
        typer.Option("--weights-out", help="Write each combination's weights into this folder, for rerank."),
    ] = None,
    trials: TrialsOption = 10_000,
    format: FormatOption = None,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Rerank a baseline's candidates by log P(R, E, L, X), alone and combined with its score (Table 2).

    The baseline is what --scores or --ranker names (both: two blocks); without a --model there are its one best and the
    oracle. Weights are searched on dev. Gains are over the one best, p-values by approximate randomisation over documents. A
    model with a proposal also has rows by itself, without any baseline.

    Examples:

      entitynlm evaluate coref --corpus ../shared/data/ontogum --scores ../shared/data/cort-ontogum --model runs/ontogum
      entitynlm evaluate coref --corpus ../shared/data/litbank --ranker runs/ranker --model runs/litbank --json -
      entitynlm evaluate coref --corpus conll-2012/v4/data --model runs/conll --split dev,test
    """
    from entitynlm.coref.ranker.model import load_ranker
    from entitynlm.coref.reranking.combination import save_combination
    from entitynlm.errors import ConfigError
    from entitynlm.experiments.coref_alone import list_rows, measure_alone
    from entitynlm.experiments.coref_table import PAPER, Reranking, measure_block
    from entitynlm.model.pretrained import load_pretrained
    from entitynlm.text.corpora import open_corpus

    terminal = Terminal(quiet=quiet, json_path=json_path)
    if model is None and scores is None and ranker is None:
        raise ConfigError(
            "nothing to evaluate: name a model (--model), a baseline (--scores, --ranker), or both"
        )
    prepare_torch(device, threads)
    opened = open_corpus(corpus, format=format)
    pretrained = load_pretrained(model, device=device) if model is not None else None
    ours = load_ranker(ranker) if ranker is not None else None
    names = choose_splits(opened, split)
    splits = read_splits(opened, names, singletons=ours.singletons if ours is not None else None)
    options = Reranking(k, split_methods(methods), extra)
    baselines: dict[str, dict[str, Any]] = {}
    if scores is not None:
        files = find_files(scores, splits)
        baselines[scores.name] = {s.name: read_ranked(files[s.name], s) for s in splits}
    if ours is not None:
        baselines["our ranker"] = {s.name: rank(ours, s, terminal) for s in splits}
    blocks = []
    for title, ranked in baselines.items():
        with terminal.progress() as progress:
            block = measure_block(title, splits, ranked, pretrained, options, on_document=follow(progress))
        blocks.append(block.to_json(trials=trials, seed=seed))
        print_block(block, blocks[-1], terminal)
        for name, item in block.found.items() if weights_out is not None else ():
            assert weights_out is not None
            file = (
                f"{title} {name}.json".replace(": ", "-")
                .replace(" + ", "+")
                .replace(", ", "+")
                .replace(" ", "-")
            )
            save_combination(item.combination, weights_out / file)
    by_itself: dict[str, Any] = {}
    if pretrained is not None and alone and list_rows(pretrained):
        for keyed in splits:
            with terminal.progress() as progress:
                rows = measure_alone(
                    pretrained, keyed, samples=samples, seed=seed, on_document=follow(progress)
                )
            by_itself[keyed.name] = describe_rows(rows)
            print_rows(f"the model by itself, {keyed.name}", rows, by_itself[keyed.name], terminal)
    figures = {
        "task": "coref",
        "corpus": {"name": opened.name, "path": str(corpus)},
        "model": None if model is None else str(model),
        "singletons": splits[0].singletons,
        "k": k,
        "seed": seed,
        "trials": trials,
        "blocks": blocks,
        "alone": by_itself,
        "paper": {"corpus": "CoNLL-2012", "split": "test", "f1": PAPER},
    }
    terminal.write_json(figures)
