"""In what share of continuations is the next mention the one asked for? ``python scripts/measure_control.py MODEL CORPUS``.

The beginning of a document is continued with ``next_entity``, one of its entities drawn at random (those with a name of their
own); then the whole is annotated again, by the same model and by others (``--judge``). The next mention is the one asked for if
the first mention after the beginning is linked to a mention of that entity; a judge that does not find the entity in the
beginning can't say.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from entitynlm import EntityNLM, load
from entitynlm.discourse.naming import choose_names
from entitynlm.generation.verification import append_text, find_next_mention, overlaps
from entitynlm.model.devices import prepare_torch
from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document
from entitynlm.text.english import PRONOUNS

SHORTEST = 30  # words of a beginning


def list_beginnings(documents: Sequence[Document], count: int) -> Iterator[Document]:
    """The first sentences of documents, without mentions; each document comes again with a sentence more."""
    given = 0
    for extra in range(100):
        for document in documents:
            ends = [end for _, end in document.sentences if end >= SHORTEST][:-1]
            if extra < len(ends):
                yield cut_document(document, ends[extra])
                given += 1
                if given == count:
                    return


def cut_document(document: Document, length: int) -> Document:
    """The first tokens of a document, as a text of its own."""
    sentences = tuple((a, b) for a, b in document.sentences if b <= length)
    offsets = None if document.offsets is None else document.offsets[:length]
    text = document.text if offsets is None or document.text is None else document.text[: offsets[-1][1]]
    return Document(document.id, document.tokens[:length], sentences, text=text, offsets=offsets)


def list_names(document: Document, least: int) -> dict[str, str]:
    """Entities by the name that they are asked for by; those that share one with others, or have no other than a pronoun, are
    left out, as are those with fewer mentions than ``least``.
    """
    chosen = choose_names(document, document.mentions)
    names = {
        entity: " ".join(document.tokens[mention.start : mention.end]) for entity, mention in chosen.items()
    }
    counts = Counter(name.lower() for name in names.values())
    mentions = Counter(mention.entity for mention in document.mentions)
    return {
        name: entity
        for entity, name in names.items()
        if name.replace(" ", "").isalpha()
        and counts[name.lower()] == 1
        and (name == "I" or name.lower() not in PRONOUNS)
        and mentions[entity] >= least
    }


def measure(model: EntityNLM, judges: dict[str, EntityNLM], arguments: argparse.Namespace) -> dict[str, Any]:
    draws = random.Random(arguments.seed)
    documents = list(open_corpus(arguments.corpus).documents(arguments.split))
    kept: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    asked, started = 0, time.process_time()
    beginnings = list_beginnings(documents, arguments.skip + arguments.count)
    for number, bare in islice(enumerate(beginnings), arguments.skip, None):
        prompt = model.annotate(bare)
        names = list_names(prompt, arguments.least)
        if not names:
            continue
        name = draws.choice(sorted(names))
        (story,) = model.generate(
            prompt, words=arguments.words, next_entity=name, seed=arguments.seed + number
        )
        asked += 1
        whole = append_text(prompt, f" {story.text}", story.document)
        earlier = [mention.span for mention in prompt.mentions if mention.entity == names[name]]
        found = {}
        for judge, reader in judges.items():
            spans = [
                mention.span for mention in (prompt if reader is model else reader.annotate(bare)).mentions
            ]
            if any(overlaps(one, other) for one in spans for other in earlier):
                _, same = find_next_mention(reader.annotate(whole), len(prompt))
                found[judge] = any(overlaps(one, other) for one in same for other in earlier)
                counts[judge] += 1
                kept[judge] += found[judge]
        if arguments.verbose:
            shown = " ".join(prompt.tokens[-12:])
            print(f"{name!r} {found} … {shown} | {story.text!r}", dict(kept), asked, flush=True)
    seconds = time.process_time() - started
    shares = {
        judge: {"judged": counts[judge], "kept": kept[judge], "share": kept[judge] / max(counts[judge], 1)}
        for judge in judges
    }
    return {"continuations": asked, "judges": shares, "cpu_seconds": round(seconds, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="a model's folder or name")
    parser.add_argument("corpus", help="a corpus to take beginnings from")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--judge", action="append", default=[], help="another model that annotates again")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument(
        "--skip", type=int, default=0, help="leave the first beginnings out, to share the work"
    )
    parser.add_argument("--least", type=int, default=2, help="mentions that an entity has in the beginning")
    parser.add_argument("--words", type=int, default=1, help="so many words at least, up to a sentence's end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    prepare_torch("cpu", 1)
    model = load(arguments.model)
    judges = {arguments.model: model, **{name: load(name) for name in arguments.judge}}
    print(json.dumps(measure(model, judges, arguments), indent=2))


if __name__ == "__main__":
    main()
