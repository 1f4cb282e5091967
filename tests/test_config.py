"""Configurations: what is stored comes back, and a wrong setting is named with the values that it may have."""

from pathlib import Path
from typing import Any

import pytest

from entitynlm.config import ModelConfig, TrainingConfig, from_dict, load_toml, parse_toml_value, to_dict
from entitynlm.errors import ConfigError


@pytest.mark.parametrize(
    "config", [ModelConfig(mode="causal", tied=True), TrainingConfig(weights=(1, 1, 1, 0.1))]
)
def test_a_configuration_survives_json(config: Any) -> None:
    assert from_dict(type(config), to_dict(config)) == config


@pytest.mark.parametrize(
    ("config_type", "values", "message"),
    [
        (
            ModelConfig,
            {"hiden_size": 3},
            r"unknown setting 'hiden_size' for ModelConfig; there are mode, backbone",
        ),
        (ModelConfig, {"hidden_size": "3"}, r"hidden_size: Expected `int`, got `str`; found '3'"),
        (ModelConfig, {"hidden_size": 0}, r"hidden_size: Expected `int` >= 1; found 0"),
        (ModelConfig, {"tied": 1}, r"tied: Expected `bool`.*found 1"),
        (ModelConfig, {"dropout": 1.0}, r"dropout: Expected `float` < 1\.0; found 1\.0"),
        (ModelConfig, {"mode": "magic"}, r"mode: .*, one of generative, causal, .*found 'magic'"),
        (
            ModelConfig,
            {"tied": True, "embedding_size": 4},
            r"tied embeddings need embedding_size = hidden_size",
        ),
        (TrainingConfig, {"weights": [1, 1]}, r"weights: Expected `array` of length 4"),
        (TrainingConfig, {"weights": [1, 1, 1, -1]}, r"weights.*: Expected `float` >= 0"),
        (TrainingConfig, {"word_share": 0}, r"word_share: Expected `float` > 0"),
    ],
)
def test_a_wrong_setting_is_named(config_type: Any, values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_dict(config_type, values)


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("[1, 2]", [1, 2]), ("'a'", "a"), ("a word", "a word")]
)
def test_a_value_on_the_command_line_is_toml_or_a_text(text: str, value: Any) -> None:
    assert parse_toml_value(text) == value


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    with pytest.raises(ConfigError, match=r"settings\.toml: can't be read"):
        load_toml(path)
    path.write_text("[model")
    with pytest.raises(ConfigError, match=r"settings\.toml: this is not valid TOML"):
        load_toml(path)
