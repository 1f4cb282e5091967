"""Referring expressions: how a participant is mentioned, given who was mentioned before, when and how.

New ones are introduced; old ones get a pronoun while they are recent and salient, else a name or a description with properties
that they were introduced with. Where two would fit a pronoun it becomes rare, unless the script tells who is meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from entitynlm.text.stories.cast import Participant, Role, StoryCast
from entitynlm.text.stories.lexicon import Word, list_words

GENERAL_NOUNS = frozenset({"man", "woman", "boy", "girl"})
"""Nouns that fit anyone of a gender, so that they identify nobody where there are two."""
PENDING = -2  # the head of a token that is still to be attached to the head of its phrase


@dataclass(slots=True)
class Token:
    """A word on its way into a document; ``head`` counts from the start of its phrase, -1 is the phrase's own head."""

    form: str
    pos: str
    lemma: str
    head: int
    relation: str


@dataclass(slots=True)
class Phrase:
    """Words with the mentions among them (start, end, role and head); the first mention of a phrase is all of it."""

    tokens: list[Token] = field(default_factory=list)
    mentions: list[tuple[int, int, str, int]] = field(default_factory=list)
    head: int = 0
    agreement: str = "3s"

    def add(self, form: str, pos: str, head: int, relation: str, lemma: str | None = None) -> None:
        self.tokens.append(Token(form, pos, form if lemma is None else lemma, head, relation))

    def append(self, part: Phrase) -> int:
        """Append another phrase, whose head is still to be attached, and say where that head is now."""
        start = len(self.tokens)
        for token in part.tokens:
            if token.head >= 0:
                token.head += start
        self.tokens += part.tokens
        self.mentions += [(start + a, start + b, key, start + head) for a, b, key, head in part.mentions]
        return start + part.head

    def attach(self, index: int, head: int, relation: str) -> None:
        self.tokens[index].head, self.tokens[index].relation = head, relation


@dataclass(slots=True)
class LastMention:
    """When and in which grammatical relation a participant was last mentioned."""

    sentence: int
    order: int
    relation: str


@dataclass(frozen=True, slots=True)
class MentionContext:
    """Where a mention stands: its grammatical relation, the form that the template asks for, who speaks to whom."""

    relation: str
    form: str = ""
    speaker: str | None = None
    hearer: str | None = None
    clear: bool = False


@dataclass
class Discourse:
    """What a reader knows of a story so far, and the random generator by which it goes on."""

    cast: StoryCast
    random: Random
    registers: Mapping[str, str] = field(default_factory=dict)
    mentions: dict[str, LastMention] = field(default_factory=dict)
    sentence: int = 0
    order: int = 0

    def note(self, key: str, relation: str) -> None:
        self.order += 1
        self.mentions[key] = LastMention(self.sentence, self.order, relation)

    def flip(self, probability: float) -> bool:
        return self.random.random() < probability


def refer(discourse: Discourse, key: str, context: MentionContext) -> Phrase:
    """Mention a participant, and remember it."""
    participant = discourse.cast[key]
    mention = _Mention(discourse, participant, participant.role, context)
    person = find_deictic(discourse, participant, context)
    if person is None and wants_pronoun(discourse, participant, context):
        person = find_person(participant)
    if person == "1p" and not context.speaker and needs_members(discourse, participant):
        phrase = mention.join_members()
    elif person is not None:
        phrase = mention.use_pronoun(person)
    elif key in discourse.mentions:
        phrase = mention.mention_again()
    else:
        phrase = mention.introduce()
    if context.form == "poss" and person is None:
        last = phrase.tokens[-1]
        clitic = "'" if last.pos == "NNS" and last.form.endswith("s") else "'s"
        phrase.add(clitic, "POS", phrase.head, "case", "'s")
    phrase.mentions.insert(0, (0, len(phrase.tokens), key, phrase.head))
    discourse.note(key, context.relation)
    return phrase


