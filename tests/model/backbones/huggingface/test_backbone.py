"""The story on a pretrained language model: what holds for the LSTM holds here, and P(X) starts as the language model's own."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from entitynlm.errors import ConfigError
from entitynlm.inference.particle_filter import FilterConfig, ParticleFilter
from entitynlm.inference.readings import Readings
from entitynlm.inference.words.softmax_scorer import SoftmaxWordScorer
from entitynlm.inference.words.word_scorer import WordScorer
from entitynlm.lm.surprisal_words import estimate_words
from entitynlm.model.additions import fit_scaling
from entitynlm.model.backbones.huggingface.backbone import HuggingFaceBackbone
from entitynlm.model.backbones.huggingface.tokenizer import OPEN, SubwordTokenizer
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.variables import Analysis
from entitynlm.model.noise import FixedNoise
from entitynlm.model.pretrained import Pretrained, load_pretrained, save_pretrained
from entitynlm.text.document import Document, Mention
from entitynlm.training.recipe import fit_encoder, train_pretrained
from entitynlm.training.settings import load_settings
from support.enumeration import enumerate_analyses, sum_documents, sum_variables
from support.scoring import score_encoded
from support.slow_twin import SlowTwin
from support.small_models import VARIABLES, part
from support.tiny_language_models import FAMILIES, import_or_skip, make_model, save_model

TEXT = "Anna lost her key . She called Bob , and he did n't find it in the garden ."
STORY = Document(
    "story",
    tuple(TEXT.split()),
    ((0, 5), (5, 19)),
    (
        Mention(0, 1, "anna"),
        Mention(2, 4, "key"),
        Mention(5, 6, "anna"),
        Mention(7, 8, "bob"),
        Mention(10, 11, "bob"),
    ),
)
CHANGES = {"model.hidden_size": 4, "model.max_length": 3, "model.sigma": 0.0, "model.dropout": 0.0}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENTITYNLM_CACHE", str(tmp_path / "cache"))


@pytest.fixture(params=FAMILIES)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return save_model(tmp_path / "lm", request.param)


def make_pretrained(folder: Path, *modes: str, std: float = 0.0, **options: Any) -> Pretrained:
    """An untrained model on a language model; with ``std``, all parameters of the entity side are drawn at random."""
    changes = {**CHANGES, **{f"model.{name}": value for name, value in options.items()}}
    settings = load_settings(None, changes, language_model=str(folder))
    pretrained = Pretrained(fit_encoder([STORY], settings), None)
    generator = torch.Generator().manual_seed(3)
    for mode in modes or ("generative",):
        network = pretrained.add(settings.for_part(mode)[0])  # type: ignore[arg-type]
        fit_scaling(network, [pretrained.encoder.encode(STORY).words])
        for parameter in network.parameters() if std else ():
            parameter.data = std * torch.randn(parameter.shape, generator=generator)
        network.eval()
    return pretrained


def test_a_stored_model_keeps_its_start_piece(folder: Path, tmp_path: Path) -> None:
    pretrained = make_pretrained(folder, start_piece="<|end|>")
    save_pretrained(pretrained, tmp_path / "model")
    loaded = load_pretrained(tmp_path / "model")
    tokenizer, backbone = loaded.encoder.tokenizer, loaded.get("generative").backbone
    assert isinstance(tokenizer, SubwordTokenizer) and tokenizer.start_piece == "<|end|>"
    assert isinstance(backbone, HuggingFaceBackbone) and backbone.runtime.start == tokenizer.start == 1
    assert make_pretrained(folder).encoder.tokenizer.start == 0
    with pytest.raises(ConfigError, match="no piece '<nothing>'"):
        make_pretrained(folder, start_piece="<nothing>")


def test_words_start_as_the_language_models_own(folder: Path) -> None:
    """Without training, the surprisal of each word is what transformers gives, with word boundaries as they are defined."""
    pretrained = make_pretrained(folder)
    network, encoded = pretrained.get("generative"), pretrained.encoder.encode(STORY)
    backbone, tokenizer = network.backbone, pretrained.encoder.tokenizer
    assert isinstance(backbone, HuggingFaceBackbone) and isinstance(tokenizer, SubwordTokenizer)
    assert encoded.pieces is not None and encoded.piece_bounds is not None
    real = [piece for piece in encoded.pieces.tolist() if piece != tokenizer.end]
    model = backbone.runtime.model
    with torch.no_grad():
        found = score_encoded(network, [encoded], noise=None).x
        logits = model(torch.tensor([[backbone.runtime.start, *real]])).logits[0]
    log_probs = torch.log_softmax(logits.double(), -1)
    openers = torch.from_numpy(tokenizer.openers)
    log_open = log_probs[:, openers].logsumexp(-1)
    place = 0
    for t, (low, high) in enumerate(zip(encoded.piece_bounds[:-1], encoded.piece_bounds[1:], strict=True)):
        expected = 0.0
        own = [piece for piece in encoded.pieces[low:high].tolist() if piece != tokenizer.end]
        after_word = t > 0 and encoded.pieces[low - 1] == tokenizer.end
        expected -= float(log_open[place]) * after_word
        for piece in own:
            expected += float(log_probs[place, piece])
            place += 1
        expected += float(log_open[place]) * (encoded.pieces[high - 1] == tokenizer.end)
        assert float(found[t]) / np.log(2) == pytest.approx(expected / np.log(2), abs=1e-4)


@pytest.mark.parametrize("options", [{}, {"mention_positions": 2}, {"hidden_size": 20}])  # d above W_e's rank
@pytest.mark.parametrize("mode", ["generative", "causal"])
def test_fast_equals_slow(tmp_path: Path, mode: str, options: dict[str, Any]) -> None:
    pretrained = make_pretrained(save_model(tmp_path / "lm"), mode, std=0.4, **options)
    network, encoded = pretrained.get(mode), pretrained.encoder.encode(STORY)
    with torch.no_grad():
        fast = score_encoded(network, [encoded], noise=FixedNoise(1))
        slow = SlowTwin(network, FixedNoise(1)).score(encoded)
    for name in VARIABLES:
        expected = torch.stack([getattr(score, name) for score in slow])
        torch.testing.assert_close(part(fast, 0, name), expected, atol=2e-4, rtol=1e-4)


def test_reading_on_and_going_piece_by_piece_is_reading_at_once(folder: Path) -> None:
    pretrained = make_pretrained(folder)
    backbone, words = pretrained.get("generative").backbone, pretrained.encoder.encode(STORY).words
    with torch.no_grad():
        whole, first = backbone.read([words]), backbone.read([words[:7]])
        second = backbone.read([words[7:]], first.carry)
        for t in range(len(words) - 7):
            for rows, all_rows in ((second.before, whole.before), (second.after, whole.after)):
                torch.testing.assert_close(
                    second.table[rows[0][t]], whole.table[all_rows[0][7 + t]], atol=1e-4, rtol=1e-4
                )
        carry = backbone.start()
        for piece, row in zip(words.all_pieces, whole.piece_rows[0], strict=True):
            torch.testing.assert_close(backbone.state(carry)[0], whole.table[row], atol=1e-4, rtol=1e-4)
            carry = backbone.step(carry, torch.tensor([piece]))


@pytest.mark.parametrize("cuts", [(5,), (1, 2, 40, 41, 90), range(1, 114)])
def test_states_of_tokens_are_the_same_however_the_text_is_cut(
    folder: Path, cuts: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit for bit, because the language model runs over the same whole chunks of pieces."""
    pretrained, runs = make_pretrained(folder), list[int]()
    story = Document("long", STORY.tokens * 6, ((0, len(STORY) * 6),))
    backbone, encoded = pretrained.get("generative").backbone, pretrained.encoder.encode_words(story)
    runtime, run = backbone.runtime, backbone.runtime._run
    real = backbone._take_real(encoded.words)

    def record(past: Any, ids: torch.Tensor, *rest: Any) -> Any:
        runs.append(ids.shape[1])
        return run(past, ids, *rest)

    monkeypatch.setattr(runtime, "_run", record)
    ((expected,), _) = runtime.read([real], (backbone.token_layer,))
    runtime.forget()
    at_once, runs[:] = list(runs), []
    found = torch.cat(list(backbone.read_tokens(encoded, list(pairwise([0, *cuts, len(story)])))))
    rows = np.cumsum(encoded.words.all_pieces < runtime.pieces)[encoded.piece_bounds[1:] - 1]
    assert torch.equal(found, expected[torch.from_numpy(rows)])
    assert runs == at_once and len(runs) > 4


