"""Realisation: from a template and the state of a story to the words of a sentence, and from sentences to text."""

from __future__ import annotations

from dataclasses import dataclass

from entitynlm.text.document import Span
from entitynlm.text.stories.discourse import Discourse, Occasion
from entitynlm.text.stories.lexicon import PRONOUN_NOUNS, inflect_third_person
from entitynlm.text.stories.phrases import Phrase, Token
from entitynlm.text.stories.plot import Event, Plot
from entitynlm.text.stories.reference import refer
from entitynlm.text.stories.templates import Slot, Template

OPENERS: tuple[tuple[tuple[str, str, str, int, str], ...], ...] = (
    (("then", "RB", "then", -1, "advmod"),),
    (("next", "RB", "next", -1, "advmod"), (",", ",", ",", -1, "punct")),
    (("after", "IN", "after", 1, "case"), ("that", "DT", "that", -1, "obl"), (",", ",", ",", -1, "punct")),
    (
        ("a", "DT", "a", 1, "det"),
        ("moment", "NN", "moment", 2, "obl:npmod"),
        ("later", "RB", "later", -1, "advmod"),
        (",", ",", ",", -1, "punct"),
    ),
)
"""Linking phrases: form, tag, lemma, head within the phrase (-1 is the root of the sentence), relation."""

BE_FORMS = {"VBD": {"1s": "was", "3s": "was", "pl": "were"}, "": {"1s": "am", "3s": "is", "pl": "are"}}
UPOS = {
    "NN": "NOUN",
    "NNS": "NOUN",
    "NNP": "PROPN",
    "PRP": "PRON",
    "PRP$": "PRON",
    "WP": "PRON",
    "EX": "PRON",
    "DT": "DET",
    "JJ": "ADJ",
    "JJR": "ADJ",
    "JJS": "ADJ",
    "RB": "ADV",
    "WRB": "ADV",
    "CD": "NUM",
    "CC": "CCONJ",
    "UH": "INTJ",
    "RP": "ADP",
    "POS": "PART",
}


@dataclass(slots=True)
class Sentence:
    """The tokens of a sentence (heads count from its start, -1 for the root) and its mentions by participant."""

    tokens: list[Token]
    mentions: list[tuple[int, int, str, int]]
    slots: list[str]


def realise(discourse: Discourse, plot: Plot, event: Event, template: Template, opener: int) -> Sentence:
    """Say an event in the words of a template; ``opener`` is the index of a linking phrase or -1 for none."""
    sentence = Sentence([], [], [])
    if opener >= 0:
        sentence.tokens += [Token(*parts) for parts in OPENERS[opener]]
    prefix = len(sentence.tokens)
    anchors = [-1] * len(template.items)
    agreements: dict[int, str] = {}
    for index, item in enumerate(template.items):
        if isinstance(item, Slot):
            key = plot.resolve(item.role)
            phrase = refer(discourse, key, _find_occasion(template, index, item, event, plot))
            moved = _move_particle(sentence, template, index, phrase)
            anchors[index] = _add_phrase(sentence, phrase)
            if moved is not None:
                anchors[index - 1] = len(sentence.tokens)
                sentence.tokens.append(moved)
            sentence.slots.append(key)
            agreements[index] = phrase.agreement
        else:
            anchors[index] = len(sentence.tokens)
            sentence.tokens.append(Token(item.form, template.tree.tags[index], item.lemma, -1, ""))
    _attach(sentence, template, anchors, prefix)
    _agree(sentence, template, anchors, agreements)
    _capitalise(sentence.tokens)
    return sentence


def _move_particle(sentence: Sentence, template: Template, index: int, phrase: Phrase) -> Token | None:
    """Take back the particle before an object that became a pronoun: she put it on, not she put on it."""
    pronoun = len(phrase.tokens) == 1 and phrase.tokens[0].pos == "PRP"
    if (
        pronoun
        and template.tree.relations[index - 1] == "compound:prt"
        and template.tree.relations[index] == "obj"
    ):
        return sentence.tokens.pop()
    return None


def _capitalise(tokens: list[Token]) -> None:
    """Begin the sentence and quoted speech with a capital."""
    for index, token in enumerate(tokens):
        if index == 0 or tokens[index - 1].pos == "``":
            token.form = token.form[0].upper() + token.form[1:]