@dataclass(frozen=True, slots=True)
class _Mention:
    """One mention of a participant, by each of the forms that it can take."""

    discourse: Discourse
    participant: Participant
    role: Role
    context: MentionContext

    def use_pronoun(self, person: str) -> Phrase:
        subject, thing, possessive = list_words(person, "pronouns")
        phrase = Phrase(agreement={"1s": "1s", "2": "pl", "1p": "pl", "3p": "pl"}.get(person, "3s"))
        if self.context.form == "poss":
            phrase.add(possessive, "PRP$", -1, self.context.relation)
        else:
            nominative = self.context.relation.startswith("nsubj")
            phrase.add(subject if nominative else thing, "PRP", -1, self.context.relation, subject)
        return phrase

    def use_name(self, words: tuple[Word, ...]) -> Phrase:
        phrase = Phrase()
        for word in words:
            phrase.add(word.form, "NNP", 0, "flat", word.lemma)
        phrase.attach(0, -1, self.context.relation)
        return phrase

    def join_members(self) -> Phrase:
        """Anna and Ben; her brother, Ben and Mr. Fisher; Ben and I."""
        discourse, context = self.discourse, self.context
        members = sorted(self.role.members, key=lambda key: discourse.cast[key].narrator)
        joined = Phrase(agreement="pl")
        for index, key in enumerate(members):
            mark = len(joined.tokens)
            if index == len(members) - 1 and index:
                joined.add("and", "CC", PENDING, "cc")
            elif index:
                joined.add(",", ",", PENDING, "punct")
            form = "" if discourse.cast[key].narrator else "full"
            inner = MentionContext(context.relation, form, context.speaker, context.hearer)
            head = joined.append(refer(discourse, key, inner))
            discourse.mentions[key].relation = "conj"
            if index == 0:
                joined.head = head
                joined.attach(head, -1, context.relation)
            else:
                joined.attach(head, joined.head, "conj")
                joined.tokens[mark].head = head
        return joined

    def introduce(self) -> Phrase:
        discourse, participant, role, form = self.discourse, self.participant, self.role, self.context.form
        if role.members:
            return self.join_members()
        if participant.owner is not None:
            participant.owner = discourse.registers.get(participant.owner, participant.owner)
        if role.intro == "name" and role.type == "place":
            return self.use_name(participant.nouns[0])
        if role.intro == "name":
            described = participant.nouns and not role.title and not form and self.context.speaker is None
            if described and discourse.sentence == 0 and discourse.flip(0.3):
                return self.describe("a", named="named")
            return self.use_name(participant.name + participant.surname)
        by_name = {"": 0.1, "full": 0.5, "poss": 1.0}.get(form, 0.0)
        if participant.name and role.type == "person" and discourse.flip(by_name):
            return self.use_name(participant.name)
        return self.describe(role.intro, named="apposed" if participant.name else "")

    def mention_again(self) -> Phrase:
        discourse, participant, role = self.discourse, self.participant, self.role
        if role.members:
            by_noun = participant.nouns and discourse.flip(0.5)
            return self.describe("the", adjectives=False) if by_noun else self.join_members()
        if role.type == "place" and role.intro == "name":
            return self.use_name(participant.nouns[0])
        if participant.name:
            return self.mention_named_again()
        determiner = "kind" if role.intro == "kind" else "the"
        by_owner = 0.15 if role.type == "person" else 0.35
        if role.bound or (participant.owner is not None and discourse.flip(by_owner)):
            determiner = "own"
        adjectives = self.is_confusable() or discourse.flip(0.25)
        return self.describe(determiner, adjectives=adjectives, modifier=discourse.flip(0.08))

    def mention_named_again(self) -> Phrase:
        """By name or, less often, by noun."""
        by_noun = 0.0
        if self.participant.nouns:
            by_noun = 0.3 if self.role.title or self.role.type == "animal" else 0.12
        plain = self.context.form in ("full", "poss") or self.participant.narrator or self.is_confusable()
        if plain or not self.discourse.flip(by_noun):
            return self.use_name(self.participant.name)
        determiner = "own" if self.role.bound else "the"
        return self.describe(determiner, adjectives=self.discourse.flip(0.3), modifier=False)

    def is_confusable(self) -> bool:
        """Whether another one of the story goes by the same noun, so that only properties tell them apart."""
        nouns = [noun[-1].form for noun in self.participant.nouns]
        general = any(noun in GENERAL_NOUNS for noun in nouns)
        others = [self.discourse.cast[key] for key in self.discourse.mentions if key != self.role.key]
        return any(
            any(noun[-1].form in nouns for noun in other.nouns)
            or (general and other.role.type == "person" and other.gender == self.participant.gender)
            for other in others
        )

    def describe(
        self, determiner: str, *, adjectives: bool = True, modifier: bool = True, named: str = ""
    ) -> Phrase:
        """A noun phrase with determiner, number, adjectives, noun, name and modifier, as far as asked for."""
        discourse, participant = self.discourse, self.participant
        if self.role.type == "time":
            return self.use_time()
        again = self.role.key in discourse.mentions
        noun = participant.nouns[0]
        if again and len(participant.nouns) > 1 and discourse.flip(0.35):
            noun = participant.nouns[1]
        words: list[tuple[Word, str]] = []
        if participant.count is not None and (not again or discourse.flip(0.15)):
            words.append((participant.count, "nummod"))
        if participant.gained is not None and again and discourse.flip(0.5):
            words.append((participant.gained, "amod"))
        elif adjectives:
            shown = participant.adjectives[-1:] if again else participant.adjectives
            words += [(word, "compound" if word.tag == "NN" else "amod") for word in shown]
        words += [(word, "compound") for word in noun[:-1]]
        words.append((noun[-1], self.context.relation))
        phrase = Phrase(agreement="pl" if participant.plural else "3s")
        self.add_determiner(phrase, determiner, words[0][0])
        for word, relation in words:
            phrase.add(word.form, word.tag, PENDING, relation, word.lemma)
        phrase.head = len(phrase.tokens) - 1
        if named == "named":
            phrase.add("named", "VBN", phrase.head, "acl", "name")
        if named:
            relation = "xcomp" if named == "named" else "appos"
            phrase.add(participant.name[0].form, "NNP", len(phrase.tokens) - 1, relation)
        elif modifier and participant.modifier is not None and self.context.form != "poss":
            self.add_modifier(phrase, *participant.modifier)
        for index, token in enumerate(phrase.tokens):
            if token.head == PENDING:
                token.head = -1 if index == phrase.head else phrase.head
        return phrase

    def use_time(self) -> Phrase:
        """A fixed phrase, which need not end in its head (the first day of May, a day in June)."""
        words = self.participant.nouns[0]
        core = next((i for i, word in enumerate(words) if word.tag == "IN"), len(words))
        nouns = [i for i, word in enumerate(words[:core]) if word.tag in ("NN", "NNS", "NNP")]
        head = nouns[-1] if nouns else 0 if core == len(words) else core - 1
        last = len(words) - 1
        relations = {"DT": "det", "JJ": "amod", "CD": "nummod", "RB": "advmod", "IN": "case"}
        phrase = Phrase(head=head)
        for index, word in enumerate(words):
            inner = last if head < index < last else head
            phrase.add(word.form, word.tag, inner, relations.get(word.tag, "compound"), word.lemma)
        if last - head > 1:
            phrase.tokens[last].relation = "nmod"
        phrase.attach(head, -1, self.context.relation)
        return phrase

    def add_determiner(self, phrase: Phrase, determiner: str, following: Word) -> None:
        participant, context = self.participant, self.context
        if determiner == "own":
            assert participant.owner is not None
            inner = MentionContext("nmod:poss", "poss", context.speaker, context.hearer, context.clear)
            head = phrase.append(refer(self.discourse, participant.owner, inner))
            phrase.attach(head, PENDING, "nmod:poss")
            return
        if determiner == "a" and (participant.plural or participant.mass):
            determiner = "some" if participant.count is None else "count"
        if determiner in ("bare", "kind", "count"):
            return
        form = choose_article(following.form) if determiner == "a" else determiner
        phrase.add(form, "DT", PENDING, "det", determiner)

    def add_modifier(self, phrase: Phrase, preposition: Word, key: str) -> None:
        case = len(phrase.tokens)
        phrase.add(preposition.form, "IN", PENDING, "case", preposition.lemma)
        inner = MentionContext("nmod", "full", self.context.speaker, self.context.hearer)
        head = phrase.append(refer(self.discourse, key, inner))
        phrase.attach(head, phrase.head, "nmod")
        phrase.tokens[case].head = head


