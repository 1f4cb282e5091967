"""Options of the verbs ``evaluate lm``, ``coref`` and ``entity``, and the runner that shows its progress in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces import options
from entitynlm.interfaces.commands.train import follow_training, parse_changes
from entitynlm.interfaces.console import Terminal
from entitynlm.model.devices import prepare_torch

if TYPE_CHECKING:
    from entitynlm.coref.candidates.candidate_files import Ranked
    from entitynlm.experiments import table1_language_modelling as table1
    from entitynlm.experiments import table2_coreference as table2
    from entitynlm.experiments.coref_blocks import KeyedSplit
    from entitynlm.experiments.runner import Runner
    from entitynlm.lm.evaluation import EntityVectors
    from entitynlm.text.corpora.corpus import Corpus
    from entitynlm.training.settings import Settings

EVALUATION_LOG = "evaluate.log"
LIKELIHOODS = "marginal,words-only,joint,given-entities"
ENTITY_VECTORS: tuple[EntityVectors, ...] = ("given", "zero", "shuffled")

Share = Annotated[float | None, typer.Option(min=0.0, max=1.0)]
_ANNOTATED = "A corpus folder (entitynlm data list) or an annotated file."
_MODEL = "Measure this model: a folder that entitynlm train has written, or a packaged model."
ModelFolder = Annotated[Path | None, typer.Option("--model", "-m", callback=options.check_model, help=_MODEL)]
_SPLITS = "Splits to measure; default: dev and test, where they are."
Splits = Annotated[str | None, typer.Option("--split", help=_SPLITS)]
Plot = Annotated[Path | None, typer.Option("--plot", callback=options.check_figure)]


@dataclass(frozen=True)
class CorpusOptions:
    """The corpus of an experiment, and what it is computed on."""

    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", callback=options.check_exists, help=_ANNOTATED)]
    format: options.Format = None
    device: options.Device = "cpu"
    threads: options.Threads = None

    def open(self, *needed: str) -> Corpus:
        """Open the corpus, which must have the splits ``needed``."""
        from entitynlm.text.corpora import open_corpus

        corpus = open_corpus(self.corpus, format=self.format)
        for split in needed:
            corpus.files(split)
        return corpus

    def prepare(self, threads: int | None = None) -> None:
        """Import torch, which takes seconds, after all checks of the command line."""
        prepare_torch(self.device, self.threads or threads)


@dataclass(frozen=True)
class TrainingOptions:
    """Models that are trained on the corpus instead of a given one.

    :param out: Train what is needed and not there yet in this folder, which also gets tables.md, tables.json and a log.
    :param config: A TOML file of settings (the folder configs/ has examples); evaluate lm takes several.
    """

    out: options.OptionalFolder = None
    config: Annotated[list[Path] | None, typer.Option("--config", "-c", callback=options.check_exists)] = None
    set_: options.Set = None
    backbone: options.Backbone = None

    def check(self, model: Path | None, plot: Path | None = None) -> None:
        """Refuse options of a training where a model is given, and the other way round."""
        given = {"--config": self.config, "--set": self.set_, "--backbone": self.backbone}
        extra = [name for name, value in given.items() if value]
        if self.out is None and extra:
            raise ConfigError(f"{extra[0]} is for a training: name the folder for its models with --out")
        if self.out is not None and (model is not None or plot is not None):
            told = "--model measures a given model" if model is not None else "--plot draws a given model"
            raise ConfigError(f"{told}, --out trains models: choose one of them")

    def load_configurations(self) -> dict[str, Settings]:
        """Load settings by the names of their files; the defaults where none is given."""
        from entitynlm.training.settings import load_settings

        paths = self.config or []
        tuned = {"model.tuned_output": True} if self.backbone else {}
        changed = {**tuned, **parse_changes(self.set_ or [])}
        if len({path.stem for path in paths}) < len(paths):
            told = "two configuration files have the same name, which is to be their folder's name"
            raise ConfigError(told)
        named: dict[str, Path | None] = {path.stem: path for path in paths}
        return {
            name: load_settings(path, changed, language_model=self.backbone)
            for name, path in (named or {"default": None}).items()
        }

    def load_settings(self, defaults: Mapping[str, Any] | None = None) -> Settings:
        """Load the settings of one configuration; ``defaults`` are for a training without --config and --backbone."""
        from entitynlm.training.settings import load_settings

        paths = self.config or []
        if len(paths) > 1:
            raise ConfigError("one configuration is wanted here, not several (-c)")
        changes = parse_changes(self.set_ or [])
        if not self.config and not self.backbone:
            changes = {**(defaults or {}), **changes}
        return load_settings(paths[0] if paths else None, changes, language_model=self.backbone)


@dataclass(frozen=True)
class PerplexityOptions:
    """Rows of Table 1, and how they are estimated.

    :param ngram: With or without the 5-gram row.
    :param method: How P(X) is estimated.
    :param cache: Add rows for the LSTM and EntityNLM with a word cache of this share, e.g. 0.12: what mere repetition is worth.
    :param bigram_cache: Another row each, with a cache of bigrams of this share besides: what copying is worth without entities.
    :param entities: Rows of EntityNLM: some of given, zero, shuffled: words see entities' vectors as they are, none, or others'.
    :param likelihoods: Rows of EntityNLM: some of marginal, words-only, joint, given-entities.
    """

    ngram: bool = True
    samples: options.Samples = 100
    repeats: options.Repeats = 4
    method: Literal["particle-filter", "importance"] = "particle-filter"
    prior_share: options.PriorShare = None
    cache: Annotated[float, typer.Option(min=0.0)] = 0.0
    bigram_cache: Annotated[float, typer.Option(min=0.0)] = 0.0
    entities: str = "given"
    likelihoods: str = LIKELIHOODS
    workers: options.Workers = 1
    seed: options.Seed = 0

    def check(self) -> list[str]:
        self._choose_entities()
        if self.cache + self.bigram_cache >= 1:
            raise ConfigError(
                "--cache and --bigram-cache must be below 1 together: the rest is the model's own"
            )
        return parse_names(self.likelihoods, "--likelihoods", LIKELIHOODS.split(","))

    def _choose_entities(self) -> tuple[EntityVectors, ...]:
        wanted = parse_names(self.entities, "--entities", ENTITY_VECTORS)
        return tuple(name for name in ENTITY_VECTORS if name in wanted)

    def make_experiment(
        self, corpus: Corpus, splits: Sequence[str], runner: Runner
    ) -> table1.LanguageModelling:
        from entitynlm.experiments.table1_language_modelling import LanguageModelling
        from entitynlm.inference.marginal import PRIOR_SHARE
        from entitynlm.lm.evaluation import Sampling

        share = PRIOR_SHARE if self.prior_share is None else self.prior_share
        sampling = Sampling(
            self.samples, self.repeats, self.method, self.seed, self.workers, share, self.cache,
            self.bigram_cache, self._choose_entities(),
        )  # fmt: skip
        train = ["train"] if runner.folder or (self.ngram and "train" in corpus.splits) else []
        documents = {name: list(corpus.documents(name)) for name in (*train, *splits)}
        return LanguageModelling(documents, runner, splits, sampling, self.check(), self.ngram)


@dataclass(frozen=True)
class RerankingOptions:
    """Candidates and tests of Table 2.

    :param scores: A baseline's antecedent scores or k-best lists: a folder with dev….jsonl and test….jsonl (docs/formats.md).
    """

    scores: options.OptionalPath = None
    k: options.Candidates = 100
    trials: options.Trials = 10_000

    def find_baselines(
        self, names: Sequence[str], beside: Path | None = None
    ) -> Callable[[Sequence[KeyedSplit]], dict[str, table2.Baseline]]:
        """Where the scores are (``beside``, if no option names them), checked, and how they are read."""
        scores = self.scores or (beside if beside is not None and beside.is_dir() else None)
        files = find_score_files(scores, names) if scores is not None else {}

        def read(splits: Sequence[KeyedSplit]) -> dict[str, table2.Baseline]:
            if scores is None:
                return {}
            return {scores.name: {split.name: read_scores(files[split.name], split) for split in splits}}

        return read

    def make_experiment(self, runner: Runner, seed: int) -> table2.Coreference:
        from entitynlm.experiments.coref_blocks import Reranking
        from entitynlm.experiments.table2_coreference import Coreference

        return Coreference(runner, Reranking(self.k), self.trials, seed)


def split_list(text: str | None) -> list[str]:
    """``dev,test`` as its parts."""
    return list(dict.fromkeys(part.strip() for part in (text or "").split(",") if part.strip()))


def parse_names(text: str, option: str, known: Sequence[str]) -> list[str]:
    """The names between the commas, if they are known."""
    names = split_list(text)
    wrong = [name for name in names if name not in known]
    if wrong:
        raise ConfigError(f"{option}: there is no {wrong[0]!r}; choose from {', '.join(known)}")
    if not names:
        raise ConfigError(f"{option} wants one of {', '.join(known)} at least")
    return names


def parse_numbers(text: str, option: str, *, least: int = 0, most: int = options.LARGEST_SEED) -> list[int]:
    """``1,2,3`` as numbers, seeds if nothing else is said."""
    try:
        numbers = [int(part) for part in split_list(text)]
    except ValueError:
        raise ConfigError(f"{option} wants whole numbers with commas between them, not {text!r}") from None
    if not numbers:
        raise ConfigError(f"{option} wants one number at least")
    if wrong := [number for number in numbers if not least <= number <= most]:
        raise ConfigError(f"{option} wants numbers from {least} to {most}, not {wrong[0]}")
    return numbers


def choose_splits(corpus: Corpus, wanted: str | None) -> list[str]:
    """The splits asked for (all must be there), or those of dev and test that are, or all that there is."""
    if wanted is None:
        return [split for split in ("dev", "test") if split in corpus.splits] or list(corpus.splits)
    splits = split_list(wanted)
    if not splits:
        raise ConfigError("--split wants one split at least")
    for split in splits:
        corpus.files(split)
    return splits


def find_score_files(folder: Path, splits: Sequence[str]) -> dict[str, Path]:
    """The file of each split: the one whose name starts with the split's (dev.antecedents.jsonl, test.jsonl)."""
    if not folder.is_dir() and len(splits) > 1:
        told = f"{folder}: one file can't have the scores of {len(splits)} splits; name its folder"
        raise ConfigError(told)
    found = {}
    for split in splits:
        files = [folder] if not folder.is_dir() else sorted(folder.glob(f"{split}*.jsonl*"))
        if len(files) != 1:
            message = f"there are {len(files) or 'no'} files {split}*.jsonl"
            raise DataError(message, path=folder, expected="one for each split")
        found[split] = files[0]
    return found


def read_scores(path: Path, split: KeyedSplit) -> list[Ranked]:
    """Antecedent scores or k-best lists of a split, in the order of its documents."""
    from entitynlm.coref.candidates.candidate_files import read_candidates

    documents = {document.id: document for document in split.documents}
    found = {item.doc_id: item for _, item in read_candidates(path, documents)}
    if missing := [doc_id for doc_id in documents if doc_id not in found]:
        share = f"{len(missing)} of the {len(documents)} documents of {split.name}"
        raise DataError(f"{share} have no scores ({missing[0]}, …)", path=path)
    return [found[doc_id] for doc_id in documents]


@contextmanager
def start_runner(terminal: Terminal, device: str, out: Path | None = None) -> Iterator[Runner]:
    """A runner that shows its progress; the first Ctrl-C stops it where the same command can go on."""
    from entitynlm.experiments.runner import Runner

    with follow_training(terminal, None if out is None else out / EVALUATION_LOG) as progress:
        try:
            yield Runner(out, device, progress)
        except KeyboardInterrupt:
            progress.message("stopped" if out is None else "stopped; the same command goes on from here")
            raise typer.Exit(130) from None
        if out is not None:
            progress.message("done")
