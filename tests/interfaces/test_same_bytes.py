"""Every verb gives the same bytes, on standard output and in every file, under three values of PYTHONHASHSEED.

Verbs are those of the table in ``interfaces/cli.py``, so that a new one needs a case here. A seed has a process of its own, and
calls are made in a folder of the same name: whatever hangs on time or on the order of a set would show.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import entitynlm
from entitynlm.api import as_document
from entitynlm.interfaces.cli import VERBS
from entitynlm.stories import generate_stories
from entitynlm.text.document import Mention
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
    "batch characters": "talk.jsonl --model model --out new/batch --quiet",
    "characters": "talk.jsonl --mentions given --least 1 --out new/cast.tsv --json new/cast.json",
    "generate": "story.txt --model model --words 9 -n 2 --seed 5 --json new/g.json",
    "predict-entity": "gold.jsonl --model model --out new/p.tsv --json new/p.json",
    "score": "gold.jsonl gold.jsonl --versus gold.jsonl --trials 50 --json new/score.json",
    "rerank": "--kbest kbest.jsonl --model model --weight 0.1 --out new/r.conll --json new/r.json",
    "data list": "--json new/list.json",
    "data get": "stories --documents 10 --seed 5 --out new/stories",
    "data stats": "corpus --json new/stats.json",
    "data convert": "gold.jsonl new/gold.conllu --to conllu",
    "train": f"corpus --out new/trained {TINY} --set resolver.epochs=1 --seed 5 --json new/train.json",
    "models": "--json new/models.json",
}
SLOW = {
    "batch annotate": "gold.jsonl --model model --out new/batch --quiet",
    "batch surprisal": f"gold.jsonl --model model {QUICK} --out new/batch --quiet",
    "sweep": f"corpus --space space.toml --trials 2 {TINY} --seed 5 --out new/sweep --json new/sweep.json",
    "evaluate coref": f"corpus --out new/c {TINY} --trials 20 --k 3 --threads 1 --json new/e.json",
    "evaluate entity": f"corpus --out new/e {TINY} --rows always-new,entitynlm,ours --threads 1 --json new/e.json",
    "evaluate lm": "corpus --model model --samples 2 --repeats 2 --json new/e.json",
}
NOTHING_TO_COMPARE = {
    "explore": "it answers a browser until it is stopped, and writes nothing",
    "evaluate books": "its table has CPU-seconds and memory",
}
TALK = (
    "Anna, Bob, Clara, David, Emma and Frank sat at one table with George and Helen.\n\n“Who knows?”\n\n“Not I.”\n\n“Nor I,” "
    "said Emma to Bob and David.\n\n“Frank does.”\n\n“You do, Clara.”\n\nHelen and George laughed. “Go on!”\n"
)
"""Nobody in it is likelier to speak than others, so that the order of a set would decide."""
PEOPLE = "Anna Bob Clara David Emma Frank George Helen".split()
HASH_SEEDS = ("0", "1", "20")
TESTS = Path(__file__).parents[1]
SOURCE = Path(entitynlm.__file__).parents[1]


def test_every_verb_has_a_case() -> None:
    cases = [*CASES, *SLOW, *NOTHING_TO_COMPARE]
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
    talk = as_document(TALK, id="talk")
    people = [Mention(n, n + 1, name) for n, name in enumerate(talk.tokens) if name in PEOPLE]
    write_documents([talk.with_mentions(people)], folder / "talk.jsonl", "jsonl")
    (folder / "story.txt").write_text(STORY)
    (folder / "kbest.jsonl").write_bytes(b"".join(KBEST))
    (folder / "space.toml").write_text('[space]\n"model.dropout" = [0.2, 0.5]\n')
    return folder


def compare(inputs: Path, folder: Path, cases: dict[str, str]) -> list[str]:
    """Make the calls in a process for each seed, and list the outputs that are not the same in all."""
    results = []
    for seed in HASH_SEEDS:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{SOURCE}:{TESTS}"}
        command = [sys.executable, "-m", "support.seeded_calls", str(inputs), str(folder)]
        done = subprocess.run(
            command,
            input=json.dumps(cases),
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        results.append(json.loads(done.stdout.splitlines()[-1]))
    assert all(
        found and set(results[0][verb]) == set(found) for one in results for verb, found in one.items()
    )
    return [
        f"{verb}: {name}"
        for verb, found in results[0].items()
        for name in found
        if len({one[verb][name] for one in results}) > 1
    ]


def test_hash_seeds_change_no_byte(inputs: Path, tmp_path: Path) -> None:
    assert compare(inputs, tmp_path, CASES) == []


@pytest.mark.slow
def test_hash_seeds_change_no_byte_where_it_takes_long(inputs: Path, tmp_path: Path) -> None:
    assert compare(inputs, tmp_path, SLOW) == []
