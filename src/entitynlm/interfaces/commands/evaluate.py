"""Measure a trained model: the tables of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from entitynlm.errors import ConfigError
from entitynlm.experiments.paper import PREDICTION_SYSTEMS
from entitynlm.interfaces import options
from entitynlm.interfaces.commands import experiment_options as shared
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.result_tables import present


def evaluate_lm(
    *,
    source: shared.CorpusOptions,
    model: options.DefaultModel = "",
    rnnlm: Annotated[Path | None, typer.Option(callback=options.check_model)] = None,
    split: shared.Splits = None,
    perplexity: shared.PerplexityOptions,
    terminal: Terminal,
) -> None:
    """Table 1: perplexity of a 5-gram, an LSTM and EntityNLM.

    Perplexity of a 5-gram, the LSTM baseline and EntityNLM on the same words, with a test over documents (Table 1).

    EntityNLM's figure to compare is "marginal": P(X) with mentions and entities summed over. The 5-gram is estimated
    from the corpus's training documents, by KenLM where its lmplz is installed (scripts/build_kenlm.sh), else by
    VariKN.

    Examples:

      entitynlm evaluate lm --corpus corpora/ontogum --model runs/ontogum
      entitynlm evaluate lm --corpus stories --model runs/stories --samples 20 --likelihoods marginal --split test --json -

    :param rnnlm: The folder of the LSTM baseline; default: the one stored in --model.
    """
    corpus = source.open()
    splits = shared.choose_splits(corpus, split)
    perplexity.check()
    source.prepare()
    from entitynlm.experiments import table1_language_modelling as table1

    pretrained = terminal.load_model(model, source.device)
    if pretrained.encoder.recipe.warning:
        terminal.remark(f"remark: {pretrained.encoder.recipe.warning}")
    other = terminal.load_model(rnnlm, source.device) if rnnlm is not None else None
    with shared.start_runner(terminal, source.device) as runner:
        found = perplexity.make_experiment(corpus, splits, runner).evaluate(pretrained, other)
    facts = {"model": str(model), "vocabulary": len(pretrained.encoder.tokenizer)}
    present(table1.describe(found, corpus=corpus.name, facts=facts), terminal)


def evaluate_coref(
    *,
    source: shared.CorpusOptions,
    model: shared.ModelFolder = None,
    ranker: options.OptionalPath = None,
    split: shared.Splits = None,
    reranking: shared.RerankingOptions,
    weights_out: Annotated[Path | None, typer.Option(callback=options.check_writable)] = None,
    seed: options.Seed = 0,
    terminal: Terminal,
) -> None:
    """Table 2: rerank a coreference system's candidates.

    Rerank a baseline's candidates by log P(R, E, L, X), alone and combined with its score (Table 2).

    The baseline is what --scores or --ranker names (both: two blocks); without a --model there are its one best and the
    oracle. Weights are searched on dev. Gains are over the one best, p-values by approximate randomisation over
    documents. A model with a proposal also has end-to-end rows, without any baseline.

    Examples:

      entitynlm evaluate coref --corpus corpora/ontogum --scores corpora/cort-ontogum --model runs/ontogum
      entitynlm evaluate coref --corpus corpora/litbank --ranker runs/ranker --model runs/litbank --json -
      entitynlm evaluate coref --corpus conll-2012/v4/data --model runs/conll --split dev,test

    :param ranker: A folder that entitynlm ranker train has written.
    :param weights_out: Write each combination's weights into this folder, for rerank.
    """
    if model is None and reranking.scores is None and ranker is None:
        told = "nothing to evaluate: name a model (--model), a baseline (--scores, --ranker), or both"
        raise ConfigError(told)
    corpus = source.open()
    names = shared.choose_splits(corpus, split)
    read_baselines = reranking.find_baselines(names)
    source.prepare()
    from entitynlm.coref.ranker.model import load_ranker
    from entitynlm.coref.reranking.combination import save_combination
    from entitynlm.experiments import table2_coreference as table2
    from entitynlm.experiments.coref_blocks import make_splits

    pretrained = terminal.load_model(model, source.device) if model is not None else None
    ours = load_ranker(ranker) if ranker is not None else None
    documents = {name: list(corpus.documents(name)) for name in names}
    splits = make_splits(documents, singletons=None if ours is None else ours.singletons)
    with shared.start_runner(terminal, source.device) as runner:
        experiment = reranking.make_experiment(runner, seed)
        baselines = read_baselines(splits)
        if ours is not None:
            baselines[table2.OUR_RANKER] = experiment.rank(ours, splits)
        found = experiment.evaluate(splits, baselines, pretrained)
    if weights_out is not None:
        for block in found.blocks:
            for name, item in block.weights.items():
                file = f"{block.title} {name}.json".replace(": ", "-")
                file = file.replace(" + ", "+").replace(", ", "+").replace(" ", "-")
                save_combination(item.combination, weights_out / file)
    facts = {"model": None if model is None else str(model), "singletons": splits[0].singletons}
    present(table2.describe(found, experiment, corpus=corpus.name, facts=facts), terminal)


def evaluate_entity(
    *,
    source: shared.CorpusOptions,
    model: shared.ModelFolder = None,
    rows: options.Rows = None,
    ours_config: options.OursConfig = None,
    split: str = "test",
    seed: options.Seed = 1,
    terminal: Terminal,
) -> None:
    """Table 3: predict which entity is mentioned next.

    How often each model predicts which entity is mentioned next, from what stands before (Table 3).

    The rows shallow and modi are fitted on the corpus's training stories; ours is loaded from the model's folder, or
    trained and stored there. The row human needs InScript's humanPredictions.json beside the stories.

    Examples:

      entitynlm evaluate entity --corpus corpora/inscript --rows always-new,shallow,modi,human
      entitynlm evaluate entity --corpus corpora/inscript --model runs/inscript --json -

    :param split: Which stories to ask about: test, dev or train.
    """
    wanted = shared.choose_names(rows, "--rows", list(PREDICTION_SYSTEMS)) if rows else []
    corpus = source.open()
    corpus.files(split)
    source.prepare()
    from entitynlm.experiments import table3_entity_prediction as table3
    from entitynlm.prediction.predictor import load_config
    from entitynlm.prediction.slots import has_guesses, read_slots

    stories = read_slots(corpus, split)
    names = table3.choose_rows(wanted, model=model is not None, human=has_guesses(stories))
    learns = any(name in table3.NEEDS_TRAINING for name in names)
    present_splits = [name for name in ("train", "dev") if learns and name in corpus.splits]
    documents = {name: list(corpus.documents(name)) for name in present_splits}
    asked = model if any(name in table3.NEEDS_MODEL for name in names) else None
    pretrained = terminal.load_model(asked, source.device) if asked is not None else None
    config = load_config(ours_config) if ours_config else None
    with shared.start_runner(terminal, source.device) as runner:
        train, development = (documents.get(name, ()) for name in ("train", "dev"))
        training = table3.TrainingStories(train, development, runner.progress)
        predictors = table3.Predictors(training, stories, pretrained, model, config, seed)
        found = {seed: [predictors.measure(name) for name in names]}
    facts = {"model": None if model is None else str(model), "seed": seed}
    present(table3.describe(found, corpus=corpus.name, split=split, facts=facts), terminal)
