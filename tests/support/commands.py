"""Verbs as from the shell, on corpora of generated stories."""

from itertools import islice
from pathlib import Path

from click.testing import Result
from typer.testing import CliRunner

from entitynlm.interfaces.cli import app
from entitynlm.stories import generate_stories
from entitynlm.text.formats.registry import write_documents

TINY = (
    "--set preprocessing.vocabulary_size=300 --set preprocessing.punctuation=keep --set model.hidden_size=8 "
    "--set model.embedding_size=8 --set training.epochs=1 --set training.batch_size=4"
).split()


def run(*arguments: object) -> Result:
    """Run a verb that has to succeed."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def write_stories(folder: Path, **splits: int) -> Path:
    """Write a corpus with so many stories in each split."""
    stories = iter(list(generate_stories(sum(splits.values()), seed=3)))
    for name, count in splits.items():
        write_documents(islice(stories, count), folder / f"{name}.jsonl", "jsonl")
    return folder
