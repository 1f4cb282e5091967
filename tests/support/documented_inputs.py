"""The files that the documentation's commands name, made on the spot, so small that every command can be run as it is written.

The folder ``work`` is where commands are run; what they call ``../shared/data/NAME`` are a dozen generated stories beside it, and
``configs`` has the repository's settings for networks of eight units and one epoch.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pypandoc

from entitynlm.config import load_toml
from entitynlm.interfaces.cli import make_verb
from entitynlm.stories import generate_stories
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import write_documents
from support.small_model import store_model

STORY = "Anna lost her key. She called Bob, and he came at once. The old man gave Anna the key in Prague.\n"
NOVEL = """CHAPTER I

Mrs. Weber opened the door. "Who is there?" she asked.

"It is Anna," said Anna. "I lost my key."

CHAPTER II

Mrs. Weber laughed. Anna thanked her, and the old man gave Mrs. Weber the key.
"""
ITEMS = """item	condition	context	target
1	name	Anna lost her key.	Then Anna | called Bob.
1	pronoun	Anna lost her key.	Then she | called Bob.
2	name	Bob saw the old man.	Later Bob | laughed.
2	pronoun	Bob saw the old man.	Later he | laughed.
"""
TEXTS = {
    STORY: (
        "story",
        "letter",
        "ending",
        "draft",
        "item",
        "items",
        "letters/one",
        "letters/two",
        "stimuli/one",
        "items/one",
    ),
    NOVEL: ("novel", "chapter", "novels/one", "novels/two", "my-texts/train/one", "my-texts/dev/two"),
}
CORPORA = (
    "shared/data/ontogum", "shared/data/litbank", "shared/data/inscript", "work/stories", "work/my-stories", "work/gold",
    "work/corpora/ontogum", "work/corpora/litbank", "work/corpora/stories", "work/corpora/inscript",
    "work/conll-2012/v4/data", "work/RUN/annotated",
)  # fmt: skip
MODELS = ("ontogum", "inscript", "litbank", "conll", "lm-ontogum/seed-1", "lm-litbank/seed-1")
SMALL = {
    "preprocessing": {"vocabulary_size": 300, "minimum_count": 1},
    "model": {"hidden_size": 8, "embedding_size": 8},
    "training": {"epochs": 1, "patience": 1},
}


def list_help_examples(path: str) -> list[str]:
    """The lines below "Examples:" in the docstring of a verb."""
    text = make_verb(path).help or ""
    return re.findall(r"^  (\S.*)$", text.partition("Examples:")[2], re.MULTILINE)


def make_inputs(folder: Path) -> Path:
    """Make everything in ``folder``, and return the folder to work in."""
    work = folder / "work"
    for text, names in TEXTS.items():
        for name in names:
            path = work / f"{name}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    pypandoc.convert_text(NOVEL, "epub", format="markdown", outputfile=str(work / "novel.epub"))
    (work / "items.tsv").write_text(ITEMS, encoding="utf-8")
    (work / "my-space.toml").write_text('[space]\n"model.dropout" = [0.2, 0.5]\n', encoding="utf-8")
    make_corpora(folder)
    make_annotations(work)
    for name in MODELS:
        store_model(work / "runs" / name)
    for name in ("lm", "tiny", "paper-conll", "paper-inscript"):
        write_config(work / "configs" / f"{name}.toml")
    return work


def make_stories(split: str) -> list[Document]:
    """A few generated stories."""
    first, last = {"train": (0, 6), "dev": (6, 9), "test": (9, 12)}[split]
    return list(generate_stories(12, seed=1))[first:last]


def make_corpora(folder: Path) -> None:
    """Generated stories under each of the corpora's names, and scores of antecedents for one of them."""
    for name in CORPORA:
        for split in ("train", "dev", "test"):
            path = folder / name / f"{split}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_documents(make_stories(split), path, "jsonl")
    for split in ("dev", "test"):
        lines = [score_antecedents(document) for document in make_stories(split)]
        for name in ("shared/data", "work/corpora"):
            path = folder / name / "cort-ontogum" / f"{split}.antecedents.jsonl"
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def make_annotations(work: Path) -> None:
    """Annotated documents in several formats, systems to score, and k-best lists."""
    tests, devs = make_stories("test"), make_stories("dev")
    for name in ("story", "stories", "annotated", "chapter"):
        write_documents(tests[:1], work / f"{name}.conllu", "conllu")
        write_documents(tests[:1], work / f"{name}.jsonl", "jsonl")
    for name in ("gold", "system", "better", "mentions", "gold.test"):
        write_documents(tests, work / f"{name}.conll", "conll2012")
    write_documents(generate_stories(1, seed=2), work / "story.conll", "conll2012")
    write_documents(tests, work / "system.jsonl", "jsonl")
    write_documents(devs, work / "gold.dev.conll", "conll2012")
    write_documents(tests[:1], work / "corrected.jsonl", "jsonl")
    for name, documents in (("mine", tests), ("test", tests), ("dev", devs)):
        lines = [list_candidates(document) for document in documents]
        (work / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name in ("scores.jsonl", "scores/test.jsonl"):
        (work / name).parent.mkdir(exist_ok=True)
        shutil.copy(work.parent / "shared/data/cort-ontogum/test.antecedents.jsonl", work / name)


def list_candidates(document: Document) -> dict[str, Any]:
    """Two candidates: the annotation, and no link at all."""
    clusters = [list(map(list, cluster)) for cluster in document.clusters()]
    shown = {"tokens": list(document.tokens), "sentences": [list(span) for span in document.sentences]}
    candidates = [{"clusters": clusters, "score": 1.0}, {"clusters": [], "score": 0.5}]
    return {"doc_id": document.id, **shown, "candidates": candidates}


def score_antecedents(document: Document) -> dict[str, Any]:
    """Every mention may have the one before it as its antecedent, or none."""
    spans = sorted({mention.span for mention in document.mentions})
    candidates = [[[-1, 0.0], *([[number - 1, 0.5]] if number else [])] for number in range(len(spans))]
    best = [number - 1 for number in range(len(spans))]
    return {"doc_id": document.id, "mentions": spans, "candidates": candidates, "best": best}


def write_config(path: Path) -> None:
    """The repository's settings of that name, made small."""
    settings = load_toml(Path(__file__).resolve().parents[2] / "configs" / path.name)
    for section, values in SMALL.items():
        settings.setdefault(section, {}).update(values)
    for section in ("causal", "rnnlm"):
        if section in settings:
            settings[section].update({key: 1 for key in ("epochs", "patience") if key in settings[section]})
    lines = []
    for section, values in settings.items():
        lines.append(f"[{section}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