def choose_article(following: str) -> str:
    """a or an, by sound."""
    start = following.lower()
    if start.startswith(("uni", "one", "eu", "used")):
        return "a"
    return "an" if start[0] in "aeiou" or start.startswith(("hour", "honest", "8", "11", "18")) else "a"


def find_person(participant: Participant) -> str:
    """Person, number and gender that a pronoun for this participant has."""
    return "3p" if participant.plural else f"3{participant.gender}"


def find_deictic(discourse: Discourse, participant: Participant, context: MentionContext) -> str | None:
    """I, you or we where the participant speaks, is spoken to or tells the story."""
    key, members = participant.role.key, participant.role.members
    if context.speaker is not None:
        for who, alone, together in ((context.speaker, "1s", "1p"), (context.hearer, "2", "2")):
            if key == who or who in members:
                return alone if key == who else together
        return None
    if participant.narrator:
        return "1s"
    return "1p" if any(discourse.cast[member].narrator for member in members) else None


def needs_members(discourse: Discourse, participant: Participant) -> bool:
    """Whether we is not enough: someone of the group is unknown, or it is time to say again who it is."""
    mentions, role = discourse.mentions, participant.role
    unknown = any(key not in mentions and not discourse.cast[key].narrator for key in role.members)
    return unknown or (role.key not in mentions and discourse.flip(0.5)) or discourse.flip(0.1)


