"""What the ranker knows about English words before it has seen any text: pronouns, determiners, a few
nouns.
"""

from __future__ import annotations

from collections.abc import Mapping

MALE, FEMALE, NEUTER, HUMAN, UNKNOWN = "male", "female", "neuter", "human", "unknown"
SINGULAR, PLURAL = "singular", "plural"


def _spell(table: Mapping[str, str]) -> dict[str, str]:
    return {form: lemma for lemma, forms in table.items() for form in forms.split()}


PRONOUNS: Mapping[str, str] = _spell(
    {
        "i": "i me my mine myself",
        "you": "you your yours yourself yourselves ya u thou thee thy",
        "he": "he him his himself 'im",
        "she": "she her hers herself",
        "it": "it its itself",
        "we": "we us our ours ourselves 's",
        "they": "they them their theirs themselves themself 'em",
        "this": "this these",
        "that": "that those",
        "who": "who whom whose which what",
        "one": "one oneself",
        "each other": "each other",
        "someone": "someone somebody anyone anybody everyone everybody nobody",
        "something": "something anything everything nothing",
    }
)
"""Pronoun forms and the one that stands for them all."""

GENDERS: Mapping[str, str] = {
    **dict.fromkeys(("he",), MALE),
    **dict.fromkeys(("she",), FEMALE),
    **dict.fromkeys(("it", "this", "that", "something"), NEUTER),
    **dict.fromkeys(("i", "you", "we", "who", "someone", "one", "each other"), HUMAN),
    **_spell(
        {
            MALE: "mr mr. man boy father dad daddy son brother uncle husband king prince gentleman sir lord guy grandfather "
            "nephew boyfriend actor priest monk duke emperor count baron fellow lad waiter policeman men boys captain "
            "grandpa papa squire master bachelor widower stepfather",
            FEMALE: "mrs mrs. ms ms. miss woman girl mother mom mum daughter sister aunt wife queen princess lady madam "
            "grandmother niece girlfriend actress nun duchess empress countess baroness maid lass waitress women girls "
            "grandma mama madame bride widow stepmother governess mistress",
            HUMAN: "person people child children friend president doctor dr dr. professor teacher student author "
            "writer artist scientist researcher baby kid leader minister officer judge lawyer player "
            "singer member citizen driver patient parent folk nobody somebody cousin neighbor neighbour servant",
        }
    ),
}
"""Gender by head word or title; a word that is missing is of unknown gender."""

NUMBERS: Mapping[str, str] = {
    **dict.fromkeys(("i", "he", "she", "it", "this", "one", "someone", "something"), SINGULAR),
    **dict.fromkeys(("we", "they", "these", "those", "each other"), PLURAL),
}

DETERMINERS: Mapping[str, str] = _spell(
    {
        "definite": "the",
        "indefinite": "a an another any some no every each either neither many several few most",
        "demonstrative": "this that these those such",
        "possessive": "my your his her its our their thy",
    }
)

# Words that end the part of a noun phrase in which its head stands.
AFTER_HEAD = frozenset(
    "of in on at by for with from to into upon about against between among over under after before as like than near "
    "within without through during who whom whose which that where when , ; : ( [ — - and or".split()
)
FUNCTION_WORDS = frozenset((*DETERMINERS, "'s", "’s", "of", "and", "or", "in", "on", "at", "'", "’"))
