"""The words that stories are made of, with their Penn tags and lemmas.

A script that uses a word which is not here fails when it is compiled (and in the tests), not when it is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Word:
    """A word form with its Penn tag and lemma; ``mass`` marks stuff that is not counted (some flour)."""

    form: str
    tag: str
    lemma: str
    mass: bool = False


CLOSED = {
    "DT": "a an the some this that no every all any",
    "IN": "about across after against along around at because before behind between by for from if in into near "
    "of off on onto out outside inside over past since than through towards under until up down while with so",
    "TO": "to",
    "CC": "and but",
    "MD": "can ca could would must",
    "EX": "there",
    "WRB": "when where how",
    "WP": "what who",
    "UH": "please yes",
    "RB": "n't not again alone already always aside away back carefully closely early finally forward here home "
    "instead just later never now once only quite slowly soon still suddenly then together too "
    "twice very well far quickly almost first hard high next",
    "CD": "one two three four five six seven eight ten thirty 12 15 18 20 23 35 40 41 48 50 60 80 85 100",
    "PRP": "it",
    "``": '"',
    ",": ",",
    ".": ". ! ?",
    ":": ":",
}

ADJECTIVES = (
    "20-dollar Greek Indian Italian afraid angry asleep awful back bad bald bearded best big bitter "
    "black blind blond blue bored bottom bright brown bumpy buttered calm careful central cheap cheeky "
    "cheerful clean clear clever close cold colorful crowded crying curious dark deep delicious dirty "
    "distant dry dusty elegant empty excellent famous fast fat favorite few fine first flat foggy "
    "former freckled free fresh friendly front frozen full funny generous glad golden gone good gray "
    "greedy green grilled gruff happy hard healthy heavy helpful high hot huge hungry impatient kind "
    "large last late lazy left little long loud low missing muddy narrow nervous new noisy old open "
    "orange other pale pink polite precious proud public purple quiet rainy ready red right ripe round "
    "rusty sad salty same scary second secret serious shaky sharp short shut shy sick silent sinking "
    "sleepy slow small soft sorry spicy squeaky steep straight strange strict striped strong stubborn "
    "sudden sunny surprised sweaty sweet tall tender tenth terrible thick thin third tiny tired torn "
    "upset warm wet white wild windy wonderful wooden woolen worried yellow young"
).split()

COMPARED = {"younger": ("JJR", "young"), "older": ("JJR", "old"), "faster": ("JJR", "fast")} | {
    "youngest": ("JJS", "young"),
    "best": ("JJS", "good"),
    "more": ("JJR", "much"),
}

REGULAR_VERBS = (
    "accuse add allow apologize appear arrest arrive ask bake bang bark beg believe belong blush borrow burn bury buzz "
    "call calm carry chase chat check cheer chew clap clean climb close collect compare complain confess cook copy cough "
    "count cover crawl cross cry curse dance disappear discover dive drip drop empty end examine fetch fill finish fire "
    "fix follow frighten frown fry gather glue greet groan hand happen hate heat help hop hug hurry inspect invite jump kick "
    "kiss knock land laugh lick lift like listen live look loosen love march match matter measure mend mix move need "
    "nod notice offer open order pack paint park pass pedal phone pick place plant play point pour praise prepare press print "
    "promise pull pump purr push question rain reach remember remove repair rest return roll rub rush save scan scream "
    "search serve share shock shout sigh sign slip smell smile snap sniff snore spill spot stare start stay stir stop "
    "stroke study stumble suspect talk taste test thank trust touch tremble try turn type unpack unroll use visit wag wait "
    "walk want warm warn wash watch water wave weigh whisper wink wipe wish wobble work wrap yell camp name yawn"
).split()

DOUBLING = frozenset(
    "beg chat clap drip drop grab hop hug nod plan scan slip snap spot stir rub stop tap wag wrap pedal".split()
)

IRREGULAR_VERBS = (
    "beat beat beaten,begin began begun,bend bent bent,bite bit bitten,bleed bled bled,blow blew blown,"
    "break broke broken,bring brought brought,build built built,buy bought bought,catch caught caught,"
    "choose chose chosen,come came come,cost cost cost,creep crept crept,cut cut cut,dig dug dug,draw drew drawn,"
    "drink drank drunk,drive drove driven,eat ate eaten,fall fell fallen,feel felt felt,find found found,fit fit fit,"
    "fly flew flown,forget forgot forgotten,forgive forgave forgiven,get got got,give gave given,go went gone,"
    "grow grew grown,hang hung hung,hear heard heard,hide hid hidden,hit hit hit,hold held held,hurt hurt hurt,"
    "keep kept kept,know knew known,lay laid laid,lead led led,leave left left,lend lent lent,lie lay lain,"
    "light lit lit,lose lost lost,make made made,meet met met,pay paid paid,put put put,read read read,"
    "ride rode ridden,ring rang rung,run ran run,say said said,see saw seen,sell sold sold,send sent sent,set set set,"
    "shake shook shaken,shine shone shone,shoot shot shot,show showed shown,shut shut shut,sing sang sung,sit sat sat,"
    "sleep slept slept,slide slid slid,sow sowed sown,spend spent spent,spit spat spat,stand stood stood,"
    "steal stole stolen,stick stuck stuck,take took taken,tear tore torn,tell told told,think thought thought,throw threw thrown,"
    "wake woke woken,wear wore worn,win won won,write wrote written"
)

AUXILIARIES = {
    "was": ("VBD", "be"),
    "were": ("VBD", "be"),
    "is": ("VBZ", "be"),
    "are": ("VBP", "be"),
    "am": ("VBP", "be"),
    "'m": ("VBP", "be"),
    "be": ("VB", "be"),
    "been": ("VBN", "be"),
    "had": ("VBD", "have"),
    "has": ("VBZ", "have"),
    "have": ("VB", "have"),
    "did": ("VBD", "do"),
    "does": ("VBZ", "do"),
    "do": ("VB", "do"),
}

MASS_NOUNS = frozenset(
    "advice air bread breakfast butter candy cereal cheese chocolate cocoa dinner dough batter dust earth "
    "firewood flour food glue grass ham help homework honey ice icing jam joy juice lemonade luck lunch "
    "medicine milk money mud news pasta rain risotto sand smoke soil soup sugar supper syrup tape tea thunder toast "
    "water weather wood".split()
)

SINGULAR_IN_S = frozenset({"bus", "news"})

IRREGULAR_PLURALS = {
    "leaves": "leaf",
    "shelves": "shelf",
    "police": "police",
    "people": "people",
    "woods": "woods",
    "pliers": "pliers",
    "braces": "braces",
    "glasses": "glass",
    "fireworks": "fireworks",
    "cherries": "cherry",
    "strawberries": "strawberry",
    "matches": "match",
    "boxes": "box",
    "potatoes": "potato",
    "branches": "branch",
    "bushes": "bush",
    "clothes": "clothes",
}

NOUNS = (
    "air aisle bang bed belt birthday breath butter call captain chance coat coin corner crash dark day dinner door dust "
    "evening everything face finger flour forehead front game half hand head hiss hour hours hurry idea job joke joy mood "
    "knees left luck aisles middle milk minute minutes mistake moment money months morning nothing anything someone "
    "something noise part path pizza plates player players rest ride sand seat side smile spring stone tears tire "
    "top town way weeds word years goodbye help story exam holidays party school end week weekend weeks month night "
    "noon midnight afternoon storm summer breakfast days hands time idea can distance "
    "paper oak metal glass leather iron rubber straw wire plastic silver"
).split()

PROPER = (
    "April August Christmas Easter Eve Friday January July June March May Monday November October Saturday Sunday "
    "Thursday Tuesday Wednesday"
).split()

PRONOUN_NOUNS = frozenset("everything nothing anything someone something".split())
"""Nouns for Penn, pronouns for Universal Dependencies."""


def _inflect_regularly(lemma: str) -> tuple[str, str]:
    """Past and -ing form of a regular verb."""
    if lemma in DOUBLING and lemma != "pedal":
        return lemma + lemma[-1] + "ed", lemma + lemma[-1] + "ing"
    if lemma.endswith("e"):
        return lemma + "d", lemma[:-1] + "ing"
    if lemma.endswith("y") and lemma[-2] not in "aeo":
        return lemma[:-1] + "ied", lemma + "ing"
    return lemma + "ed", lemma + "ing"


def inflect_third_person(lemma: str) -> str:
    """The present form with he, she and it."""
    if lemma.endswith(("s", "sh", "ch", "x", "o")):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2] not in "aeo":
        return lemma[:-1] + "ies"
    return lemma + "s"


_ING = {
    "lie": "lying",
    "run": "running",
    "sit": "sitting",
    "put": "putting",
    "get": "getting",
    "cut": "cutting",
} | {
    "swim": "swimming",
    "win": "winning",
    "set": "setting",
    "hit": "hitting",
    "begin": "beginning",
    "see": "seeing",
}


@cache
def _verb_forms() -> dict[str, dict[str, str]]:
    """Every verb form with its possible tags and their lemmas."""
    forms: dict[str, dict[str, str]] = {}

    def put(form: str, tag: str, lemma: str) -> None:
        forms.setdefault(form, {}).setdefault(tag, lemma)

    for triple in IRREGULAR_VERBS.split(","):
        lemma, past, participle = triple.split()
        ing = _ING.get(lemma) or (lemma[:-1] if lemma.endswith("e") else lemma) + "ing"
        put(past, "VBD", lemma)
        put(participle, "VBN", lemma)
        put(ing, "VBG", lemma)
    for lemma in REGULAR_VERBS:
        past, ing = _inflect_regularly(lemma)
        put(past, "VBD", lemma)
        put(past, "VBN", lemma)
        put(ing, "VBG", lemma)
    for lemma in [triple.split()[0] for triple in IRREGULAR_VERBS.split(",")] + REGULAR_VERBS:
        put(lemma, "VB", lemma)
        put(inflect_third_person(lemma), "VBZ", lemma)
    for form, (tag, lemma) in AUXILIARIES.items():
        put(form, tag, lemma)
    return forms


@cache
def _other_words() -> dict[str, tuple[str, str]]:
    words: dict[str, tuple[str, str]] = {}
    for tag, listed in CLOSED.items():
        for form in listed.split():
            lemma = {"n't": "not", "an": "a", "ca": "can"}.get(form, form)
            words.setdefault(form, (tag, lemma))
    for form, reading in COMPARED.items():
        words.setdefault(form, reading)
    for form in NOUNS:
        noun = look_up_noun(form)
        words.setdefault(form, (noun.tag, noun.lemma))
    for form in ADJECTIVES:
        words.setdefault(form, ("JJ", form))
    for form in PROPER:
        words.setdefault(form, ("NNP", form))
    words["o'clock"] = ("RB", "o'clock")
    return words


def look_up_noun(form: str) -> Word:
    """A noun by its form: plural if it looks so and is not known otherwise."""
    if form in IRREGULAR_PLURALS:
        return Word(form, "NNS", IRREGULAR_PLURALS[form])
    if form.endswith("s") and not form.endswith("ss") and form not in SINGULAR_IN_S:
        return Word(form, "NNS", form[:-1])
    return Word(form, "NN", form, mass=form in MASS_NOUNS)


def look_up_verb(form: str) -> dict[str, str]:
    """The possible verb tags of a form, each with its lemma."""
    return _verb_forms().get(form, {})


def look_up_other(form: str) -> tuple[str, str] | None:
    """Tag and lemma of a form that is no verb."""
    words = _other_words()
    return words.get(form) or words.get(form.lower())


@cache
def look_up(form: str) -> Word:
    """A word outside of any sentence (an adjective, a number, a preposition of a role)."""
    if form in ADJECTIVES:
        return Word(form, "JJ", form)
    other = look_up_other(form)
    if other is not None:
        return Word(form, other[0], other[1])
    verb = look_up_verb(form)
    if "VBN" in verb:
        return Word(form, "VBN", verb["VBN"])
    raise KeyError(f"the word {form!r} is not in the lexicon of the stories")
