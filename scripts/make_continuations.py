"""Write continuations of every kind with their mentions in brackets, to be read by eye: the shares of docs/howto-build.md.

    python scripts/make_continuations.py --out build/continuations.txt
    python scripts/make_continuations.py --kind cast --count 10

The n-th prompt has the seed SEED + n. The last lines count what a program can count; whether a continuation holds together and
every mention is a phrase is for a reader.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import entitynlm
from entitynlm.generation.request import Continuation

PROMPTS = (  # text, entity to go on with, cast
    ("Anna lost her key in the snow.", "Anna", ("the old man", "Bob")),
    ("The old captain sold his boat to Maria. She was glad.", "Maria", ("Peter", "the captain")),
    ("Mr. Dale opened the letter and sat down.", "Mr. Dale", ("Mrs. Dale", "the postman", "Lucy")),
    ("Tom and his sister waited at the station.", "Tom", ("the conductor", "Ella")),
    ("A fox came to the farm every night. The farmer bought a dog.", "A fox", ("the dog", "Clara")),
    ("Professor Lind had never believed in ghosts.", "Professor Lind", ("the widow", "Oskar", "the cat")),
    ("The queen asked Hugo for the truth. He was silent.", "Hugo", ("the queen", "Hugo", "the knight")),
    ("Doctor Ames drove to the village at night.", "Doctor Ames", ("the nurse", "Samuel")),
)
KINDS = ("free", "next_entity", "cast", "new_entities")


def list_requests(kind: str, options: dict[str, Any], seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """List the prompt and the arguments of ``model.generate`` for each prompt of a kind; every second cast has no prompt."""
    for number, (prompt, entity, cast) in enumerate(PROMPTS):
        own = {"words": 40, **options, "seed": seed + number}
        if kind == "next_entity":
            own["next_entity"] = entity
        if kind == "cast":
            own["cast"] = list(cast)
        if kind == "new_entities":
            own["new_entities"] = False
        yield ("" if kind == "cast" and number % 2 else prompt), own


def mark_mentions(story: Continuation) -> str:
    """Put the mentions of a continuation in brackets, each with the number of its entity."""
    document, text = story.document, story.text
    assert document.offsets is not None
    for mention in sorted(document.mentions, key=lambda each: (-each.start, each.end)):
        first, end = document.offsets[mention.start][0], document.offsets[mention.end - 1][1]
        text = f"{text[:first]}[{text[first:end]} {mention.entity}]{text[end:]}"
    return text.replace("\n", " / ")


def write_kind(model: entitynlm.EntityNLM, kind: str, wanted: dict[str, Any], seed: int, out: TextIO) -> str:
    """Write the continuations of a kind; returns what can be counted of them."""
    stories, mentions, missing, first = 0, 0, 0, 0
    for prompt, options in list_requests(kind, wanted, seed):
        print(f"\n## {kind}: {prompt!r} {options}", file=out)
        for story in model.generate(prompt, **options):
            lacks = f"  (missing: {', '.join(story.missing)})" if story.missing else ""
            stories += 1
            print(f"{kind}-{stories}: {mark_mentions(story)}{lacks}", file=out)
            mentions += len(story.document.mentions)
            missing += bool(story.missing)
            earliest = min(story.document.mentions, key=lambda each: each.start, default=None)
            first += earliest is not None and story.names.get(earliest.entity) == options.get("next_entity")
        out.flush()
    counted = f"{kind}: {stories} read, {mentions} mentions"
    if kind == "next_entity":
        counted += f", {first} begin with the entity"
    return counted + (f", {missing} say who is missing" if kind == "cast" else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", default="entitynlm-en-smollm2")
    parser.add_argument("--kind", choices=KINDS, help="default: all")
    parser.add_argument("--count", type=int, default=5, help="continuations of each prompt (default 5)")
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--temperature", type=float, help="default: that of model.generate")
    parser.add_argument("--out", type=Path, help="default: standard output")
    given = parser.parse_args()
    model = entitynlm.load(given.model)
    out = sys.stdout if given.out is None else given.out.open("w", encoding="utf-8")
    began = time.process_time()
    kinds = KINDS if given.kind is None else (given.kind,)
    wanted = {"count": given.count}
    if given.temperature is not None:
        wanted["temperature"] = given.temperature
    counted = [write_kind(model, kind, wanted, given.seed, out) for kind in kinds]
    print("", *counted, f"{time.process_time() - began:.0f} CPU-seconds", sep="\n", file=out)


if __name__ == "__main__":
    main()
