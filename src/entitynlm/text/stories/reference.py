"""Reference: how someone or something is mentioned, given what was said before.

New ones are introduced (a name, an indefinite or, where it can be inferred, a definite description, a possessive); old
ones get a pronoun while they are fresh and salient, else a name or a definite description with properties that they
were introduced with. Where two would fit a pronoun it becomes rare, unless the script tells who is meant.
"""

from __future__ import annotations

from entitynlm.text.stories.cast import Participant
from entitynlm.text.stories.discourse import (
    Discourse,
    Occasion,
    find_deictic,
    find_person,
    needs_members,
    wants_pronoun,
)
from entitynlm.text.stories.lexicon import Word
from entitynlm.text.stories.phrases import Phrase, Token, append_phrase

PRONOUNS = {
    "1s": ("I", "me", "my"),
    "2": ("you", "you", "your"),
    "1p": ("we", "us", "our"),
    "3m": ("he", "him", "his"),
    "3f": ("she", "her", "her"),
    "3n": ("it", "it", "its"),
    "3p": ("they", "them", "their"),
}
"""Subject, object and possessive forms by person, number and gender."""

GENERAL_NOUNS = frozenset({"man", "woman", "boy", "girl"})
"""Nouns that fit anyone of a gender, so that they name nobody where two are about."""


def refer(discourse: Discourse, key: str, occasion: Occasion) -> Phrase:
    """Mention someone, and remember it."""
    participant = discourse.cast[key]
    person = find_deictic(discourse, participant, occasion)
    if person is None and wants_pronoun(discourse, participant, occasion):
        person = find_person(participant)
    if person == "1p" and not occasion.speaker and needs_members(discourse, participant):
        phrase = _join_members(discourse, participant, occasion)
    elif person is not None:
        phrase = _say_pronoun(person, occasion)
    elif participant.members:
        phrase = _name_group(discourse, participant, occasion)
    elif key in discourse.records:
        phrase = _mention_again(discourse, participant, occasion)
    else:
        phrase = _introduce(discourse, participant, occasion)
    if occasion.form == "poss" and person is None:
        _add_possessive(phrase)
    phrase.spans.insert(0, (0, len(phrase.tokens), key, phrase.head))
    discourse.note(key, occasion.relation)
    return phrase


def _say_pronoun(person: str, occasion: Occasion) -> Phrase:
    subject, thing, possessive = PRONOUNS[person]
    if occasion.form == "poss":
        token = Token(possessive, "PRP$", possessive, -1, occasion.relation)
    else:
        nominative = occasion.relation.startswith("nsubj")
        token = Token(subject if nominative else thing, "PRP", subject, -1, occasion.relation)
    agreement = {"1s": "1s", "2": "pl", "1p": "pl", "3p": "pl"}.get(person, "3s")
    return Phrase([token], 0, [], agreement)


# -- names and descriptions --------------------------------------------------------------------------------------


def _name_group(discourse: Discourse, participant: Participant, occasion: Occasion) -> Phrase:
    if participant.nouns and participant.key in discourse.records and discourse.flip(0.5):
        return _describe(discourse, participant, occasion, "the", adjectives=False)
    return _join_members(discourse, participant, occasion)


def _join_members(discourse: Discourse, participant: Participant, occasion: Occasion) -> Phrase:
    """Anna and Ben; her brother, Ben and Mr. Fisher; Ben and I."""
    members = [key for key in participant.members if not discourse.cast[key].narrator]
    members += [key for key in participant.members if discourse.cast[key].narrator]
    joined = Phrase([], 0, [], "pl")
    for index, key in enumerate(members):
        last = index == len(members) - 1
        if index:
            mark = ("and", "CC", "and", "cc") if last else (",", ",", ",", "punct")
            joined.tokens.append(Token(mark[0], mark[1], mark[2], -2, mark[3]))
        relation = occasion.relation
        inner = Occasion(
            relation, "" if discourse.cast[key].narrator else "full", occasion.speaker, occasion.hearer
        )
        part = refer(discourse, key, inner)
        discourse.records[key].relation = "conj"
        start = append_phrase(joined, part, "conj")
        if index == 0:
            joined.head = start + part.head
            joined.tokens[joined.head].head = -1
            joined.tokens[joined.head].relation = relation
        else:
            joined.tokens[start + part.head].head = joined.head
            joined.tokens[start - 1].head = start + part.head
    return joined


