"""Features of the ranker: columns of the resolver's table of mentions and of its pair features, and conjunctions of them."""

import numpy as np

from entitynlm.coref.mention_table import MentionTable
from entitynlm.coref.pair_features import PAIR_FEATURES, pair_mentions
from entitynlm.coref.ranker.hashing import HashedColumns, hash_texts
from entitynlm.model.encoding.preprocessing import IntArray
from entitynlm.text.english import DETERMINERS

LEVELS = 3  # steps into which a pair feature between 0 and 1 is rounded
MOST_MATCHES = 4

GROUPS = {  # a relation of a pair is what a group of the resolver's pair features says together
    "mentions": [name for name in PAIR_FEATURES if name.startswith("mentions ")],
    "sentences": [name for name in PAIR_FEATURES if name.startswith("sentences ")],
    "same_text": ["same text", "same words"],
    "same_head": ["same head"],
    "words": ["same head", "head in content", "all content", "all content of antecedent", "other name", "shared content"],
    "agreement": ["gender agrees", "gender differs", "number agrees", "number differs"],
    "rank": [name for name in PAIR_FEATURES if "compatible" in name],
    "nesting": ["contained", "contains", "adjacent", "apposition", "copula", "same clause"],
    "quote": [name for name in PAIR_FEATURES if "quot" in name],
    "speech": ["antecedent speaks", "mention speaks", "antecedent spoke before", "same speaker", "other speaker"],
    "antecedent": [f"antecedent {name}" for name in ("opens sentence", "possessive", "objective", "nested")],
    "repetitions": ["repetitions of antecedent"],
    "last": ["last of its text", "last of its class", "same class"],
}  # fmt: skip
RELATIONS = (*GROUPS, "syntax", "speaker", "matches")
ATTRIBUTES = (
    "text head first last before after length relation governor determiner nested variant tag genre seen_head seen_text"
).split()
NEW_TEMPLATES = (
    "form", *ATTRIBUTES, *(f"{name} form" for name in ATTRIBUTES),
    "kind determiner seen_head", "kind determiner seen_text", "relation nested kind", "before first", "last after",
)  # fmt: skip
PAIR_TEMPLATES = (
    *RELATIONS, *(f"{name} form" for name in RELATIONS), *(f"{name} form a.form" for name in RELATIONS),
    *(f"a.{name} form" for name in ATTRIBUTES), *(f"{name} a.form" for name in ATTRIBUTES), "form a.form",
    *(f"a.{name}" for name in ATTRIBUTES), "lemma a.lemma", "same_head head", "same_text text", "same_text length kind",
    "words kind a.kind sentences", "words kind a.kind matches", "speaker form a.form sentences",
    "agreement sentences form a.kind",
    "relation a.relation sentences form", "words determiner a.determiner", "syntax nesting kind a.kind",
    "words sentences form a.form", "agreement sentences form a.form", "speaker quote form a.form", "genre form a.form",
    "text a.text", "form a.governor", "rank sentences form a.kind",
)  # fmt: skip


def _mix_groups() -> IntArray:
    """(features, groups) random odd factors, with which the sum over a group's features is a hash of their values."""
    factors = np.zeros((len(PAIR_FEATURES), len(GROUPS)), dtype=np.int64)
    generator = np.random.default_rng(0)
    for group, names in enumerate(GROUPS.values()):
        rows = [PAIR_FEATURES.index(name) for name in names]
        factors[rows, group] = 2 * generator.integers(2**30, size=len(rows)) + 1
    return factors


FACTORS = _mix_groups()


