"""The recipes of CONTRIBUTING work: each skeleton is executed and does what its recipe says, and the files named there exist."""

import dataclasses
import io
import json
import re
import sys
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from entitynlm.config import ModelConfig
from entitynlm.errors import DataError
from entitynlm.experiments.table import PREDICTION_SYSTEMS
from entitynlm.experiments.table3_entity_prediction import Predictors
from entitynlm.interfaces.cli import make_verb
from entitynlm.model.backbones.base import BACKBONES
from entitynlm.model.batch.scores import cut_windows, score_windows
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.prediction.choices import NEW, AlwaysNew
from entitynlm.prediction.evaluation import measure_row
from entitynlm.prediction.slots import find_all_slots
from entitynlm.text.formats.base import Oddity, Source
from entitynlm.text.formats.registry import write_documents
from support.enumeration import (
    enumerate_log_prob,
    enumerate_mean_weight,
    list_analyses,
    score_analyses,
    sum_documents,
    weigh_analyses,
    with_analysis,
)
from support.running_example import RUNNING_EXAMPLE
from support.scoring import score_encoded
from support.slow_twin import SlowTwin
from support.small_networks import CLASSES, WORDS, make_network, make_words
from test_architecture_page import list_names

ROOT = Path(__file__).resolve().parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def run_recipe(title: str, module: str = "recipe") -> dict[str, Any]:
    """The names that the skeleton of a recipe defines."""
    section = CONTRIBUTING.split(f"\n## Recipe: {title}\n")[1].split("\n## ")[0]
    (skeleton,) = re.findall(r"^   ```python\n(.*?)^   ```$", section, re.MULTILINE | re.DOTALL)
    made = types.ModuleType(module)
    sys.modules[module] = made
    try:
        exec(compile(textwrap.dedent(skeleton), f"<{title}>", "exec"), made.__dict__)
    finally:
        del sys.modules[module]
    return made.__dict__


def test_there_is_a_recipe_for_each_extension() -> None:
    titles = re.findall(r"^## Recipe: add a (.*)$", CONTRIBUTING, re.MULTILINE)
    assert titles == ["format", "baseline", "backbone", "proposal", "table row", "command"]


def test_files_named_in_the_recipes_exist() -> None:
    named = set(re.findall(r"`((?:src|tests|docs)/[\w/.-]+\.(?:py|md))`", CONTRIBUTING))
    made = ("my_format", "my_baseline", "my_backbone", "longest")
    missing = {path for path in named if not (ROOT / path).exists()}
    assert len(named) > 15 and all(any(name in path for name in made) for path in missing)


def test_names_are_in_the_files_given_with_them() -> None:
    """As in "`PARTS` (`src/entitynlm/training/settings.py`)" or "`PANELS` in `…`"."""
    text = " ".join(CONTRIBUTING.split())
    pairs = re.findall(r"`([A-Za-z_.]+)` (?:\(|in |of )`((?:src|tests)/[\w/]+\.py)`", text)
    assert len(pairs) >= 9
    assert [(name, file) for name, file in pairs if name not in list_names(ROOT / file)] == []


# -- a format --------------------------------------------------------------------------------------------------------------


def test_the_recipe_for_a_format_works() -> None:
    namespace = run_recipe("add a format")
    content = b"%my-format\nAnna\t1\nsleeps\t-\n\t2\n"
    odd: list[Oddity] = []
    assert namespace["recognise"]("a.my", content)
    (document,) = namespace["read"](Source("a.my", io.BytesIO(content), odd.append))
    assert document.tokens == ("Anna", "sleeps")
    assert document.clusters() == (((0, 1),),)
    assert [oddity.line for oddity in odd] == [4]
    with pytest.raises(DataError, match=r"a\.my:2: a row without an entity"):
        list(namespace["read"](Source("a.my", io.BytesIO(b"%my-format\nAnna\n"))))


# -- a baseline ------------------------------------------------------------------------------------------------------------


def test_the_recipe_for_a_baseline_works() -> None:
    encoder = Encoder.fit([RUNNING_EXAMPLE], recipe=Recipe(minimum_count=1), singletons="keep")
    encoded = encoder.encode(RUNNING_EXAMPLE)
    model = run_recipe("add a baseline")["UnigramModel"]([encoded], encoder.vocabulary)
    assert len(model.score(encoded)) == len(encoded)
    everything = dataclasses.replace(encoded, x=np.arange(len(encoder.vocabulary)))
    assert np.exp(model.score(everything)).sum() == pytest.approx(1.0)


