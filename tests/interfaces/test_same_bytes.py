"""The same call twice gives the same bytes, of every verb: on standard output and in every file.

Verbs are those of the table in ``interfaces/cli.py``, so that a new one needs a case here. Both calls are made in one
process, one after the other, in a folder of the same name: whatever hangs on time, on the order of a set or on what was
computed before would show.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from entitynlm.interfaces.cli import VERBS, app
from entitynlm.stories import generate_stories
from entitynlm.text.formats.registry import write_documents
from support.fuzz_targets import KBEST
from support.small_bundles import make_documents
from support.small_model import STORY, store_model

TINY = "--set model.hidden_size=6 --set model.embedding_size=6 --set training.epochs=1 --set training.batch_size=4"
QUICK = "--samples 2 --repeats 2 --seed 5"
CASES = {
    "annotate": "story.txt --model model --to jsonl --out new/a.jsonl --json new/a.json",
    "surprisal": f"story.txt --model model {QUICK} --out new/s.tsv --json new/s.json",
    "report": f"story.txt --model model {QUICK} --out new/page.html --json new/page.json",
    "batch characters": "gold.jsonl --model model --out new/batch --quiet",
    "characters": "gold.jsonl --mentions given --out new/cast.tsv --json new/cast.json",
    "generate": "story.txt --model model --words 9 -n 2 --seed 5 --json new/g.json",
    "predict-entity": "gold.jsonl --model model --out new/p.tsv --json new/p.json",
    "score": "gold.jsonl gold.jsonl --versus gold.jsonl --trials 50 --json new/score.json",
    "rerank": "--kbest kbest.jsonl --model model --weight 0.1 --out new/r.conll --json new/r.json",
    "data list": "--data . --json new/list.json",
    "data get": "stories --documents 10 --seed 5 --out new/stories",
    "data stats": "corpus --json new/stats.json",
    "data convert": "gold.jsonl new/gold.conllu --to conllu",
    "data check": "gold.jsonl --json new/check.json",
    "data show": "corpus --split dev --sentences 3",
    "train": f"corpus --out new/trained {TINY} --set resolver.epochs=1 --seed 5 --json new/train.json",
    "models": "model --json new/models.json",
}
SLOW = {
    "batch annotate": "gold.jsonl --model model --out new/batch --quiet",
    "batch surprisal": f"gold.jsonl --model model {QUICK} --out new/batch --quiet",
    "demo": "--model model --out new/report.html --json new/demo.json",
    "sweep": f"corpus --space space.toml --trials 2 {TINY} --seed 5 --out new/sweep --json new/sweep.json",
    "evaluate coref": f"corpus --out new/c {TINY} --trials 20 --k 3 --threads 1 --json new/e.json",
    "evaluate entity": f"corpus --out new/e {TINY} --rows always-new,entitynlm,ours --threads 1 --json new/e.json",
    "evaluate lm": "corpus --model model --samples 2 --repeats 2 --json new/e.json",
}
CORPORA = {
    "evaluate quotations": "{0}/litbank --quotations {0}/litbank-quotations --split dev --json new/q.json"
}
NOTHING_TO_COMPARE = {"explore": "it answers a browser until it is stopped, and writes nothing"}
TIMES = re.compile(rb'"(seconds|tokens_per_second|words_per_second)": [\d.]+')
"""Speed is measured, so it is never the same; it is also in checkpoints, and logs have the time in them."""


def test_every_verb_has_a_case() -> None:
    cases = [*CASES, *SLOW, *CORPORA, *NOTHING_TO_COMPARE]
    assert len(set(cases)) == len(cases)
    assert set(cases) == set(VERBS)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the cases read."""
    folder = tmp_path_factory.mktemp("inputs")
    store_model(folder / "model")
    stories = list(generate_stories(14, seed=3))
    for name, some in (("train", stories[:8]), ("dev", stories[8:11]), ("test", stories[11:])):
        write_documents(some, folder / "corpus" / f"{name}.jsonl", "jsonl")
    write_documents(make_documents(), folder / "gold.jsonl", "jsonl")
    (folder / "story.txt").write_text(STORY)
    (folder / "kbest.jsonl").write_bytes(b"".join(KBEST))
    (folder / "scores.jsonl").write_bytes(KBEST[0])
    (folder / "space.toml").write_text('[space]\n"model.dropout" = [0.2, 0.5]\n')
    return folder


def call(verb: str, arguments: str) -> bytes:
    result = CliRunner().invoke(app, [*verb.split(), *arguments.split()])
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.stdout_bytes


def check(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, arguments: str) -> None:
    folder = tmp_path / "here"
    results = []
    for _ in range(2):
        monkeypatch.chdir(tmp_path)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(inputs, folder)
        monkeypatch.chdir(folder)
        found = {"standard output": call(verb, arguments)}
        files = [path for path in sorted(Path("new").rglob("*")) if path.is_file()]
        kept = [
            path
            for path in files
            if path.suffix not in (".log", ".db") and not {"log.txt", "checkpoints"} & {*path.parts}
        ]
        found |= {str(path): path.read_bytes() for path in kept}
        results.append({name: TIMES.sub(b"", content) for name, content in found.items()})
    first, second = results
    assert list(first) == list(second) and any(first.values())
    assert [name for name in first if first[name] != second[name]] == []


@pytest.mark.parametrize("verb", CASES)
def test_the_same_call_gives_the_same_bytes(
    verb: str, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(inputs, tmp_path, monkeypatch, verb, CASES[verb])


@pytest.mark.slow
@pytest.mark.parametrize("verb", SLOW)
def test_the_same_call_gives_the_same_bytes_where_it_takes_long(
    verb: str, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(inputs, tmp_path, monkeypatch, verb, SLOW[verb])


@pytest.mark.slow
@pytest.mark.corpora
@pytest.mark.parametrize("verb", CORPORA)
def test_the_same_call_gives_the_same_bytes_on_real_corpora(
    verb: str, inputs: Path, corpora_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(inputs, tmp_path, monkeypatch, verb, CORPORA[verb].format(corpora_path))
