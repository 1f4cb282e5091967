"""The three tables from one quick training of one model, with fewer epochs, samples and candidates: for demonstrations only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from entitynlm.config import Mode
from entitynlm.coref.ranker.ranker import RankerSettings, annotates_singletons, train_ranker
from entitynlm.errors import DataError, MissingExtraError
from entitynlm.experiments import table1_language_modelling as table1
from entitynlm.experiments import table2_coreference as table2
from entitynlm.experiments import table3_entity_prediction as table3
from entitynlm.experiments.paper import PREDICTION_SYSTEMS, TABLE_TITLES
from entitynlm.experiments.runner import Runner
from entitynlm.experiments.table import Figure, ResultRow, ResultTable, make_summary
from entitynlm.lm.evaluation import Sampling
from entitynlm.model.pretrained import Pretrained
from entitynlm.prediction.evaluation import PAPER as PAPER_ENTITY
from entitynlm.prediction.slots import collect_slots
from entitynlm.text.document import Document

NEEDED_PARTS: tuple[Mode, ...] = ("generative", "causal", "rnnlm")  # what the tables need of a model
COREF_SYSTEMS = {
    "one best": "Baseline, one best",
    "P": "Reranked by P",
    "P + baseline": "Reranked by P + baseline",
    "oracle": "Best of its candidates",
}


@dataclass(frozen=True)
class Stories:
    name: str
    train: Sequence[Document]
    development: Sequence[Document]
    test: Sequence[Document]


def measure_small_tables(
    pretrained: Pretrained, stories: Stories, *, seed: int = 0, say: Callable[[str], None] = lambda text: None
) -> dict[str, ResultTable]:
    if not stories.test:
        raise DataError("there are no test documents")
    tables = {}
    for task, measure in (("lm", measure_lm), ("coref", measure_coref), ("entity", measure_entity)):
        say(TABLE_TITLES[task])
        tables[task] = measure(pretrained, stories, seed)
    return tables


def measure_lm(pretrained: Pretrained, stories: Stories, seed: int) -> ResultTable:
    """Measure a 5-gram (where an estimator is installed), the LSTM and EntityNLM on the same words."""
    documents = {"train": stories.train, "test": stories.test}
    sampling = Sampling(particles=20, repeats=2, seed=seed)
    experiment = table1.LanguageModelling(documents, Runner(), ("test",), sampling, ("marginal",))
    missing = []
    try:
        found = experiment.evaluate(pretrained)
    except MissingExtraError as error:
        found, missing = replace(experiment, ngram=False).evaluate(pretrained), [f"no 5-gram row: {error}"]
    summary = table1.describe(found, corpus=stories.name, facts={}).summary
    return replace(summary, remarks=(*summary.remarks, *missing))


def measure_coref(pretrained: Pretrained, stories: Stories, seed: int) -> ResultTable:
    ranker = train_ranker(stories.train, RankerSettings(epochs=2, seed=seed))
    documents = {"dev": stories.development, "test": stories.test}
    splits = table2.make_splits(documents, singletons=annotates_singletons(stories.train))
    experiment = table2.Coreference(Runner(), 20, ("swaps",))
    block = experiment.measure_block("", splits, experiment.rank(ranker, splits), pretrained)
    rows = []
    for row, counts in block.rows["test"].items():
        system = COREF_SYSTEMS.get(row.split(": ")[-1])
        if system is not None:
            figure = Figure(counts.conll)
            rows.append(ResultRow(system, {stories.name: figure}, table2.get_paper_figure(row)))
    remarks = ("baseline: our ranker; 20 candidates a story",)
    return make_summary("coref", stories.name, rows, remarks)


def measure_entity(pretrained: Pretrained, stories: Stories, seed: int) -> ResultTable:
    slotted = collect_slots(list(stories.test), None)
    documents = {"train": stories.train, "dev": stories.development}
    experiment = table3.EntityPrediction(documents, slotted)
    rows = []
    for row in experiment.evaluate(("always-new", "shallow", "modi", "entitynlm"), pretrained, seed=seed)[
        seed
    ]:
        figure = Figure(row.accuracy, (row.interval.high - row.interval.low) / 2)
        rows.append(ResultRow(PREDICTION_SYSTEMS[row.name], {stories.name: figure}, PAPER_ENTITY[row.name]))
    remarks = (f"{sum(len(story.slots) for story in slotted):,} slots; ± is half a 95 % interval",)
    return make_summary("entity", stories.name, rows, remarks)
