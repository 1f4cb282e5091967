"""Features of a mention and each entity that it may belong to: distance, agreement, string match, salience, quotation.

To a language model the names of a new text are all the same unknown word. Whether two mentions are spelt alike, whether "she"
fits someone who was called "he", whether "I" is said in the same quotation can be read off the page all the same.
:func:`extract_features` gives one row of numbers per entity of the memory and one for a new entity.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate, compress, pairwise
from pathlib import Path

import numpy as np

from entitynlm.config import load_toml
from entitynlm.coref.linking.entity_memory import GENDERED, NEW_ENTITY, EntityMemory, EntityRecord
from entitynlm.coref.mention_table import NAME, NOUN, PRONOUN
from entitynlm.coref.ranker.attributes import MentionAttributes
from entitynlm.text.english import DETERMINERS, UNKNOWN

SENTENCE_BOUNDS = (-1, 0, 1, 3, 10, math.inf)
NEAR, WIDE = 2, 12  # sentences back in which mentions are counted
DISAGREES = -0.3  # product of two gender scores under which they contradict each other
FORMS_OF_BE = frozenset("is was are were be been being am became become 's 're 'm".split())
APPOSITION, COPULA = "apposition", "copula"

FORMS = ("i", "you", "he", "she", "it", "we", "they", "this", "that", "who", NAME, NOUN)
DETERMINER_KINDS = ("definite", "indefinite", "demonstrative", "possessive", "none", "bare")
_NAMES = {
    section: tuple(" ".join(names.split()).split(", "))
    for section, names in load_toml(
        Path(__file__).parents[2] / "resources" / "linker" / "features.toml"
    ).items()
}
MENTION_FEATURES = (
    *(f"form {name}" for name in (*FORMS, "other")),
    *(f"determiner {name}" for name in DETERMINER_KINDS),
    *_NAMES["mention"],
)
ENTITY_FEATURES, NEW_ENTITY_FEATURES = _NAMES["entity"], _NAMES["new"]
FEATURES = (*MENTION_FEATURES, *ENTITY_FEATURES, *NEW_ENTITY_FEATURES)


@dataclass(frozen=True)
class CandidateFeatures:
    """A mention's candidate entities, the last one ``NEW_ENTITY``, and a row of features for each."""

    candidates: list[int]
    features: np.ndarray


def extract_features(
    memory: EntityMemory, mention: MentionAttributes, type: str | None = None
) -> CandidateFeatures:
    extractor = _FeatureExtractor(memory, mention, type)
    first, last = len(MENTION_FEATURES), len(MENTION_FEATURES) + len(ENTITY_FEATURES)
    table = np.zeros((len(extractor.records) + 1, len(FEATURES)), dtype=np.float32)
    table[:, :first] = extractor.describe_mention()
    for rank in range(len(extractor.records)):
        table[rank, first:last] = extractor.compare_history(rank) + extractor.compare_context(rank)
    table[-1, last:] = extractor.describe_new()
    return CandidateFeatures([*(record.number for record in extractor.records), NEW_ENTITY], table)


