"""Features of the ranker: columns of the resolver's table of mentions and of its pair features, and conjunctions of them."""

import numpy as np

from entitynlm.coref.mention_table import MentionTable
from entitynlm.coref.pair_features import PAIR_FEATURES, pair_mentions
from entitynlm.coref.ranker.hashing import Columns, hash_texts
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

OF_MENTION = (
    "text head lemma first last before after length relation governor determiner place opens nested genre variant seen_text "
    "seen_head head_count tag suffix number governor_relation quoted"
).split()
OF_ANAPHOR = "text head first relation determiner nested genre length variant".split()
OF_ANTECEDENT = "text head first last before after length relation governor determiner nested variant tag genre seen_head".split()
NEW_TEMPLATES = (
    "form", *OF_MENTION, *(f"{name} form" for name in OF_MENTION),
    "kind determiner seen_head", "kind determiner seen_text", "kind determiner nested", "kind seen_head head_count",
    "kind length seen_text", "relation governor kind", "relation nested kind", "determiner head", "first last", "before first",
    "last after", "form before after", "form relation governor", "genre kind seen_head", "genre determiner kind",
    "form genre relation", "variant tag relation", "place kind determiner",
)  # fmt: skip
PAIR_TEMPLATES = (
    *RELATIONS, *(f"{name} form" for name in RELATIONS), *(f"{name} form a.form" for name in RELATIONS),
    *(f"a.{name}" for name in OF_ANTECEDENT), *(f"a.{name} form" for name in OF_ANTECEDENT),
    *OF_ANAPHOR, *(f"{name} a.form" for name in OF_ANAPHOR),
    "form a.form", "form a.head", "lemma a.lemma", "text a.text", "form a.governor", "governor a.governor",
    "form a.gender a.number", "determiner a.determiner same_head", "determiner a.determiner words kind",
    "relation a.relation kind", "relation a.relation sentences form", "a.relation sentences form", "a.nested sentences form",
    "sentences rank form a.kind", "mentions agreement form a.kind", "syntax relation a.relation", "syntax nesting kind a.kind",
    "syntax form a.form sentences", "nesting relation a.relation", "words kind a.kind sentences", "words kind a.kind matches",
    "words length a.length kind", "words determiner seen_head", "same_head head", "same_text length kind", "same_text text",
    "same_text determiner a.determiner", "same_text sentences kind", "same_head sentences determiner",
    "speaker form a.form sentences", "quote form a.form sentences", "quote speaker form a.form", "speaker form a.form agreement",
    "speaker genre form a.form", "agreement sentences form a.kind", "repetitions a.kind form", "repetitions sentences form",
    "genre form a.kind sentences", "genre form a.form", "number a.number same_head", "variant a.variant same_head nesting",
)  # fmt: skip


def _mix_groups() -> IntArray:
    """(features, groups) random odd factors: the sum over a group's features is a hash of their values."""
    factors = np.zeros((len(PAIR_FEATURES), len(GROUPS)), dtype=np.int64)
    generator = np.random.default_rng(0)
    for group, names in enumerate(GROUPS.values()):
        rows = [PAIR_FEATURES.index(name) for name in names]
        factors[rows, group] = 2 * generator.integers(2**30, size=len(rows)) + 1
    return factors


FACTORS = _mix_groups()


def describe_mentions(table: MentionTable, variants: IntArray) -> Columns:
    """Hash what is known of each mention; ``variants`` says how its span was cut out of its subtree."""
    document, tokens, words = table.document, table.document.tokens, table.words
    lemmas, relations, tags = (document.column(name) for name in ("lemma", "deprel", "pos"))
    firsts = [tokens[start].lower() for start, _ in table.spans]
    governors = table.governor.tolist()
    texts = {
        **{name: [getattr(mention, name) for mention in words] for name in
           ("form", "kind", "text", "head", "lemma", "relation", "gender", "number")},
        "first": firsts,
        "last": [tokens[end - 1].lower() for _, end in table.spans],
        "before": [tokens[start - 1].lower() if start else "" for start, _ in table.spans],
        "after": [tokens[end].lower() if end < len(tokens) else "" for _, end in table.spans],
        "governor": [(lemmas[head] or tokens[head]).lower() if head >= 0 else "" for head in governors],
        "governor_relation": [(relations[head] or "") if head >= 0 else "" for head in governors],
        "determiner": [
            DETERMINERS.get(first, "none") if end - start > 1 else "bare"
            for first, (start, end) in zip(firsts, table.spans, strict=True)
        ],
        "tag": [tags[head] or "" for head in table.head.tolist()],
        "suffix": [mention.head[-3:] for mention in words],
        "genre": [document.meta.get("genre", "")] * table.size,
    }  # fmt: skip
    return {name: hash_texts(values) for name, values in texts.items()} | {
        "length": np.minimum(table.end - table.start, 8),
        "place": np.where(table.sentence < 4, table.sentence, 4 + np.minimum(table.sentence // 20, 4)),
        "opens": table.opens_sentence.astype(np.int64),
        "quoted": (table.quote > 0).astype(np.int64),
        "variant": variants,
        "nested": _find_nesting(table),
        "seen_text": _measure_recency(table, [mention.text for mention in words]),
        "seen_head": _measure_recency(table, [mention.lemma for mention in words]),
        "head_count": np.minimum(table.head_count, 6),
    }


def _measure_recency(table: MentionTable, values: list[str]) -> IntArray:
    """(M,) how many sentences ago the same value was mentioned: 0 to 3, 4 where ten or more, 5 where never."""
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


def relate_mentions(table: MentionTable) -> tuple[IntArray, IntArray, Columns]:
    """Pair mentions with those that may be their antecedents, and hash each of :data:`RELATIONS` between them."""
    pairs = pair_mentions(table, 0, table.size)
    earlier = table.start[pairs.antecedent] < table.start[pairs.mention]
    i, j = pairs.mention[earlier], pairs.antecedent[earlier]
    groups = np.rint(LEVELS * pairs.features[earlier]).astype(np.int64) @ FACTORS
    relation = hash_texts([mention.relation for mention in table.words])
    speaker = hash_texts([mention.speaker or "" for mention in table.words])
    turn = np.cumsum(np.diff(speaker, prepend=speaker[:1]) != 0)
    known = np.array([mention.speaker is not None for mention in table.words], dtype=np.bool_)
    governor, head = table.governor, table.head
    siblings = (governor[i] == governor[j]) & (governor[i] >= 0)
    conditions = (
        head[i] == head[j],
        governor[j] == head[i],
        governor[i] == head[j],
        siblings,
        relation[i] == relation[j],
    )
    speakers = np.where(speaker[i] == speaker[j], 1, np.where(turn[i] - turn[j] <= 1, 2, 3))
    same = table.head_lemma[i] == table.head_lemma[j]
    before = (
        np.cumsum(same) - same
    )  # pairs with the same head; of a mention, the nearest antecedent comes first
    matches = before - before[np.searchsorted(i, i)] if len(i) else before
    return i, j, {
        **dict(zip(GROUPS, groups.T, strict=True)),
        "syntax": np.select(conditions, (5, 3, 2, 1, 4), 0),
        "speaker": np.where(known[i] & known[j], speakers, 0),
        "matches": np.minimum(matches, MOST_MATCHES),
    }  # fmt: skip
