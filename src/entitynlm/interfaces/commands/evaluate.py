"""Measure models: the tables of the paper for a given model or from training, and whole novels."""

import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from entitynlm.characters.book_scores import measure_baselines, measure_book, measure_cast
from entitynlm.characters.character import list_characters
from entitynlm.coref.candidates.candidate_files import Ranked, find_split_file, read_all_candidates
from entitynlm.errors import ConfigError
from entitynlm.experiments.table import PREDICTION_SYSTEMS, load_packaged_settings
from entitynlm.interfaces import options
from entitynlm.interfaces import training_options as shared
from entitynlm.interfaces.console import Terminal
from entitynlm.progress import track
from entitynlm.text.corpora.pdnc import TEXT_FILE, list_novels, read_novel
from entitynlm.text.formats.registry import read_documents


def evaluate_lm(
    *,
    source: shared.CorpusOptions,
    model: shared.ModelFolder = None,
    split: shared.Splits = None,
    training: shared.TrainingOptions,
    seeds: options.Seeds = "1,2,3",
    perplexity: shared.PerplexityOptions,
    terminal: Terminal,
) -> None:
    """Table 1: perplexity of a 5-gram, an LSTM and EntityNLM.

    All rows are measured on the same words, with a test over documents. "marginal", P(X) with mentions and entities
    summed over, is the likelihood of EntityNLM that can be compared with the other rows. VariKN estimates the 5-gram from
    the corpus's training documents.

    Without --out, measure --model. With --out, train P, its proposal and the LSTM for each seed, keep them in that folder,
    and measure them; the same command continues after Ctrl-C, or with more seeds. The configuration's section [rnnlm] changes
    settings of the LSTM. --seed is the seed of the sampling. With --backbone the rows are the pretrained language model, the
    same fine-tuned on the words of the training documents (a small layer before its output), and EntityNLM on the latter.

    Examples:

      entitynlm evaluate lm corpora/ontogum --model runs/ontogum
      entitynlm evaluate lm stories --model runs/stories --samples 20 --likelihoods marginal --split test --json -
      entitynlm evaluate lm corpora/ontogum --config configs/lm.toml --out runs/lm-ontogum
      entitynlm evaluate lm corpora/litbank --backbone smollm2 --seeds 1 --out runs/lm-smollm2
    """
    training.check(model)
    perplexity.check()
    numbers = shared.parse_seeds(seeds)
    tuned = {"model.tuned_output": True} if training.backbone else {}
    settings = training.load(tuned)
    corpus = source.open("train", "dev") if training.out else source.open()
    splits = shared.choose_splits(corpus, split)
    chosen = "" if training.out else options.check_model_or_default(model)
    source.prepare()
    from entitynlm.experiments import table1_language_modelling as table1

    facts: dict[str, Any] = {"out": str(training.out)}
    with shared.start_runner(terminal, source.device, training.out) as runner:
        experiment = perplexity.make_experiment(corpus, splits, runner)
        if training.out:
            found = experiment.reproduce(settings, numbers)
        else:
            pretrained = terminal.load_model(chosen, source.device)
            found = experiment.evaluate(pretrained)
            facts = {"model": str(chosen), "vocabulary": len(pretrained.encoder.tokenizer)}
    shared.present(table1.describe(found, corpus=corpus.name, facts=facts), terminal, training.out)


