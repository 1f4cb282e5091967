"""What requests and answers of the explorer look like; the OpenAPI description is made from these."""

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
    """What went wrong, for people."""

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
    """What continuations are asked for."""

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


class About(BaseModel):
    version: str
    models: list[ModelInfo]
    formats: list[FormatInfo]
    examples: list[ExampleInfo]
    most_words: int


class ModelInfo(BaseModel):
    name: str
    loaded: bool
    failure: str | None


class FormatInfo(BaseModel):
    name: str
    description: str
    suffix: str
    writable: bool


class ExampleInfo(BaseModel):
    id: str
    title: str


class AnalysisInfo(BaseModel):
    number: int
    model: str
    version: int
    state: Literal["waiting", "running", "done", "cancelled", "failed"]
    stage: str
    done: int
    total: int | None
    message: str
    annotated: bool
    measured: bool
    corrected: bool
    undo: str | None
    redo: str | None
    mentions: int
    entities: int
    log_p: float | None
    log_p_parts: dict[str, float] | None
    surprisal_by: Literal["words", "mentions"] | None


class TextInfo(BaseModel):
    id: str
    name: str
    parent: str | None
    tokens: int
    blocks: list[int]
    analyses: list[AnalysisInfo]
    remarks: list[str] = []


class TextLine(BaseModel):
    id: str
    name: str
    tokens: int
    parent: str | None


class TextList(BaseModel):
    texts: list[TextLine]
    dropped: list[str]


class MentionInfo(BaseModel):
    start: int
    end: int
    entity: str


class Words(BaseModel):
    start: int
    stop: int
    version: int
    tokens: list[str]
    gaps: list[str]
    surprisal: list[float | None]
    without: list[float | None]
    expected: list[float | None]
    unknown: list[int]
    mentions: list[MentionInfo]
    measured: bool


class EntityInfo(BaseModel):
    id: str
    number: int
    name: str
    type: str | None
    mentions: int
    first: int
    last: int


class EntityMention(BaseModel):
    start: int
    end: int
    text: str
    form: str | None
    surprisal: float | None
    expected: str | None
    expected_probability: float | None
    new: bool | None


class MovementInfo(BaseModel):
    points: list[tuple[int, float | None, float | None]]
    early: list[str]
    late: list[str]


class EntityCard(BaseModel):
    id: str
    name: str
    type: str | None
    mentions: list[EntityMention]
    movement: MovementInfo | None


class WordChance(BaseModel):
    word: str
    probability: float


class ReferentChance(BaseModel):
    name: str
    entity: str | None
    new: bool
    first: int | None
    probability: float
    length: float
    words: list[WordChance]


class OpenMention(BaseModel):
    name: str
    entity: str | None
    probability: float


class StepInfo(BaseModel):
    at: int
    by: Literal["words", "mentions"]
    read: bool
    starts: float = 0.0
    inside: float = 0.0
    open: list[OpenMention] = []
    referents: list[ReferentChance] = []
    lengths: list[float] = []
    words: list[WordChance] = []
    words_without: list[WordChance] = []
    pieces: bool = False


class Quote(BaseModel):
    start: int
    text: str


class TimelineRow(EntityInfo):
    marks: list[tuple[int, int]]
    quoted: int
    quotes: list[Quote]


class Node(BaseModel):
    number: int
    mentions: int
    x: float
    y: float


class Edge(BaseModel):
    first: int
    second: int
    sentences: int


class Drawing(BaseModel):
    start: int
    stop: int
    rows: list[TimelineRow]
    nodes: list[Node]
    edges: list[Edge]
    curve: dict[str, list[float | None]]


class Difference(BaseModel):
    start: int
    end: int
    text: str
    kind: Literal["only in the first", "only in the second", "another entity"]
    first: str | None
    second: str | None


class ComparisonInfo(BaseModel):
    log_p: list[float]
    log_p_parts: list[dict[str, float]]
    same: int
    mentions: list[int]
    agreement: float | None
    differences: list[Difference]
    more: int


class ContinuationInfo(BaseModel):
    text: str
    tokens: list[str]
    gaps: list[str]
    mentions: list[MentionInfo]


class Continuations(BaseModel):
    continuations: list[ContinuationInfo]
    names: dict[str, str]
