"""The ranker: a linear model that scores the possible antecedents of every mention of a document (decision 033).

It is the baseline of Table 2 where no other system's scores are given. It compares mentions by the columns of the resolver's
table, and is trained by softmax-margin with latent antecedents: all earlier mentions of the same entity are
right, and "new entity" is where there is none.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from entitynlm.coref.candidates.candidate_files import NO_ANTECEDENT, AntecedentScores, make_antecedent_scores
from entitynlm.coref.mention_table import MentionTable, guess_head
from entitynlm.coref.metrics.documents import drop_repetitions, drop_singletons
from entitynlm.coref.ranker.features import NEW_TEMPLATES, PAIR_TEMPLATES, describe_mentions, relate_mentions
from entitynlm.coref.ranker.hashing import Array, HashedColumns, LinearModel
from entitynlm.coref.ranker.mentions import CandidateMention, find_by_dependencies, has_syntax
from entitynlm.coref.ranker.spans import SpanFinder
from entitynlm.discourse.discourse import read_discourse
from entitynlm.errors import DataError
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document

RANKER_WEIGHTS = 1 << 22
RANKER_EPOCHS = 4
RATE = 0.1
LEAST_GRADIENT = 1e-3
COSTS = np.array([0.1, 3.0, 1.0])  # of a false link, a missed one, a wrong one


class RankerExample:
    """A document's candidate mentions and their possible antecedents as columns of hashes.

    :ivar i: (N,) mentions of N pairs and :ivar j: (N,) their antecedents, the nearest of each mention first.
    """

    def __init__(self, document: Document, mentions: Sequence[CandidateMention]) -> None:
        ordered = sorted(mentions, key=lambda mention: (mention.span[0], -mention.span[1]))
        self.spans = [mention.span for mention in ordered]
        table = MentionTable(
            read_discourse(document), self.spans, heads=[mention.head for mention in ordered]
        )
        self.attributes = describe_mentions(table, np.array([m.variant for m in ordered], dtype=np.int64))
        self.i, self.j, relations = relate_mentions(table)
        self.relations = {name: column.astype(np.uint32) for name, column in relations.items()}
        self.offsets = np.searchsorted(self.i, np.arange(len(ordered) + 1))

    def find_right(self, key: Document) -> NDArray[np.bool_]:
        """(N,) whether both mentions of a pair belong to one entity of the key."""
        entities = {
            m.span: n for n, entity in enumerate(drop_singletons(key).entities) for m in entity.mentions
        }
        owners = np.array([entities.get(span, -1) for span in self.spans], dtype=np.int64)
        return (owners[self.i] >= 0) & (owners[self.i] == owners[self.j])

    @property
    def columns(self) -> HashedColumns:
        """(N,) columns of pairs: the mention's attributes, the antecedent's ("a.") and the relations."""
        return {
            **{name: column[self.i] for name, column in self.attributes.items()},
            **{f"a.{name}": column[self.j] for name, column in self.attributes.items()},
            **{name: column.astype(np.int64) for name, column in self.relations.items()},
        }


class Ranker:
    """A ranker of antecedents, trained on annotated documents.

    Mentions are found from dependencies where all training documents have them, else by a trained span classifier.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        *,
        seed: int = 0,
        progress: Progress = SILENT,
    ) -> None:
        keys = [drop_repetitions(document) for document in documents]
        if not any(document.mentions for document in keys):
            raise DataError("a ranker can't be trained: the documents have no mentions")
        self.finder: SpanFinder | None = None
        finders: list[SpanFinder | None] = [None, None]
        if not all(map(has_syntax, keys)):
            self.finder = SpanFinder(keys, seed=seed)
            finders = [SpanFinder(keys[n::2] or keys, seed=seed) for n in (1, 0)]
        # mentions of a training document are found by the half that it is not in
        examples = [RankerExample(key, find_mentions(key, finders[n % 2])) for n, key in enumerate(keys)]
        answers = [example.find_right(key) for example, key in zip(examples, keys, strict=True)]
        self.model = LinearModel(RANKER_WEIGHTS, RATE, LEAST_GRADIENT)

        def index(pair: tuple[RankerExample, Array]) -> tuple[Array, ...]:
            example, right = pair
            none = self.model.index(NEW_TEMPLATES, example.attributes)
            return none, self.model.index(PAIR_TEMPLATES, example.columns), example.offsets, right

        pairs = list(zip(examples, answers, strict=True))
        self.model.learn(pairs, index, COSTS, epochs=RANKER_EPOCHS, seed=seed, progress=progress)

    def score(self, document: Document) -> AntecedentScores:
        """Score all possible antecedents of each mention relative to "no antecedent"."""
        example = RankerExample(document, find_mentions(document, self.finder))
        new = self.model.score(NEW_TEMPLATES, example.attributes)
        scores = (self.model.score(PAIR_TEMPLATES, example.columns) - new[example.i]).tolist()
        pairs = list(zip(example.j.tolist(), scores, strict=True))
        bounds = zip(example.offsets[:-1].tolist(), example.offsets[1:].tolist(), strict=True)
        rows = [[*pairs[start:end], (NO_ANTECEDENT, 0.0)] for start, end in bounds]
        return make_antecedent_scores(document.id, example.spans, rows)


def find_mentions(document: Document, finder: SpanFinder | None) -> list[CandidateMention]:
    """List the candidate mentions of a document, by a finder or by dependencies."""
    if finder is not None:
        return [CandidateMention(span, guess_head(document, *span)) for span in finder.find(document)]
    if not has_syntax(document):
        raise DataError(
            f"document {document.id!r} has no syntax (part-of-speech tags and dependencies), unlike the training documents"
        )
    return find_by_dependencies(document)
