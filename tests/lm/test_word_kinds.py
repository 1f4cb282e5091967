"""Words by kind: pronouns, names and other words in first and later mentions, everything else outside."""

import numpy as np

from entitynlm.lm.word_kinds import OUTSIDE_MENTIONS, WORD_KINDS, find_kinds, select_kind, sum_kinds
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.text.document import Document

TOKENS = tuple("Anna Lee lost her old key . She called the old woman and Anna .".split())
CHAINS = (((0, 2), (3, 4), (7, 8), (13, 14)), ((9, 12),))


def test_kinds_of_a_story() -> None:
    document = Document("d", TOKENS, ((0, 7), (7, 15))).with_clusters(CHAINS)
    encoder = Encoder.fit([document], recipe=Recipe(minimum_count=1), singletons="keep")
    encoded = encoder.encode(document)
    kinds = [WORD_KINDS[kind] for kind in find_kinds(document, encoded)]
    by_token = {int(token): kind for token, kind in zip(encoded.origin, kinds, strict=True) if token >= 0}
    first, later, other = "name, first mention", "name, later mention", "other word, first mention"
    pronoun = "pronoun, later mention"
    assert by_token[0] == by_token[1] == first and by_token[13] == later
    assert by_token[3] == by_token[7] == pronoun
    assert [by_token[token] for token in (9, 10, 11)] == [other] * 3
    assert {by_token[token] for token in (2, 4, 5, 8, 12)} == {OUTSIDE_MENTIONS}
    assert {kind for token, kind in zip(encoded.origin, kinds, strict=True) if token < 0} == {
        OUTSIDE_MENTIONS
    }


def test_sums_are_by_kind_and_kinds_that_are_missing_count_nothing() -> None:
    log_probs = np.array([-1.0, -2.0, -4.0])
    found = sum_kinds(log_probs, np.array([0, 3, 0]))
    assert found == {OUTSIDE_MENTIONS: (2, -5.0), WORD_KINDS[3]: (1, -2.0)}
    counts, sums = select_kind([found, sum_kinds(log_probs, None)], WORD_KINDS[3])
    assert counts.tolist() == [1, 0] and sums.tolist() == [-2.0, 0.0]