def _introduce(discourse: Discourse, participant: Participant, occasion: Occasion) -> Phrase:
    intro = participant.intro
    if participant.owner is not None:
        participant.owner = discourse.registers.get(participant.owner, participant.owner)
    if intro == "name" and participant.type == "place":
        return _say_name(participant.nouns[0], occasion)
    if intro == "name":
        described = participant.nouns and participant.name[0].form[-1] != "." and not occasion.form
        if described and occasion.speaker is None and discourse.sentence == 0 and discourse.flip(0.3):
            return _describe(discourse, participant, occasion, "a", named="named")
        return _say_name(participant.name + participant.surname, occasion)
    by_name = {"": 0.1, "full": 0.5, "poss": 1.0}.get(occasion.form, 0.0)
    if participant.name and participant.type == "person" and discourse.flip(by_name):
        return _say_name(participant.name, occasion)
    if participant.name:
        return _describe(discourse, participant, occasion, intro, named="apposed")
    return _describe(discourse, participant, occasion, intro)


def _mention_again(discourse: Discourse, participant: Participant, occasion: Occasion) -> Phrase:
    if participant.type == "place" and participant.intro == "name":
        return _say_name(participant.nouns[0], occasion)
    if participant.name:
        titled = participant.name[0].form[-1] == "."
        by_noun = (
            {True: 0.3, False: 0.12}[titled or participant.type == "animal"] if participant.nouns else 0.0
        )
        plain = (
            occasion.form in ("full", "poss")
            or participant.narrator
            or _is_confusable(discourse, participant)
        )
        if plain or not discourse.flip(by_noun):
            return _say_name(participant.name, occasion)
        determiner = "own" if participant.bound else "the"
        return _describe(
            discourse, participant, occasion, determiner, adjectives=discourse.flip(0.3), modifier=False
        )
    determiner = "the"
    by_owner = 0.15 if participant.type == "person" else 0.35
    if participant.bound or (participant.owner is not None and discourse.flip(by_owner)):
        determiner = "own"
    elif participant.intro == "kind" or participant.type == "time":
        determiner = participant.intro
    confused = _is_confusable(discourse, participant)
    return _describe(
        discourse,
        participant,
        occasion,
        determiner,
        adjectives=confused or discourse.flip(0.25),
        modifier=discourse.flip(0.08),
    )


def _is_confusable(discourse: Discourse, participant: Participant) -> bool:
    """Whether another one of the story goes by the same noun, so that only properties tell them apart."""
    nouns = [noun[-1].form for noun in participant.nouns]
    general = any(noun in GENERAL_NOUNS for noun in nouns)
    for key in discourse.records:
        other = discourse.cast[key]
        if key == participant.key:
            continue
        if any(noun[-1].form in nouns for noun in other.nouns):
            return True
        if general and other.type == "person" and other.gender == participant.gender:
            return True
    return False


def _say_name(words: tuple[Word, ...], occasion: Occasion) -> Phrase:
    tokens = [Token(word.form, "NNP", word.lemma, 0, "flat") for word in words]
    tokens[0].head, tokens[0].relation = -1, occasion.relation
    return Phrase(tokens, 0, [], "3s")


def _describe(
    discourse: Discourse,
    participant: Participant,
    occasion: Occasion,
    determiner: str,
    *,
    adjectives: bool = True,
    modifier: bool = True,
    named: str = "",
) -> Phrase:
    """A noun phrase with determiner, number, adjectives, noun, name and modifier, as far as asked for."""
    if participant.type == "time":
        return _say_time(participant, occasion)
    again = participant.key in discourse.records
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
    words.append((noun[-1], occasion.relation))
    phrase = Phrase([], 0, [], "pl" if participant.plural else "3s")
    _add_determiner(discourse, phrase, participant, determiner, words[0][0], occasion)
    for word, relation in words:
        phrase.tokens.append(Token(word.form, word.tag, word.lemma, -2, relation))
    phrase.head = len(phrase.tokens) - 1
    _add_name(phrase, participant, named)
    if modifier and participant.modifier is not None and occasion.form != "poss" and not named:
        _add_modifier(discourse, phrase, participant, occasion)
    for index, token in enumerate(phrase.tokens):
        if token.head == -2:
            token.head = -1 if index == phrase.head else phrase.head
    return phrase


