"""Surface realisation: from a template and the state of a story to the words of a sentence, and from words to text."""

from functools import cache

from entitynlm.text.document import Span
from entitynlm.text.stories.lexicon import has_word, inflect_third_person, list_words
from entitynlm.text.stories.reference import Discourse, MentionContext, Phrase, Token, refer
from entitynlm.text.stories.script import ScriptState
from entitynlm.text.stories.templates import Template, TemplateSlot

BE_FORMS = {"VBD": {"1s": "was", "3s": "was", "pl": "were"}, "": {"1s": "am", "3s": "is", "pl": "are"}}


def realise(
    discourse: Discourse, state: ScriptState, template: Template, link: str
) -> tuple[Phrase, tuple[str, ...]]:
    """Say the next event in the words of a template after a linking phrase; beside the sentence are the roles of its slots."""
    sentence, slots = Phrase(), []
    for parts in link.split(";") if link else ():
        form, tag, head, relation = parts.split()
        sentence.add(form, tag, int(head), relation)
    prefix = len(sentence.tokens)
    anchors: list[int] = []
    agreements: dict[int, str] = {}
    for index, item in enumerate(template.items):
        if isinstance(item, TemplateSlot):
            slots.append(state.resolve(item.role))
            phrase = refer(discourse, slots[-1], _find_context(template, index, item, state))
            moves = _moves_particle(template, index, phrase)
            particle = sentence.tokens.pop() if moves else None
            anchors.append(sentence.append(phrase))
            if particle is not None:
                anchors[index - 1] = len(sentence.tokens)
                sentence.tokens.append(particle)
            agreements[index] = phrase.agreement
        else:
            anchors.append(len(sentence.tokens))
            sentence.add(item.form, template.tree.tags[index], -1, "", item.lemma)
    _attach(sentence, template, anchors, prefix)
    _agree(sentence, template, anchors, agreements)
    for index, token in enumerate(sentence.tokens):
        if index == 0 or sentence.tokens[index - 1].pos == "``":
            token.form = _capitalise(token.form)
    return sentence, tuple(slots)


def _capitalise(form: str) -> str:
    return form[0].upper() + form[1:]


def _moves_particle(template: Template, index: int, phrase: Phrase) -> bool:
    """Whether the particle before an object has to follow it, a pronoun: she put it on, not she put on it."""
    relations = template.tree.relations
    pronoun = len(phrase.tokens) == 1 and phrase.tokens[0].pos == "PRP"
    return pronoun and relations[index] == "obj" and relations[index - 1] == "compound:prt"


def _find_context(template: Template, index: int, slot: TemplateSlot, state: ScriptState) -> MentionContext:
    tree, event = template.tree, state.event
    relation, form = tree.relations[index], slot.form
    if relation == "conj":  # the case of a coordinated mention is that of the first one
        relation = tree.relations[tree.heads[index]]
    if not form and relation == "obj" and _has_dependent(template, tree.heads[index], "iobj"):
        form = "full"  # gave her it is no English
    speaker = state.resolve(event.speaker) if slot.quoted and event.speaker else None
    hearer = state.resolve(event.hearer) if slot.quoted and event.hearer else None
    return MentionContext(relation, form, speaker, hearer, event.clear)


def _has_dependent(template: Template, head: int, relation: str) -> bool:
    return (head, relation) in zip(template.tree.heads, template.tree.relations, strict=True)


def _attach(sentence: Phrase, template: Template, anchors: list[int], prefix: int) -> None:
    """Turn the template's tree into heads of tokens, and attach the linking phrase to the root."""
    tree = template.tree
    for anchor, head, relation in zip(anchors, tree.heads, tree.relations, strict=True):
        sentence.attach(anchor, anchors[head] if head >= 0 else -1, relation)
    root = anchors[tree.heads.index(-1)]
    for token in sentence.tokens[:prefix]:
        if token.head == -1:
            token.head = root


def _agree(sentence: Phrase, template: Template, anchors: list[int], agreements: dict[int, str]) -> None:
    """Give finite verbs the form that their subjects ask for."""
    for index, subject in template.subjects.items():
        if subject not in agreements:
            continue
        agreement = "pl" if _has_dependent(template, subject, "conj") else agreements[subject]
        token = sentence.tokens[anchors[index]]
        present = token.pos in ("VBZ", "VBP")
        form = token.form
        if token.lemma == "be":
            form = BE_FORMS["" if present else "VBD"][agreement]
        elif present:
            third = {"have": "has", "do": "does"}.get(token.lemma) or inflect_third_person(token.lemma)
            form = third if agreement == "3s" else token.lemma
        if present:
            token.pos = "VBZ" if agreement == "3s" else "VBP"
        token.form = _capitalise(form) if token.form[0].isupper() else form


@cache
def _universal_tags() -> dict[str, str]:
    return {penn: tag for tag in list_words("universal_tags") for penn in list_words(tag, "universal_tags")}


def find_upos(token: Token) -> str:
    """The universal part of speech that goes with a Penn tag, a lemma and a relation."""
    pos, relation = token.pos, token.relation
    if relation in ("aux", "aux:pass", "cop") and not pos.startswith("P"):
        return "AUX"
    if relation == "mark" and pos in ("IN", "TO"):
        return "PART" if pos == "TO" else "SCONJ"
    if token.lemma == "not":
        return "PART"
    if has_word(token.lemma, "pronoun_nouns") or (pos == "DT" and not relation.startswith("det")):
        return "PRON"
    return _universal_tags()[pos]


def detokenise(tokens: list[Token]) -> tuple[str, tuple[Span, ...]]:
    """Text as people write it, and where each token stands in it."""
    text = ""
    offsets: list[Span] = []
    tight = True  # nothing before, or an opening quotation mark
    for token in tokens:
        clings = token.pos in (",", ".", ":", "''", "POS") or token.form in ("n't", "'m")
        if not tight and not clings:
            text += " "
        offsets.append((len(text), len(text) + len(token.form)))
        text += token.form
        tight = token.pos == "``"
    return text, tuple(offsets)