def _find_occasion(template: Template, index: int, slot: Slot, event: Event, plot: Plot) -> Occasion:
    relation = template.tree.relations[index]
    if relation == "conj":  # the case of a coordinated mention is that of the first one
        relation = template.tree.relations[template.tree.heads[index]]
    form = slot.form
    if not form and relation == "obj" and _has_recipient(template, index):  # gave her it is no English
        form = "full"
    speaker = plot.resolve(event.speaker) if slot.quoted and event.speaker else None
    hearer = plot.resolve(event.hearer) if slot.quoted and event.hearer else None
    return Occasion(relation, form, speaker, hearer, event.clear)


def _has_recipient(template: Template, index: int) -> bool:
    head = template.tree.heads[index]
    return any(
        h == head and r == "iobj" for h, r in zip(template.tree.heads, template.tree.relations, strict=True)
    )


def _add_phrase(sentence: Sentence, phrase: Phrase) -> int:
    start = len(sentence.tokens)
    for token in phrase.tokens:
        if token.head >= 0:
            token.head += start
    sentence.tokens += phrase.tokens
    sentence.mentions += [(start + a, start + b, key, start + head) for a, b, key, head in phrase.spans]
    return start + phrase.head


def _attach(sentence: Sentence, template: Template, anchors: list[int], prefix: int) -> None:
    """Turn the template's tree into heads of tokens, and hang the opener on the root."""
    tree = template.tree
    root = anchors[tree.heads.index(-1)]
    for index, anchor in enumerate(anchors):
        head = tree.heads[index]
        sentence.tokens[anchor].head = anchors[head] if head >= 0 else -1
        sentence.tokens[anchor].relation = tree.relations[index]
    for token in sentence.tokens[:prefix]:
        if token.head == -1:
            token.head = root


def _agree(sentence: Sentence, template: Template, anchors: list[int], agreements: dict[int, str]) -> None:
    """Give finite verbs the form that their subjects ask for."""
    tree = template.tree
    for index, subject in template.subjects.items():
        if subject not in agreements:
            continue
        joined = any(h == subject and r == "conj" for h, r in zip(tree.heads, tree.relations, strict=True))
        agreement = "pl" if joined else agreements[subject]
        token = sentence.tokens[anchors[index]]
        capital = token.form[0].isupper()
        if token.lemma == "be":
            token.form = BE_FORMS["VBD" if token.pos == "VBD" else ""][agreement]
        elif token.pos in ("VBZ", "VBP"):
            third = {"have": "has", "do": "does"}.get(token.lemma) or inflect_third_person(token.lemma)
            token.form = third if agreement == "3s" else token.lemma
        if token.pos in ("VBZ", "VBP"):
            token.pos = "VBZ" if agreement == "3s" else "VBP"
        if capital:
            token.form = token.form[0].upper() + token.form[1:]


def find_upos(token: Token) -> str:
    """The universal part of speech that goes with a Penn tag and a relation."""
    relation = token.relation
    if token.pos in (",", ".", ":", "``", "''"):
        return "PUNCT"
    if token.pos == "MD" or relation in ("aux", "aux:pass", "cop"):
        return "AUX"
    if token.pos.startswith("VB"):
        return "VERB"
    if token.pos in ("IN", "TO"):
        if relation == "mark":
            return "PART" if token.pos == "TO" else "SCONJ"
        return "ADP"
    if token.lemma == "not":
        return "PART"
    if token.pos == "DT" and not relation.startswith("det"):
        return "PRON"
    if token.lemma in PRONOUN_NOUNS:
        return "PRON"
    return UPOS[token.pos]


def detokenise(tokens: list[Token]) -> tuple[str, tuple[Span, ...]]:
    """Text as people write it, and where each token stands in it."""
    pieces: list[str] = []
    offsets: list[Span] = []
    position = 0
    tight = True  # nothing before, or an opening quotation mark
    for token in tokens:
        form = token.form
        clings = token.pos in (",", ".", ":", "''", "POS") or form in ("n't", "'m")
        if not tight and not clings:
            pieces.append(" ")
            position += 1
        pieces.append(form)
        offsets.append((position, position + len(form)))
        position += len(form)
        tight = token.pos == "``"
    return "".join(pieces), tuple(offsets)
