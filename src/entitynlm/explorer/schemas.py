"""Bodies of the explorer's requests, which are checked before anything is done; the OpenAPI description has them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from entitynlm.explorer.texts import MOST_WORDS_OF_A_TEXT

Place = Annotated[int, Field(ge=0, le=MOST_WORDS_OF_A_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
EntityId = Annotated[str, Field(min_length=1, max_length=300)]


class RequestBody(BaseModel):
    """A request has the fields that are listed and no others."""

    model_config = ConfigDict(extra="forbid")


class Error(BaseModel):
    """An error message for people."""

    error: str


class OpenText(RequestBody):
    """A text to open: pasted or an example; ``model`` is the one that analyses it."""

    text: Annotated[str, Field(max_length=4_000_000)] | None = None
    example: Name | None = None
    name: Name | None = None
    model: Name | None = None


class NewAnalysis(RequestBody):
    """Another analysis: by ``model``, or a copy of analysis ``copy_of`` to be corrected apart."""

    model: Name | None = None
    copy_of: Annotated[int, Field(ge=1)] | None = None


class Edit(RequestBody):
    """A correction; ``edits.edit`` says which fields each action needs."""

    action: Literal["add", "remove", "change", "merge", "split", "rename"]
    start: Place | None = None
    end: Place | None = None
    entity: EntityId | None = None
    to_start: Place | None = None
    to_end: Place | None = None
    to_entity: EntityId | None = None
    name: Name | None = None


class Wish(RequestBody):
    """A request for continuations."""

    words: Annotated[int, Field(ge=1, le=200)] = 25
    count: Annotated[int, Field(ge=1, le=5)] = 3
    next_entity: EntityId | None = None
    new_entities: bool = True
    temperature: Annotated[float, Field(gt=0.05, le=3)] = 0.8
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0


class Accept(RequestBody):
    """The continuation to go on from, by its number in the latest answer."""

    number: Annotated[int, Field(ge=0, le=4)]


class Saved(RequestBody):
    """A saved state of a text, as ``GET …/saved`` gave it."""

    explorer: Literal[1]
    name: Name
    document: dict[str, Any]
    analyses: Annotated[list[SavedAnalysis], Field(min_length=1, max_length=8)]


class SavedAnalysis(RequestBody):
    model: Name
    document: dict[str, Any]
    labels: dict[str, Name] = {}
    found: bool = False