@pytest.mark.parametrize("options", [{}, {"mention_positions": 2}])
def test_the_shortcut_for_particles_gives_the_same_word_scores(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    pretrained = make_pretrained(save_model(tmp_path / "lm"), "generative", "causal", std=0.4, **options)
    P, Q, encoded = (
        pretrained.get("generative"),
        pretrained.get("causal"),
        pretrained.encoder.encode_words(STORY),
    )
    found = []
    for scorer in (WordScorer(P), SoftmaxWordScorer(P)):
        config = FilterConfig(40, words=5, share=0.1, threshold=0.5)
        population = ParticleFilter(P, Q, config, np.random.SeedSequence(1))
        assert isinstance(population._words, SoftmaxWordScorer)
        population._words = scorer
        for chunk in Readings(encoded).read(P, Q):
            found.append(population.advance(chunk, end=len(encoded)))
    np.testing.assert_allclose(found[0], found[1], atol=2e-4)


@pytest.mark.parametrize("cut", [3, 9, 14])
def test_a_word_to_come_changes_no_surprisal_before_it(tmp_path: Path, cut: int) -> None:
    pretrained = make_pretrained(save_model(tmp_path / "lm"), "generative", "causal", std=0.4)
    P, Q, whole = (
        pretrained.get("generative"),
        pretrained.get("causal"),
        pretrained.encoder.encode_words(STORY),
    )
    found, beginning = (
        estimate_words(P, Q, document, particles=30, repeats=2) for document in (whole, whole.cut(cut))
    )
    assert beginning.reader is not None and found.reader is not None
    for name in ("log_probs", "errors"):
        np.testing.assert_allclose(getattr(beginning, name), getattr(found, name)[:cut], atol=1e-4)
    for name in ("mention_expected", "mention_found"):
        expected = getattr(found.reader, name)[:cut]
        np.testing.assert_allclose(getattr(beginning.reader, name), expected, atol=1e-4)


def test_the_language_model_goes_where_the_network_goes(tmp_path: Path) -> None:
    network = make_pretrained(save_model(tmp_path / "lm")).get("generative")
    backbone = network.backbone
    assert isinstance(backbone, HuggingFaceBackbone) and backbone.runtime.device.type == "cpu"
    network.double()
    assert backbone.runtime.output_weight.dtype == torch.float32  # a precision of one's own does not touch it
    network.to("meta")
    assert backbone.runtime.device.type == "meta" and backbone.output_layer().weight.device.type == "meta"


# -- the joint sums to one -----------------------------------------------------------------------------------------------


def make_small_tokenizer() -> Any:
    """Sixteen pieces: letters, digits, marks, a space, and a letter after a space."""
    transformers = import_or_skip()
    tokenizers = pytest.importorskip("tokenizers")
    names = ["<s>", *"Anasword12,.'", "Ġ", "Ġa"]
    vocabulary = {name: number for number, name in enumerate(dict.fromkeys(names))}
    inner = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, [("Ġ", "a")]))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>", eos_token="<s>")