def _say_time(participant: Participant, occasion: Occasion) -> Phrase:
    """A fixed phrase, which need not end in its head (the first day of May, a day in June)."""
    words = participant.nouns[0]
    core = next((i for i, word in enumerate(words) if word.tag == "IN"), len(words))
    nouns = [i for i, word in enumerate(words[:core]) if word.tag in ("NN", "NNS", "NNP")]
    head = nouns[-1] if nouns else 0 if core == len(words) else core - 1
    tokens = [Token(word.form, word.tag, word.lemma, head, "") for word in words]
    relations = {
        "DT": "det",
        "JJ": "amod",
        "CD": "nummod",
        "NN": "compound",
        "NNP": "compound",
        "RB": "advmod",
    }
    for token in tokens[:head]:
        token.relation = relations.get(token.pos, "dep")
    rest = tokens[head + 1 :]
    for offset, token in enumerate(rest, start=head + 1):
        inner = len(tokens) - 1
        token.head = inner if offset < inner else head
        case = "case" if token.pos == "IN" else relations.get(token.pos, "dep")
        token.relation = case if offset < inner else ("nmod" if len(rest) > 1 else case)
    tokens[head].head, tokens[head].relation = -1, occasion.relation
    return Phrase(tokens, head, [], "3s")


def _add_determiner(
    discourse: Discourse,
    phrase: Phrase,
    participant: Participant,
    determiner: str,
    following: Word,
    occasion: Occasion,
) -> None:
    if determiner == "own" and participant.owner is not None:
        inner = Occasion("nmod:poss", "poss", occasion.speaker, occasion.hearer, occasion.clear)
        owner = refer(discourse, participant.owner, inner)
        start = append_phrase(phrase, owner, "nmod:poss")
        phrase.tokens[start + owner.head].head = -2
        return
    if determiner in ("bare", "kind", "count"):
        return
    if determiner == "a" and (participant.plural or participant.mass):
        if participant.count is not None:
            return
        determiner = "some"
    if determiner == "own":
        determiner = "the"
    form = _choose_article(following.form) if determiner == "a" else determiner
    phrase.tokens.append(Token(form, "DT", "a" if form == "an" else form, -2, "det"))


def _choose_article(following: str) -> str:
    """a or an, by sound."""
    start = following.lower()
    if start.startswith(("uni", "one", "eu", "used")):
        return "a"
    return "an" if start[0] in "aeiou" or start.startswith(("hour", "honest", "8", "11", "18")) else "a"


def _add_name(phrase: Phrase, participant: Participant, named: str) -> None:
    if not named:
        return
    head = phrase.head
    if named == "named":
        phrase.tokens.append(Token("named", "VBN", "name", head, "acl"))
        phrase.tokens.append(
            Token(participant.name[0].form, "NNP", participant.name[0].lemma, head + 1, "xcomp")
        )
    else:
        phrase.tokens.append(Token(participant.name[0].form, "NNP", participant.name[0].lemma, head, "appos"))


def _add_modifier(discourse: Discourse, phrase: Phrase, participant: Participant, occasion: Occasion) -> None:
    assert participant.modifier is not None
    preposition, key = participant.modifier
    inner = Occasion("nmod", "full", occasion.speaker, occasion.hearer)
    phrase.tokens.append(Token(preposition.form, "IN", preposition.lemma, -2, "case"))
    part = refer(discourse, key, inner)
    start = append_phrase(phrase, part, "nmod")
    phrase.tokens[start - 1].head = start + part.head
    phrase.tokens[start + part.head].head = phrase.head


def _add_possessive(phrase: Phrase) -> None:
    """The clitic of the genitive: an apostrophe alone after a plural in s."""
    last = phrase.tokens[-1]
    form = "'" if last.pos == "NNS" and last.form.endswith("s") else "'s"
    phrase.tokens.append(Token(form, "POS", "'s", phrase.head, "case"))
