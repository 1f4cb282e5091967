"""Feature templates: which attributes and relations are combined into one feature.

A template is a tuple of names: ``m.head`` is the anaphor's head, ``a.head`` the antecedent's, and a bare
``head`` the relation between both. The values of the parts, hashed together with the number of the
template, are the feature.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from entitynlm.coref.ranker import attributes, relations

ANAPHOR, ANTECEDENT, RELATION = 0, 1, 2
WIDTH = 4  # parts of a template, at most


def _cross(parts: Sequence[str], *contexts: str) -> list[str]:
    """Each part with nothing and with each context beside it."""
    return [f"{part} {context}".strip() for part in parts for context in ("", *contexts)]


NEW_TEMPLATES: tuple[str, ...] = (
    *_cross(
        "m.text m.head m.lemma m.first m.last m.before m.after m.length m.relation m.governor m.determiner m.type "
        "m.place m.opening m.nested m.genre m.variant m.seen_text m.seen_head m.head_count m.tag m.suffix m.number "
        "m.governor_relation m.quoted".split(),
        "m.form",
    ),
    "m.form",
    "m.kind m.determiner m.seen_head",
    "m.kind m.determiner m.seen_text",
    "m.kind m.determiner m.nested",
    "m.kind m.seen_head m.head_count",
    "m.kind m.length m.seen_text",
    "m.relation m.governor m.kind",
    "m.relation m.nested m.kind",
    "m.determiner m.head",
    "m.first m.last",
    "m.before m.first",
    "m.last m.after",
    "m.form m.before m.after",
    "m.form m.relation m.governor",
    "m.genre m.kind m.seen_head",
    "m.genre m.determiner m.kind",
    "m.form m.genre m.relation",
    "m.type m.determiner m.seen_head",
    "m.variant m.tag m.relation",
    "m.place m.kind m.determiner",
)

PAIR_TEMPLATES: tuple[str, ...] = (
    *_cross(
        "text head words sentences mentions nesting speaker quote syntax agreement alias match_rank agree_rank "
        "salience".split(),
        "m.form",
        "m.form a.form",
    ),
    *_cross(
        "a.text a.head a.first a.last a.before a.after a.length a.relation a.governor a.determiner a.type a.nested "
        "a.variant a.tag a.genre a.seen_head".split(),
        "m.form",
    ),
    *_cross(
        "m.text m.head m.first m.relation m.determiner m.type m.nested m.genre m.length m.variant".split(),
        "a.form",
    ),
    "m.form a.form",
    "m.form a.head",
    "m.lemma a.lemma",
    "m.text a.text",
    "m.form a.governor",
    "m.governor a.governor",
    "m.form a.type agreement",
    "m.type a.type m.kind a.kind",
    "m.form a.type a.number",
    "m.form a.gender a.number",
    "m.determiner a.determiner head",
    "m.determiner a.determiner words m.kind",
    "m.relation a.relation m.kind",
    "m.relation a.relation sentences m.form",
    "a.relation sentences m.form",
    "a.nested sentences m.form",
    "sentences agree_rank m.form a.kind",
    "mentions agreement m.form a.kind",
    "syntax m.relation a.relation",
    "syntax nesting m.kind a.kind",
    "syntax m.form a.form sentences",
    "nesting m.relation a.relation",
    "words m.kind a.kind sentences",
    "words m.kind a.kind match_rank",
    "words m.length a.length m.kind",
    "words m.determiner m.seen_head",
    "head m.head",
    "head m.type m.determiner",
    "text m.length m.kind",
    "text m.text",
    "text m.determiner a.determiner",
    "text sentences m.kind",
    "head sentences m.determiner",
    "speaker m.form a.form sentences",
    "quote m.form a.form sentences",
    "quote speaker m.form a.form",
    "speaker m.form a.form agreement",
    "speaker m.genre m.form a.form",
    "agreement sentences m.form a.kind",
    "alias m.kind words",
    "alias m.type a.type",
    "salience a.kind m.form",
    "salience sentences m.form",
    "m.genre m.form a.kind sentences",
    "m.genre m.form a.form",
    "m.number a.number head",
    "m.variant a.variant head nesting",
)


def compile_templates(templates: Sequence[str]) -> NDArray[np.int64]:
    """Names to numbers, shape (templates, WIDTH, 2): kind and column of each part; a wrong name is a KeyError."""
    table = np.full((len(templates), WIDTH, 2), -1, dtype=np.int64)
    for row, template in enumerate(templates):
        for part, name in enumerate(template.split()):
            side, _, attribute = name.rpartition(".")
            if side:
                table[row, part] = (ANAPHOR if side == "m" else ANTECEDENT, attributes.COLUMN[attribute])
            else:
                table[row, part] = (RELATION, relations.COLUMN[name])
    return table