def describe_mentions(table: MentionTable, variants: IntArray) -> HashedColumns:
    """Hash the attributes of each mention; ``variants`` tell how its span was cut from the subtree of its head."""
    document, tokens, words = table.document, table.document.tokens, table.words
    lemmas, tags = document.column("lemma"), document.column("pos")
    firsts = [tokens[start].lower() for start, _ in table.spans]
    texts = {
        **{name: [getattr(mention, name) for mention in words] for name in ("form", "kind", "text", "head", "lemma", "relation")},
        "first": firsts,
        "last": [tokens[end - 1].lower() for _, end in table.spans],
        "before": [tokens[start - 1].lower() if start else "" for start, _ in table.spans],
        "after": [tokens[end].lower() if end < len(tokens) else "" for _, end in table.spans],
        "governor": [(lemmas[at] or tokens[at]).lower() if at >= 0 else "" for at in table.governor.tolist()],
        "determiner": [
            DETERMINERS.get(first, "none") if end - start > 1 else "bare"
            for first, (start, end) in zip(firsts, table.spans, strict=True)
        ],
        "tag": [tags[head] or "" for head in table.head.tolist()],
        "genre": [document.meta.get("genre", "")] * table.size,
    }  # fmt: skip
    return {name: hash_texts(values) for name, values in texts.items()} | {
        "length": np.minimum(table.end - table.start, 8),
        "variant": variants,
        "nested": _find_nesting(table),
        "seen_text": _measure_recency(table, [mention.text for mention in words]),
        "seen_head": _measure_recency(table, [mention.lemma for mention in words]),
    }


def _measure_recency(table: MentionTable, values: list[str]) -> IntArray:
    """(M,) bucketed number of sentences since the same value was mentioned: 0 to 3, 4 for ten or more, 5 for never."""
    latest: dict[str, int] = {}
    found = []
    for value, sentence in zip(values, table.sentence.tolist(), strict=True):
        distance = sentence - latest[value] if value in latest else None
        found.append(5 if distance is None else min(distance, 3) if distance < 10 else 4)
        latest[value] = sentence
    return np.array(found, dtype=np.int64)


def _find_nesting(table: MentionTable) -> IntArray:
    """(M,) 0: in no other mention, 1: in one, 2: in one with the same head."""
    found = np.zeros(table.size, dtype=np.int64)
    around: list[int] = []
    for mention, (start, head) in enumerate(zip(table.start, table.head, strict=True)):
        around = [outer for outer in around if table.end[outer] > start]
        found[mention] = 2 if any(table.head[outer] == head for outer in around) else int(bool(around))
        around.append(mention)
    return found


def relate_mentions(table: MentionTable) -> tuple[IntArray, IntArray, HashedColumns]:
    """Pair mentions with their possible antecedents, and hash each of :data:`RELATIONS` between them."""
    pairs = pair_mentions(table, 0, table.size)
    earlier = table.start[pairs.antecedent] < table.start[pairs.mention]
    i, j = pairs.mention[earlier], pairs.antecedent[earlier]
    groups = np.rint(LEVELS * pairs.features[earlier]).astype(np.int64) @ FACTORS
    governor, head = table.governor, table.head
    siblings = (governor[i] == governor[j]) & (governor[i] >= 0)
    relation = hash_texts([mention.relation for mention in table.words])
    conditions = (
        head[i] == head[j],
        governor[j] == head[i],
        governor[i] == head[j],
        siblings,
        relation[i] == relation[j],
    )
    speaker = hash_texts([mention.speaker or "" for mention in table.words])
    turn = np.cumsum(np.diff(speaker, prepend=speaker[:1]) != 0)
    known = np.array([mention.speaker is not None for mention in table.words], dtype=np.bool_)
    speakers = np.where(speaker[i] == speaker[j], 1, np.where(turn[i] - turn[j] <= 1, 2, 3))
    same = table.head_lemma[i] == table.head_lemma[j]
    # pairs with the same head; of a mention, the nearest antecedent comes first
    before = np.cumsum(same) - same
    matches = before - before[np.searchsorted(i, i)] if len(i) else before
    return i, j, {
        **dict(zip(GROUPS, groups.T, strict=True)),
        "syntax": np.select(conditions, (5, 3, 2, 1, 4), 0),
        "speaker": np.where(known[i] & known[j], speakers, 0),
        "matches": np.minimum(matches, MOST_MATCHES),
    }  # fmt: skip
