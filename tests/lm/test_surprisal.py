"""Surprisal tables: rows for all tokens, figures that equal the model's own, errors from repeats, spelling."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from entitynlm.errors import ConfigError, ModelError
from entitynlm.inference.readings import Readings
from entitynlm.lm.spelling import CONCENTRATION, DISCOUNT, SpellingModel, spell_unknown_words
from entitynlm.lm.surprisal import measure_surprisal
from entitynlm.lm.surprisal_words import estimate_words, score_by_backbone
from entitynlm.model.encoding.tokenizer import Vocabulary
from entitynlm.text.document import Document
from support.enumeration import enumerate_log_prob
from support.small_bundles import cut_document, make_bundle, make_documents


def test_every_token_has_a_row_and_dropped_ones_an_empty_one() -> None:
    pretrained, _ = make_bundle()
    document = make_documents()[0]
    found = measure_surprisal(pretrained, document, samples=5, repeats=2)
    assert [row.token for row in found.tokens] == list(document.tokens)
    assert [(row.sentence_id, row.token_id) for row in found.tokens] == [
        (1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2), (2, 3),
    ]  # fmt: skip
    dropped = [row for row in found.tokens if row.surprisal is None]
    assert [row.token for row in dropped] == [".", "."]
    assert all(row.oov is None and row.word is None and row.error is None for row in dropped)


def test_tables_are_data_frames_too() -> None:
    pytest.importorskip("pandas")
    found = measure_surprisal(make_bundle()[0], make_documents()[0])
    tokens, mentions = found.to_pandas(), found.to_pandas("mentions")
    assert tokens["token"].tolist() == [row.token for row in found.tokens]
    assert mentions["referent_surprisal"].tolist() == [row.referent_surprisal for row in found.mentions]
    assert list(tokens.columns)[:4] == ["sentence_id", "token_id", "token", "surprisal"]


def test_given_mentions_are_used_and_nothing_is_sampled() -> None:
    pretrained, _ = make_bundle()
    document = make_documents()[0]
    given = measure_surprisal(pretrained, document)
    assert given.given and all(row.error is None for row in given.tokens)
    assert [row.entity for row in given.tokens] == ["ann", None, "bo", None, "ann", None, None]
    assert [(row.mention, row.entity, row.is_new, row.form) for row in given.mentions] == [
        ("Ann", "ann", True, "name"),
        ("Bo", "bo", True, "name"),
        ("She", "ann", False, "pronoun"),
    ]
    last = given.mentions[-1]
    assert (last.since_words, last.since_sentences, last.since_mentions, last.candidates) == (4, 1, 2, 3)
    assert measure_surprisal(pretrained, document, seed=7).tokens == given.tokens
    sampled = measure_surprisal(pretrained, document, mentions="sampled", samples=5)
    assert not sampled.given and any(row.error is not None for row in sampled.tokens)


def test_units() -> None:
    pretrained, _ = make_bundle()
    document = make_documents()[1]
    bits, nats = (measure_surprisal(pretrained, document, base=base) for base in (2.0, math.e))
    for first, second in zip(bits.tokens, nats.tokens, strict=True):
        if first.surprisal is not None and second.surprisal is not None:
            assert first.surprisal == pytest.approx(second.surprisal / math.log(2))
    assert bits.mentions[1].entropy == pytest.approx(nats.mentions[1].entropy / math.log(2))


def test_sampled_surprisal_approaches_the_sum_over_all_analyses() -> None:
    pretrained, documents = make_bundle(std=0.7)
    document = documents[0]
    model, proposal = pretrained.get("generative"), pretrained.get("causal")
    exact = [0.0, *(enumerate_log_prob(model, cut_document(document, n)) for n in range(1, 5))]
    found = estimate_words(model, proposal, cut_document(document, 4), particles=800, repeats=6)
    assert found.reader is not None
    for t, (before, after) in enumerate(itertools.pairwise(exact)):
        assert found.log_probs[t] == pytest.approx(after - before, abs=0.02 + 5 * found.errors[t])
    assert ((found.reader.mention_found >= 0) & (found.reader.mention_found <= 1)).all()
    assert found.reader.mention_expected[0] == pytest.approx(
        measure_surprisal(pretrained, make_documents()[0]).tokens[0].mention_expected
    )


def test_the_same_seed_gives_the_same_table() -> None:
    pretrained, _ = make_bundle()
    document = dataclasses.replace(make_documents()[0], mentions=())
    one, same, other = (measure_surprisal(pretrained, document, samples=5, seed=seed) for seed in (1, 1, 2))
    assert one.tokens == same.tokens
    assert one.tokens != other.tokens


def test_without_entities_is_a_distribution_over_texts() -> None:
    """Summed over all texts of two words, the probabilities by the language model that P is built on are one."""
    pretrained, documents = make_bundle(mention_positions=2, mention_types=1)
    vocabulary = pretrained.encoder.vocabulary
    words = [word for word in range(len(vocabulary)) if word != vocabulary.start]
    start, total = cut_document(documents[0], 2), 0.0
    for x in itertools.product(words, repeat=2):
        document = dataclasses.replace(start, x=np.array(x), sentence=np.zeros(2, dtype=np.int64))
        readings = Readings(document, size=1)
        total += math.exp(score_by_backbone(pretrained.get("generative"), document, readings).sum())
    assert total == pytest.approx(1.0, abs=1e-4)


def test_the_lstm_is_the_comparison_where_the_model_has_one() -> None:
    pretrained, _ = make_bundle()
    assert measure_surprisal(pretrained, make_documents()[0]).source == "rnnlm"
    pretrained.language_model = None
    found = measure_surprisal(pretrained, make_documents()[0])
    assert found.source == "language model"
    assert all(row.without_entities is not None for row in found.tokens if row.surprisal is not None)


def test_unknown_words_have_a_spelling() -> None:
    pretrained, _ = make_bundle()
    document = Document("d", ("Ann", "saw", "Zebedee", "."))
    found = measure_surprisal(pretrained, document, samples=5)
    row = found.tokens[2]
    assert row.oov and row.word == "zebedee" and row.surprisal is not None and row.spelling is not None
    assert row.surprisal > row.spelling > 0
    assert [other.oov for other in found.tokens] == [False, False, True, None]
    assert all(other.spelling is None for other in found.tokens if not other.oov)
    other = measure_surprisal(pretrained, Document("d", ("Ann", "saw", "Zz", ".")), samples=5).tokens[2]
    assert other.surprisal is not None and other.spelling is not None  # the same p(unknown), another spelling
    assert other.surprisal - other.spelling == pytest.approx(row.surprisal - row.spelling)


def test_unknown_words_that_come_again_are_less_surprising_and_still_a_distribution() -> None:
    vocabulary = Vocabulary(["<s>", "<unk>", "</s>", "ann", "saw"])
    spelled = spell_unknown_words(vocabulary, ["ann", "zeb", "saw", "zeb", "quux", "zeb"])
    assert np.isnan(spelled[[0, 2]]).all() and np.isfinite(spelled[[1, 3, 4, 5]]).all()
    assert spelled[1] < spelled[3] < spelled[5]
    assert spelled[1] == pytest.approx(SpellingModel.of_vocabulary(vocabulary).log_prob("zeb"))
    # after "zeb" the shares of "zeb" and of all other spellings are one
    base = math.exp(spelled[1])
    rest = (CONCENTRATION + DISCOUNT) * (1 - base) / (1 + CONCENTRATION)
    assert math.exp(spelled[3]) + rest == pytest.approx(1.0)


def test_the_longest_words_have_a_probability_of_their_own() -> None:
    vocabulary = Vocabulary(["<s>", "<unk>", "</s>", "ann", "saw"])
    spelling = SpellingModel.of_vocabulary(vocabulary)
    words = ["東" * 200, "東" * 400]
    found = spell_unknown_words(vocabulary, [*words, words[1]])
    assert math.exp(spelling.log_prob(words[0])) == 0
    assert found[0] == pytest.approx(spelling.log_prob(words[0]))
    more = (CONCENTRATION + DISCOUNT) / (1 + CONCENTRATION)
    assert found[1] == pytest.approx(spelling.log_prob(words[1]) + math.log(more)) and found[1] < found[0]
    assert found[2] > math.log(0.02)


def test_a_text_of_nothing_but_dropped_tokens() -> None:
    pretrained, _ = make_bundle()
    found = measure_surprisal(pretrained, Document("d", ("...", "!")))
    assert [row.surprisal for row in found.tokens] == [None, None]
    assert found.mentions == () and found.words == 0 and found.total == 0


def test_what_makes_no_sense_is_refused() -> None:
    pretrained, _ = make_bundle()
    document = make_documents()[0]
    with pytest.raises(ConfigError, match="mentions are"):
        measure_surprisal(pretrained, document, mentions="guessed")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="base"):
        measure_surprisal(pretrained, document, base=1.0)
    del pretrained.networks["causal"]
    measure_surprisal(pretrained, document)  # needs no proposal
    with pytest.raises(ModelError, match="causal"):
        measure_surprisal(pretrained, document, mentions="sampled")


# -- spelling ----------------------------------------------------------------------------------------------------------------


def test_spelling_is_a_distribution_over_unknown_words() -> None:
    """Every character's distribution sums to one, and known words' shares go to the others."""
    words = ["anna", "annabel", "bell", "lab"]
    free = SpellingModel(words)
    alphabet = 0x110000
    for context in ("\x02" * 4, "\x02ann", "zzzz", "\x02\x02\x02b"):
        seen = sum(free._find_prob(context + character) for character in "abeln\x03")
        rest = (alphabet - 6) * free._find_prob(context + "q")
        assert seen + rest == pytest.approx(1.0)
    bound = SpellingModel(words, known=words)
    taken = sum(math.exp(free.log_prob(word)) for word in words)
    assert bound.log_prob("anabel") == pytest.approx(free.log_prob("anabel") - math.log1p(-taken))


def test_spelling_prefers_what_looks_like_a_word() -> None:
    vocabulary = Vocabulary(
        ["the", "cat", "walking", "talking", "singing", "ringing", "bringing", "stocking"]
    )
    model = SpellingModel.of_vocabulary(vocabulary)
    assert model.log_prob("winging") > model.log_prob("gnigniw")
    assert math.isfinite(model.log_prob("柠檬🍋"))
