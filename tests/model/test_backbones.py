"""What holds for the LSTM holds for any backbone: here a convolution over letters, with an h and an e of two sizes."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from entitynlm.config import ModelConfig
from entitynlm.errors import ConfigError, ModelError
from entitynlm.model.backbones.base import BACKBONES
from entitynlm.model.encoding.tokenizer import TOKENIZERS, EncodedWords
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import FixedNoise
from entitynlm.model.pretrained import Pretrained, load_pretrained, save_pretrained
from support.enumeration import enumerate_analyses, sum_documents
from support.letter_backbone import (
    Letters,
    draw_words,
    make_letter_config,
    make_letter_encoder,
    make_letter_network,
    spell_document,
)
from support.scoring import score_encoded
from support.slow_twin import SlowTwin
from support.small_models import VARIABLES, assert_close, part

TINY = Letters("ab", 2)
OPTIONS: list[dict[str, Any]] = [
    {},
    {"mention_positions": 2},
    {"mention_positions": 1, "sigma": 0.5},
    {"hidden_size": 6, "new_entity": "zero", "features": "rich"},
]


def list_documents(size: int, *, words: list[str] | None = None, max_length: int = 2) -> list[Any]:
    texts = [words] if words else [list(text) for text in product(TINY.list_words(), repeat=size)]
    analyses = list(enumerate_analyses(size, max_length=max_length))
    return [spell_document(TINY, text, analysis) for text in texts for analysis in analyses]


def test_words_know_their_pieces() -> None:
    words = spell_document(TINY, ["ab", "a", "</s>", "bb"]).words
    assert words.piece_places is not None and words.piece_places.tolist() == [0, 1, 0, 0, 0, 1]
    index, owners = words.expand(np.array([3, 0, 3]))
    assert (
        owners is not None and owners.tolist() == [0, 0, 1, 1, 2, 2] and index.tolist() == [4, 5, 0, 1, 4, 5]
    )
    some = words[1:3]
    assert some.piece_places is not None and some.piece_places.tolist() == [0, 0]
    assert [TINY.join(some.all_pieces[a:b]) for a, b in ((0, 1), (1, 2))] == ["a", "</s>"]
    joined = EncodedWords.join([words[:1], words[1:]])
    assert joined.all_pieces.tolist() == words.all_pieces.tolist()
    assert joined.piece_places is not None and joined.piece_places.tolist() == words.piece_places.tolist()
    assert joined.piece_bounds is not None and joined.piece_bounds.tolist() == [0, 2, 3, 4, 6]
    assert TINY.encode(["ab", "b", "ab"])[0] == TINY.encode(["ab"])[0]


def test_reading_on_and_going_piece_by_piece_is_reading_at_once() -> None:
    network = make_letter_network(TINY)
    words = spell_document(TINY, draw_words(TINY, 9)).words
    backbone = network.backbone
    whole = backbone.read([words])
    first = backbone.read([words[:4]])
    second = backbone.read([words[4:]], first.carry)
    for t in range(5):
        assert_close(second.table[second.before[0][t]], whole.table[whole.before[0][4 + t]])
        assert_close(second.table[second.after[0][t]], whole.table[whole.after[0][4 + t]])
    carry = backbone.start()
    for piece, row in zip(words.all_pieces, whole.piece_rows[0], strict=True):
        assert_close(backbone.state(carry)[0], whole.table[row])
        carry = backbone.step(carry, torch.tensor([piece]))
    assert_close(backbone.state(carry)[0], whole.table[whole.after[0][-1]])


@pytest.mark.parametrize("options", OPTIONS)
def test_the_joint_sums_to_one(options: dict[str, Any]) -> None:
    network = make_letter_network(TINY, max_length=2, **options)
    documents = list_documents(2)
    with torch.no_grad():
        joint = sum_documents(score_encoded(network, documents, noise=FixedNoise(1)))
    assert len(documents) == 7**2 * 6
    assert_close(joint.exp().sum(), torch.ones((), dtype=torch.float64), 1e-12)


@pytest.mark.parametrize("mode", ["generative", "causal"])
@pytest.mark.parametrize("options", OPTIONS)
def test_fast_equals_slow(options: dict[str, Any], mode: str) -> None:
    network = make_letter_network(TINY, mode=mode, max_length=2, **options)
    documents = list_documents(4, words=draw_words(TINY, 4, seed=3))[::7]
    with torch.no_grad():
        fast = score_encoded(network, documents, noise=FixedNoise(2))
        for number, document in enumerate(documents):
            slow = SlowTwin(network, FixedNoise(2)).score(document)
            for name in VARIABLES:
                assert_close(part(fast, number, name), torch.stack([getattr(s, name) for s in slow]))


def test_a_model_folder_keeps_any_backbone_and_tokenizer(tmp_path: Path) -> None:
    pretrained = Pretrained(make_letter_encoder(TINY), None)
    pretrained.add(make_letter_config(TINY))
    pretrained.add(make_letter_config(TINY, mode="rnnlm"))
    save_pretrained(pretrained, tmp_path)
    loaded = load_pretrained(tmp_path)
    tokenizer = loaded.encoder.tokenizer
    assert isinstance(tokenizer, Letters) and tokenizer.to_dict() == TINY.to_dict()
    document = spell_document(TINY, ["ab", "b", "</s>"])
    for network in (loaded.get("generative"), pretrained.get("generative").eval()):
        with torch.no_grad():
            found = score_encoded(network, [document], noise=None).total
    assert torch.equal(found, score_encoded(loaded.get("generative"), [document], noise=None).total)
    with pytest.raises(ModelError, match="open vocabulary"):
        _ = loaded.encoder.vocabulary


def test_unknown_names_are_listed() -> None:
    assert {"lstm", "letters"} <= set(BACKBONES) and {"vocabulary", "letters"} <= set(TOKENIZERS)
    with pytest.raises(ConfigError, match=r"no backbone 'transformer'; there are .*lstm"):
        EntityNetwork(ModelConfig(backbone="transformer"), 5, 0)
