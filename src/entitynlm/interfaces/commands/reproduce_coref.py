"""``entitynlm reproduce coref``: the paper's Table 2 from nothing but a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from entitynlm.interfaces.commands.train import follow_training, parse_changes, prepare_torch
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
    from collections.abc import Sequence

    from entitynlm.coref.ranker.model import Ranker
    from entitynlm.coref.reranking.combination import ScoredList
    from entitynlm.experiments.coref_folds import Fold
    from entitynlm.experiments.coref_pooling import Lists
    from entitynlm.experiments.coref_table import Block, KeyedSplit, OnLists, Reranking
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.document import Document
    from entitynlm.training.settings import Settings


def reproduce_coref(
    corpus: CorpusOption,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for the ranker, the model and the table.")
    ],
    scores: ScoresOption = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="Settings of EntityNLM (configs/lm.toml).")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change one setting of EntityNLM."),
    ] = None,
    lookahead: Annotated[
        bool, typer.Option("--lookahead", help="Also train the proposal that sees the whole document.")
    ] = False,
    causal: Annotated[
        bool,
        typer.Option(
            "--causal/--no-causal",
            help="Train the causal proposal: for the model by itself, and for the row with log Q.",
        ),
    ] = True,
    folds: Annotated[
        int, typer.Option("--folds", min=0, help="Instead of the splits: so many folds over all documents.")
    ] = 0,
    k: KOption = 100,
    methods: MethodsOption = "swaps,samples",
    extra: ExtraOption = True,
    alone: AloneOption = True,
    samples: SamplesOption = 100,
    trials: TrialsOption = 10_000,
    format: FormatOption = None,
    seed: SeedOption = 1,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Train our ranker and EntityNLM, and print Table 2: one best, reranked by P, combined, oracle, the model by itself.

    The first block is the baseline whose antecedent scores are given with --scores, or lie beside the corpus in a folder called
    cort-NAME; the second is our own ranker. Works on any corpus with the splits train, dev and test, a CoNLL-2012 folder among
    them. What is trained is kept in --out and used again. With --folds every document is tested once; a fold that is done is
    stored there, and the same command goes on with the next one.

    Examples:

      entitynlm reproduce coref --corpus ../shared/data/ontogum -c configs/lm.toml --out runs/coref
      entitynlm reproduce coref --corpus conll-2012/v4/data -c configs/paper-conll.toml --out runs/conll
      entitynlm reproduce coref --corpus ../shared/data/litbank -c configs/lm.toml --folds 10 --no-causal --out runs/folds
    """
    from entitynlm.experiments.coref_table import PAPER, Reranking
    from entitynlm.text.corpora import open_corpus
    from entitynlm.training.settings import load_settings

    terminal = Terminal(quiet=quiet, json_path=json_path)
    prepare_torch(device, threads)
    settings = load_settings(config, parse_changes(set_ or []))
    options = Reranking(k, split_methods(methods), extra)
    proposals = tuple(name for name, wanted in (("causal", causal), ("lookahead", lookahead)) if wanted)
    workshop = Workshop(settings, proposals, seed, device, terminal)
    opened = open_corpus(corpus, format=format)
    figures: dict[str, Any] = {
        "task": "coref",
        "corpus": {"name": opened.name, "path": str(corpus)},
        "k": k,
        "seed": seed,
        "trials": trials,
        "paper": {"corpus": "CoNLL-2012", "split": "test", "f1": PAPER},
    }
    if folds:
        documents = list(opened.documents())
        figures |= _run_folds(workshop, documents, folds, out, options, trials)
    else:
        beside = Path(corpus).resolve().parent / f"cort-{Path(corpus).resolve().name}"
        given = scores or (beside if beside.is_dir() else None)
        train, development = (list(opened.documents(name)) for name in ("train", "dev"))
        ranker = workshop.make_ranker(train, out / "ranker")
        pretrained = workshop.make_model(train, development, out / "model")
        names = [name for name in ("dev", "test") if name in opened.splits]
        splits = read_splits(opened, names, singletons=ranker.singletons)
        baselines: dict[str, Any] = {}
        if given is not None:
            files = find_files(given, splits)
            baselines[given.name] = {s.name: read_ranked(files[s.name], s) for s in splits}
        baselines["our ranker"] = {s.name: rank(ranker, s, terminal) for s in splits}
        blocks = [
            workshop.measure(title, splits, ranked, pretrained, options)
            for title, ranked in baselines.items()
        ]
        figures["blocks"] = []
        for block in blocks:
            figures["blocks"].append(block.to_json(trials=trials, seed=seed))
            print_block(block, figures["blocks"][-1], terminal)
        figures["alone"] = workshop.measure_alone(pretrained, splits, samples) if alone and proposals else {}
    terminal.write_json(figures)


