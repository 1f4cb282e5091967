"""Whether a name or a noun is rather a man's or a woman's, learned from plain text.

Annotated stories are too few to know that Emma is a woman. In plain text a name is often followed by the pronoun of whoever bears
it; the counts are noisy for a single name, but names of one gender lie in one direction of pretrained vectors, so a logistic
regression from vectors to counts also covers names that the text never had. What is stored is a number per word: no vectors.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from entitynlm.errors import ModelError
from entitynlm.text.english import FEMALE, GENDERS, MALE

HE = frozenset("he him his himself".split())
SHE = frozenset("she her hers herself".split())
REACH = 10  # words from a name to the pronoun that is counted for it
BREAKS = frozenset(".?!:\"“”‘’'`_") | {"``", "''", "</s>"}  # after these a capital need not be a name's
FEWEST = 6  # pronouns that make a name's count worth learning from
SURE = 30  # pronouns that give a name's count full weight
WEAKEST = 0.4  # smaller scores are not stored
SCALE = 100  # scores are stored in hundredths


@dataclass(frozen=True)
class GenderPrior:
    """Scores of words in lower case, from −1 ("she") to 1 ("he"); words that are missing have 0."""

    values: Mapping[str, float]

    def find(self, word: str) -> float:
        return self.values.get(word.lower(), 0.0)

    def to_stored(self) -> tuple[str, list[int]]:
        """The words in one string, and their scores in hundredths."""
        words = sorted(self.values)
        return " ".join(words), [round(SCALE * self.values[word]) for word in words]

    @classmethod
    def from_stored(cls, words: str, scores: Sequence[int]) -> GenderPrior:
        return cls({word: score / SCALE for word, score in zip(words.split(), scores, strict=True)})


def count_pronouns(texts: Iterable[Sequence[str]]) -> dict[str, tuple[int, int]]:
    """For each name, how often the next pronoun is a form of "he" and of "she"; another name in between ends the search."""
    he: Counter[str] = Counter()
    she: Counter[str] = Counter()
    for tokens in texts:
        for start, after in pairwise((*_find_names(tokens), len(tokens))):
            for token in range(start + 1, min(start + 1 + REACH, after)):
                word = tokens[token].lower()
                if word in HE or word in SHE:
                    (he if word in HE else she)[tokens[start]] += 1
                    break
    return {word: (he[word], she[word]) for word in sorted(he | she)}


def _find_names(tokens: Sequence[str]) -> list[int]:
    """Words with a capital that is not that of a sentence's first word."""
    words = enumerate(pairwise(tokens), start=1)
    found = ((n, word) for n, (before, word) in words if before not in BREAKS and len(word) > 1)
    return [number for number, word in found if word[0].isupper() and word.isalpha()]


def learn_gender_prior(
    counts: Mapping[str, tuple[int, int]], words: Sequence[str], vectors: np.ndarray
) -> GenderPrior:
    """Logistic regression from the vectors (V, D) of names to their counts, and to known nouns, applied to all ``words``."""
    rows = {word: row for row, word in enumerate(words)}
    examples, targets, weights = _choose_examples(counts, rows)
    if not examples:
        raise ModelError("no name that is followed by pronouns has a vector; a gender prior can't be learned")
    x = torch.from_numpy(np.array(vectors, dtype=np.float32))
    y, w = torch.tensor(targets), torch.tensor(weights)
    layer = nn.Linear(x.shape[1], 1)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    optimizer = torch.optim.LBFGS(layer.parameters(), max_iter=200)

    def close() -> torch.Tensor:
        optimizer.zero_grad()
        logits = layer(x[examples])[:, 0]
        loss: torch.Tensor = nn.functional.binary_cross_entropy_with_logits(logits, y, weight=w)
        loss = loss + 0.002 * layer.weight.square().sum()
        loss.backward()
        return loss

    optimizer.step(close)
    with torch.no_grad():
        scores = (layer(x)[:, 0] / 2).clamp(-1, 1).tolist()
    return GenderPrior(
        {word: s for word, s in zip(words, scores, strict=True) if abs(s) >= WEAKEST and word.isalpha()}
    )


def _choose_examples(
    counts: Mapping[str, tuple[int, int]], rows: Mapping[str, int]
) -> tuple[list[int], list[float], list[float]]:
    """Rows, how likely "he" is there, and how much each counts."""
    he, she = (sum(pair[side] for pair in counts.values()) for side in (0, 1))
    ratio = (she + 1) / (he + 1)
    examples, targets, weights = [], [], []
    for word, (males, females) in counts.items():
        if males + females >= FEWEST and word.lower() in rows:
            log_odds = math.log(ratio * (males + 2) / (females + 2 * ratio))
            examples.append(rows[word.lower()])
            targets.append(1 / (1 + math.exp(-2 * log_odds)))
            weights.append(min(1.0, (males + females) / SURE))
    for word, gender in GENDERS.items():
        if gender in (MALE, FEMALE) and word in rows:
            examples.append(rows[word])
            targets.append(float(gender == MALE))
            weights.append(2.0)
    return examples, targets, weights
