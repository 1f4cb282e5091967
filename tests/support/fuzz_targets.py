"""What is fuzzed: every place where bytes of somebody else come in, as a function of bytes with valid inputs to start from.

A target may raise errors of ours, each with a message; whatever else it raises is a finding. ``scripts/fuzz.py`` gives it a
million inputs that follow the coverage (`make fuzz`), ``tests/test_fuzzing.py`` a handful, and all that was ever found.
"""

import asyncio
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from entitynlm.errors import EntityNLMError
from entitynlm.text.formats.registry import FORMATS
from support.format_samples import SAMPLES, STORY, exhaust


@dataclass(frozen=True)
class Target:
    """:param share: of the inputs.  :param make_seeds: valid inputs to start from.  :param run: what is done with an input."""

    name: str
    share: int
    make_seeds: Callable[[], Sequence[bytes]]
    run: Callable[[bytes], object]

    def try_input(self, data: bytes) -> None:
        """Raises only what is a finding."""
        try:
            self.run(data)
        except EntityNLMError as error:
            assert str(error) and "Traceback" not in str(error)


@cache
def make_folder(name: str) -> Path:
    """A folder for the files of a target, in memory where there is such a place."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-", dir=memory if memory.is_dir() else None))


def remove_folders() -> None:
    for name in {target.name.split()[0] for target in TARGETS.values()}:
        shutil.rmtree(make_folder(name), ignore_errors=True)
    make_folder.cache_clear()


# -- readers ------------------------------------------------------------------------------------------------------------------


def read_format(format: str | None, data: bytes) -> None:
    """Documents that come out must be fit to be written and read again."""
    folder = make_folder("read")
    if not (folder / "fuzzed.txt").exists():
        (folder / "fuzzed.txt").write_text(STORY.text or "")  # what brat's annotations are about
    path = folder / "fuzzed.ann"
    path.write_bytes(data)
    exhaust(path, format)


def read_brat_pair(data: bytes) -> None:
    """Text and annotation, both from the input."""
    text, _, annotation = data.partition(b"\0")
    folder = make_folder("read-brat-pair")
    (folder / "pair.txt").write_bytes(text)
    (folder / "pair.ann").write_bytes(annotation)
    exhaust(folder / "pair.ann", "brat")


def read_small_file(data: bytes) -> None:
    """The first letter says which of the files that are no corpora."""
    from entitynlm.config import load_toml
    from entitynlm.files import read_hash_list
    from entitynlm.lm.items import read_items
    from entitynlm.prediction.slots import read_guesses
    from entitynlm.text.corpora.corpus import read_split_list
    from entitynlm.training.settings import load_settings

    kinds: dict[bytes, tuple[str, Callable[[Path], Any]]] = {
        b"s": ("settings.toml", load_settings),
        b"t": ("any.toml", load_toml),
        b"i": ("items.tsv", read_items),
        b"I": ("items.csv", read_items),
        b"j": ("items.txt", read_items),
        b"g": ("guesses.json", read_guesses),
        b"p": ("splits.md", read_split_list),
        b"h": ("sums", lambda path: read_hash_list(path.read_text("utf-8", "replace"))),
    }
    name, read = kinds.get(data[:1], kinds[b"t"])
    path = make_folder("small-files") / name
    path.write_bytes(data[1:])
    found = read(path)
    for item in found if read is read_items else ():
        item.make_document()


SMALL_FILES = (
    b's[model]\nhidden_size = 8\n[training]\noptimizer = "adam"\nweights = [1, 1, 1, 1]\n[data]\nsingletons = "keep"\n',
    b't[a]\nb = 1979-05-27\nc = [1, "x"]\n',
    b"iitem\tcondition\tcontext\ttarget\n1\ta\tAnn left.\tShe | ran.\n",
    b'Iitem,condition,target\n1,a,"Ann, she | ran"\n',
    b"jAnn | saw her .\n",
    b"iitem\tcontext\ttarget\n1\t[Ann's [dog:2]:1] left.\t[She:1] | ran to [it:2].\n",
    b'g{"story": {"1_2": {"label": ["guess", "other"]}}}',
    b"p## train\n* a\n## dev\n* b\n",
    b"h" + b"0" * 64 + b"  name\n",
)


# -- scores and candidates ----------------------------------------------------------------------------------------------------


def score_files(data: bytes) -> None:
    """Key and response, both from the input, by all metrics."""
    from entitynlm.coref.metrics.alignment import align_documents
    from entitynlm.coref.metrics.coreference import count_alignments
    from entitynlm.coref.metrics.documents import pair_documents
    from entitynlm.interfaces.commands.score import _read

    folder = make_folder("score")
    texts = []
    for name, content in zip(("key", "response"), data.partition(b"\0")[::2], strict=True):
        (folder / name).write_bytes(content)
        texts.append(_read(str(folder / name), None, None, "key", "nowhere", "nowhere"))
    keys, responses = pair_documents(*texts, lenient=True, compare_words=False)
    alignments = [align_documents(*pair) for pair in zip(keys, responses, strict=True)]
    counts = count_alignments([document.id for document in keys], alignments)
    for name in counts.by_metric:
        score = counts.score(name)
        assert all(0 <= value <= 100 for value in score.printed), (name, score)


def read_kbest(data: bytes) -> None:
    from entitynlm.coref.candidates.candidate_files import AntecedentScores, read_candidates
    from entitynlm.coref.candidates.kbest import decode_samples, decode_swaps

    path = make_folder("kbest") / "kbest.jsonl"
    path.write_bytes(data)
    for document, ranked in read_candidates(path):
        if isinstance(ranked, AntecedentScores):
            lists = [decode_swaps(ranked, 5), decode_samples(ranked, 3, seed=1)]
        else:
            lists = [ranked]
        for found in lists:
            for candidate in found.candidates:
                document.with_clusters(candidate.clusters)


KBEST = (
    b'{"doc_id": "a", "tokens": ["Ann", "saw", "her", "dog"], "sentences": [[0, 4]], "mentions": [[0, 1], [2, 3], [2, 4]], '
    b'"candidates": [[[-1, 0.0]], [[0, 2.5], [-1, 0.0]], [[1, -1.5], [-1, 0]]], "best": [-1, 0, -1]}\n',
    b'{"doc_id": "b", "tokens": ["Ann", "left"], "candidates": [{"clusters": [[[0, 1], [1, 2]]], "score": 2.5}, '
    b'{"clusters": [], "score": 0}]}\n',
)


# -- model folders ------------------------------------------------------------------------------------------------------------

MODEL_FILES = ("model.json", "generative.safetensors", "SHA256SUMS", "resolver.safetensors")


@cache
def store_whole_model() -> Mapping[str, bytes]:
    """The files of a small model with a component."""
    from entitynlm.coref.resolver import Resolver
    from entitynlm.coref.resolver_network import NetworkSizes, ResolverNetwork
    from entitynlm.coref.word_inputs import WordList
    from entitynlm.model.pretrained import save_pretrained
    from support.small_bundles import make_bundle

    pretrained = make_bundle()[0]
    pretrained.language_model = None
    sizes = NetworkSizes(
        pretrained.get("generative").backbone.token_state_size, 2, 2, 4, 2, 2, 2, 4, 4, 2, 2, 2
    )
    pretrained.set_component(Resolver(ResolverNetwork(sizes), WordList(["she"]), ["person", "place"]))
    folder = make_folder("whole")
    save_pretrained(pretrained, folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def load_folder(name: str, data: bytes) -> None:
    """A model with one file replaced; if it loads, it must be fit to be used."""
    from entitynlm.coref.resolver import Resolver
    from entitynlm.inference.scoring import score_document
    from entitynlm.model.pretrained import load_pretrained

    folder = make_folder("model")
    for other, content in store_whole_model().items():
        if other != "SHA256SUMS":
            (folder / other).write_bytes(content)
    (folder / name).write_bytes(data)
    try:
        pretrained = load_pretrained(folder)
        pretrained.get_component(Resolver)
        if "generative" in pretrained.networks:
            encoded = pretrained.encoder.encode(STORY)
            score_document(pretrained.get("generative"), encoded, pretrained.encoder.show_words(STORY))
    finally:
        (folder / "SHA256SUMS").unlink(missing_ok=True)


def load_states(data: bytes) -> None:
    """Cached states of a language model."""
    from entitynlm.model.backbones.huggingface.state_cache import _is_whole

    path = make_folder("states") / "states.npy"
    path.write_bytes(data)
    _is_whole(path, (2, 3))


def list_states() -> list[bytes]:
    import numpy as np

    states = io.BytesIO()
    np.save(states, np.zeros((2, 3), dtype=np.float32))
    return [states.getvalue()]


# -- continuations ------------------------------------------------------------------------------------------------------------


@cache
def make_writer() -> Any:
    from support.prose_model import make_prose_model

    return make_prose_model(make_folder("continue"))


def continue_text(data: bytes) -> None:
    """Cast, next entity and a prompt with marked mentions, each on a line; words are shown as they come."""
    from contextlib import redirect_stderr, redirect_stdout

    from entitynlm.generation.continuations import generate_continuations
    from entitynlm.generation.request import ContinuationRequest
    from entitynlm.interfaces.commands.generate import WordStream
    from entitynlm.interfaces.console import Terminal
    from entitynlm.lm.items import Item

    cast, after, prompt = [*data.decode("utf-8", "replace").split("\n", 2), "", ""][:3]
    request = ContinuationRequest(3, 1.0, 1.0, tuple(cast.split(",")) if cast else (), after or None)
    document, _ = Item("1", "", "", (prompt[:400],)).make_document()
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        stream = WordStream(Terminal(), 2, plain=False)
        found = generate_continuations(make_writer(), document, request, count=2, on_word=stream.add)
        for number, story in enumerate(found, start=1):
            stream.finish(number, story)
            assert story.document.text == story.text


CONTINUED = (b"Bob,old Zoe\nAnna\n[Anna:1] saw [[her:1] dog:2] .", b"\n\n", b'Bob\nBob\nShe said: "[I:3] ran')


# -- the explorer's HTTP interface --------------------------------------------------------------------------------------------

TOKEN = b"t"


class Explorer:
    """The application without a server, with a text that is open at the start of every request."""

    def __init__(self) -> None:
        import entitynlm
        from entitynlm.explorer.application import make_app
        from entitynlm.explorer.texts import LazyModel, TextShelf
        from entitynlm.model.pretrained import save_pretrained
        from support.small_bundles import make_bundle

        save_pretrained(make_bundle()[0], make_folder("http"))
        model = LazyModel("small", lambda: entitynlm.load(make_folder("http")))
        model.get()
        self.shelf = TextShelf(model, lambda *_: None, most_words=100)
        self.app = make_app(self.shelf, token=TOKEN.decode(), hosts=["h"])
        self.loop = asyncio.new_event_loop()

    def ask(self, data: bytes) -> None:
        """``METHOD PATH?QUERY``, headers, an empty line and a body; TEXT in the path is the id of an open text."""
        if not self.shelf.list():
            self.app.state.routes.open_document(STORY, "tale")
        head, _, body = data.partition(b"\n\n")
        first, *lines = head.split(b"\n")
        method, _, address = first.partition(b" ")
        path, _, query = address.replace(b"TEXT", self.shelf.list()[-1].id.encode()).partition(b"?")
        given = [
            (name.strip().lower(), value.strip()) for name, _, value in (x.partition(b":") for x in lines)
        ]
        usual = {b"host": b"h", b"x-explorer-token": TOKEN, b"content-type": b"application/json"}
        headers = [*((name, value) for name, value in usual.items() if name not in dict(given)), *given]
        scope: dict[str, Any] = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
            "method": method.decode("latin-1").upper(), "path": "/" + path.decode("utf-8", "replace").lstrip("/"),
            "raw_path": path, "query_string": query, "headers": headers, "client": ("c", 1), "server": ("h", 80),
        }  # fmt: skip
        sent: list[dict[str, Any]] = []
        gone: dict[str, Any] = {"type": "http.disconnect"}
        messages = [gone, gone, gone, {"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            return messages.pop()

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        self.loop.run_until_complete(self.app(scope, receive, send))
        assert sent[0]["status"] < 500, (first, sent)
        if path.startswith(b"api") and sent[0]["status"] >= 400:
            assert set(json.loads(b"".join(message.get("body", b"") for message in sent[1:]))) == {"error"}


@cache
def make_explorer() -> Explorer:
    return Explorer()


def list_requests() -> list[bytes]:
    """One of every kind."""
    text = b"api/texts/TEXT"
    posts = {b"api/texts": {"text": "Ann saw Bo.", "model": "small"}}
    mention = {"start": 3, "end": 5, "entity": "2"}
    edits = [
        {"action": "add", **mention, "entity": "1"},
        {"action": "remove", **mention},
        {"action": "change", **mention, "to_start": 4, "to_end": 5, "to_entity": "new"},
        {"action": "split", **mention, "start": 6, "end": 7},
        {"action": "merge", "entity": "2", "to_entity": "1"},
        {"action": "rename", "entity": "1", "name": "Marta"},
    ]
    gets = ["about", "texts", "texts/TEXT", "openapi.json"]
    asked = [
        "words?start=0&stop=4",
        "entities",
        "entity?entity=1",
        "step?at=3&by=mentions",
        "step?at=2",
        "drawing",
        "export?format=jsonl",
    ]
    return [
        *(b"POST " + path + b"\n\n" + json.dumps(body).encode() for path, body in posts.items()),
        *(b"POST " + text + b"/edits\n\n" + json.dumps(body).encode() for body in edits),
        b"POST api/files?name=a.txt\ncontent-type: application/octet-stream\n\nAnn saw Bo.",
        b"POST api/files?name=a.conllu\ncontent-type: application/octet-stream\n\n" + SAMPLES["conllu"],
        *(f"GET api/{path}".encode() for path in gets),
        *(b"GET " + text + b"/" + path.encode() for path in asked),
        *(b"POST " + text + b"/" + word for word in (b"moves?by=-1", b"cancel", b"measure")),
        b"GET static/main.js",
        b"GET ",
    ]


# -- all of them --------------------------------------------------------------------------------------------------------------


def list_own(format: str) -> list[bytes]:
    """Files of one format."""
    return [SAMPLES[format], *([SAMPLES["e2e"], SAMPLES["fastcoref"]] if format == "jsonl" else [])]


def list_scored() -> list[bytes]:
    conll = b"".join(SAMPLES["conll2012"].partition(b"#end document\n")[:2])
    return [conll + b"\0" + conll, SAMPLES["e2e"] + b"\0" + SAMPLES["e2e"]]


def list_targets() -> list[Target]:
    pair = (STORY.text or "").encode() + b"\0" + SAMPLES["brat"]
    return [
        *(
            Target(f"read {name}", 55, partial(list_own, name), partial(read_format, name))
            for name in FORMATS
        ),
        Target("read anything", 55, lambda: list(SAMPLES.values()), partial(read_format, None)),
        Target("read brat pairs", 55, lambda: [pair], read_brat_pair),
        Target("small files", 80, lambda: SMALL_FILES, read_small_file),
        Target("score", 80, list_scored, score_files),
        Target("kbest", 100, lambda: KBEST, read_kbest),
        *(
            Target(
                f"model {name}", 15, lambda name=name: [store_whole_model()[name]], partial(load_folder, name)
            )
            for name in MODEL_FILES
        ),
        Target("continue", 2, lambda: CONTINUED, continue_text),
        Target("states", 30, list_states, load_states),
        Target("http", 45, list_requests, lambda data: make_explorer().ask(data)),
    ]


TARGETS: Mapping[str, Target] = {target.name: target for target in list_targets()}
