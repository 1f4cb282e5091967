"""A spaCy pipeline component, found by its entry point: ``nlp.add_pipe("entitynlm")`` without any import.

It fills

- ``doc.spans["coref_clusters_1"]`` …, a span group per entity with two mentions or more (spacy-experimental's names);
- ``doc._.coref_clusters``, the same as a list of lists of spans;
- ``token._.surprisal``, in bits, where asked for (``config={"surprisal": True}``): it takes longer than all the rest;
- ``doc._.resolved_text``, the text with pronouns replaced by the entity's name.

Clusters live in ``doc.spans`` and surprisal in ``doc.user_data``, so ``to_bytes`` and ``DocBin(store_user_data=True)`` keep both.
Importing this module needs spaCy.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import pairwise

from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.util import minibatch

from entitynlm.default_model import choose_model
from entitynlm.text.document import Document
from entitynlm.text.formats.spacy_docs import from_spacy, list_groups, read_tokens, write_groups
from entitynlm.text.segmentation import segment_text


@dataclass
class EntityComponent:
    """Annotates documents: the component that ``nlp.add_pipe("entitynlm", config={…})`` makes.

    :param model: a model's name or folder; None: the default model, whose name replaces it.
    :param singletons: span groups for entities with one mention, too.
    :param surprisal: measure ``token._.surprisal`` with ``surprisal_samples`` particles.
    """

    nlp: Language
    name: str
    model: str | None = None
    singletons: bool = False
    surprisal: bool = False
    surprisal_samples: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        self.model = choose_model(self.model)
        from entitynlm.api import (
            EntityNLM,  # here: every blank pipeline of spaCy imports this module
        )

        self._model = EntityNLM.from_pretrained(self.model)

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc]))

    def pipe(self, docs: Iterable[Doc], *, batch_size: int = 1) -> Iterator[Doc]:
        """Annotate many documents, short ones together; ``batch_size`` is the pipeline's."""
        for some in minibatch(docs, batch_size):
            read = [read_doc(doc) for doc in some]
            found = self._model.annotate(document for document, _ in read)
            for doc, (document, places), annotated in zip(some, read, found, strict=True):
                yield self._fill(doc, document, places, annotated)

    def _fill(self, doc: Doc, document: Document, places: list[int], annotated: Document) -> Doc:
        least = 1 if self.singletons else 2
        write_groups(doc, (entity for entity in annotated.entities if len(entity.mentions) >= least), places)
        if self.surprisal:
            tables = self._model.surprisal(
                document, samples=self.surprisal_samples, repeats=1, seed=self.seed, mentions="sampled"
            )
            for place, row in zip(places, tables.tokens, strict=True):
                doc[place]._.surprisal = row.surprisal
        return doc


DEFAULTS = {field.name: field.default for field in fields(EntityComponent)[2:]}
make_component = Language.factory("entitynlm", default_config=DEFAULTS)(EntityComponent)


def read_doc(doc: Doc) -> tuple[Document, list[int]]:
    """Read the words of a ``Doc`` without white space, and the place of each in it; sentences are found where spaCy has none."""
    arguments, _ = read_tokens(doc)
    places = [token.i for token in doc if not token.text.isspace()]
    arguments = {key: arguments[key] for key in ("tokens", "sentences", "text", "offsets")}
    if not doc.has_annotation("SENT_START"):
        arguments["sentences"] = _find_sentences(doc.text, [start for start, _ in arguments["offsets"]])
    return Document("doc", **arguments), places


def _find_sentences(text: str, starts: list[int]) -> tuple[tuple[int, int], ...]:
    found = segment_text(text)
    borders = [found.offsets[first][0] for first, _ in found.sentences]
    edges = sorted({0, len(starts), *(bisect_left(starts, border) for border in borders)})
    return tuple(pairwise(edges))


def get_clusters(doc: Doc) -> list[list[Span]]:
    """List the clusters in the order of their first mentions."""
    return [list(doc.spans[key]) for key in list_groups(doc)]


def get_resolved_text(doc: Doc) -> str:
    """Replace third-person pronouns outside of quotations by the names of their clusters."""
    return from_spacy(doc).resolved_text()


for extension, getter in (("coref_clusters", get_clusters), ("resolved_text", get_resolved_text)):
    if not Doc.has_extension(extension):
        Doc.set_extension(extension, getter=getter)
if not Token.has_extension("surprisal"):
    Token.set_extension("surprisal", default=None)