# -- a backbone ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def gru() -> Iterator[None]:
    run_recipe("add a backbone")
    yield
    del BACKBONES["gru"]


@pytest.mark.usefixtures("gru")
def test_the_recipe_for_a_backbone_works() -> None:
    options: dict[str, Any] = {"backbone": "gru", "max_length": 2, "mention_positions": 2}
    model, proposal = make_network("generative", **options), make_network("causal", seed=1, **options)
    words = make_words(4)
    analyses = list_analyses(model, words)
    documents = [with_analysis(words, analysis) for analysis in analyses[::9]]
    with torch.no_grad():
        for network in (model, proposal):
            fast = sum_documents(score_encoded(network, documents, noise=None))
            slow = [sum(s.r + s.e + s.l + s.x for s in SlowTwin(network).score(d)) for d in documents]
            assert fast.tolist() == pytest.approx([float(value) for value in slow], abs=1e-10)
        carried, total = None, 0.0
        for window in cut_windows(documents[-1], model, 2):
            found = score_windows(model, [window], noise=None, carried=carried)
            carried, total = found.carried.select(model.backbone, [0]), total + float(found.scores.total)
        assert total == pytest.approx(
            float(score_encoded(model, documents[-1:], noise=None).total), abs=1e-10
        )
    exact = enumerate_log_prob(model, words)
    assert enumerate_mean_weight(model, proposal, words) == pytest.approx(exact, abs=1e-10)


# -- a proposal ------------------------------------------------------------------------------------------------------------


def test_the_recipe_for_a_proposal_works() -> None:
    proposal_class = run_recipe("add a proposal")["DeepProposal"]
    config = ModelConfig(mode="causal", hidden_size=5, embedding_size=4, max_length=3, sigma=0.0)
    torch.manual_seed(0)
    proposal = proposal_class(config, WORDS, 0, WordClasses(CLASSES)).double().eval()
    model, words = make_network("generative"), make_words(4)
    exact = enumerate_log_prob(model, words)
    assert enumerate_mean_weight(model, proposal, words) == pytest.approx(exact, abs=1e-10)
    analyses = list_analyses(proposal, words)
    _, log_q = weigh_analyses(model, proposal, words, analyses)
    assert log_q == pytest.approx(score_analyses(proposal, words, analyses), abs=1e-10)


# -- a table row -----------------------------------------------------------------------------------------------------------


def test_the_recipe_for_a_table_row_works() -> None:
    chooser = run_recipe("add a table row")["MostRecent"]()
    slotted = find_all_slots(RUNNING_EXAMPLE)
    choices = chooser.choose(slotted.story, slotted.positions)
    assert [choice.best for choice in choices[:2]] == [NEW, RUNNING_EXAMPLE.mentions[0].entity]
    assert all(sum(choice.probabilities) == 1 for choice in choices)
    rows = [measure_row("recent", chooser, [slotted]), measure_row("new", AlwaysNew(), [slotted])]
    assert all(0 <= row.accuracy <= 100 for row in rows)
    assert "always-new" in PREDICTION_SYSTEMS and callable(Predictors.make)


# -- a command -------------------------------------------------------------------------------------------------------------


def invoke(command: Any, *arguments: str) -> str:
    result = CliRunner().invoke(command, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_recipe_for_a_command_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "entitynlm.interfaces.commands.longest"
    made = types.ModuleType(module)
    made.__dict__.update(run_recipe("add a command", module))
    monkeypatch.setitem(sys.modules, module, made)
    monkeypatch.chdir(tmp_path)
    command = make_verb("longest")
    write_documents([RUNNING_EXAMPLE], "story.jsonl", "jsonl")
    assert "the coffee shop" in invoke(command, "story.jsonl")
    figures = json.loads(invoke(command, "story.jsonl", "--at-least", "3", "--json", "-"))
    assert list(figures["mentions"].values()) == ["the coffee shop"]
    assert "Leave out mentions" in invoke(command, "--help") and "--at-least 3" in invoke(command, "--help")
