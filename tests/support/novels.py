"""An invented novel in PDNC's layout."""

import csv
from pathlib import Path

TEXT = (
    "“Are you cold,” asked Nora, “or tired?”\n\nHer sister laughed. “No, Nora,” she said. Ida sat down.\n\n"
    "“Then we stay.” Miss Vale waited.\n\n“Hear, hear!” cried all.\n"
)
QUOTATIONS = (
    (["Are you cold,", "or tired?"], "Nora Vale", ["Ida Vale"], "Explicit", [[("you", ["Ida Vale"])], []]),
    (["No, Nora,"], "Ida", ["Nora Vale"], "Anaphoric", [[("Nora", ["Nora Vale"])]]),
    (["Then we stay."], "Nora Vale", ["Ida Vale"], "Implicit", [[("we", ["Nora Vale", "Ida Vale"])]]),
    (["Hear, hear!"], "_group", [], "Explicit", [[]]),
)
CHARACTERS = (
    ("Nora Vale", "{'Nora', 'Miss Vale'}", "F", "major"),
    ("Ida Vale", "{'Ida', 'Miss Vale'}", "F", "intermediate"),
    ("_group", "['_group']", "X", "minor"),
)


def write_novel(folder: Path) -> Path:
    """Write the text, the quotations and the characters of the novel."""
    folder.mkdir(parents=True)
    (folder / "novel_text.txt").write_text(TEXT, "utf-8")
    header = "speaker addressees quoteType referringExpression quoteByteSpans mentionSpansList mentionEntitiesList".split()
    rows = []
    for parts, speaker, addressees, kind, mentions in QUOTATIONS:
        starts = [TEXT.index(part) for part in parts]
        spans = [
            [[start + part.index(words), start + part.index(words) + len(words)] for words, _ in found]
            for start, part, found in zip(starts, parts, mentions, strict=True)
        ]
        places = [[start, start + len(part)] for start, part in zip(starts, parts, strict=True)]
        entities = [[names for _, names in found] for found in mentions]
        tag = {"Explicit": "asked Nora", "Anaphoric": "she said"}.get(kind, "nan")
        rows.append([speaker, addressees, kind, tag, places, spans, entities])
    for name, head, table in (
        ("quotation_info.csv", header, rows),
        ("character_info.csv", ["Main Name", "Aliases", "Gender", "Category"], CHARACTERS),
    ):
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([head, *table])
    return folder
