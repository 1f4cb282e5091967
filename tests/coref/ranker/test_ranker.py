"""The antecedent ranker on small invented documents: it finds mentions and learns what it is shown."""

import random
from pathlib import Path

import numpy as np
import pytest

from entitynlm.coref.candidates.kbest import decode_best, decode_swaps
from entitynlm.coref.mention_table import MentionTable, guess_head
from entitynlm.coref.metrics.coreference import score_documents
from entitynlm.coref.metrics.documents import clean_key
from entitynlm.coref.ranker.features import NEW_TEMPLATES, PAIR_TEMPLATES, RELATIONS, relate_mentions
from entitynlm.coref.ranker.hashing import LinearModel, learn_choices
from entitynlm.coref.ranker.mentions import CandidateMention, find_by_dependencies, has_syntax
from entitynlm.coref.ranker.ranker import Ranker, RankerExample, find_mentions
from entitynlm.discourse.discourse import read_discourse
from entitynlm.errors import DataError
from entitynlm.text.corpora.corpus import open_corpus
from entitynlm.text.document import Document, Mention

# word, upos, pos, head (1-based within the sentence, 0: root), relation
MARY_SAW = """Mary PROPN NNP 2 nsubj
saw VERB VBD 0 root
the DET DT 5 det
old ADJ JJ 5 amod
king NOUN NN 2 obj
of ADP IN 7 case
Spain PROPN NNP 5 nmod
and CCONJ CC 10 cc
her PRON PRP$ 10 nmod:poss
cat NOUN NN 5 conj
. PUNCT . 2 punct"""


def make_parsed(doc_id: str, rows: str, mentions: list[Mention] | None = None) -> Document:
    fields = [line.split() for line in rows.splitlines()]
    return Document(
        doc_id,
        tuple(row[0] for row in fields),
        mentions=tuple(mentions or ()),
        columns={
            "upos": tuple(row[1] for row in fields),
            "pos": tuple(row[2] for row in fields),
            "deprel": tuple(row[4] for row in fields),
        },
        heads=tuple(int(row[3]) - 1 for row in fields),
    )


def words_of(document: Document, mentions: list[CandidateMention]) -> dict[str, str]:
    return {document.words(*m.span): document.tokens[m.head] for m in mentions}


def test_mentions_from_dependencies() -> None:
    document = make_parsed("x", MARY_SAW)
    assert words_of(document, find_by_dependencies(document)) == {
        "Mary": "Mary",
        "the old king of Spain and her cat": "king",
        "the old king of Spain": "king",
        "Spain": "Spain",
        "her": "her",
        "her cat": "cat",
    }


def test_brackets_and_quotes_are_kept_whole() -> None:
    rows = """the DET DT 2 det
bank NOUN NN 0 root
( PUNCT -LRB- 4 punct
ECB PROPN NNP 2 appos
) PUNCT -RRB- 4 punct
, PUNCT , 2 punct"""
    document = make_parsed("x", rows)
    assert words_of(document, find_by_dependencies(document)) == {
        "the bank ( ECB )": "bank",
        "the bank": "bank",
        "ECB": "ECB",
    }


def test_heads_without_a_tree() -> None:
    document = Document("x", tuple("the king of all Spain 's".split()))
    assert guess_head(document, 0, 5) == 1
    assert guess_head(document, 3, 6) == 4
    assert guess_head(document, 4, 5) == 4


def test_documents_without_syntax_say_so() -> None:
    plain = Document("plain", ("Mary", "slept"))
    assert not has_syntax(plain)
    with pytest.raises(DataError, match="'plain' has no syntax"):
        find_mentions(plain, None)


