"""The command line as a whole: quick to start, quick to answer a wrong call, and help that loses nothing."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from entitynlm.interfaces.cli import VERBS, app

COMMANDS = [path.split() for path in VERBS]
SCRIPT = """
import contextlib, io, json, sys
from entitynlm.interfaces import cli
for words in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    told = io.StringIO()
    try:
        with contextlib.redirect_stderr(told), contextlib.redirect_stdout(told):
            cli.main()
        code = 0
    except SystemExit as end:
        code = end.code
    heavy = [name for name in ("torch", "numba", "spacy", "matplotlib") if name in sys.modules]
    print(json.dumps([words, code, told.getvalue(), heavy]))
    if heavy:
        break
"""
FILES = {
    "text": "story.txt",
    "corpus": "corpus",
    "document": "corpus/dev.jsonl",
    "broken": "broken.jsonl",
    "taken": "story.txt/below/out",
}
WRONG = [  # one wrong thing each: a path, a format, a model, a number, a choice, an output
    "annotate nothing.txt",
    "annotate nothing-*.txt",
    "annotate {text} --format nonsense",
    "annotate {text} --model nowhere",
    "annotate {text} --model {corpus}",
    "annotate {text} --device abacus",
    "annotate {text} --to nonsense",
    "annotate {text} --to text",
    "annotate {text} --out {taken}",
    "annotate {text} --json {taken}",
    "annotate {text} --out story.nonsense",
    "annotate {text} --threads 0",
    "annotate picture.txt",
    "surprisal nothing.txt",
    "surprisal {text} --as xlsx",
    "surprisal {text} --base 7",
    "surprisal {text} --repeats 0",
    "surprisal {text} --out {taken}",
    "explore nothing.txt",
    "explore {text} --model nowhere",
    "explore {text} --format nonsense",
    "explore {document} --document nobody",
    "explore --document nobody",
    "explore --port 70000",
    "explore --host nowhere.invalid",
    "batch annotate nothing --out a",
    "batch annotate {text}",
    "batch annotate {text} --out {taken}",
    "batch annotate {text} --out a --to brat",
    "batch annotate {text} --out a --engine ray --workers 0",
    "batch annotate {text} --out {corpus}",
    "batch surprisal {text} --out a --model nowhere",
    "batch surprisal {text} --out a --as xlsx",
    "batch characters - --out a",
    "characters nothing.txt",
    "characters {text} --least 0",
    "characters {text} --as xlsx",
    "characters {text} --out {taken}",
    "report nothing.txt",
    "report {document} --document nobody",
    "report {text} --out {taken}",
    "report {broken}",
    "generate nothing.txt",
    "generate --temperature 0",
    "generate --top-p 2",
    "generate --cast Anna,,Bob",
    "generate --model nowhere",
    "generate --words many",
    "predict-entity nothing.conllu",
    "predict-entity {text} --model nowhere",
    "score nothing.conll {text}",
    "score {text} {text} --metric nonsense",
    "rerank --kbest nothing.jsonl --out a.conll",
    "rerank --kbest {broken} --out a.conll",
    "rerank --kbest {text} --out a.nonsense",
    "rerank --kbest {broken} --out a.conll --weight 1 --weights {text}",
    "train nothing --out a",
    "train {corpus} --out {taken}",
    "train {corpus} --out a --config nothing.toml",
    "train {corpus} --out a --set nonsense",
    "train {corpus} --out a --set model.nonsense=1",
    "train {corpus} --out a --parts causal",
    "train {corpus} --out a --parts nonsense",
    "train {corpus} --out a --start-from nowhere",
    "train {corpus} --out a --device abacus",
    "train {text} --out a",
    "train {corpus} --out a --backbone nowhere.gguf",
    "train {corpus} --out a --backbone {corpus}",
    "train {corpus} --out a --backbone ./nowhere",
    "train {corpus} --out a --set model.backbone=huggingface:./nowhere",
    "sweep nothing --out a",
    "sweep {corpus} --out {taken}",
    "sweep {corpus} --out a --space nowhere.toml",
    "sweep {corpus} --out a --space {text}",
    "sweep {corpus} --out a --trials 0",
    "sweep {corpus} --out a --set model.nonsense=1",
    "sweep {corpus} --out a --storage nonsense://nowhere",
    "sweep {corpus} --out a --device abacus",
    "sweep {text} --out a",
    "models nowhere",
    "models nonsense",
    "surprisal {text} --model huggingface:{corpus}",
    "annotate {text} --model huggingface:./nowhere",
    "data stats nothing",
    "data convert nothing a --to jsonl",
    "data convert {text} a.jsonl --to nonsense",
    "report {document} --document nobody",
    "data get nonsense",
    "evaluate lm nothing --model {corpus}",
    "evaluate lm {corpus} --model nowhere",
    "evaluate lm {corpus} --likelihoods nobody",
    "evaluate lm {corpus} --config nothing.toml --out a",
    "evaluate lm {corpus} --set model.dropout=0.1",
    "evaluate lm {corpus} --out {taken}",
    "evaluate coref nothing",
    "evaluate coref {corpus} --model nowhere",
    "evaluate coref {corpus} --out a --config nothing.toml",
    "evaluate entity nothing --out a",
    "evaluate entity {corpus} --device abacus",
    "evaluate books nothing",
    "evaluate books {corpus} --split last",
    "nonsense",
]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All wrong calls in one process of their own, which stops at the first that imports a heavy package."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "story.txt").write_text("Anna lost her key. She called Bob.\n", encoding="utf-8")
    (folder / "broken.jsonl").write_text('{"nonsense": 1}\n', encoding="utf-8")
    (folder / "picture.txt").write_bytes(b"\x89PNG\x00\x01\x02" * 50)
    (folder / "corpus").mkdir()
    for split in ("train", "dev"):
        (folder / "corpus" / f"{split}.jsonl").write_text(
            '{"doc_id": "a", "sentences": [["Anna", "slept"]], "clusters": []}\n', encoding="utf-8"
        )
    calls = [line.format_map(FILES).split() for line in WRONG]
    command = [sys.executable, "-c", SCRIPT, json.dumps(calls)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {line: answer for line, answer in zip(WRONG, found, strict=False)}  # noqa: C416


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_call_is_answered_without_torch(answers: dict[str, Any], line: str) -> None:
    assert line in answers, "a call before this one imported a heavy package"
    _, code, told, heavy = answers[line]
    assert heavy == []
    assert code == 2 and told.strip() and "Traceback" not in told


def test_every_verb_has_a_wrong_call() -> None:
    elsewhere = (["data", "list"], ["evaluate"])  # the tables of the paper have tests of their own
    for verb in COMMANDS:
        assert verb in elsewhere or any(line.split()[: len(verb)] == verb for line in WRONG), verb


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_program_starts_without_what_it_does_not_need(option: str) -> None:
    code = (
        "import sys\nfrom entitynlm.interfaces import cli\nsys.argv[1:] = [sys.argv[1]]\n"
        "try:\n    cli.main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('torch', 'numba', 'spacy', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, option], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_annotating_a_sentence_starts_quickly(tmp_path: Path) -> None:
    """From the shell, the cache warm: under 3 CPU-seconds on a quiet machine (2.9 on one with load 12), and nothing needless."""
    (tmp_path / "one.txt").write_text("Anna lost her key. She called Bob, and he came at once.\n")
    code = (
        "import sys\nfrom entitynlm.interfaces import cli\n"
        "try:\n    cli.main()\nexcept SystemExit:\n    pass\n"
        "names = ('training.loop', 'prediction', 'generation', 'lm', 'experiments', 'api', 'report')\n"
        "print([name for name in names if f'entitynlm.{name}' in sys.modules], file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "annotate", "one.txt", "--model", "entitynlm-en", "-q"]
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    spent = []
    for _ in range(2):  # the first call compiles
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert done.stderr.splitlines()[-1] == "[]"
    assert spent[1] < 4  # what another load of the machine may add


@pytest.mark.parametrize("verb", COMMANDS, ids=" ".join)
def test_every_verb_has_help_for_every_option(verb: list[str]) -> None:
    command: Any = typer.main.get_command(app)
    for name in verb:
        command = command.get_command(None, name)
    assert command.help
    assert all(parameter.help for parameter in command.params if parameter.name != "help")
    assert CliRunner().invoke(app, [*verb, "--help"]).exit_code == 0


def test_help_keeps_square_brackets() -> None:
    printed = CliRunner().invoke(app, ["predict-entity", "--help"]).stdout
    assert "[entity, probability]" in " ".join(printed.split())


def test_a_misspelt_verb_is_corrected() -> None:
    result = CliRunner().invoke(app, ["anotate"])
    assert result.exit_code == 2 and "annotate" in result.stderr


def test_the_readable_error_has_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "entitynlm.interfaces.cli", "annotate", str(tmp_path / "nothing.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
