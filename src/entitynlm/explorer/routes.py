"""The HTTP requests of the explorer, each a few lines that call other modules."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Response
from fastapi import Path as PathParameter

from entitynlm import __version__
from entitynlm.errors import Busy, ConfigError, DataError
from entitynlm.explorer import schemas
from entitynlm.explorer.edits import edit
from entitynlm.explorer.files import make_stem, read_file, write_annotation, write_table
from entitynlm.explorer.texts import ANSWER_WITHIN, MOST_WORDS_OF_A_TEXT, By, Missing, Text, TextShelf, follow
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import FORMATS

RESOURCES = Path(__file__).parents[1] / "resources" / "demo"
EXAMPLES = {
    "captain-reed": ("The captain and the stranger (a short story)", RESOURCES / "captain-reed.txt"),
    "coffee-shop": (
        "John and the coffee shop (the paper's first figure)",
        RESOURCES / "running-example.jsonl",
    ),
}
MOST_AT_ONCE = 4_000  # words of one answer
SOON = 1.0  # seconds that a request waits for a model to be loaded

TextId = Annotated[str, PathParameter(min_length=1, max_length=40)]
Token = Annotated[int, Query(ge=0, le=MOST_WORDS_OF_A_TEXT)]


class Routes:
    """All requests under ``/api`` about one shelf of texts."""

    def __init__(self, shelf: TextShelf) -> None:
        self.shelf, self.model = shelf, shelf.model
        self.router = router = APIRouter(prefix="/api")
        answers: dict[int | str, dict[str, Any]] = {
            code: {"model": schemas.Error} for code in (400, 401, 403, 404, 405, 411, 413, 421, 422)
        }
        add: dict[str, Any] = {"responses": answers}
        for method, path, call in (
            ("GET", "/about", self.about),
            ("GET", "/texts", self.list_texts),
            ("POST", "/texts", self.open_text),
            ("POST", "/files", self.open_file),
            ("GET", "/texts/{id}", self.describe),
            ("POST", "/texts/{id}/cancel", self.cancel),
            ("POST", "/texts/{id}/measure", self.measure),
            ("GET", "/texts/{id}/words", self.words),
            ("GET", "/texts/{id}/entities", self.entities),
            ("GET", "/texts/{id}/entity", self.entity),
            ("GET", "/texts/{id}/step", self.step),
            ("GET", "/texts/{id}/drawing", self.draw),
            ("POST", "/texts/{id}/edits", self.correct),
            ("POST", "/texts/{id}/moves", self.move),
        ):
            router.add_api_route(path, call, methods=[method], **add)
        router.add_api_route(
            "/texts/{id}/export", self.export, methods=["GET"], response_class=Response, **add
        )

    @cached_property
    def views(self) -> ModuleType:
        """Import the views of texts at the first request about a text, because they import torch."""
        from entitynlm.explorer import views

        return views

    # -- texts -----------------------------------------------------------------------------------------------------------

    def about(self) -> dict[str, Any]:
        """Give the version, the writable formats and the examples."""
        return {
            "version": __version__,
            "formats": [
                {"name": f.name, "description": f.description} for f in FORMATS.values() if f.writable
            ],
            "examples": [{"id": id, "title": title} for id, (title, _) in EXAMPLES.items()],
        }

    def list_texts(self) -> list[dict[str, Any]]:
        """List the open texts, the one used last first."""
        return [
            {"id": text.id, "name": text.name, "tokens": len(text.document)} for text in self.shelf.list()
        ]

    def open_text(self, wanted: schemas.OpenText) -> dict[str, Any]:
        """Open a pasted text or an example, and analyse it in the background."""
        if (wanted.text is None) == (wanted.example is None):
            raise ConfigError("give either a text or the name of an example")
        if wanted.example is not None:
            if wanted.example not in EXAMPLES:
                raise Missing(f"there is no example {wanted.example!r}; there are {', '.join(EXAMPLES)}")
            title, path = EXAMPLES[wanted.example]
            name = title.partition(" (")[0]
            document, _ = read_file(path.read_bytes(), name)
            return self._show(self.open_document(document, name))
        from entitynlm.api import as_document

        assert wanted.text is not None
        document = as_document(wanted.text.replace("\x00", ""))
        return self._show(self.open_document(document, "pasted text"))

    def open_file(
        self,
        content: Annotated[bytes, Body(media_type="application/octet-stream")],
        name: Annotated[str, Query(min_length=1, max_length=200)],
    ) -> dict[str, Any]:
        """Open a file in any readable format; of several documents the first."""
        found, remarks = read_file(content, name)
        return {**self._show(self.open_document(found, name)), "remarks": remarks}

    def open_document(self, document: Document, name: str) -> Text:
        """Open a document, which is annotated if it has no mentions, and analyse it in the background."""
        if not len(document):
            raise DataError("this text has no words")
        if len(document) > MOST_WORDS_OF_A_TEXT:
            raise DataError(
                f"this text has {len(document):,} words, and the explorer takes {MOST_WORDS_OF_A_TEXT:,}"
            )
        text = self.shelf.open(document, name)
        self.shelf.measure(text)
        return text

    def describe(self, id: TextId) -> dict[str, Any]:
        """Describe a text and the progress of its analysis."""
        return self._show(self.shelf.get(id))

    def _show(self, text: Text) -> dict[str, Any]:
        return {**self.views.describe_open_text(text), "model": self.model.name}

    # -- looking ---------------------------------------------------------------------------------------------------------

    def cancel(self, id: TextId) -> dict[str, Any]:
        """Stop measuring."""
        text = self.shelf.get(id)
        text.cancel()
        return self._show(text)

    def measure(self, id: TextId) -> dict[str, Any]:
        """Measure again after a cancellation or a failure."""
        text = self.shelf.get(id)
        if not text.is_running:
            self.shelf.measure(text)
        return self._show(text)

    def words(self, id: TextId, start: Token, stop: Token) -> dict[str, Any]:
        """List the tokens of a stretch of the text, with mentions and surprisal."""
        if not start < stop <= start + MOST_AT_ONCE:
            raise ConfigError(f"a stretch has 1 to {MOST_AT_ONCE} words")
        return self.views.list_tokens(self.shelf.get(id), start, stop)

    def entities(self, id: TextId) -> list[dict[str, Any]]:
        """List all entities, the most frequent first."""
        return self.views.rank_entities(self.shelf.get(id))

    def entity(
        self, id: TextId, entity: Annotated[str, Query(min_length=1, max_length=300)]
    ) -> dict[str, Any]:
        """Describe one entity: its mentions and the movement of its vector."""
        text = self.shelf.get(id)
        if not any(mention.entity == entity for mention in text.document.mentions):
            raise Missing(f"there is no entity {entity!r} in this text")
        return self.views.describe_card(text, entity)

    def step(self, id: TextId, at: Token, by: By = "words") -> dict[str, Any]:
        """Describe the model's expectation at a token, given the words before it alone or also the marked mentions."""
        from entitynlm.explorer.expectation import describe_expected

        text = self.shelf.get(id)
        if at >= len(text.document):
            raise Missing(f"the text has {len(text.document)} words")
        model = self.model.get(SOON)
        with self.model.use(ANSWER_WITHIN), text.hold():
            walk = follow(model, text if by == "words" else text.version, by)
            return describe_expected(walk, text.version, at, by)

    def draw(
        self,
        id: TextId,
        start: Token = 0,
        stop: Token = MOST_WORDS_OF_A_TEXT,
        width: Annotated[int, Query(ge=200, le=2000)] = 960,
    ) -> dict[str, Any]:
        """Draw timeline, network and table of characters of a stretch of the text."""
        text = self.shelf.get(id)
        stop = min(stop, len(text.document))
        if start >= stop:
            raise ConfigError("a stretch has one word at least")
        return self.views.draw(text, start, stop, width)

    # -- corrections -----------------------------------------------------------------------------------------------------

    def correct(self, id: TextId, wanted: schemas.Edit) -> dict[str, Any]:
        """Correct the analysis, and measure its figures anew in the background."""
        text = self.shelf.get(id)
        with text.hold():
            self._check_annotated(text)
            before, measured = text.document, text.measured
            text.change(edit(text.version, wanted))
            if measured is not None and text.document is before:  # another name changes no figure
                text.store(replace(measured, version=text.version))
            self.shelf.measure(text)
        return self._show(text)

    @staticmethod
    def _check_annotated(text: Text) -> None:
        if text.is_running and not text.is_annotated:
            raise Busy("the entities of this text are still being found")

    def move(self, id: TextId, by: Annotated[int, Query(ge=-1, le=1)]) -> dict[str, Any]:
        """Undo the latest correction (-1), or redo the one that was undone last (1)."""
        text = self.shelf.get(id)
        with text.hold():
            text.move(by)
            self.shelf.measure(text)
        return self._show(text)

    # -- files -----------------------------------------------------------------------------------------------------------

    def export(self, id: TextId, format: Annotated[str, Query(min_length=1, max_length=40)]) -> Response:
        """Write the analysis as a file: a writable format, or ``tokens``, ``mentions``, ``cast`` or ``quotations`` as TSV."""
        text = self.shelf.get(id)
        self._check_annotated(text)
        stem = make_stem(text.name)
        if format in ("tokens", "mentions", "cast", "quotations"):
            content, name = write_table(text, format), f"{stem}.{format}.tsv"
        else:
            content, suffix = write_annotation(text.document, format)
            name = stem + suffix
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)
