"""Which document of the response belongs to which document of the key, and whether they are the same text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from entitynlm.coref.metrics.alignment import Text
from entitynlm.errors import DataError
from entitynlm.text.document import Document

SHOWN = 5  # ids listed in a message


def pair_documents(
    key: Iterable[Text],
    response: Iterable[Text],
    *,
    lenient: bool = False,
    compare_words: bool = True,
) -> tuple[list[Text], list[Text]]:
    """The documents of key and response in the key's order, matched by id (which says the part, too).

    :param lenient: do as the official scorer does: a document that the response lacks counts as a response
        without mentions, and one that the key lacks is left out. Otherwise both are errors.
    :param compare_words: insist on equal words, and not only on equally many.
    """
    keys = _index_documents(key, "key")
    responses = _index_documents(response, "response")
    if not keys:
        raise DataError("the key has no documents")
    if not lenient:
        _check_ids(keys, responses)
    paired = [responses[doc_id] if doc_id in responses else _empty(text) for doc_id, text in keys.items()]
    for document, other in zip(keys.values(), paired, strict=True):
        _check_tokens(document, other, compare_words)
    return list(keys.values()), paired


def _empty(text: Text) -> Document:
    """The same text without mentions."""
    return Document(text.id, text.tokens, text.sentences)


def _index_documents(documents: Iterable[Text], side: str) -> dict[str, Text]:
    index: dict[str, Text] = {}
    for document in documents:
        if document.id in index:
            raise DataError(
                f"the {side} has two documents with the id {document.id!r}",
                hint="Ids must be unique; CoNLL-2012 documents in parts need their part numbers",
            )
        index[document.id] = document
    return index


def _check_ids(keys: Mapping[str, Text], responses: Mapping[str, Text]) -> None:
    missing = [doc_id for doc_id in keys if doc_id not in responses]
    unknown = [doc_id for doc_id in responses if doc_id not in keys]
    if not missing and not unknown:
        return
    complaints = []
    if missing:
        complaints.append(
            f"the response lacks {len(missing)} of {len(keys)} documents ({_list_ids(missing)})"
        )
    if unknown:
        complaints.append(f"the key lacks {len(unknown)} documents of the response ({_list_ids(unknown)})")
    raise DataError(
        " and ".join(complaints),
        hint="With --lenient, missing documents count as empty and unknown ones are left out,"
        " as in the official scorer",
    )


def _check_tokens(key: Text, response: Text, compare_words: bool) -> None:
    if len(key) != len(response):
        place = _find_difference(key.tokens, response.tokens)
        raise DataError(
            f"document {key.id!r} has {len(key)} tokens in the key and {len(response)} in the response",
            found=" ".join(response.tokens[place : place + 3]) or "the end of the document",
            expected=f"{' '.join(key.tokens[place : place + 3])!r} at token {place}, where they first differ",
            hint="Both files must have the same tokens",
        )
    if compare_words and key.tokens != response.tokens:
        place = _find_difference(key.tokens, response.tokens)
        raise DataError(
            f"document {key.id!r} has other words in the response than in the key",
            found=response.tokens[place],
            expected=f"{key.tokens[place]!r} at token {place}",
            hint="Where only the spelling differs, --ignore-words compares the number of tokens alone",
        )


def _find_difference(first: Sequence[str], second: Sequence[str]) -> int:
    for index, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return index
    return min(len(first), len(second))


def _list_ids(ids: Sequence[str]) -> str:
    return ", ".join(ids[:SHOWN]) + (", …" if len(ids) > SHOWN else "")