def spell_all(
    tokenizer: SubwordTokenizer, last: int | None, longest: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], bool]]:
    """The pieces and places of all words of at most so many pieces, and of all longer words' beginnings (False)."""

    def go_on(
        pieces: tuple[int, ...], places: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], bool]]:
        if pieces and tokenizer.ends_word(pieces[-1]):
            yield pieces, places, True
            return
        if len(pieces) == longest:
            yield pieces, places, False
            return
        place = tokenizer.place(pieces, last)
        for piece in range(tokenizer.size + 1):
            if possible(tokenizer, piece, place):
                yield from go_on((*pieces, piece), (*places, place))

    yield from go_on((), ())


def possible(tokenizer: SubwordTokenizer, piece: int, place: int) -> bool:
    opens = piece < tokenizer.size and bool(tokenizer.openers[piece])
    if place == OPEN:
        return opens
    return piece < tokenizer.size if place == 1 else not opens


def spell_document(
    words: list[tuple[tuple[int, ...], tuple[int, ...]]], analysis: Analysis
) -> EncodedDocument:
    pieces = np.array([piece for own, _ in words for piece in own], dtype=np.int64)
    places = np.array([place for _, own in words for place in own], dtype=np.int64)
    bounds = np.cumsum([0, *(len(own) for own, _ in words)])
    zeros = np.zeros(len(words), dtype=np.int64)
    return EncodedDocument("words", zeros, *analysis, zeros, np.arange(len(words)), pieces, bounds, places)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_the_joint_sums_to_one(tmp_path: Path, family: str) -> None:
    """Over all analyses of all texts of two words; the beginning of a word that is cut stands for all words that begin so."""
    folder, tokenizer_of_model = tmp_path / "lm", make_small_tokenizer()
    make_model(family, pieces=len(tokenizer_of_model)).save_pretrained(folder)
    tokenizer_of_model.save_pretrained(folder)
    settings = load_settings(None, {**CHANGES, "model.max_length": 2}, language_model=str(folder))
    encoder = fit_encoder([], settings)
    tokenizer = encoder.tokenizer
    assert isinstance(tokenizer, SubwordTokenizer)
    network = Pretrained(encoder, None).add(settings.model)
    generator = torch.Generator().manual_seed(5)
    for parameter in network.parameters():
        parameter.data = 0.5 * torch.randn(parameter.shape, generator=generator)
    network.eval()
    documents = []
    for first, places, whole in spell_all(tokenizer, None, 2):
        if not whole:
            documents += [spell_document([(first, places)], a) for a in enumerate_analyses(1, max_length=2)]
            continue
        for second, own, _ in spell_all(tokenizer, first[-1], 1):
            words = [(first, places), (second, own)]
            documents += [spell_document(words, a) for a in enumerate_analyses(2, max_length=2)]
    with torch.no_grad():
        total = sum(
            float(sum_documents(score_encoded(network, some, noise=None)).double().exp().sum())
            for some in (documents[start : start + 200] for start in range(0, len(documents), 200))
        )
    assert total == pytest.approx(1, abs=1e-5)