def evaluate_coref(
    *,
    source: shared.CorpusOptions,
    model: shared.ModelFolder = None,
    split: shared.Splits = None,
    training: shared.TrainingOptions,
    folds: Annotated[int, typer.Option(min=0)] = 0,
    scores: options.OptionalPath = None,
    k: options.Candidates = 100,
    trials: options.Trials = 10_000,
    seed: options.Seed = 1,
    terminal: Terminal,
) -> None:
    """Table 2: rerank a coreference system's candidates.

    Candidates are reranked by log P(R, E, L, X), alone and combined with the baseline's score. Weights are searched on dev.
    Gains are over the baseline's one best, p-values by approximate randomisation over documents.

    The baseline is --scores, or by default our ranker, a linear model that is trained on the corpus's training documents in
    about a minute. EntityNLM is --model, or is trained and kept in --out; without either option there are only the rows of
    the one best and the oracle. With --folds every document is tested once.

    Examples:

      entitynlm evaluate coref corpora/ontogum --scores corpora/cort-ontogum --model runs/ontogum
      entitynlm evaluate coref corpora/litbank --model runs/litbank --json -
      entitynlm evaluate coref corpora/ontogum -c configs/lm.toml --out runs/coref
      entitynlm evaluate coref corpora/ontogum --backbone smollm2 --set data.singletons=drop --out runs/coref-smollm2
      entitynlm evaluate coref conll-2012/v4/data -c configs/paper-conll.toml --out runs/conll
      entitynlm evaluate coref corpora/litbank -c configs/lm.toml --folds 10 --out runs/folds

    :param folds: With --out: this number of folds over all documents instead of the splits.
    :param scores: A baseline's antecedent scores or k-best lists: a folder with dev….jsonl and test….jsonl (docs/formats.md).
    """
    training.check(model)
    settings = training.load()
    if folds and not training.out:
        raise ConfigError("--folds is for a training: name the folder for its models with --out")
    learned = ["train", "dev"] if training.out else ["train"] if scores is None else []
    corpus = source.open(*learned) if not folds else source.open()
    names = [] if folds else shared.choose_splits(corpus, split)
    files = {name: find_split_file(scores, name) for name in names} if scores is not None else {}
    source.prepare()
    from entitynlm.experiments import table2_coreference as table2

    def read_baseline(split: table2.KeyedSplit) -> Sequence[Ranked]:
        return read_all_candidates(files[split.name], split.documents)

    facts: dict[str, Any] = {"out": str(training.out)}
    with shared.start_runner(terminal, source.device, training.out) as runner:
        experiment = table2.Coreference(runner, k, trials=trials, seed=seed)
        if training.out and folds:
            found = experiment.cross_validate(list(corpus.documents()), folds, settings)
        else:
            documents = {name: list(corpus.documents(name)) for name in dict.fromkeys((*learned, *names))}
            pretrained = None
            if training.out:
                pretrained = experiment.train("model", documents, settings)
            elif model is not None:
                pretrained = terminal.load_model(model, source.device)
                facts = {"model": str(model)}
            given = () if scores is None else (read_baseline, scores.name)
            found = [experiment.evaluate(documents, names, pretrained, *given)]
    shared.present(
        table2.describe(found, experiment, corpus=corpus.name, facts=facts), terminal, training.out
    )