def test_relations_of_a_small_document() -> None:
    tokens = "Mary Smith met a king . She liked him . Smith left .".split()
    document = Document(
        "x", tuple(tokens), ((0, 6), (6, 10), (10, 13)), columns={"speaker": ("A",) * 10 + ("B",) * 3}
    )
    table = MentionTable(read_discourse(document), [(0, 2), (3, 5), (6, 7), (8, 9), (10, 11)])
    i, j, relations = relate_mentions(table)
    assert set(relations) == set(RELATIONS)
    found = {pair: row for row, pair in enumerate(zip(i.tolist(), j.tolist(), strict=True))}
    assert len(found) == 10

    def differ(name: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
        return bool(relations[name][found[one]] != relations[name][found[other]])

    assert differ("same_head", (4, 0), (4, 1))  # Smith: Mary Smith, a king
    assert differ("agreement", (3, 1), (2, 1))  # him, she: a king
    assert differ("sentences", (2, 0), (4, 0)) and not differ("sentences", (2, 0), (2, 1))


def test_features_are_hashes_of_columns() -> None:
    document = tell_story(1)
    mentions = [CandidateMention(m.span, guess_head(document, *m.span)) for m in document.mentions]
    example = RankerExample(document, mentions)
    model = LinearModel(1 << 20, 0.1, 0.0)
    assert len(set(NEW_TEMPLATES)) == len(NEW_TEMPLATES) and len(set(PAIR_TEMPLATES)) == len(PAIR_TEMPLATES)
    assert model.index(PAIR_TEMPLATES, example.columns).shape == (len(example.i), len(PAIR_TEMPLATES))
    indices = model.index(NEW_TEMPLATES, example.attributes)
    assert indices.max() < 1 << 20
    form = example.attributes["form"]
    column = NEW_TEMPLATES.index("form")
    assert np.array_equal(indices[:, [column]] == indices[:, column], form[:, None] == form)


def test_learning_follows_the_gradient_of_the_softmax_margin() -> None:
    """One step of AdaGrad from zero, against the gradient by hand."""
    none, candidates = np.array([[0]], dtype=np.uint32), np.array([[1], [2]], dtype=np.uint32)
    weights, squares, costs = np.zeros(4), np.ones(4), np.array([0.1, 3.0, 1.0])
    learn_choices(
        weights, squares, none, candidates, np.array([0, 2]), np.array([True, False]), costs, 0.5, 0.0
    )
    shares = np.exp([3.0, 0.0, 1.0])  # no link costs three, the right one nothing, the wrong one one
    shares /= shares.sum()
    gradient = shares - np.array([0, 1, 0])
    np.testing.assert_allclose(weights[:3], -0.5 * gradient / np.sqrt(1 + gradient**2))


# -- learning ------------------------------------------------------------------------------------------------------

PEOPLE = {"she": ("Anna", "Eva", "Ida", "Lena"), "he": ("Otto", "Paul", "Karl", "Emil")}
THINGS = ("lamp", "boat", "stone", "book", "chair")


def tell_story(number: int, *, singletons: bool = False) -> Document:
    """Two people of different gender, a thing, and six sentences about them."""
    dice = random.Random(number)
    people = [("she", dice.choice(PEOPLE["she"])), ("he", dice.choice(PEOPLE["he"]))]
    thing = dice.choice(THINGS)
    tokens: list[str] = []
    sentences: list[tuple[int, int]] = []
    mentions: list[Mention] = []

    def say(words: str, entity: str | None = None) -> None:
        start = len(tokens)
        tokens.extend(words.split())
        if entity:
            mentions.append(Mention(start, len(tokens), entity))

    for index in range(6):
        start = len(tokens)
        who = dice.randrange(2)
        pronoun, name = people[who]
        known = any(mention.entity == name for mention in mentions)
        say(pronoun.capitalize() if known and dice.random() < 0.6 else name, name)
        say(dice.choice(("saw", "took", "liked")))
        seen = any(mention.entity == thing for mention in mentions)
        say(f"the {thing}" if seen else f"a {thing}", thing if seen or index < 4 else None)
        say(".")
        sentences.append((start, len(tokens)))
    sizes = {m.entity: sum(o.entity == m.entity for o in mentions) for m in mentions}
    kept = [m for m in mentions if singletons or sizes[m.entity] > 1]
    return Document(f"story {number}", tuple(tokens), tuple(sentences), tuple(kept))


@pytest.fixture(scope="module")
def ranker() -> Ranker:
    return Ranker([tell_story(n, singletons=True) for n in range(80)])


def score_ranker(ranker: Ranker, documents: list[Document], *, singletons: bool) -> float:
    found = [d.with_clusters(decode_best(ranker.score(d), singletons=singletons)) for d in documents]
    return score_documents(documents, found).conll


def test_it_finds_and_links_the_mentions_of_stories(ranker: Ranker) -> None:
    assert (
        score_ranker(ranker, [tell_story(n, singletons=True) for n in range(1000, 1020)], singletons=True)
        > 80
    )


def test_scores_are_antecedent_scores(ranker: Ranker) -> None:
    document = tell_story(1000)
    scores = ranker.score(document)
    assert len(scores) > 6
    assert (scores.antecedents < scores.anaphors).all()
    assert decode_swaps(scores, 5).candidates[0].clusters == decode_best(scores)
    again = Ranker([tell_story(n, singletons=True) for n in range(80)]).score(document)
    assert np.array_equal(again.scores, scores.scores)
    assert ranker.score(Document("empty", ())).mentions == ()


def test_documents_without_mentions_teach_nothing() -> None:
    with pytest.raises(DataError, match="no mentions"):
        Ranker([Document("x", ("a", "b"))])


@pytest.mark.corpora
@pytest.mark.slow
def test_it_beats_cort_on_ontogums_development_documents(corpora_path: Path) -> None:
    """cort has 59.80 there, with the same gold syntax and without speakers."""
    corpus = open_corpus(corpora_path / "ontogum")
    ranker = Ranker(list(corpus.documents("train")))
    assert score_ranker(ranker, [clean_key(d) for d in corpus.documents("dev")], singletons=False) > 64
