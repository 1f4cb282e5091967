"""The requests that the explorer answers, each a few lines over the modules that do the work."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Body, Query, Response
from fastapi import Path as PathParameter

from entitynlm import __version__
from entitynlm.errors import Busy, ConfigError, DataError
from entitynlm.explorer import schemas
from entitynlm.explorer.edits import edit
from entitynlm.explorer.files import make_stem, restore, write_annotation, write_table
from entitynlm.explorer.texts import (
    MOST_WORDS_OF_A_TEXT,
    Missing,
    Text,
    TextAnalysis,
    TextShelf,
    Version,
)
from entitynlm.explorer.uploads import Found, read_file, read_one
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import FORMATS

if TYPE_CHECKING:
    from entitynlm.api import EntityNLM

RESOURCES = Path(__file__).parents[1] / "resources" / "demo"
EXAMPLES = {
    "captain-reed": ("The captain and the stranger (a short story)", RESOURCES / "captain-reed.txt"),
    "coffee-shop": (
        "John and the coffee shop (the paper's first figure)",
        RESOURCES / "running-example.jsonl",
    ),
}
MOST_AT_ONCE = 4_000  # words of one answer
ANSWER_WITHIN = 30.0  # seconds

TextId = Annotated[str, PathParameter(min_length=1, max_length=40)]
Number = Annotated[int, PathParameter(ge=1, le=1000)]
Token = Annotated[int, Query(ge=0, le=MOST_WORDS_OF_A_TEXT)]


class Routes:
    """Everything under ``/api``, for one shelf of texts."""

    def __init__(self, shelf: TextShelf) -> None:
        self.shelf, self.models = shelf, shelf.models
        self.drafts: dict[str, list[Document]] = {}  # the latest continuations of a text
        self.router = router = APIRouter(prefix="/api")
        answers: dict[int | str, dict[str, Any]] = {
            code: {"model": schemas.Error}
            for code in (400, 401, 403, 404, 405, 409, 410, 413, 415, 421, 422, 503)
        }
        add: dict[str, Any] = {"responses": answers}
        text, analysis = "/texts/{id}", "/texts/{id}/analyses/{number}"
        for method, path, call in (
            ("GET", "/about", self.about),
            ("GET", "/texts", self.list_texts),
            ("POST", "/texts", self.open_text),
            ("POST", "/files", self.open_file),
            ("POST", "/saved", self.restore_text),
            ("GET", text, self.describe),
            ("DELETE", text, self.close),
            ("GET", f"{text}/saved", self.save),
            ("GET", f"{text}/comparison", self.compare),
            ("POST", f"{text}/analyses", self.analyse),
            ("POST", f"{analysis}/cancel", self.cancel),
            ("POST", f"{analysis}/measure", self.measure),
            ("GET", f"{analysis}/words", self.words),
            ("GET", f"{analysis}/entities", self.entities),
            ("GET", f"{analysis}/entity", self.entity),
            ("GET", f"{analysis}/step", self.step),
            ("GET", f"{analysis}/drawing", self.draw),
            ("POST", f"{analysis}/edits", self.correct),
            ("POST", f"{analysis}/undo", self.undo),
            ("POST", f"{analysis}/redo", self.redo),
            ("POST", f"{analysis}/continuations", self.write),
            ("POST", f"{analysis}/accept", self.accept),
        ):
            router.add_api_route(path, call, methods=[method], **add)
        router.add_api_route(
            f"{analysis}/export", self.export, methods=["GET"], response_class=Response, **add
        )

    @cached_property
    def views(self) -> ModuleType:
        """Import the views of texts with the first request about one, because torch comes with them."""
        from entitynlm.explorer import views

        return views

    # -- texts -----------------------------------------------------------------------------------------------------------

    def about(self) -> dict[str, Any]:
        """The version, the models, the formats and the examples that there are."""
        shelf = self.models
        return {
            "version": __version__,
            "models": [
                {"name": name, "loaded": shelf.is_loaded(name), "failure": shelf.failures.get(name)}
                for name in shelf.names
            ],
            "formats": [
                {"name": f.name, "description": f.description, "suffix": f.suffix, "writable": f.writable}
                for f in FORMATS.values()
            ],
            "examples": [{"id": id, "title": title} for id, (title, _) in EXAMPLES.items()],
            "most_words": MOST_WORDS_OF_A_TEXT,
        }

    def list_texts(self) -> dict[str, Any]:
        """The open texts, the one used last first, and the names of those that were closed to make room."""
        texts = [
            {"id": text.id, "name": text.name, "tokens": len(text.document), "parent": text.parent}
            for text in self.shelf.list()
        ]
        return {"texts": texts, "dropped": list(self.shelf.dropped.values())}

    def open_text(self, wanted: schemas.OpenText) -> dict[str, Any]:
        """Open a pasted text or an example, and analyse it in the background."""
        if (wanted.text is None) == (wanted.example is None):
            raise ConfigError("give either a text or the name of an example")
        if wanted.example is not None:
            if wanted.example not in EXAMPLES:
                raise Missing(f"there is no example {wanted.example!r}; there are {', '.join(EXAMPLES)}")
            title, path = EXAMPLES[wanted.example]
            name = wanted.name or title.partition(" (")[0]
            return self._open_found(read_one(path.read_bytes(), name), name, wanted.model)
        from entitynlm.api import as_document

        assert wanted.text is not None
        document = as_document(wanted.text.replace("\x00", ""))
        return self._show(self.open_document(document, wanted.name or "pasted text", wanted.model))

    def open_file(
        self,
        content: Annotated[bytes, Body(media_type="application/octet-stream")],
        name: Annotated[str, Query(min_length=1, max_length=200)],
        format: Annotated[str | None, Query(max_length=200)] = None,
        model: Annotated[str | None, Query(max_length=200)] = None,
        document: Annotated[str | None, Query(max_length=300)] = None,
    ) -> dict[str, Any]:
        """Open a file in any readable format; of several documents the first, or the one that is named."""
        self.models.check(model)
        return self._open_found(read_file(content, name, format, document), name, model)

    def _open_found(self, found: Found, name: str, model: str | None) -> dict[str, Any]:
        return {**self._show(self.open_document(found.document, name, model)), "remarks": found.remarks}

    def open_document(
        self, document: Document, name: str, model: str | None, parent: str | None = None
    ) -> Text:
        """Open a document, which is annotated if it has no mentions, and analyse it in the background."""
        model = self.models.check(model)
        if not len(document):
            raise DataError("there is no word in this text")
        if len(document) > MOST_WORDS_OF_A_TEXT:
            raise DataError(
                f"this text has {len(document):,} words, and the explorer takes {MOST_WORDS_OF_A_TEXT:,}"
            )
        text = self.shelf.open(document, name, parent)
        given = "as it was in the file" if document.mentions else ""
        self.shelf.analyse(text, text.add(model, Version(document, what=given)))
        return text

    def describe(self, id: TextId) -> dict[str, Any]:
        """A text and how far its analyses are."""
        return self._show(self.shelf.get(id))

    def close(self, id: TextId) -> dict[str, Any]:
        """Close a text."""
        self.shelf.close(id)
        self.drafts.pop(id, None)
        return self.list_texts()

    def save(self, id: TextId) -> dict[str, Any]:
        """All that is needed to go on later: the text and its analyses as they are shown."""
        text = self.shelf.get(id)
        return {
            "explorer": 1,
            "name": text.name,
            "document": text.document.with_mentions(()).to_dict(),
            "analyses": [
                {
                    "model": analysis.model,
                    "document": analysis.document.to_dict(),
                    "labels": dict(analysis.version.labels),
                    "found": analysis.version.found,
                }
                for analysis in text.analyses.values()
            ],
        }

    def restore_text(self, saved: schemas.Saved) -> dict[str, Any]:
        """Go on from a saved state."""
        documents = [restore(saved.document), *(restore(one.document) for one in saved.analyses)]
        models = [
            one.model if one.model in self.models.names else self.models.names[0] for one in saved.analyses
        ]
        if any(document.tokens != documents[0].tokens for document in documents):
            raise DataError("the analyses of this file are not of one text")
        if not 0 < len(documents[0]) <= MOST_WORDS_OF_A_TEXT:
            raise DataError(f"a text has 1 to {MOST_WORDS_OF_A_TEXT:,} words")
        text = self.shelf.open(documents[0], saved.name)
        for one, document, model in zip(saved.analyses, documents[1:], models, strict=True):
            version = Version(document, one.labels, one.found, "as it was saved")
            self.shelf.analyse(text, text.add(model, version))
        missing = sorted({one.model for one in saved.analyses} - set(models))
        remarks = [f"the model {name} is not here; {models[0]} stands in for it" for name in missing]
        return {**self._show(text), "remarks": remarks}

    def _show(self, text: Text) -> dict[str, Any]:
        return self.views.describe_open_text(self.shelf, text)

    # -- analyses --------------------------------------------------------------------------------------------------------

    def analyse(self, id: TextId, wanted: schemas.NewAnalysis) -> dict[str, Any]:
        """Add another analysis of a text: by another model, or a copy to be corrected apart."""
        text = self.shelf.get(id)
        if len(text.analyses) >= 8:
            raise ConfigError("a text has eight analyses at most")
        if wanted.copy_of is not None:
            old = text.get(wanted.copy_of)
            model = self.models.check(wanted.model or old.model)
            version = replace(old.version, what="a copy", found=False)
        else:
            model = self.models.check(wanted.model)
            version = Version(text.document.with_mentions(()))
        self.shelf.analyse(text, text.add(model, version))
        return self._show(text)

    def cancel(self, id: TextId, number: Number) -> dict[str, Any]:
        """Stop measuring."""
        text = self.shelf.get(id)
        if (job := text.get(number).job) is not None:
            job.cancel()
        return self._show(text)

    def measure(self, id: TextId, number: Number) -> dict[str, Any]:
        """Measure again what was cancelled or failed."""
        text = self.shelf.get(id)
        analysis = text.get(number)
        if analysis.job is None or analysis.job.state in ("done", "cancelled", "failed"):
            self.shelf.analyse(text, analysis)
        return self._show(text)

    def words(self, id: TextId, number: Number, start: Token, stop: Token) -> dict[str, Any]:
        """The tokens of a stretch of the text, with mentions and surprisal."""
        if not start < stop <= start + MOST_AT_ONCE:
            raise ConfigError(f"a stretch has 1 to {MOST_AT_ONCE} words")
        text = self.shelf.get(id)
        return self.views.list_tokens(text, text.get(number), start, stop)

    def entities(self, id: TextId, number: Number) -> list[dict[str, Any]]:
        """All entities, the most frequent first."""
        return self.views.rank_entities(self.shelf.get(id).get(number))

    def entity(
        self, id: TextId, number: Number, entity: Annotated[str, Query(min_length=1, max_length=300)]
    ) -> dict[str, Any]:
        """One entity's card."""
        analysis = self.shelf.get(id).get(number)
        if not any(mention.entity == entity for mention in analysis.document.mentions):
            raise Missing(f"there is no entity {entity!r} in this analysis")
        return self.views.describe_card(analysis, entity)

    def step(
        self, id: TextId, number: Number, at: Token, by: Literal["words", "mentions"] = "words"
    ) -> dict[str, Any]:
        """Tell what the model expects at a token, from the words before it alone or from marked mentions too."""
        from entitynlm.explorer.expectation import describe_expected

        text = self.shelf.get(id)
        analysis = text.get(number)
        if at >= len(text.document):
            raise Missing(f"the text has {len(text.document)} words")
        if (known := analysis.answers.get((analysis.stamp, by, at))) is not None:
            return known
        model = self._get_model(analysis.model)
        self.shelf.keep_readers(text)
        with self.models.use(analysis.model, wait=ANSWER_WITHIN), analysis.hold(ANSWER_WITHIN):
            document, stamp = analysis.document, analysis.stamp
            if by == "words":
                walk = analysis.along_words = analysis.along_words or model.follow(text.document)
            else:
                if analysis.along_mentions is None or analysis.along_mentions[0] != stamp:
                    analysis.along_mentions = stamp, model.follow(document, by="mentions")
                walk = analysis.along_mentions[1]
            return analysis.remember((stamp, by, at), describe_expected(walk, document, at, by))

    def _get_model(self, name: str) -> EntityNLM:
        if not self.models.is_loaded(name):
            raise Busy(f"the model {name} is still being loaded; try again soon")
        return self.models.get(name)

    def draw(
        self, id: TextId, number: Number, start: Token = 0, stop: Token = MOST_WORDS_OF_A_TEXT
    ) -> dict[str, Any]:
        """Timeline, network and surprisal curve of a stretch of the text."""
        text = self.shelf.get(id)
        stop = min(stop, len(text.document))
        if start >= stop:
            raise ConfigError("a stretch has one word at least")
        return self.views.draw(text.get(number), start, stop)

    # -- corrections -----------------------------------------------------------------------------------------------------

    def correct(self, id: TextId, number: Number, wanted: schemas.Edit) -> dict[str, Any]:
        """Correct an analysis; what follows from it is measured in the background."""
        text = self.shelf.get(id)
        analysis = text.get(number)
        spans = make_span(wanted.start, wanted.end), make_span(wanted.to_start, wanted.to_end)
        with analysis.hold(ANSWER_WITHIN):
            self._check_annotated(analysis)
            version = edit(
                analysis.version, wanted.action, span=spans[0], entity=wanted.entity, to_span=spans[1],
                to_entity=wanted.to_entity, name=wanted.name,
            )  # fmt: skip
            return self._change(text, analysis, version)

    @staticmethod
    def _check_annotated(analysis: TextAnalysis) -> None:
        if analysis.job is not None and not (analysis.version.found or analysis.version.what):
            raise Busy("the entities of this text are still being found; try again soon")

    def _change(self, text: Text, analysis: TextAnalysis, version: Version) -> dict[str, Any]:
        renamed_only = version.document is analysis.document
        old = analysis.stamp
        analysis.change(version)
        if renamed_only and analysis.measured is not None and analysis.measured.version == old:
            analysis.store(replace(analysis.measured, version=analysis.stamp))
        else:
            self.shelf.analyse(text, analysis)
        return self._show(text)

    def undo(self, id: TextId, number: Number) -> dict[str, Any]:
        """Take back the latest correction."""
        return self._move(id, number, -1)

    def redo(self, id: TextId, number: Number) -> dict[str, Any]:
        """Make the correction again that was taken back."""
        return self._move(id, number, 1)

    def _move(self, id: str, number: int, by: int) -> dict[str, Any]:
        text = self.shelf.get(id)
        analysis = text.get(number)
        with analysis.hold(ANSWER_WITHIN):
            if analysis.move(by):
                self.shelf.stop(analysis)
            else:
                self.shelf.analyse(text, analysis)
        return self._show(text)

    def compare(
        self, id: TextId, first: Annotated[int, Query(ge=1)], second: Annotated[int, Query(ge=1)]
    ) -> dict[str, Any]:
        """Two analyses of a text beside each other, log P of both under the first one's model."""
        from entitynlm.explorer.comparison import compare

        text = self.shelf.get(id)
        analyses = text.get(first), text.get(second)
        for analysis in analyses:
            self._check_annotated(analysis)
        model = self._get_model(analyses[0].model)
        with self.models.use(analyses[0].model, wait=ANSWER_WITHIN):
            return compare(model, *analyses)

    # -- writing ---------------------------------------------------------------------------------------------------------

    def write(self, id: TextId, number: Number, wish: schemas.Wish) -> dict[str, Any]:
        """Continuations of the text, with their entities."""
        text = self.shelf.get(id)
        analysis = text.get(number)
        self._check_annotated(analysis)
        model, prompt = self._get_model(analysis.model), analysis.document
        names = self.views.name_shown(analysis)
        wanted = None
        if wish.next_entity is not None:
            if wish.next_entity not in names:
                raise Missing(f"there is no entity {wish.next_entity!r} in this analysis")
            wanted = names[wish.next_entity]
        wishes = wish.model_dump(exclude={"next_entity"})
        with self.models.use(analysis.model, wait=ANSWER_WITHIN):
            found = model.generate(prompt if prompt.tokens else None, next_entity=wanted, **wishes)
            whole = [model.join(prompt, one) for one in found]
        self.drafts[id] = whole
        shown = [self.views.describe_continuation(prompt, one) for one in whole]
        return {"continuations": shown, "names": names}

    def accept(self, id: TextId, number: Number, wanted: schemas.Accept) -> dict[str, Any]:
        """Go on from a continuation: a new text, whose parent is this one."""
        text = self.shelf.get(id)
        drafts = self.drafts.get(id, [])
        if wanted.number >= len(drafts):
            raise Missing("there is no such continuation; ask for some first")
        analysis = text.get(number)
        longer = self.open_document(drafts[wanted.number], text.name, analysis.model, parent=id)
        return self._show(longer)

    # -- files -----------------------------------------------------------------------------------------------------------

    def export(
        self, id: TextId, number: Number, format: Annotated[str, Query(min_length=1, max_length=40)]
    ) -> Response:
        """The analysis as a file: a writable format, or the tables ``tokens`` and ``mentions`` as TSV."""
        text = self.shelf.get(id)
        analysis = text.get(number)
        stem = make_stem(text.name)
        if format in ("tokens", "mentions"):
            measured = analysis.measured
            if measured is None or measured.version != analysis.stamp:
                raise Busy("this analysis is still being measured; try again soon")
            content, name = write_table(measured.report.tables, format), f"{stem}.{format}.tsv"
        else:
            content, suffix = write_annotation(analysis.document, format)
            name = stem + suffix
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)


def make_span(start: int | None, end: int | None) -> tuple[int, int] | None:
    """A stretch of words, if one was named."""
    if start is None and end is None:
        return None
    if start is None or end is None:
        raise ConfigError("a stretch of words has a start and an end")
    return start, end