class Workshop:
    """Trains what the table needs, or takes it from where it was stored."""

    def __init__(
        self, settings: Settings, proposals: Sequence[str], seed: int, device: str, terminal: Terminal
    ) -> None:
        self.settings = settings
        self.parts: tuple[Any, ...] = ("generative", *proposals)
        self.seed = seed
        self.device = device
        self.terminal = terminal

    def make_ranker(self, train: Sequence[Document], folder: Path) -> Ranker:
        from entitynlm.coref.ranker.learning import train_ranker
        from entitynlm.coref.ranker.model import RankerSettings, load_ranker

        if (folder / "ranker.json").exists():
            return load_ranker(folder)
        wanted = RankerSettings(seed=self.seed)
        with self.terminal.progress() as progress:
            task = progress.add_task("ranker", total=wanted.epochs, note="")
            ranker = train_ranker(
                train, wanted, on_epoch=lambda epoch, loss: progress.update(task, completed=epoch)
            )
        ranker.save(folder)
        return ranker

    def make_model(
        self, train: Sequence[Document], development: Sequence[Document], folder: Path
    ) -> Pretrained:
        from entitynlm.training.completion import complete_pretrained

        with self.terminal.progress() as progress, follow_training(self.terminal, progress) as listener:
            pretrained = complete_pretrained(
                folder,
                train,
                development,
                self.settings,
                parts=self.parts,
                seed=self.seed,
                device=self.device,
                listener=listener,
            )
        if pretrained is None:
            self.terminal.remark("stopped; the same command goes on from here")
            raise typer.Exit(130)
        return pretrained

    def measure(
        self,
        title: str,
        splits: Any,
        ranked: Any,
        pretrained: Pretrained,
        options: Reranking,
        on_lists: OnLists = lambda method, split, lists: None,
    ) -> Block:
        from entitynlm.experiments.coref_table import measure_block

        with self.terminal.progress() as progress:
            return measure_block(
                title, splits, ranked, pretrained, options, on_document=follow(progress), on_lists=on_lists
            )

    def measure_alone(self, pretrained: Pretrained, splits: Any, samples: int) -> dict[str, Any]:
        from entitynlm.experiments.coref_alone import measure_alone

        found = {}
        for keyed in splits:
            with self.terminal.progress() as progress:
                rows = measure_alone(
                    pretrained, keyed, samples=samples, seed=self.seed, on_document=follow(progress)
                )
            found[keyed.name] = describe_rows(rows)
            print_rows(f"the model by itself, {keyed.name}", rows, found[keyed.name], self.terminal)
        return found


def _run_folds(
    workshop: Workshop,
    documents: Sequence[Document],
    count: int,
    out: Path,
    options: Reranking,
    trials: int,
) -> dict[str, Any]:
    """The second block's table over all documents."""
    from entitynlm.experiments.coref_blocks import load_block
    from entitynlm.experiments.coref_folds import cross_validate
    from entitynlm.experiments.coref_pooling import load_lists, pool_folds
    from entitynlm.experiments.coref_table import Block

    terminal = workshop.terminal
    tested: list[Lists] = []

    def measure(fold: Fold) -> Block:
        folder = out / f"fold-{fold.number}"
        made_with = {
            "k": options.k,
            "methods": list(options.methods),
            "extra": options.extra,
            "parts": list(workshop.parts),
            "documents": [[d.id for d in part] for part in (fold.train, fold.development, fold.test)],
        }
        block, lists = load_block(folder / "block.json", made_with), load_lists(folder / "lists.json")
        if block is None or lists is None:
            terminal.remark(f"fold {fold.number + 1} of {count}: {len(fold.train)} documents to train on")
            block, lists = _measure_fold(workshop, fold, folder, options, made_with)
        tested.append(lists)
        best = ", ".join(f"{row.name} {row.conll:.2f}" for row in block.rows["test"])
        terminal.remark(f"fold {fold.number + 1} of {count}: {best}")
        return block

    joined, blocks = cross_validate(documents, count, measure)
    pooled = pool_folds(tested, extra=options.extra)
    joined = Block(joined.title, {**joined.rows, "test": [*joined.rows["test"], *pooled]}, joined.found)
    described = joined.to_json(trials=trials, seed=workshop.seed)
    print_block(joined, described, terminal)
    combinations = [block.to_json(trials=1)["combinations"] for block in blocks]
    return {"folds": count, "blocks": [described], "combinations": combinations}


def _measure_fold(
    workshop: Workshop, fold: Fold, folder: Path, options: Reranking, made_with: dict[str, Any]
) -> tuple[Block, Lists]:
    """Train what a fold needs, measure it, and store both."""
    from entitynlm.experiments.coref_blocks import save_block
    from entitynlm.experiments.coref_pooling import count_list, save_lists
    from entitynlm.experiments.coref_table import make_split

    ranker = workshop.make_ranker(fold.train, folder / "ranker")
    pretrained = workshop.make_model(fold.train, fold.development, folder / "model")
    splits = [
        make_split(name, found, singletons=ranker.singletons)
        for name, found in (("dev", fold.development), ("test", fold.test))
    ]
    ranked = {s.name: rank(ranker, s, workshop.terminal) for s in splits}
    lists: dict[str, Any] = {}

    def keep(method: str, split: KeyedSplit, scored: Sequence[ScoredList]) -> None:
        if split.name == "test":
            lists[method] = [count_list(key, item) for key, item in zip(split.keys, scored, strict=True)]

    block = workshop.measure(f"fold {fold.number}", splits, ranked, pretrained, options, keep)
    save_lists(lists, folder / "lists.json")
    save_block(block, folder / "block.json", made_with)
    return block, lists
