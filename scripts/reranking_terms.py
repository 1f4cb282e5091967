"""Why P reranks or does not (Table 2): what a swap of the paper's k-best lists costs in R, E, L and X, and whether it is better.

    python scripts/reranking_terms.py corpora/ontogum --model runs/lm-ontogum/seed-1 --scores corpora/cort-ontogum
    python scripts/reranking_terms.py corpora/litbank --model runs/lm-litbank/seed-1 --plot terms.svg

A swap is compared with the baseline's one best: the change of log P by variable (nats), of the number of mentions in chains, and
of the document's CoNLL score. Without ``--scores`` the baseline is our ranker, trained on the corpus.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from entitynlm.coref.candidates.candidate_files import (
    Clusters,
    KBestList,
    find_split_file,
    read_all_candidates,
)
from entitynlm.coref.candidates.kbest import count_candidates, decode_swaps
from entitynlm.coref.ranker.ranker import Ranker
from entitynlm.coref.reranking import complete_candidates, score_candidates
from entitynlm.experiments.table2_coreference import KeyedSplit, make_splits
from entitynlm.model.pretrained import Pretrained, load_pretrained
from entitynlm.text.corpora.corpus import open_corpus

KINDS = {"fewer mentions": -1, "as many mentions": 0, "more mentions": 1}
VARIABLES = ("R", "E", "L", "X")
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44")


@dataclass(frozen=True)
class Swaps:
    """All swaps of a split: changes of log P (n, 4), of mentions (n,) and of the CoNLL score (n,), and the document (n,)."""

    parts: np.ndarray
    mentions: np.ndarray
    conll: np.ndarray
    document: np.ndarray

    def select(self, chosen: np.ndarray) -> "Swaps":
        return Swaps(self.parts[chosen], self.mentions[chosen], self.conll[chosen], self.document[chosen])


def count_mentions(clusters: Clusters) -> int:
    return sum(map(len, clusters))


def compare_swaps(pretrained: Pretrained, split: KeyedSplit, lists: Sequence[KBestList]) -> tuple[Swaps, int]:
    """Compare each swap with the one best; also count the documents whose key has a lower P than the one best."""
    columns: list[list[np.ndarray]] = [[], [], [], []]
    key_below = 0
    network, encoder = pretrained.get("generative"), pretrained.encoder
    for number, (document, key, item) in enumerate(zip(split.documents, split.keys, lists, strict=True)):
        distinct = list(dict.fromkeys(complete_candidates(encoder, item)))
        gold = tuple(tuple(m.span for m in entity.mentions) for entity in key.entities)
        parts = score_candidates(network, encoder, document, [*distinct, gold])
        key_below += bool(parts[-1].sum() < parts[0].sum())
        own = list(dict.fromkeys(candidate.clusters for candidate in item.candidates))
        by_clusters = {candidate.clusters: candidate for candidate in item.candidates}
        conll = np.array(count_candidates(key, [by_clusters[c] for c in own]).conll_documents)
        mentions = np.array([count_mentions(clusters) for clusters in own])
        for column, values in zip(columns[:3], (parts[:-1], mentions, conll), strict=True):
            column.append(values[1:] - values[0])
        columns[3].append(np.full(len(own) - 1, number))
    return Swaps(*(np.concatenate(column) for column in columns)), key_below


def measure_auc(swaps: Swaps, scores: np.ndarray) -> float:
    """How often a better swap of a document has a higher score than a worse one (ties count half), over all documents."""
    won = pairs = 0.0
    for document in np.unique(swaps.document):
        own = swaps.document == document
        better, worse = own & (swaps.conll > 1e-9), own & (swaps.conll < -1e-9)
        count = int(better.sum()), int(worse.sum())
        ranks = rankdata(np.concatenate([scores[better], scores[worse]]))
        won += float(ranks[: count[0]].sum()) - count[0] * (count[0] + 1) / 2
        pairs += count[0] * count[1]
    return won / pairs if pairs else float("nan")


def describe(swaps: Swaps, key_below: int, documents: int) -> list[str]:
    """Make the tables, as Markdown."""
    lines = ["| swaps with | number | ΔR | ΔE | ΔL | ΔX | P prefers | better |", "|---|" + "---:|" * 7]
    for name, sign in KINDS.items():
        own = swaps.select(np.sign(swaps.mentions) == sign)
        if len(own.conll):
            means = " | ".join(f"{value:+.2f}" for value in own.parts.mean(0))
            preferred, better = (own.parts.sum(1) > 0).mean(), (own.conll > 1e-9).mean()
            lines.append(f"| {name} | {len(own.conll):,} | {means} | {preferred:.0%} | {better:.0%} |")
    lines += ["", "| AUC, better against worse | P | R | E | L | X |", "|---|" + "---:|" * 5]
    for name, own in (("all swaps", swaps), ("as many mentions", swaps.select(swaps.mentions == 0))):
        scores = [own.parts.sum(1), *own.parts.T]
        lines.append(f"| {name} | " + " | ".join(f"{measure_auc(own, one):.3f}" for one in scores) + " |")
    return [*lines, "", f"The key has a lower P than the one best in {key_below} of {documents} documents."]


def draw(swaps: Swaps, path: Path) -> None:
    """Draw the mean change of log P by variable for swaps with fewer, as many and more mentions, as SVG."""
    signs = np.sign(swaps.mentions)
    kinds = {name: swaps.parts[signs == sign] for name, sign in KINDS.items() if (signs == sign).any()}
    nats, bar, zero = 30, 30, 150  # points of a nat and of a bar, and where zero is
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="620" height="320" font-family="sans-serif" font-size="13">',
        '<rect width="620" height="320" fill="white"/>',
        '<text x="16" y="18">change of log P, nats</text>',
    ]
    for value in range(-4, 4):
        y = zero - nats * value
        lines.append(f'<text x="40" y="{y + 4}" text-anchor="end">{value}</text>')
        lines.append(f'<path d="M50 {y}H610" stroke="{"black" if value == 0 else "#ddd"}"/>')
    for group, (name, parts) in enumerate(kinds.items()):
        left = 80 + 180 * group
        lines.append(f'<text x="{left + 2 * bar}" y="305" text-anchor="middle">{name}</text>')
        for number, mean in enumerate(parts.mean(0).tolist()):
            x, y, height = left + number * bar, zero - nats * max(mean, 0), nats * abs(mean)
            lines.append(
                f'<rect x="{x}" y="{y:.1f}" width="{bar - 4}" height="{height:.1f}" fill="{COLOURS[number]}"/>'
            )
    for number, variable in enumerate(VARIABLES):
        x = 420 + 45 * number
        lines.append(f'<rect x="{x}" y="8" width="12" height="12" fill="{COLOURS[number]}"/>')
        lines.append(f'<text x="{x + 17}" y="18">{variable}</text>')
    path.write_text("\n".join([*lines, "</svg>"]) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus")
    parser.add_argument("--model", required=True)
    parser.add_argument("--scores", type=Path, help="folder of antecedent scores; default: our ranker")
    parser.add_argument("--split", default="test")
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    corpus = open_corpus(options.corpus)
    (split,) = make_splits({options.split: list(corpus.documents(options.split))})
    if options.scores is not None:
        ranked = read_all_candidates(find_split_file(options.scores, options.split), split.documents)
    else:
        ranker = Ranker(list(corpus.documents("train")))
        ranked = [ranker.score(document) for document in split.documents]
    lists = [
        item if isinstance(item, KBestList) else decode_swaps(item, options.k, singletons=split.singletons)
        for item in ranked
    ]
    swaps, key_below = compare_swaps(load_pretrained(options.model), split, lists)
    print("\n".join(describe(swaps, key_below, len(split.documents))))
    if options.plot is not None:
        draw(swaps, options.plot)


if __name__ == "__main__":
    main()
