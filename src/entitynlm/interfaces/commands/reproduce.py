"""``entitynlm reproduce``: the paper's tables from nothing but a corpus, each by itself or all three."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entitynlm import __version__
from entitynlm.errors import ConfigError
from entitynlm.experiments.paper import PREDICTION_SYSTEMS, TITLES, load_packaged_settings
from entitynlm.experiments.table import ExperimentResult, write_markdown
from entitynlm.files import write_text
from entitynlm.interfaces import options
from entitynlm.interfaces.commands import experiment_options as shared
from entitynlm.interfaces.commands.train import parse_changes
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.result_tables import present, print_table, write_html
from entitynlm.training.settings import load_settings

if TYPE_CHECKING:
    from entitynlm.config import Mode

CorpusFolder = options.OptionalPath


def reproduce_lm(
    *,
    source: shared.CorpusOptions,
    out: shared.Out,
    config: Annotated[
        list[Path] | None, typer.Option("--config", "-c", callback=options.check_exists)
    ] = None,
    set_: options.Set = None,
    backbone: options.Backbone = None,
    seeds: options.Seeds = "1,2,3",
    lookahead: bool = True,
    ablation: bool = False,
    perplexity: shared.PerplexityOptions,
    terminal: Terminal,
) -> ExperimentResult:
    """Table 1: train the language models, and measure.

    Train P, its proposals and the LSTM baseline for each seed, estimate a 5-gram, and print Table 1 over all seeds.

    Every configuration is trained for both models, the LSTM with what its section [rnnlm] changes. With several (-c A
    -c B …) each model takes the one that is best for it on development documents: the same tuning budget for both. With
    one configuration nothing is tuned here, and whether as much was tried for the one as for the other is up to its
    author. Whatever is done is kept in --out, and the same command goes on from there: after Ctrl-C, or with more
    seeds. (--seed is that of the sampling; trainings have --seeds.) With --backbone the rows are the language model as
    it came, the same after it has learned from the words of the training documents (a small layer before its output,
    model.tuned_output), and EntityNLM on that. Tables by kind of word follow.

    Examples:

      entitynlm reproduce lm --corpus corpora/ontogum --config configs/lm.toml --out runs/lm-ontogum
      entitynlm reproduce lm --corpus corpora/ontogum -c configs/lm.toml --ablation --entities given,zero --out runs/lm-ontogum
      entitynlm reproduce lm --corpus corpora/litbank --backbone smollm2 --seeds 1 --no-lookahead --out runs/lm-smollm2
      entitynlm reproduce lm --corpus stories -c configs/tiny.toml --seeds 1,2 --samples 20 --out runs/lm-stories

    :param config: A TOML file of settings; given several times, each model takes the one that is best for it on dev.
    :param lookahead: With or without the proposal that looks ahead.
    :param ablation: Also train and measure the paper's equations alone, and with each addition of ours by itself.
    """
    numbers = shared.parse_numbers(seeds, "--seeds")
    perplexity.check()
    configurations = shared.load_configurations(config or [], set_ or [], backbone)
    if ablation and not all(s.model.copying and s.model.mention_positions for s in configurations.values()):
        told = "--ablation takes mention_positions and copying away: the configuration must have both, as configs/lm.toml"
        raise ConfigError(told)
    corpus = source.open()
    for split in ("train", "dev", "test"):
        corpus.files(split)
    source.prepare()
    from entitynlm.experiments import table1_language_modelling as table1

    proposals: list[Mode] = ["causal", "lookahead"] if lookahead else ["causal"]
    plan = table1.LanguageModelPlan(configurations, numbers, proposals, ablation)
    with shared.start_runner(terminal, source.device, out) as runner:
        for warning in dict.fromkeys(remark for s in configurations.values() for remark in s.remarks):
            runner.progress.message(f"remark: {warning}")
        found = perplexity.make_experiment(corpus, ("dev", "test"), runner).reproduce(plan)
    return present(table1.describe(found, corpus=corpus.name, facts={"out": str(out)}), terminal, out)


def reproduce_coref(
    *,
    source: shared.CorpusOptions,
    out: shared.Out,
    config: options.Config = None,
    set_: options.Set = None,
    backbone: options.Backbone = None,
    lookahead: bool = False,
    causal: bool = True,
    lists: bool = False,
    folds: Annotated[int, typer.Option(min=0)] = 0,
    reranking: shared.RerankingOptions,
    seed: options.Seed = 1,
    terminal: Terminal,
) -> ExperimentResult:
    """Table 2: train a ranker and EntityNLM, rerank and measure.

    Train our ranker and EntityNLM, and print Table 2: one best, reranked by P, combined, oracle, and end to end.

    The first block is the baseline whose antecedent scores are given with --scores, or lie beside the corpus in a
    folder called cort-NAME; the second is our own ranker. Works on any corpus with the splits train, dev and test, a
    CoNLL-2012 folder among them. What is trained is kept in --out and used again. With --folds every document is tested
    once; a fold that is done is stored there, and the same command goes on with the next one. --lists trains P and its
    proposals a second time, from where maximum likelihood left them, to tell better from worse candidates of the
    training documents; the lists come from five rankers, each of which has not seen the documents that it ranks.

    Examples:

      entitynlm reproduce coref --corpus corpora/ontogum -c configs/lm.toml --out runs/coref
      entitynlm reproduce coref --corpus corpora/ontogum --backbone smollm2 --lists --out runs/coref-smollm2
      entitynlm reproduce coref --corpus conll-2012/v4/data -c configs/paper-conll.toml --out runs/conll
      entitynlm reproduce coref --corpus corpora/litbank -c configs/lm.toml --folds 10 --no-causal --out runs/folds

    :param lookahead: Also train the proposal that sees the whole document.
    :param causal: Train the causal proposal: for end-to-end rows, and for those with log Q.
    :param lists: Also train on k-best lists of the training documents, by which candidates are better.
    :param folds: Instead of the splits: so many folds over all documents.
    """
    settings = load_settings(config, parse_changes(set_ or []), language_model=backbone)
    corpus = source.open()
    held_out = [name for name in ("dev", "test") if name in corpus.splits]
    beside = source.corpus.resolve().with_name(f"cort-{source.corpus.resolve().name}")
    read_baselines = reranking.find_baselines([] if folds else held_out, beside)
    source.prepare()
    from entitynlm.experiments import table2_coreference as table2

    trained: dict[Mode, bool] = {"causal": causal, "lookahead": lookahead}
    proposals = [name for name, wanted in trained.items() if wanted]
    with shared.start_runner(terminal, source.device, out) as runner:
        experiment = reranking.make_experiment(runner, seed, lists=lists)
        if folds:
            found = experiment.cross_validate(list(corpus.documents()), folds, settings, proposals)
        else:
            documents = {name: list(corpus.documents(name)) for name in ("train", "dev", *held_out)}
            found = experiment.reproduce(documents, settings, proposals, read_baselines)
    result = table2.describe(found, experiment, corpus=corpus.name, facts={"out": str(out)})
    return present(result, terminal, out)


def reproduce_entity(
    *,
    source: shared.CorpusOptions,
    out: shared.Out = Path("runs/entity"),
    rows: options.Rows = None,
    ours_config: options.OursConfig = None,
    config: options.Config = None,
    set_: options.Set = None,
    backbone: options.Backbone = None,
    seeds: options.Seeds = "1",
    split: str = "test",
    terminal: Terminal,
) -> ExperimentResult:
    """Table 3: train what predicts the next entity, and measure.

    Train whatever a row needs, for each seed, and print Table 3 with intervals and tests (those of the first seed).

    Without any options the best settings that are known for InScript are used. Models are kept in --out/seed-N and used
    again by the same command, so it goes on after Ctrl-C, or with more seeds; with several seeds their networks
    together are rows of their own (ours-together, ensemble-together).

    Examples:

      entitynlm reproduce entity --corpus corpora/inscript
      entitynlm reproduce entity --corpus corpora/inscript --rows ours,human --seeds 1,2,3,4,5 --json table.json
      entitynlm reproduce entity --corpus corpora/inscript --backbone smollm2 --out runs/entity-smollm2
      entitynlm reproduce entity --corpus stories --rows always-new,shallow,modi,ours --out runs/stories

    :param split: Which stories to ask about: test or dev.
    """
    numbers = shared.parse_numbers(seeds, "--seeds")
    wanted = shared.choose_names(rows, "--rows", list(PREDICTION_SYSTEMS)) if rows else []
    changes = parse_changes(set_ or [])
    if not config and not backbone:
        changes = {**load_packaged_settings("inscript"), **changes}
    settings = load_settings(config, changes, language_model=backbone)
    corpus = source.open()
    documents = {name: list(corpus.documents(name)) for name in ("train", "dev")}
    source.prepare(threads=1)  # small networks: a second thread only gets in the way
    from entitynlm.experiments import table3_entity_prediction as table3
    from entitynlm.prediction.predictor import PredictorConfig, load_config
    from entitynlm.prediction.slots import has_guesses, read_slots

    stories = read_slots(corpus, split)
    names = table3.choose_rows(wanted, model=True, human=has_guesses(stories))
    config_of_ours = load_config(ours_config) if ours_config else PredictorConfig()
    with shared.start_runner(terminal, source.device, out) as runner:
        found = table3.reproduce(documents, stories, names, runner, settings, config_of_ours, numbers)
    result = table3.describe(found, corpus=corpus.name, split=split, facts={"out": str(out)})
    return present(result, terminal, out)


def reproduce_all(
    *,
    context: typer.Context,
    corpus: CorpusFolder = None,
    lm: CorpusFolder = None,
    coref: CorpusFolder = None,
    entity: CorpusFolder = None,
    out: shared.Out = Path("runs/reproduce"),
    tasks: str = ",".join(TITLES),
    config: options.Config = None,
    set_: options.Set = None,
    seeds: options.Seeds = "1",
    documents: Annotated[int, typer.Option(min=50)] = 600,
    samples: options.Samples = 50,
    k: options.Candidates = 50,
    rows: options.Rows = "always-new,shallow,modi,entitynlm,ours",
    threads: options.Threads = None,
    terminal: Terminal,
) -> None:
    """Make the paper's tables from a corpus: training, then figures.

    The paper's tables from training to figures: one task by its name, or all three without one.

    Without a task, all three tables are measured on the corpora given (the generated stories by default), printed
    beside the paper's, and written as tables.md and tables.html in --out. Whatever is done is kept there, and the same
    command goes on from it. Without --config a small model is trained, for the order of things; configs/ has the
    settings for results.

    Examples:

      entitynlm reproduce
      entitynlm reproduce --corpus corpora/ontogum --entity corpora/inscript -c configs/lm.toml --seeds 1,2,3
      entitynlm reproduce lm --corpus corpora/ontogum --config configs/lm.toml --out runs/lm-ontogum

    :param corpus: A corpus folder for all tables; default: generated stories.
    :param lm: Another corpus for Table 1.
    :param coref: Another corpus for Table 2.
    :param entity: Another corpus for Table 3.
    :param tasks: Some of lm, coref, entity.
    :param documents: Stories to generate.
    """
    if context.invoked_subcommand is not None:
        return
    from entitynlm.stories.folder import write_stories
    from entitynlm.text.corpora.corpus import CARD

    wanted = shared.choose_names(tasks, "--tasks", list(TITLES))
    seed = shared.parse_numbers(seeds, "--seeds")[0]
    given = {"lm": lm or corpus, "coref": coref or corpus, "entity": entity or corpus}
    stories = out / "stories"
    if any(given[task] is None for task in wanted) and not (stories / CARD).exists():
        terminal.remark(f"generating {documents} stories")
        write_stories(documents, stories, seed=seed)
    sources = {task: shared.CorpusOptions(path or stories, threads=threads) for task, path in given.items()}
    quick = load_packaged_settings("quick") if config is None else {}
    changes = [*(f"{name}={json.dumps(value)}" for name, value in quick.items()), *(set_ or [])]
    inner = replace(terminal, json_path=None)
    runs: dict[str, Callable[..., ExperimentResult]] = {
        "lm": partial(
            reproduce_lm,
            config=[config] if config else None,
            seeds=seeds,
            lookahead=False,
            perplexity=shared.PerplexityOptions(samples=samples, likelihoods="marginal"),
        ),
        "coref": partial(
            reproduce_coref, config=config, seed=seed, reranking=shared.RerankingOptions(k=k, samples=samples)
        ),
        "entity": partial(reproduce_entity, config=config, seeds=seeds, rows=rows),
    }
    found: dict[str, ExperimentResult] = {}
    for task in wanted:
        terminal.remark(f"── {TITLES[task]}")
        found[task] = runs[task](source=sources[task], out=out / task, set_=changes, terminal=inner)
    present_all(found, out, terminal)


def present_all(found: dict[str, ExperimentResult], out: Path, terminal: Terminal) -> None:
    """The summaries together: in the terminal, and as two files."""
    tables = [result.summary for result in found.values()]
    for table in tables:
        print_table(table, terminal)
    title = "Dynamic Entity Representations in Neural Language Models: the paper's tables beside ours"
    remarks = [f"measured by entitynlm {__version__}; models and full figures are in this folder"]
    for name, write in (("tables.md", write_markdown), ("tables.html", write_html)):
        write_text(out / name, write(tables, title=title, remarks=remarks))
    files = [print_path(out / name) for name in ("tables.md", "tables.html")]
    terminal.print(f"\nwrote {' and '.join(files)}", markup=False)
    summaries = [{"task": task, **result.summary.to_dict()} for task, result in found.items()]
    terminal.write_json({"task": "all", "out": str(out), "tables": summaries})
