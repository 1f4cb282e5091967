"""The 5-gram baseline: a proper distribution over the neural models' vocabulary, one probability per word."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from entitynlm.errors import DataError
from entitynlm.lm.ngram import LOG_10, NgramModel, estimate_ngrams, split_lines
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.text.document import Document


def make_documents(count: int, *, seed: int) -> list[Document]:
    """Invented sentences with the counts of counts of a language: few words are frequent, most are rare."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(60)]
    share = 1 / np.arange(1, 61)
    documents = []
    for number in range(count):
        tokens: list[str] = []
        sentences = []
        for _ in range(rng.integers(3, 8)):
            start = len(tokens)
            word = int(rng.integers(0, 60))
            for _ in range(rng.integers(2, 12)):
                word = (
                    int(rng.choice(60, p=share / share.sum())) if rng.random() < 0.5 else (word * 7 + 1) % 60
                )
                tokens.append(words[word])
            sentences.append((start, len(tokens)))
        documents.append(Document(f"d{number}", tuple(tokens), tuple(sentences)))
    return documents


def encode(
    documents: list[Document], **recipe: object
) -> tuple[Encoder, list[EncodedDocument], list[EncodedDocument]]:
    """An encoder fitted on all but five documents, those documents, and the five."""
    encoder = Encoder.fit(documents[:-5], recipe=Recipe(**recipe), singletons="keep")  # type: ignore[arg-type]
    encoded = [encoder.encode_words(document) for document in documents]
    return encoder, encoded[:-5], encoded[-5:]


def contexts(documents: list[EncodedDocument], encoder: Encoder) -> Iterator[list[int]]:
    """Beginnings of sentences, from none to six words."""
    lines = [line for document in documents for line in split_lines(document, encoder.vocabulary)]
    yield []
    yield from (lines[i][:size] for i, size in enumerate((1, 2, 3, 4, 6)))


def list_log_probs(model: NgramModel, words: list[int]) -> npt.NDArray[np.float64]:
    """(V,) log-probabilities of all words after those of a sentence's beginning, each scored as the last word of a document."""
    context = model._extend()
    for word in words:
        context = model._extend(context, word)
    log_probs = np.array([model._score_word(context, word) for word in range(len(model._vocabulary))])
    log_probs[model._vocabulary.start] = -np.inf
    return log_probs * LOG_10


@pytest.mark.parametrize(
    "recipe",
    [{}, {"minimum_count": 1}, {"sentence_ends": False}, {"minimum_count": 8, "numbers": False}],
    ids=["unknown words", "no unknown words", "no sentence ends", "no number word"],
)
def test_probabilities_of_all_words_sum_to_one(recipe: dict[str, object]) -> None:
    encoder, train, held_out = encode(make_documents(60, seed=1), **recipe)
    model = estimate_ngrams(train, encoder)
    for context in contexts(held_out, encoder):
        probabilities = np.exp(list_log_probs(model, context))
        assert probabilities.sum() == pytest.approx(1.0, abs=2e-5)  # ARPA files have six digits
        assert probabilities[encoder.vocabulary.start] == 0
        assert np.delete(probabilities, encoder.vocabulary.start).min() > 0


def test_words_of_the_documents_that_set_the_discounts_are_words_too() -> None:
    """VariKN takes its discounts from every 20th document, whose words may stand nowhere else."""
    documents = make_documents(60, seed=8)
    for number in (10, 30):
        tokens = tuple(
            f"rare{i % 40}" if i % 2 else token for i, token in enumerate(documents[number].tokens * 4)
        )
        documents[number] = Document(documents[number].id, tokens, ((0, len(tokens)),))
    encoder, train, held_out = encode(documents)
    model = estimate_ngrams(train, encoder)
    assert "discounts from 3 training documents" in model.description
    for context in contexts(held_out, encoder):
        probabilities = np.exp(list_log_probs(model, context))
        assert probabilities.sum() == pytest.approx(1.0, abs=2e-5)
        assert probabilities[encoder.vocabulary["rare1"]] > 1e-6


def test_scores_are_those_of_the_distribution_word_by_word() -> None:
    encoder, train, held_out = encode(make_documents(40, seed=3))
    model = estimate_ngrams(train, encoder)
    document = held_out[0]
    end = encoder.vocabulary.sentence_end
    assert end in document.x
    expected = []
    for line in split_lines(document, encoder.vocabulary):
        sentence = [*line, end]
        expected += [list_log_probs(model, sentence[:i])[word] for i, word in enumerate(sentence)]
    np.testing.assert_allclose(model.score(document), expected, atol=1e-12)


def test_training_text_is_likelier_than_chance_and_other_text() -> None:
    encoder, train, held_out = encode(make_documents(60, seed=4))
    model = estimate_ngrams(train, encoder)
    own = np.mean(np.concatenate([model.score(document) for document in train]))
    other = np.mean(np.concatenate([model.score(document) for document in held_out]))
    assert own > other > -np.log(len(encoder.vocabulary))


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    encoder, train, _ = encode(make_documents(20, seed=5))
    estimate_ngrams(train, encoder)
    assert capfd.readouterr() == ("", "")


def test_no_words_are_refused() -> None:
    encoder, _, _ = encode(make_documents(8, seed=7))
    with pytest.raises(DataError, match="no words"):
        estimate_ngrams([], encoder)
