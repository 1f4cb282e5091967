"""Bodies of the explorer's requests: checked before anything is done, and described in OpenAPI."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from entitynlm.explorer.texts import MOST_WORDS_OF_A_TEXT

Place = Annotated[int, Field(ge=0, le=MOST_WORDS_OF_A_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
NEW_ENTITY = "new"
EntityId = Annotated[str, Field(min_length=1, max_length=300)]


class RequestBody(BaseModel):
    """A request body, with no other fields than those listed."""

    model_config = ConfigDict(extra="forbid")


class Error(BaseModel):
    """An error message for people."""

    error: str


class OpenText(RequestBody):
    """A text to open: pasted or an example."""

    text: Annotated[str, Field(max_length=4_000_000)] | None = None
    example: Name | None = None


class Edit(RequestBody):
    """A correction.

    ``add``: a mention of ``entity``. ``remove``: the mention of ``entity``. ``change``: the mention gets another start, end or
    entity. ``split``: the mentions of ``entity`` from this mention on go to a new entity. ``merge``: all mentions of ``entity``
    go to ``to_entity``. ``rename``: ``entity`` is called ``name``. The entity ``new`` is created.
    """

    action: Literal["add", "remove", "change", "merge", "split", "rename"]
    start: Place = 0
    end: Place = 0
    entity: EntityId = NEW_ENTITY
    to_start: Place | None = None
    to_end: Place | None = None
    to_entity: EntityId | None = None
    name: Annotated[str, Field(max_length=80)] = ""
