"""Documents to be scored: what is left out of them where annotation schemes differ, and which response belongs to which key."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention, Span


def drop_singletons(document: Document) -> Document:
    """Drop entities of one mention (OntoNotes doesn't annotate them, systems drop them)."""
    sizes = Counter(mention.entity for mention in document.mentions)
    return document.with_mentions(m for m in document.mentions if sizes[m.entity] > 1)


def drop_repetitions(document: Document) -> Document:
    """Keep every span once, with the first of its entities, because a second annotation of one span is an oversight."""
    kept: dict[Span, Mention] = {}
    for entity in document.entities:
        for mention in entity.mentions:
            kept.setdefault(mention.span, mention)
    return document.with_mentions(kept.values())


def clean_key(document: Document, *, singletons: bool = False) -> Document:
    """Make the key that figures are reported against: no repeated spans, and no singletons unless the corpus annotates them."""
    key = drop_repetitions(document)
    return key if singletons else drop_singletons(key)


SINGLETONS_ANNOTATED = 0.2  # share of entities with one mention from which a corpus is taken to annotate them


def annotates_singletons(keys: Iterable[Document]) -> bool:
    """Tell whether the corpus of these documents annotates mentions that corefer with no other."""
    sizes = [len(entity.mentions) for key in keys for entity in drop_repetitions(key).entities]
    return sum(size == 1 for size in sizes) > SINGLETONS_ANNOTATED * len(sizes)


SHOWN = 5  # ids listed in a message


def pair_documents(
    key: Iterable[Document],
    response: Iterable[Document],
    *,
    lenient: bool = False,
    compare_words: bool = True,
) -> tuple[list[Document], list[Document]]:
    """Pair key and response documents by id, in the key's order.

    :param lenient: as the official scorer, treat a missing response as one without mentions, and leave out an unknown one.
    """
    keys = _index_documents(key, "key")
    responses = _index_documents(response, "response")
    if not keys:
        raise DataError("the key has no documents")
    if not lenient:
        _check_ids(keys, responses)
    paired = []
    for doc_id, text in keys.items():
        found = responses.get(doc_id)
        paired.append(Document(text.id, text.tokens, text.sentences) if found is None else found)
        _check_tokens(text, paired[-1], compare_words)
    return list(keys.values()), paired


def _index_documents(documents: Iterable[Document], side: str) -> dict[str, Document]:
    index: dict[str, Document] = {}
    for document in documents:
        if document.id in index:
            raise DataError(
                f"the {side} has two documents with the id {document.id!r}",
                hint="Ids must be unique; CoNLL-2012 documents in parts need their part numbers",
            )
        index[document.id] = document
    return index


def _check_ids(keys: Mapping[str, Document], responses: Mapping[str, Document]) -> None:
    complaints = []
    if missing := [doc_id for doc_id in keys if doc_id not in responses]:
        complaints.append(f"the response lacks {len(missing)} of {len(keys)} documents{_list_ids(missing)}")
    if unknown := [doc_id for doc_id in responses if doc_id not in keys]:
        complaints.append(f"the key lacks {len(unknown)} documents of the response{_list_ids(unknown)}")
    if complaints:
        hint = "With --lenient, missing documents count as empty and unknown ones are left out, as in the official scorer"
        raise DataError(" and ".join(complaints), hint=hint)


def _check_tokens(key: Document, response: Document, compare_words: bool) -> None:
    if len(key) == len(response) and (not compare_words or key.tokens == response.tokens):
        return
    pairs = enumerate(zip(key.tokens, response.tokens, strict=False))
    place = next((n for n, (one, other) in pairs if one != other), min(len(key), len(response)))
    found, expected = (" ".join(text.tokens[place : place + 3]) for text in (response, key))
    raise DataError(
        f"document {key.id!r} has {len(key)} tokens in the key and {len(response)} in the response, or other words",
        found=found or "the end of the document",
        expected=f"{expected!r} at token {place}, where they first differ",
        hint="Where only the spelling differs, --ignore-words compares the number of tokens alone",
    )


def _list_ids(ids: Sequence[str]) -> str:
    return f" ({', '.join(ids[:SHOWN])}{', …' if len(ids) > SHOWN else ''})"
