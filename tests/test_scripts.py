"""The scripts beside the package: head match, and the corpora and the speed of the models that ship."""

import ast
import importlib.util
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from benchmarks import page
from benchmarks.run import describe_run

import known_effects
from add_singletons import add_singletons
from check_memorisation import longest_run, read_texts
from entitynlm.discourse.participants import add_quotations
from entitynlm.lm.items import read_items
from entitynlm.prediction.choices import find_entities
from entitynlm.prediction.network_choice import NetworkChooser
from entitynlm.stories import generate_stories
from entitynlm.text.document import Document, Mention, Quotation
from entitynlm.training.recipe import train_pretrained
from entitynlm.training.settings import load_settings
from head_match import match_heads
from measure_quotations import read_quotations, score_quotations
from measure_speed import measure
from prediction_bounds import BoundChooser
from reranking_terms import Swaps, describe, measure_auc
from shipped_corpora import keep_types, strip
from support.marked_text import read_marked

ROOT = Path(__file__).resolve().parents[1]


def test_head_match_links_heads_and_pronouns() -> None:
    tokens = "The queen met a king . He saw the queen . She left him .".split()
    document = Document("x", tuple(tokens), ((0, 6), (6, 11), (11, 15)))
    spans = ((0, 2), (3, 5), (6, 7), (8, 10), (11, 12), (13, 14))
    assert match_heads(document, spans).best.tolist() == [-1, -1, -1, 0, -1, 2]
    assert match_heads(document, spans, pronouns=True).best.tolist() == [-1, -1, 1, 0, 3, 2]


def test_the_shipped_model_learns_from_four_types_of_entities() -> None:
    mentions = (Mention(0, 1, "a"), Mention(2, 3, "b"))
    document = Document(
        "x", ("Ann", "saw", "clouds"), mentions=mentions, entity_types={"a": "PER", "b": "object"}
    )
    kept = keep_types(document)
    assert kept.mentions == mentions[:1] and kept.entity_types == {"a": "person"}
    assert [bare.mentions for bare in strip([document])] == [()]


def test_a_run_is_what_greedy_continuation_reproduces(tmp_path: Path) -> None:
    assert longest_run(np.array([True, False, True, True, True, False])) == 3
    assert longest_run(np.array([False])) == 0
    (tmp_path / "texts.txt").write_text(
        "# bus\nI took the bus.\n\n# known: psalm\nThe Lord is my shepherd.\n"
    )
    found = read_texts(tmp_path / "texts.txt")
    assert {name: [len(document) for document in texts] for name, texts in found.items()} == {
        "ours": [5],
        "known": [6],
    }


def test_singletons_are_added_beside_chains() -> None:
    tokens = tuple("Ann saw Bo . She ran .".split())
    chains = Document("x", tokens, mentions=(Mention(0, 1, "a"), Mention(4, 5, "a")))
    richer = Document("x", tokens, mentions=(Mention(0, 1, "1"), Mention(2, 3, "2"), Mention(4, 5, "1")))
    added = add_singletons(chains, richer)
    assert [mention.span for mention in added.mentions] == [(0, 1), (2, 3), (4, 5)]
    assert len(added.entities) == 2


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
@pytest.mark.parametrize(
    ("answer", "remarked"),
    [
        ("No known vulnerabilities found", False),
        ("Found 2 known vulnerabilities in 1 package", False),
        ("ERROR: numpy: Dependency not found on PyPI and could not be audited", True),
        ("ConnectionError: no route", True),
    ],
)
def test_make_audit_says_when_it_could_ask_nobody(answer: str, remarked: bool, tmp_path: Path) -> None:
    """pip-audit takes an index without that list for one that does not know the package."""
    (tmp_path / "bin").mkdir()
    code = int(not answer.startswith("No"))
    program = f'#!/bin/sh\ncase "$*" in *pip_audit*) echo "{answer}" >&2; exit {code};; esac\n'
    (tmp_path / "bin" / "python").write_text(program)
    (tmp_path / "bin" / "python").chmod(0o755)
    (tmp_path / ".installed").touch()
    root = Path(__file__).resolve().parents[1]
    command = ["make", "--no-print-directory", "-C", str(root), "audit", f"VENV={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer in done.stdout and (done.returncode != 0) == bool(code)
    assert ("nothing was checked" in done.stdout) == remarked


def test_speed_and_memory_are_those_of_the_command(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("Anna lost her key. She called Bob.", encoding="utf-8")
    seconds, memory = measure("annotate", "entitynlm-en", text)
    assert seconds > 0.5 and 0.1 < memory < 4 and (tmp_path / "text-entitynlm-en.jsonl").stat().st_size > 100
    with pytest.raises(SystemExit, match="ended with status"):
        measure("annotate", str(tmp_path / "nowhere"), text)


def test_swaps_are_compared_with_the_one_best() -> None:
    swaps = Swaps(
        parts=np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0], [2.0, 0, 0, 0], [0.0, 0, 0, 0]]),
        mentions=np.array([-1, 0, 0, 0]),
        conll=np.array([0.5, -0.5, 0.5, -0.5]),
        document=np.array([0, 0, 1, 1]),
    )
    assert measure_auc(swaps, swaps.parts.sum(1)) == 1.0
    assert measure_auc(swaps, np.zeros(4)) == 0.5
    table = describe(swaps, key_below=1, documents=2)
    assert table[2].startswith("| fewer mentions | 1 | +1.00 |") and "1 of 2 documents" in table[-1]


