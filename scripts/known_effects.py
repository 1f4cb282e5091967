"""Measure known effects of reference on the items of docs/items: differences within items, with 95 % intervals over items.

python scripts/known_effects.py [--model NAME …] [--effect NAME …] [--items N]     (docs/results/known-effects.md has its table)
"""

import argparse
import csv
import tempfile
from pathlib import Path

from scipy.stats import t as t_distribution

import entitynlm

ITEMS = Path(__file__).parent.parent / "docs" / "items"
EFFECTS = ("implicit-causality", "repeated-name", "pronoun-ambiguity", "recency", "new-given")
MODELS = ("entitynlm-en-smollm2", "entitynlm-en")
MEASURES = {
    "difference": "error",
    "without_entities": "without_entities_error",
    "referent_surprisal": "referent_surprisal_error",
    "referent_entropy": "referent_entropy_error",
}


def take_items(path: Path, count: int, folder: Path) -> Path:
    """Copy the lines of the first items of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    kept = [line for line, row in zip(lines, rows, strict=True) if row[0] == "item" or int(row[0]) <= count]
    copy = folder / path.name
    copy.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return copy


def measure_effect(model: entitynlm.EntityNLM, path: Path) -> str:
    """Write a row of the table: the differences at the marked mention, the first region."""
    rows = model.surprisal_of_items(path, compare="condition").rows
    (mean,) = (row for row in rows if row.item == "mean" and row.region == 1)
    cells = []
    for measure, error in MEASURES.items():
        value, wide = getattr(mean, measure), t_distribution.ppf(0.975, mean.n - 1) * getattr(mean, error)
        cells.append(f"{value:+.2f} ± {wide:.2f}")
    return f"| {path.stem}: {mean.condition} − {mean.minus} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", nargs="+", default=MODELS)
    parser.add_argument("--effect", nargs="+", default=EFFECTS, choices=EFFECTS)
    parser.add_argument("--items", type=int, default=1000, help="at most so many items of each effect")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.model:
            model = entitynlm.load(name)
            print(
                f"\n| `{name}` | word | word, without entities | referent | entropy over referents |\n|---|---|---|---|---|"
            )
            for effect in options.effect:
                path = take_items(ITEMS / f"{effect}.tsv", options.items, Path(folder))
                print(measure_effect(model, path), flush=True)


if __name__ == "__main__":
    main()
