"""What bounds EntityNLM's accuracy in Table 3: the same slots asked before their first word, with its probability, and after it.

    entitynlm train corpora/inscript -c configs/paper-inscript.toml --parts generative,causal --seed 1 --out runs/bounds-1
    python scripts/prediction_bounds.py corpora/inscript runs/bounds-1

"before" is equation 4 from h_{t-1}, the row of the table. "bayes" multiplies it by the probability of the slot's first word given
each candidate (equation 6). "after" is the proposal Q, the same equation from h_t, which has read that word. With several models
each row is also given for all of them together (the geometric mean).
"""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from entitynlm.inference.readings import Readings
from entitynlm.inference.story_state import ReadingStep, log_prob_pieces, read_along
from entitynlm.inference.weights import log_sum_exp
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.pretrained import load_pretrained
from entitynlm.prediction.choices import Choice, make_choice
from entitynlm.prediction.evaluation import PredictionRow, join_rows, measure_row
from entitynlm.prediction.slots import read_slots
from entitynlm.text.corpora.corpus import open_corpus
from entitynlm.text.document import Document

PARTS = {"before": "generative", "bayes": "generative", "after": "causal"}


class BoundChooser:
    """Ask a network of a model about the slots of a story, before or after their first words."""

    def __init__(self, model: str, row: str) -> None:
        pretrained = load_pretrained(model)
        self.network, self.encoder = pretrained.get(PARTS[row]).eval(), pretrained.encoder
        self.row = row
        if self.row == "bayes" and self.network.backbone.pretrained:
            raise SystemExit("bayes is for models with an LSTM, whose words are single pieces")

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        encoded, _, originals = self.encoder.encode_with_report(story)
        found: dict[int, Choice] = {}
        names: dict[str, None] = {}
        steps = find_mention_starts(self.network, encoded)
        hidden = self.read_before(encoded) if self.row == "bayes" else None
        for mention, (t, step) in zip(originals, steps, strict=True):
            log_probs = step.before.expect(step.tables, step.at, step.new_entities).log_probs
            if hidden is not None:
                states = [
                    step.before.choose(1, n + 1, 1, step.new_entities[0]) for n in range(len(log_probs))
                ]
                word = log_prob_pieces(states, hidden[t : t + 1])[:, int(encoded.x[t])]  # (candidates,)
                log_probs = log_probs + word.double().numpy()
            new = log_sum_exp(log_probs[len(names) :])
            found[mention.start] = make_choice(list(names), np.append(log_probs[: len(names)], new))
            names.setdefault(mention.entity)
        return [found[position] for position in positions]

    @torch.no_grad()
    def read_before(self, encoded: EncodedDocument) -> torch.Tensor:
        """(T, D) h_{t-1} of each word."""
        reading = self.network.backbone.read([encoded.words])
        return reading.table[torch.from_numpy(reading.before[0])]


def find_mention_starts(
    network: EntityNetwork, encoded: EncodedDocument
) -> Iterator[tuple[int, ReadingStep]]:
    """Read a story along its analysis, and give the words at which mentions start."""
    for step in read_along(network, encoded, Readings(encoded).read(network), starts_only=True):
        t = step.before.history.position
        if encoded.r[t] and not step.before.history.remaining:
            yield t, step


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--split", default="test")
    parser.add_argument("--rows", default="before,bayes,after")
    options = parser.parse_args()
    stories = read_slots(open_corpus(options.corpus), options.split)
    for name in options.rows.split(","):
        rows: list[PredictionRow] = []
        for model in options.models:
            rows.append(measure_row(name, BoundChooser(model, name), stories))
            print(f"{name}, {model}: {rows[-1].accuracy:.2f} % of {len(rows[-1].answers):,} slots")
        if len(rows) > 1:
            print(f"{name}, {len(rows)} models together: {join_rows(name, rows).accuracy:.2f} %")


if __name__ == "__main__":
    main()