def evaluate_entity(
    *,
    source: shared.CorpusOptions,
    model: shared.ModelFolder = None,
    rows: options.Rows = None,
    split: str | None = None,
    training: shared.TrainingOptions,
    seeds: options.Seeds = "1",
    terminal: Terminal,
) -> None:
    """Table 3: predict which entity is mentioned next.

    Print each row's accuracy with an interval over stories, and tests between rows (of the first seed). The rows shallow and
    modi are fitted to the corpus's training stories; human needs InScript's humanPredictions.json beside the stories.

    With --model, EntityNLM is that model, and the row ours its predictor, which is trained now if the model has none. With
    --out, both are trained for each seed and kept in --out/seed-N; the same command continues after Ctrl-C, or with more
    seeds. Several seeds have further rows that average their networks (ours-together, ensemble-together). The default
    settings are the best known for InScript.

    Examples:

      entitynlm evaluate entity corpora/inscript --rows always-new,shallow,modi,human
      entitynlm evaluate entity corpora/inscript --model runs/inscript --json -
      entitynlm evaluate entity corpora/inscript --out runs/entity
      entitynlm evaluate entity corpora/inscript --backbone smollm2 --rows ours,human --seeds 1,2,3,4,5 --out runs/entity-smollm2
      entitynlm evaluate entity annotated.conllu --model entitynlm-en --rows entitynlm

    :param split: Split of the stories to predict. Default: test, if the corpus has it, else all.
    """
    training.check(model)
    numbers = shared.parse_seeds(seeds)
    wanted = shared.parse_names(rows, "--rows", list(PREDICTION_SYSTEMS)) if rows else []
    named = training.config or training.backbone
    settings = training.load({} if named else load_packaged_settings("inscript"))
    corpus = source.open("train", "dev") if training.out else source.open()
    split = split or ("test" if "test" in corpus.splits else None)
    corpus.files(split)
    source.prepare(threads=1 if training.out else None)  # a second thread slows small networks down
    from entitynlm.experiments import table3_entity_prediction as table3
    from entitynlm.prediction.slots import has_guesses, read_slots

    stories = read_slots(corpus, split)
    trains = training.out is not None
    names = table3.choose_rows(wanted, model=trains or model is not None, human=has_guesses(stories))
    learns = trains or any(name in table3.NEEDS_TRAINING for name in names)
    present_splits = [name for name in ("train", "dev") if learns and name in corpus.splits]
    documents = {name: list(corpus.documents(name)) for name in present_splits}
    facts: dict[str, Any] = {"out": str(training.out)}
    with shared.start_runner(terminal, source.device, training.out) as runner:
        experiment = table3.EntityPrediction(documents, stories, runner)
        if trains:
            found = experiment.reproduce(names, settings, numbers)
        else:
            asked = any(name in table3.NEEDS_MODEL for name in names)
            pretrained = terminal.load_model(model, source.device) if asked and model is not None else None
            found = experiment.evaluate(names, pretrained, seed=numbers[0])
            facts = {"model": None if model is None else str(model), "seed": numbers[0]}
    result = table3.describe(found, corpus=corpus.name, split=split or "all", facts=facts)
    shared.present(result, terminal, training.out)


BOOK_REMARKS = (
    "found, B³, 1:1: mentions inside of quotations; 1:1 is the share that is right when each entity stands for one character.",
    "speakers: right in % of all quotations; nearest name, nearest mention, alternation: baselines on the same entities.",
    "rows: of major and intermediate characters those with one of their own; right: right gender, no alias of another.",
)


def evaluate_books(
    *,
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", callback=options.check_exists)],
    model: options.ModelOptions,
    split: str = "dev",
    terminal: Terminal,
) -> None:
    """Measure characters and speakers over whole novels of PDNC.

    Each novel is annotated from its raw text. Mentions inside of quotations and names are scored by B³ and by the best
    one-to-one map to characters, speakers by kind of quotation, the cast by its rows; cost is CPU time and peak memory.

    Examples:

      entitynlm evaluate books corpora/pdnc --model entitynlm-en
      entitynlm evaluate books corpora/pdnc/Emma --json emma.json

    :param corpus: PDNC's folder, or that of one novel.
    :param split: Which novels: dev, train or all; a novel that is named is measured whatever its split.
    """
    one = (corpus / TEXT_FILE).is_file()
    folders = list_novels(corpus, None if one or split == "all" else split)
    pretrained = model.load(terminal)
    from entitynlm.coref.annotation import annotate_document

    rows: dict[str, dict[str, Any]] = {}
    for folder in track(terminal, "novels", folders):
        novel = read_novel(folder)
        began = time.process_time()
        (document,) = read_documents(folder / TEXT_FILE)
        annotated = annotate_document(pretrained, document)
        seconds = time.process_time() - began
        rows[novel.name] = {
            **measure_book(novel, annotated),
            **measure_cast(novel, list_characters(annotated)),
            **measure_baselines(novel, annotated),
            "CPU-seconds": seconds,
            "memory in MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        }
    mean = {name: _average([row[name] for row in rows.values()]) for name in next(iter(rows.values()))}
    from entitynlm.interfaces.views import draw_table

    columns = rows | {"mean": mean}
    lines = [(figure, *(_show(column[figure]) for column in columns.values())) for figure in mean]
    terminal.print(draw_table(("", *columns), lines, right=(*columns,)))
    for remark in BOOK_REMARKS:
        terminal.print(remark, style="dim", markup=False)
    terminal.write_json({"task": "evaluate books", "split": split, "novels": rows, "mean": mean})


def _average(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _show(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f}".removesuffix(".0")
