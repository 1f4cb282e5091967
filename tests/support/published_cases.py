"""The 36 cases that the official coreference scorer is published with: entities as letters, and the figures it must give.

The cases are facts of its documentation (test/TestCases.README of conll/reference-coreference-scorers); the files that they are
tested with here are made from this table, and none of the official ones is in this repository.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Form = Literal["two", "five"]
FORMS: tuple[Form, ...] = (
    "two",
    "five",
)  # columns: document and coreference; or document, part, number, word and coreference

COLUMNS = ("muc", "b3", "ceafm", "ceafe", "lea", "blanc")

# A letter is a mention, a word of letters an entity, and the same letter again is the same span annotated again. B is another
# span, which overlaps with b's. Figures are "recall precision"; those of BLANC are recall and precision of links, then those of
# pairs that are no links (* where the key has no such pairs, so that the other half stands alone); - is not published.
TABLE = """
A-1  | a bc def       | a bc def             | 3/3 3/3  | 6/6 6/6     | 6/6 6/6 | 3/3 3/3       | 6/6 6/6     | 4/4 4/4 11/11 11/11
A-2  | a bc def       | a de                 | 1/3 1/1  | 7/18 3/3    | 3/6 3/3 | 9/15 9/10     | 2/6 3/3     | 1/4 1/1 2/11 2/2
A-3  | a bc def       | a bcx defy z         | 3/3 3/5  | 6/6 55/108  | 6/6 6/9 | 93/105 93/140 | 6/6 4/9     | 4/4 4/9 11/11 11/27
A-4  | a bc def       | a bcx dy z           | 1/3 1/3  | 5/9 17/42   | 4/6 4/7 | 11/15 11/20   | 3/6 2/7     | 1/4 1/4 5/11 5/17
A-5  | a bc def       | a bcxB dy z          | 1/3 1/4  | 5/9 5/16    | 4/6 4/8 | 31/45 31/60   | 3/6 5/24    | 1/4 1/7 5/11 5/21
A-6  | a bc def       | a bcx dy Bz          | 1/3 1/4  | 5/9 17/48   | 4/6 4/8 | 11/15 11/20   | 3/6 2/8     | 1/4 1/5 5/11 5/23
A-7  | a bc def       | a bcxb dy z          | 1/3 1/3  | 5/9 17/42   | 4/6 4/7 | 11/15 11/20   | 3/6 2/7     | 1/4 1/4 5/11 5/17
A-8  | a bc def       | a bcx dy bz          | 1/3 1/3  | 5/9 17/42   | 4/6 4/7 | 11/15 11/20   | 3/6 2/7     | 1/4 1/4 5/11 5/17
A-9  | a bc def       | a bcx dy bbbbbbbbbbz | 1/3 1/3  | 5/9 17/42   | 4/6 4/7 | 11/15 11/20   | 3/6 2/7     | 1/4 1/4 5/11 5/17
A-10 | a bc def       | a b c d e f          | 0/3 0/0  | 3/6 6/6     | -       | -             | 1/6 1/6     | 0/4 0/0 11/11 11/15
A-11 | a bc def       | abcdef               | 3/3 3/5  | 6/6 7/18    | -       | -             | 5/6 4/15    | 4/4 4/15 0/11 0/0
A-12 | a bc def       | a x y c d e z        | 0/3 0/0  | 13/36 4/7   | -       | -             | 1/6 1/7     | 0/4 0/0 5/11 5/21
A-13 | a bc def       | axycdez              | 1/3 1/6  | 17/36 6/49  | -       | -             | 1/6 1/21    | 1/4 1/21 0/11 0/0
B-1  | ab cde         | bcx de               | -        | -           | -       | -             | 1/5 2/5     | 1/4 1/4 2/6 2/6
C-1  | ab cde fg      | bcx de fg            | -        | -           | -       | -             | 3/7 4/7     | 2/5 2/5 10/16 10/16
D-1  | abcde fg hijkl | abcde fghijkl        | 9/9 9/10 | 12/12 16/21 | -       | -             | 12/12 26/36 | -
E-1  | abcde fg hijkl | abcdehijkl fg        | 9/9 9/10 | 1/1 7/12    | -       | -             | 12/12 29/54 | -
F-1  | abcd           | ab cd                | 2/3 2/2  | -           | -       | -             | 1/3 4/4     | -
G-1  | ab cd          | abcd                 | 2/2 2/3  | -           | -       | -             | 4/4 1/3     | -
H-1  | abcd           | abcd                 | 1/1 1/1  | -           | -       | -             | 1/1 1/1     | -
I-1  | abcd           | ab cd                | 2/3 2/2  | -           | -       | -             | 1/3 4/4     | -
J-1  | abc            | ac                   | 1/2 1/1  | -           | -       | -             | 1/3 1/1     | -
K-1  | bcdeghj        | abc def ghi          | 3/6 3/6  | -           | -       | -             | 1/7 3/9     | -
L-1  | abc defg       | ab cd fgh            | 2/5 2/4  | -           | -       | -             | 5/21 3/7    | -
M-1  | abcdef         | abcdef               | 1/1 1/1  | 1/1 1/1     | 1/1 1/1 | 1/1 1/1       | 1/1 1/1     | 15/15 15/15 * *
M-2  | abcdef         | a b c d e f          | 0/5 0/0  | -           | -       | -             | 0/6 0/6     | 0/15 0/0 * *
M-3  | abcdef         | ab cde f             | -        | -           | -       | -             | 4/15 5/6    | 4/15 4/4 * *
M-4  | abcdef         | abcxyz               | -        | -           | -       | -             | 3/15 3/15   | 3/15 3/15 * *
M-5  | abcdef         | a b c x y z          | 0/5 0/0  | -           | -       | -             | 0/6 0/6     | 0/15 0/0 * *
M-6  | abcdef         | ab cxy z             | -        | -           | -       | -             | 1/15 2/6    | 1/15 1/4 * *
N-1  | a b c d e f    | a b c d e f          | 0/0 0/0  | 1/1 1/1     | 1/1 1/1 | 1/1 1/1       | 1/1 1/1     | * * 15/15 15/15
N-2  | a b c d e f    | abcdef               | -        | -           | -       | -             | 0/6 0/6     | * * 0/15 0/0
N-3  | a b c d e f    | ab cde f             | -        | -           | -       | -             | 1/6 1/6     | * * 11/15 11/11
N-4  | a b c d e f    | a b c x y z          | 0/0 0/0  | -           | -       | -             | 3/6 3/6     | * * 3/15 3/15
N-5  | a b c d e f    | abcxyz               | -        | -           | -       | -             | 0/6 0/6     | * * 0/15 0/0
N-6  | a b c d e f    | ab cxy z             | -        | -           | -       | -             | 0/6 0/6     | * * 2/15 2/11
"""  # noqa: E501


@dataclass(frozen=True)
class Case:
    name: str
    key: Sequence[str]
    response: Sequence[str]
    figures: dict[str, tuple[float, float, float]]
    """Recall, precision and F1 of each metric that they are published for."""


def _read_table() -> Iterator[Case]:
    for row in TABLE.strip().splitlines():
        name, key, response, *cells = (cell.strip() for cell in row.split("|"))
        given = zip(COLUMNS, cells, strict=True)
        figures = {metric: _read_figures(cell.split()) for metric, cell in given if cell != "-"}
        yield Case(name, key.split(), response.split(), figures)


def _read_figures(ratios: Sequence[str]) -> tuple[float, float, float]:
    """The mean of the halves that there are: one but for BLANC, which has two."""
    halves = []
    for recall, precision in zip(ratios[::2], ratios[1::2], strict=True):
        if recall != "*":
            r, p = _divide(recall), _divide(precision)
            halves.append((r, p, 2 * r * p / (r + p) if r + p else r))
    recall, precision, f1 = (float(sum(column) / len(halves)) for column in zip(*halves, strict=True))
    return recall, precision, f1


def _divide(ratio: str) -> Fraction:
    return Fraction(0) if ratio.endswith("/0") else Fraction(ratio)


CASES = {case.name: case for case in _read_table()}

LETTERS = "abcdefghijklxyz"
SPACE, SENTENCE = 4, 12  # words from one mention's begin to the next one's, and words of a sentence


def render_case(clusters: Sequence[str], columns: Form) -> str:
    """A document with these entities, in the official scorer's rows of two or of five columns.

    Its file of case L-1 has one row of two columns without the second; here every such document has one, the last.
    """
    cells: list[list[str]] = [[] for _ in range(SPACE * len(LETTERS))]
    for entity, mentions in enumerate(clusters):
        for letter in mentions:
            start, end = _place(letter)
            if end == start + 1:
                cells[start].append(f"({entity})")
            else:
                cells[start].append(f"({entity}")
                cells[end - 1].append(f"{entity})")
    rows = ["#begin document (case);"]
    for word, cell in enumerate(cells):
        if word and word % SENTENCE == 0:
            rows.append("")
        coreference = "|".join(cell) or "-"
        before = "case " if columns == "two" else f"case\t0\t{word % SENTENCE}\tw{word}\t"
        rows.append(before + coreference)
    last = "case " if columns == "two" else f"case\t0\t{SENTENCE}\tlast\t-"
    return "\n".join([*rows, last, "", "#end document", ""])


def _place(letter: str) -> tuple[int, int]:
    """Mentions have one, two or three words; a capital is the first word of its small letter's mention."""
    position = LETTERS.index(letter.lower())
    start = SPACE * position
    return start, start + (1 if letter.isupper() else 1 + position % 3)