def test_known_effects_are_differences_within_items(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["known_effects.py", "--model", "entitynlm-en", "--effect", "repeated-name", "--items", "3"]
    monkeypatch.setattr("sys.argv", arguments)
    known_effects.main()
    *_, row = capsys.readouterr().out.splitlines()
    name, word, *_ = row.strip("| ").split(" | ")
    assert name == "repeated-name: name − pronoun" and float(word.split(" ±")[0]) > 0


@pytest.mark.parametrize("effect", known_effects.EFFECTS)
def test_every_effect_has_24_items_in_two_conditions(effect: str) -> None:
    items = read_items(known_effects.ITEMS / f"{effect}.tsv")
    assert len(items) == 48 and len({item.item for item in items}) == 24
    assert len({(item.item, item.condition) for item in items}) == 48
    assert all(len(item.make_document()[0].mentions) >= 2 for item in items)


def test_bounds_ask_before_with_and_after_the_word(tmp_path: Path) -> None:
    stories = list(generate_stories(6, seed=5))
    changes = {
        "model.hidden_size": 8,
        "model.embedding_size": 8,
        "training.epochs": 1,
        "model.softmax": "full",
    }
    settings = load_settings(None, {**changes, "training.learning_rate": 0.05})
    trained = train_pretrained(stories[:4], stories[4:5], settings, seed=1, folder=tmp_path)
    assert trained is not None
    story = stories[5]
    spans = sorted({mention.start for mention in story.mentions})
    kept = trained.encoder.encode_with_report(story)[2]
    positions = [position for position in spans if position in {mention.start for mention in kept}]
    rows = {
        row: BoundChooser(str(tmp_path), row).choose(story, positions) for row in ("before", "bayes", "after")
    }
    expected = NetworkChooser(trained.get("generative"), trained.encoder).choose(story, positions)
    for choice, same in zip(rows["before"], expected, strict=True):
        assert choice.probabilities == pytest.approx(same.probabilities, abs=1e-6)
    for row in ("bayes", "after"):
        for position, choice, before in zip(positions, rows[row], rows["before"], strict=True):
            assert sum(choice.probabilities) == pytest.approx(1)
            assert set(choice.entities) <= {*find_entities(story, position), ""}
            if len(choice.entities) > 1:
                assert choice.probabilities != before.probabilities


def test_litbank_s_quotations_count_sentences_and_include_their_ends() -> None:
    lines = [line.split() for line in "“ Stay , ” said Nora .\nIda left .\n“ Go ! ”\n“ Why ? ”".splitlines()]
    words = tuple(word for line in lines for word in line)
    document = Document("x", words, ((0, 7), (7, 10), (10, 14), (14, 18)))
    lines = "QUOTE\tQ1\t0\t0\t0\t3\t“ Stay , ”\nQUOTE\tQ2\t2\t0\t3\t3\t“ Go ! ” …\nATTRIB\tQ1\tNora-0\n"
    assert read_quotations(lines, document) == [Quotation(0, 4, "Nora-0"), Quotation(10, 18)]


def test_quotations_that_are_found_and_right_speakers_are_counted() -> None:
    key = add_quotations(read_marked("“Stay,” said [Nora|n]. [Ida|i] left.\n\n“Why?” asked [Ida|i]."))
    assert set(score_quotations(key).values()) == {2}
    other = key.with_mentions(m for m in key.mentions if m.entity == "n")
    assert score_quotations(key, other)["speaker"] == 1


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda path: path.stem)
def test_a_benchmark_finds_what_it_imports(path: Path) -> None:
    """A function that moved would otherwise be missed only by the next `make bench`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("entitynlm", "support"):
            found = importlib.import_module(str(node.module))
            for name in (alias.name for alias in node.names):
                module = f"{node.module}.{name}"
                assert hasattr(found, name) or importlib.util.find_spec(module), f"{path.name}: {module}"


def test_figures_of_a_run_go_into_the_page_on_speed() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    keys = [row[2] for row in page.ROW.finditer(text)]
    about = describe_run(None, False, [3.04, 1.26]) | {"commit": "0a1b2c3d"}
    results = {**{key: 0.5 + number for number, key in enumerate(keys)}, "about": about}
    filled = page.fill_page(text, results)
    cells = [line.split(" | ") for line in filled.splitlines() if line.startswith("| `")]
    shown = [(cell[0].strip("|` "), cell[-1].strip("| ")) for cell in cells]
    assert shown == [(key, page.format_figure(results[key])) for key in keys], "each row with a key is filled"
    assert "`make bench` at 0a1b2c3d, " in filled and "load 1.3 to 3.0, on one of " in filled
    assert page.fill_page(filled, results) == filled and len(filled.splitlines()) == len(text.splitlines())
    with pytest.raises(SystemExit, match=f"no figure for {keys[1]}"):
        page.fill_page(text, {key: value for key, value in results.items() if key != keys[1]})
    found = {value: page.format_figure(value) for value in (1234.5, 94.4, 2.964, 0.0634)}
    assert [*found.values()] == ["1,234", "94.4", "2.96", "0.063"]
