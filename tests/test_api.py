"""The public interface: every question that people may ask of a model, from raw text."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import entitynlm
from entitynlm.coref.candidates.candidate_files import KBestList, ScoredClustering
from entitynlm.errors import ConfigError, DataError, ModelError
from entitynlm.progress import Progress
from support.small_model import STORY, store_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> entitynlm.EntityNLM:
    return entitynlm.load(store_model(tmp_path_factory.mktemp("model")))


def test_a_text_is_annotated_and_read(model: entitynlm.EntityNLM) -> None:
    document = model.annotate(STORY)
    assert document.text == STORY and document.mentions
    assert model.log_prob(document).log_prob < 0
    assert all(dict(mention.attributes) for mention in model.annotate(STORY, scores=True).mentions)


def test_surprisal_of_a_text(model: entitynlm.EntityNLM) -> None:
    tables = model.surprisal(STORY, samples=4, repeats=2)
    assert len(tables.tokens) == 15 and all(
        row.surprisal is None or row.surprisal > 0 for row in tables.tokens
    )


def test_many_texts_are_answered_in_their_order(model: entitynlm.EntityNLM) -> None:
    texts = [STORY, "Bo ran.", "Ann saw Bo . Ann ran ."]
    told = Told()
    assert list(model.annotate(iter(texts), progress=told)) == [model.annotate(text) for text in texts]
    assert told.seen == ["start texts None", "texts", "texts", "texts"]
    mixed = [*texts, model.annotate("Bo ran.").with_clusters([[(0, 1)], [(1, 2)]])]
    people = [model.characters(text, least=1) for text in mixed]
    for batch_size in (1, 2, 16):
        assert list(model.characters(mixed, least=1, batch_size=batch_size)) == people
    with pytest.raises(ConfigError, match="one text at least"):
        next(model.characters(texts, batch_size=0))
    first = next(model.surprisal(texts, samples=3, repeats=1))
    assert first == model.surprisal(texts[0], samples=3, repeats=1)
    for wrong in (7, b"Bo ran.", [7]):
        with pytest.raises(DataError, match="this is no text"):
            list(model.annotate(wrong))  # type: ignore[call-overload]


class Told(Progress):
    """Keep what is reported."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def start(self, task: str, total: int | None = None) -> None:
        self.seen.append(f"start {task} {total}")

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        self.seen.append(task)


def test_characters_of_a_text_and_of_an_annotated_one(model: entitynlm.EntityNLM) -> None:
    marked = model.annotate(STORY)
    assert model.characters(STORY, least=1) == model.characters(marked, least=1)
    people = model.characters(STORY, least=1).characters
    assert {person.id for person in people} <= {entity.id for entity in marked.entities}


def test_the_package_shows_what_it_has() -> None:
    assert {"Document", "EntityNLM", "load"} <= {*dir(entitynlm)}
    assert all(hasattr(entitynlm, name) for name in dir(entitynlm))


def test_a_type_checker_sees_the_public_types(tmp_path: Path) -> None:
    """A user's file: answers for one text and for many have types of their own, and a wrong option is found."""
    program = tmp_path / "program.py"
    program.write_text(
        "import entitynlm\n"
        "model = entitynlm.load()\n"
        "reveal_type(model.annotate('x', scores=True).entities[0].mentions)\n"
        "reveal_type(model.annotate(['x']))\n"
        "reveal_type(model.surprisal('x').tokens[0].surprisal)\n"
        "reveal_type(model.characters(['x']))\n"
        "model.annotate('x', score=True)\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(program)]
    environment = {**os.environ, "MYPYPATH": str(Path(entitynlm.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    revealed = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert [re.sub(r"(\w+\.)+", "", found).replace("builtins.", "") for found in revealed] == [
        "tuple[Mention, ...]", "Iterator[Document]", "float | None", "Iterator[Cast]"
    ], done.stdout + done.stderr  # fmt: skip
    assert 'Unexpected keyword argument "score"' in done.stdout


def test_who_comes_next(model: entitynlm.EntityNLM) -> None:
    choice = model.next_entity(STORY)
    assert sum(choice.probabilities) == pytest.approx(1)
    with pytest.raises(ConfigError, match="nothing is mentioned at"):
        model.next_entity(STORY, 99)


def test_a_closed_vocabulary_writes_no_prose(model: entitynlm.EntityNLM) -> None:
    with pytest.raises(ConfigError, match="closed vocabulary"):
        model.generate(STORY, words=5)


def test_candidates_are_ranked(model: entitynlm.EntityNLM) -> None:
    document = model.annotate("Ann saw Bo . Ann ran .")
    clusters = [[((0, 1), (4, 5)), ((2, 3),)], [((0, 1),), ((2, 3), (4, 5))]]
    ranked = model.rerank(document, clusters)
    assert ranked[0].score >= ranked[1].score
    kbest = KBestList(
        document.id, tuple(ScoredClustering(tuple(c), float(-n)) for n, c in enumerate(clusters))
    )
    assert model.rerank(document, kbest, weight=0.0)[0].clusters == kbest.candidates[0].clusters


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model of the package"):
        entitynlm.load("entitynlm-xx")
