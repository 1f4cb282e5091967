"""MUC (Vilain et al. 1995): how many links of the chains are found."""

from __future__ import annotations

from entitynlm.coref.metrics.alignment import Alignment


def count_muc(alignment: Alignment) -> tuple[float, ...]:
    """A chain of n mentions has n - 1 links; those between mentions of one key chain in one response chain
    are correct.
    """
    key_chain_of = alignment.key_chain_of
    correct = 0
    for chain in alignment.response:
        owners = [key_chain_of[mention] for mention in chain if mention in key_chain_of]
        correct += len(owners) - len(set(owners))
    key_links = sum(len(chain) - 1 for chain in alignment.key)
    response_links = sum(len(chain) - 1 for chain in alignment.response)
    return correct, key_links, correct, response_links
