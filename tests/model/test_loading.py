"""A language model with an untrained entity side: it works, it says what it is, and it is stored without the language model."""

import json
import shutil
from pathlib import Path

import pytest
import torch

import entitynlm
from entitynlm.errors import ConfigError, ModelError
from entitynlm.model.additions import SphereProjection
from entitynlm.model.loading import choose_spelling, load_model
from entitynlm.model.pretrained import load_pretrained
from support.bare_language_models import needs_extra
from support.small_model import store_model
from support.tiny_language_models import save_model

pytestmark = needs_extra


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("language") / "tiny", "llama", context=256)


@pytest.fixture(scope="module")
def model(folder: Path) -> entitynlm.EntityNLM:
    return entitynlm.EntityNLM.from_backbone(str(folder))


def test_it_says_that_it_is_untrained(model: entitynlm.EntityNLM) -> None:
    assert "untrained" in repr(model) and model.pretrained.untrained
    assert any("entitynlm train CORPUS --backbone" in remark for remark in model.pretrained.remarks)
    for ask in (
        lambda: model.next_entity(entitynlm.Document("a", ("Anna", "slept"), ((0, 2),))),
        lambda: model.log_prob(entitynlm.Document("a", ("Anna", "slept"), ((0, 2),))),
    ):
        with pytest.warns(UserWarning, match="untrained"):
            ask()
    with pytest.raises(ModelError, match="no resolver"):
        model.annotate("Anna slept.")


def test_states_are_standardised_and_words_do_not_see_entities(model: entitynlm.EntityNLM) -> None:
    network = model.pretrained.get("generative")
    assert not network.W_e.any() and network.additions.positions is None
    assert isinstance(network.projection, SphereProjection)
    deviation = network.projection.scaling.deviation
    assert not torch.equal(deviation, torch.ones_like(deviation))


def test_the_folder_has_the_name_and_the_digest_but_not_the_weights(
    model: entitynlm.EntityNLM, folder: Path, tmp_path: Path
) -> None:
    model.save_pretrained(tmp_path)
    stored = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    tokenizer = stored["encoder"]["tokenizer"]
    assert tokenizer["model"] == str(folder) and len(tokenizer["digest"]) == 16
    for part in ("generative", "causal"):
        names = set(model.pretrained.get(part).state_dict())
        assert not any(
            "runtime" in name or "lm_head" in name or "embed" in name.partition(".")[2] for name in names
        )
        assert all(300 not in value.shape for value in model.pretrained.get(part).state_dict().values())
    again = load_pretrained(tmp_path)
    assert again.untrained and "untrained" in again.remarks[-1]


def test_another_language_model_of_that_name_and_none(
    model: entitynlm.EntityNLM, folder: Path, tmp_path: Path
) -> None:
    place = shutil.copytree(folder, tmp_path / "language")
    stored = tmp_path / "model"
    entitynlm.EntityNLM.from_backbone(str(place)).save_pretrained(stored)
    config = json.loads((place / "config.json").read_text(encoding="utf-8"))
    (place / "config.json").write_text(json.dumps({**config, "rms_norm_eps": 0.1}), encoding="utf-8")
    with pytest.raises(ModelError, match="not the one that this model was trained with"):
        load_model(stored)
    shutil.rmtree(place)
    with pytest.raises(ModelError, match=r"is built on the language model .*which is not here"):
        load_model(stored)


def test_word_boundaries_are_chosen_without_changing_the_model(
    model: entitynlm.EntityNLM, tmp_path: Path
) -> None:
    without = choose_spelling(model.pretrained, False)
    assert without.encoder.tokenizer.boundaries is False
    assert model.pretrained.encoder.tokenizer.boundaries is True
    assert choose_spelling(without, True).encoder == model.pretrained.encoder
    lstm = load_model(store_model(tmp_path))
    assert choose_spelling(lstm, True) is lstm
    with pytest.raises(ConfigError, match="only of a model that is built on a pretrained language model"):
        choose_spelling(lstm, False)
