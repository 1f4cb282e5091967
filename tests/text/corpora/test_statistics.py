import json
import re
from collections import Counter
from pathlib import Path

import pytest

from entitynlm.text.corpora import open_corpus
from entitynlm.text.corpora.statistics import measure_documents
from entitynlm.text.document import Document, Mention
from support.running_example import RUNNING_EXAMPLE


def test_the_running_example_is_counted() -> None:
    counts = measure_documents([RUNNING_EXAMPLE])
    assert counts.as_json() == {
        "documents": 1,
        "sentences": 2,
        "tokens": 22,
        "mentions": 6,
        "entities": 4,
        "singletons": 2,
        "mean_mention_length": pytest.approx(11 / 6),
        "longest_mention": 3,
        "vocabulary": 19,  # 22 tokens, of which "to", "the" and "." stand twice
    }


def test_counts_are_of_the_annotation_as_it_stands() -> None:
    document = Document(
        "d",
        ("The", "the", "cat"),
        mentions=(
            Mention(0, 3, "a"),
            Mention(0, 3, "b"),  # annotated twice: counts twice
            Mention(1, 3, "a"),  # nested: counts
            Mention(0, 1, "c"),
        ),
    )
    counts = measure_documents([document, document])
    assert (counts.mentions, counts.entities, counts.singletons) == (8, 6, 4)
    assert counts.mean_mention_length == pytest.approx((3 + 3 + 2 + 1) / 4)
    assert counts.vocabulary == 3  # as spelt


def test_nothing_gives_zeros_and_no_mean() -> None:
    counts = measure_documents([])
    assert counts.documents == counts.tokens == counts.vocabulary == counts.longest_mention == 0
    assert counts.mean_mention_length is None
    assert json.loads(json.dumps(counts.as_json()))["mean_mention_length"] is None


# -- the real corpora, against a second, independent way of counting -----------------------------------------


def count_conllu_with_regular_expressions(paths: tuple[Path, ...]) -> tuple[int, int, int, int]:
    """Tokens, mentions, entities and singletons of GUM files, from the brackets of the last column alone."""
    tokens = mentions = entities = singletons = 0
    for path in paths:
        sizes: Counter[str] = Counter()
        for line in path.read_text(encoding="utf-8").splitlines():
            cells = line.split("\t")
            if len(cells) == 10 and cells[0].isdigit():
                tokens += 1
                for brackets in re.findall(r"(?:^|\|)Entity=([^|]*)", cells[9]):
                    sizes.update(re.findall(r"\(([^()-]+)", brackets))
        mentions += sum(sizes.values())
        entities += len(sizes)
        singletons += sum(size == 1 for size in sizes.values())
    return tokens, mentions, entities, singletons


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["ontogum", "gum"])
def test_gum_counts_agree_with_an_independent_count(corpora_path: Path, name: str) -> None:
    corpus = open_corpus(corpora_path / name)
    dev = measure_documents(corpus.documents("dev"))
    assert count_conllu_with_regular_expressions(corpus.splits["dev"]) == (
        dev.tokens,
        dev.mentions,
        dev.entities,
        dev.singletons,
    )
