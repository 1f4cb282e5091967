"""B³ (Bagga and Baldwin 1998): for each mention, how much of its chain is right."""

from __future__ import annotations

from entitynlm.coref.metrics.alignment import Alignment


def count_b_cubed(alignment: Alignment) -> tuple[float, ...]:
    """Sums over mentions of the share of their response chain (and key chain) that both chains have in
    common.
    """
    precision = recall = 0.0
    for index, chain in enumerate(alignment.response):
        for mention in chain:
            owner = alignment.key_chain_of.get(mention)
            if owner is not None:
                common = alignment.overlaps[owner, index]
                precision += common / len(chain)
                recall += common / len(alignment.key[owner])
    key_mentions = sum(map(len, alignment.key))
    response_mentions = sum(map(len, alignment.response))
    return recall, key_mentions, precision, response_mentions
