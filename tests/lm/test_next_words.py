"""What was expected in the place of a word: a distribution whose probability of the word that came is its surprisal."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import entitynlm
from entitynlm.lm.items import Item, measure_items, tabulate_items
from entitynlm.lm.surprisal import TokenRow, measure_surprisal
from support.bare_language_models import needs_extra, read_directly
from support.small_bundles import make_bundle, make_documents
from support.tiny_language_models import save_model


@pytest.mark.parametrize("mentions", ["given", "sampled"])
def test_the_expected_words_are_the_distribution_behind_surprisal(mentions: Any) -> None:
    pretrained, _ = make_bundle(mention_positions=3)
    size, document = len(pretrained.encoder.vocabulary), make_documents()[0]
    sampling: dict[str, Any] = {"samples": 2_000, "repeats": 2, "base": math.e}
    found = measure_surprisal(pretrained, document, mentions=mentions, top_words=size, **sampling)
    for row in found.to_pandas().dropna(subset="surprisal").itertuples():
        words = [getattr(row, f"top_{n}") for n in range(1, size + 1)]
        probs = [getattr(row, f"top_{n}_probability") for n in range(1, size + 1)]
        assert probs == sorted(probs, reverse=True) and sum(probs) == pytest.approx(1)
        assert row.next_entropy == pytest.approx(-sum(p * math.log(p) for p in probs if p > 0))
        assert words[int(row.rank) - 1] == row.word
        near = 0.003 if mentions == "given" else 0.05  # of ways that are left out; of sampling
        assert -math.log(probs[int(row.rank) - 1]) == pytest.approx(row.surprisal, abs=near)


def test_columns_are_there_on_request() -> None:
    pretrained, document = make_bundle()[0], make_documents()[0]
    assert {type(row) for row in measure_surprisal(pretrained, document).tokens} == {TokenRow}
    found = measure_surprisal(pretrained, document, top_words=2)
    assert (
        found.tokens[3].surprisal is None and found.tokens[3].rank is None
    )  # a full stop, which is not read
    items = [Item("1", "a", "Ann saw Bo.", ("She", "saw it ran"))]
    (measured,) = measure_items(pretrained, items, top_words=1)
    tokens = measure_surprisal(pretrained, items[0].make_document()[0], top_words=1).tokens
    table = tabulate_items([measured], "tokens", 1).to_pandas()
    assert table["rank"].tolist() == [tokens[4].rank, tokens[5].rank]
    assert table["top_1"].tolist() == [tokens[4].top_1, tokens[5].top_1]
    assert table["next_entropy"].tolist() == [tokens[4].next_entropy, tokens[5].next_entropy]


@needs_extra
def test_on_a_language_model_they_are_its_first_pieces(tmp_path: Path) -> None:
    model = entitynlm.EntityNLM.from_backbone(str(save_model(tmp_path, "llama")), start_piece="<|end|>")
    text = "The old captain looked at the sea"
    found = model.surprisal(text, word_boundaries=False, top_words=3, base=math.e)
    runtime = model.pretrained.get("generative").backbone.runtime
    pieces, log_probs = read_directly(runtime, text)
    first, row = log_probs[0], found.tokens[0]
    assert row.rank == 1 + (first > first[pieces[0]]).sum()
    assert row.next_entropy == pytest.approx(-(np.exp(first) * first).sum(), abs=1e-4)
    assert math.log(row.top_1_probability) == pytest.approx(first.max(), abs=1e-4)
    assert model.pretrained.encoder.tokenizer.start_piece == "<|end|>"