class _FeatureExtractor:
    """A mention beside all its candidates, some of which are compared with each other."""

    def __init__(self, memory: EntityMemory, mention: MentionAttributes, type: str | None) -> None:
        self.memory, self.mention, self.type = memory, mention, type
        self.context = memory.find_context(mention)
        self.records = [memory.records[number] for number in memory.find_candidates(mention)]
        self.agrees = [self._agrees(record) for record in self.records]
        self.nearer = [0, *accumulate(self.agrees)]  # entities that agree and were mentioned since
        self.wide = [_count_since(record, mention.sentence - WIDE) for record in self.records]
        self.similarities = self._compare_heads()
        self.most = max((record.count for record in self.records), default=0)
        self.most_of_form = max((record.forms[mention.form] for record in self.records), default=0)
        self.most_similar = max(compress(self.similarities, self.agrees), default=0.0)
        self.all_wide = max(1, sum(compress(self.wide, self.agrees)))
        self.turns = memory.find_earlier_speakers(mention.quote) if mention.quote else (None, None)

    def _agrees(self, record: EntityRecord) -> bool:
        """Whether nothing speaks against it: type, number, gender."""
        mention, number = self.mention, record.grammatical_number
        return (
            (self.type == record.type or None in (self.type, record.type))
            and (mention.number == number or UNKNOWN in (mention.number, number))
            and (mention.gender not in GENDERED or record.gender in (UNKNOWN, mention.gender))
            and self.context.gender_score * record.gender_score > DISAGREES
        )

    def _compare_heads(self) -> list[float]:
        """For a noun, the similarity of its vector to the nearest of each record's heads."""
        vector = self.memory.lexicon.find_vector(self.mention.head) if self.mention.kind == NOUN else None
        if vector is None:
            return [0.0] * len(self.records)
        return [max((float(other @ vector) for other in r.heads.values()), default=0.0) for r in self.records]

    def describe_mention(self) -> list[float]:
        mention, context = self.mention, self.context
        first = self.memory.document.tokens[mention.candidate.start].lower()
        length = mention.candidate.end - mention.candidate.start
        determiner = DETERMINERS.get(first, "none") if length > 1 else "bare"
        return [
            *(mention.form == form for form in FORMS),
            mention.form not in FORMS,
            *(determiner == kind for kind in DETERMINER_KINDS),
            mention.quote > 0,
            context.opens_sentence,
            math.log(length),
            context.nested,
            context.objective,
            context.possessive,
            context.reflexive,
            context.after_preposition,
            context.after_comma,
            abs(context.gender_score),
            self.memory.speakers.get(mention.quote, NEW_ENTITY) != NEW_ENTITY,
        ]

    def compare_history(self, rank: int) -> list[float]:
        """Distance, salience, agreement, string match and quotation; ``rank`` entities were mentioned since."""
        memory, mention, type, record = self.memory, self.mention, self.type, self.records[rank]
        last = record.mention
        distance = max(0, mention.candidate.start - last.candidate.end + 1)
        sentences = mention.sentence - last.sentence
        quoted, number = mention.quote > 0, record.number
        here, before = memory.find_participants(mention.quote)
        return [
            math.log1p(distance) / 5,
            *(low < sentences <= high for low, high in pairwise(SENTENCE_BOUNDS)),
            math.log1p(memory.mention_count + 1 - record.last) / 4,
            *(rank == number for number in range(3)),
            rank > 5,
            math.log(record.count) / 3,
            record.count >= self.most,
            record.forms[mention.form] / record.count,
            mention.form in record.forms,
            memory.last_form.get((mention.form, quoted)) == number,
            0 < record.forms[mention.form] >= self.most_of_form,
            *_compare_agreement(mention, record),
            *self._match_strings(record),
            bool(record.names),
            not record.texts,
            quoted == (last.quote > 0),
            quoted and mention.quote == last.quote,
            here.get("i") == number,
            here.get("you") == number,
            quoted and before.get("i") == number,
            quoted and before.get("you") == number,
            type is not None and type == record.type,
            None not in (type, record.type) and type != record.type,
            last.kind == PRONOUN,
            last.kind == NAME,
            record.context.opens_sentence,
            last.candidate.end >= mention.candidate.end,
            0 < distance <= 2,
        ]

    def compare_context(self, rank: int) -> list[float]:
        """Apposition, gender, rank among the entities that agree, syntactic role, speaker, names, similar heads."""
        mention, context, record = self.mention, self.context, self.records[rank]
        last, link = record.context, self._find_link(record)
        gender = context.gender_score * record.gender_score
        agrees, nearer, similarity = self.agrees[rank], self.nearer[rank], self.similarities[rank]
        return [
            link == APPOSITION,
            link == COPULA,
            max(0.0, gender),
            max(0.0, -gender),
            *(agrees and min(nearer, 3) == count for count in range(4)),
            math.log1p(_count_since(record, mention.sentence - NEAR)) / 2,
            math.log1p(self.wide[rank]) / 3,
            agrees * self.wide[rank] / self.all_wide,
            record.sentence_openings / record.count,
            last.after_preposition,
            last.possessive,
            last.nested,
            self._shares_clause(record),
            mention.quote > 0 and self.memory.speakers.get(mention.quote) == record.number,
            *(speaker == record.number for speaker in self.turns),
            _differs(context.given_name, record.given_names.get(context.surname or "")),
            _differs(context.title, record.titles.get(context.surname or "")),
            similarity,
            max(0.0, similarity - 0.5),
            0 < similarity >= self.most_similar,
        ]

    def describe_new(self) -> list[float]:
        memory, mention = self.memory, self.mention
        has_words = mention.kind != PRONOUN
        links = {self._find_link(record) for record in self.records[:4]}
        near = sum(fits and count > 0 for fits, count in zip(self.agrees, self.wide, strict=True))
        return [
            1.0,
            has_words and any(mention.text in record.texts for record in self.records),
            has_words and mention.lemma in memory.last_head,
            has_words and any(word in memory.entities_of_word for word in mention.content),
            math.log1p(len(memory.records)) / 4,
            (mention.form, mention.quote > 0) in memory.last_form,
            math.log1p(sum(self.agrees)) / 4,
            mention.quote > 0 and memory.speakers.get(mention.quote) == NEW_ENTITY,
            APPOSITION in links,
            COPULA in links,
            math.log1p(near) / 3,
            self.most_similar,
        ]

    def _match_strings(self, record: EntityRecord) -> list[float]:
        mention = self.mention
        if mention.kind == PRONOUN:
            return [0.0] * 8
        shared = len(mention.content & record.words)
        return [
            mention.text in record.texts,
            mention.lemma in record.lemmas,
            self.memory.last_head.get(mention.lemma) == record.number,
            shared / max(1, len(mention.content)),
            bool(mention.content) and mention.content <= record.words,
            shared > 0 and not mention.content <= record.words,
            mention.kind == NAME and bool(record.names) and not mention.content & record.names,
            bool(record.lemmas) and mention.lemma not in record.lemmas,
        ]

    def _find_link(self, record: EntityRecord) -> str | None:
        """Whether the last mention and this one are an apposition ("Anne, the maid") or a predicate ("Anne was the maid")."""
        between = self.memory.document.tokens[record.mention.candidate.end : self.mention.candidate.start]
        if not 0 < len(between) <= 3:
            return None
        if between == (",",):
            return APPOSITION
        return COPULA if any(token.lower() in FORMS_OF_BE for token in between) else None

    def _shares_clause(self, record: EntityRecord) -> bool:
        end, start, borders = record.mention.candidate.end, self.mention.candidate.start, self.memory.borders
        same_sentence = record.mention.sentence == self.mention.sentence
        return same_sentence and start >= end and borders[start] == borders[end]


def _count_since(record: EntityRecord, sentence: int) -> int:
    return len(record.sentences) - bisect_left(record.sentences, sentence)


def _differs(name: str | None, known: set[str] | None) -> bool:
    return name is not None and bool(known) and name not in (known or ())


def _compare_agreement(mention: MentionAttributes, record: EntityRecord) -> list[float]:
    gender, number = record.gender, record.grammatical_number
    known = mention.gender in GENDERED and gender != UNKNOWN
    numbered = UNKNOWN not in (mention.number, number)
    return [
        known and mention.gender == gender,
        known and mention.gender != gender,
        not known,
        numbered and mention.number == number,
        numbered and mention.number != number,
    ]