def wants_pronoun(discourse: Discourse, participant: Participant, context: MentionContext) -> bool:
    """Draw whether a third-person pronoun is used."""
    role, last = participant.role, discourse.mentions.get(participant.role.key)
    fixed = role.intro == "kind" or (role.type in ("time", "place") and role.intro in ("bare", "name"))
    if last is None or context.form == "full" or fixed:
        return False
    return context.form == "pro" or discourse.flip(_weigh_pronoun(discourse, participant, last, context))


def _weigh_pronoun(
    discourse: Discourse, participant: Participant, last: LastMention, context: MentionContext
) -> float:
    """The probability of a pronoun, by distance, competitors, animacy and grammatical parallelism."""
    gap = discourse.sentence - last.sentence
    rivals, fresher, rival_subject = _count_rivals(discourse, participant, last)
    animate = participant.role.type in ("person", "animal")
    subject = context.relation.startswith("nsubj")
    was_subject = last.relation.startswith("nsubj")
    if gap == 0:
        if rivals == 0:
            return 1.0
        if context.form == "poss" and (was_subject or not fresher):
            return 0.97
        return 0.6 if animate and was_subject and not rival_subject else 0.1
    if gap == 1:
        if rivals == 0:
            return 0.85 if animate else 0.55
        if animate and subject and was_subject and not rival_subject:
            return 0.6
        if animate and context.clear and not last.relation.startswith("nmod"):
            return 0.3
        return 0.3 if not fresher and not animate and not subject else 0.04
    return 0.3 if gap == 2 and animate and rivals == 0 else 0.0


def _count_rivals(discourse: Discourse, participant: Participant, last: LastMention) -> tuple[int, int, int]:
    """How many others would fit the pronoun, how many of them were mentioned since, how many were subjects."""
    person = find_person(participant)
    earliest = min(last.sentence, discourse.sentence - 1)
    rivals = fresher = subjects = 0
    for key, other in discourse.mentions.items():
        if other.sentence < earliest or key == participant.role.key:
            continue
        rival = discourse.cast[key]
        if find_person(rival) == person and not rival.narrator and rival.role.type != "time":
            rivals += 1
            fresher += other.order > last.order
            subjects += other.relation.startswith("nsubj")
    return rivals, fresher, subjects