# -- training and storing ------------------------------------------------------------------------------------------------


def test_training_keeps_states_and_stores_the_entity_side_alone(tmp_path: Path) -> None:
    folder = save_model(tmp_path / "lm")
    changes = {**CHANGES, "training.epochs": 4, "training.word_share": 0.5, "training.learning_rate": 0.02}
    settings = load_settings(None, changes, language_model=str(folder))
    stories = [STORY, STORY.with_mentions(STORY.mentions[1:])]
    trained = train_pretrained(stories, stories, settings, parts=("generative", "causal"), seed=1)
    assert trained is not None
    for mode in trained.networks:
        notes = trained.notes["training"][mode]
        assert notes["best_epoch"] > 1
    assert trained.get("generative").W_e.abs().max() > 0  # it was zero before
    assert list((tmp_path / "cache" / "states").rglob("*.npy"))
    save_pretrained(trained, tmp_path / "model")
    size = sum(path.stat().st_size for path in (tmp_path / "model").iterdir())
    assert size < (folder / "model.safetensors").stat().st_size
    loaded = load_pretrained(tmp_path / "model")
    encoded = loaded.encoder.encode(STORY)
    with torch.no_grad():
        for mode in trained.networks:
            before, after = (
                sum_variables(score_encoded(model.get(mode), [encoded], noise=None))
                for model in (trained, loaded)
            )
            torch.testing.assert_close(before, after)


def test_a_share_of_the_words_stands_for_all(tmp_path: Path) -> None:
    pretrained = make_pretrained(save_model(tmp_path / "lm"), std=0.3)
    network, encoded = pretrained.get("generative"), pretrained.encoder.encode(STORY)
    from entitynlm.model.batch.scores import cut_windows, score_windows

    windows = [cut_windows(encoded, network)[0]]
    torch.manual_seed(1)
    with torch.no_grad():
        exact = score_windows(network, windows, noise=None).scores
        drawn = [score_windows(network, windows, noise=None, word_share=0.3).scores for _ in range(400)]
    assert all(torch.equal(one.e, exact.e) for one in drawn)
    mean = float(torch.stack([one.x.sum() for one in drawn]).mean())
    assert mean == pytest.approx(float(exact.x.sum()), rel=0.1)


def test_sentence_ends_are_refused(tmp_path: Path) -> None:
    folder = save_model(tmp_path / "lm")
    settings = load_settings(None, {"preprocessing.sentence_ends": True}, language_model=str(folder))
    with pytest.raises(ConfigError, match="sentence_ends"):
        fit_encoder([STORY], settings)
