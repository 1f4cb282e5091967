"""A book that is wanted: searched for, found in other hands or on the wrong shelf, borrowed, brought back late."""

from __future__ import annotations

from entitynlm.text.stories.cast import animal, person, place, thing, time
from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.staging import detour, either, event, maybe, react, say, seq

ROLES = (
    person("student", "boy:m girl:f student", adj="shy", named=True),
    person("teacher", "", title=True),
    person("librarian", "librarian", adj="old young;strict friendly", intro="the"),
    person("classmate", "friend classmate cousin", named=True, owner="student"),
    time("day", "Tuesday", "Wednesday afternoon", "a gray day in November"),
    time("deadline", "Monday", "Friday", "the end of the week"),
    place("library", "library", adj="old;public", mods=("behind {hall}", "on {street}"), intro="the"),
    place("hall", "town_hall", intro="the"),
    place("street", "School_Street Park_Avenue", intro="name"),
    thing("book", "book", adj="thick thin;green red", mods=("about {topic}",)),
    thing("topic", "whales dinosaurs planets pirates", intro="kind"),
    thing("essay", "essay report", adj="long", intro="a"),
    thing("computer", "computer", mods=("by {entrance}",), intro="the"),
    thing("entrance", "entrance", intro="the"),
    place("shelf", "shelf", adj="top bottom", intro="the"),
    thing("ladder", "ladder", adj="shaky wooden"),
    thing("gap", "gap", adj="dark", intro="a"),
    person("boy", "boy:m girl:f", adj="!small;blond quiet", mods=("with {glasses}", "in {sweater}")),
    thing("glasses", "glasses", adj="thick", intro="kind"),
    thing("sweater", "sweater", adj="!striped", intro="a"),
    thing("table", "table desk", mods=("near {heater}", "under {lamp}")),
    thing("heater", "heater", intro="the"),
    thing("lamp", "lamp", adj="green", intro="a"),
    thing("comic", "comic/comic_book", adj="funny", intro="a"),
    thing("card", "library_card", adj="new", owner="student"),
    thing("desk", "front_desk", intro="the"),
    thing("bag", "school_bag", adj="blue", owner="student"),
    thing("notes", "notes", counts="six ten", intro="a"),
    animal("dog", "dog puppy", adj="wild", owner="student"),
    thing("page", "page/sheet", adj="!first", intro="the"),
    thing("fine", "dollars", counts="two three four five", intro="count"),
    thing("picture", "picture/drawing", mods=("of {ship}",), intro="a"),
    thing("ship", "ship", adj="sinking", intro="a"),
    thing("grade", "grade", adj="!good", intro="a"),
    thing("cart", "cart", adj="metal", intro="a"),
    thing("letter", "letter", adj="angry", intro="a"),
    thing("bed", "bed", intro="the"),
    thing("tape", "tape", intro="a"),
)

PEOPLE = "student librarian boy classmate"
THINGS = "book shelf comic computer ladder essay"

ON_SHELF = seq(
    event(
        "{book} was on {shelf} .",
        "On {shelf} , ({student}|{librarian}|{classmate}) found {book} .",
        opener=False,
    ),
    maybe(
        0.5,
        event("({student}|{librarian}) (fetched|climbed) {ladder} (to reach {book}|) .", opener=False),
        maybe(
            0.5,
            event(
                "{ladder} (wobbled|shook) , and ({librarian}|{classmate}) held {ladder:pro} .", opener=False
            ),
        ),
    ),
    event("({student}|{librarian}) (pulled|took) {book} from {shelf} .", opener=False),
)

IN_OTHER_HANDS = seq(
    event("But on {shelf} there was only {gap} .", "{book} was not on {shelf} .", opener=False),
    event(
        "{librarian} (pointed|looked) at {boy} .",
        "Then ({student}|{classmate}) noticed {boy} at {table} .",
        "{boy} (was reading|had) {book} .",
        opener=False,
        clear=True,
    ),
    either(
        say("student", "boy", '" Can {student} have {book} after {boy} ? " {student} asked ({boy}|) .'),
        event(
            "({student}|{classmate}|{librarian}) (sat down next to {boy}|asked {boy} for {book}) .",
            clear=True,
        ),
    ),
    either(
        seq(
            event(
                "{boy} shook {boy's} head .",
                "{boy} did n't want to give {book} away .",
                clear=True,
                opener=False,
            ),
            event("So ({student}|{classmate}) offered {boy} {comic} .", opener=False),
            event("{boy} (smiled and took {comic}|pushed {book} across {table}) .", clear=True),
        ),
        event("{boy} nodded and (gave|handed) ({student}|{librarian}) {book} .", clear=True),
    ),
)

WRONG_PLACE = seq(
    event("({student}|{classmate}) searched {shelf} twice , but {book} was missing .", opener=False),
    either(
        say("student", "librarian", '" {student} ca n\'t find {book} , " {student} told {librarian} .'),
        event("({student}|{classmate}) asked {librarian} for help ."),
    ),
    event(
        "{librarian} (typed something into {computer}|pushed {cart} aside|looked at {shelf}) .", clear=True
    ),
    event("{book} was lying (on|under) {cart} .", "{librarian} pulled {book} out of {cart} .", opener=False),
    event(
        "{librarian} gave ({student}|{classmate}) {book} .",
        "{student} (thanked|hugged) {librarian} .",
        clear=True,
    ),
)

LATE = seq(
    event(
        "But {student} forgot to bring {book} back .", "{student} kept {book} for two months .", opener=False
    ),
    event(
        "{librarian} (sent|wrote) {student} {letter} .",
        "({student}|{classmate}) found {book} under {bed} .",
        opener=False,
    ),
    event("({student}|{classmate}) (took|carried) {book} back to ({library}|{librarian}) ."),
    event(
        "{librarian} asked for {fine} .", "({student}|{teacher}|{classmate}) had to pay {fine} .", clear=True
    ),
)

DAMAGED = seq(
    event("At home , ({dog}|{classmate}) tore {page} of {book} .", opener=False, gains="book=torn"),
    event("({student}|{classmate}) (fixed {page} with {tape}|hid {book} under {bed}) ."),
    event("{student} showed {librarian} ({book}|{page}) .", "{librarian} noticed {page} .", opener=False),
    event(
        "{librarian} only/RB laughed .",
        "{librarian} was not angry with ({student}|{classmate}) .",
        opener=False,
        clear=True,
    ),
)

STEPS = seq(
    event(
        "On {day} , {student} went to {library} because of {essay} .",
        "{teacher} wanted {essay} by {deadline} , so {student} went to {library} .",
        "{student} had to write {essay} and needed {book} .",
        opener=False,
    ),
    maybe(
        0.5,
        either(
            event("{teacher} had told ({student}|{classmate}) about {book} .", opener=False),
            event("{classmate} came along .", "{classmate} needed {book} too .", opener=False),
            detour(0.9, "street"),
        ),
    ),
    event(
        "{student} asked ({librarian}|{classmate}) for {book} .",
        "({student}|{librarian}) typed {topic} into {computer} .",
        "{librarian} sat at {desk} .",
        opener=False,
    ),
    either(ON_SHELF, IN_OTHER_HANDS, WRONG_PLACE, weights=(2, 3, 2)),
    detour(0.1, "inside"),
    react(0.4, PEOPLE, THINGS),
    maybe(
        0.5,
        either(
            event("({student}|{classmate}) sat down at {table} and opened {book} ."),
            event("There was {picture} on {page} .", opener=False),
            event("({student}|{classmate}) (wrote|made) {notes} ."),
        ),
    ),
    event("({student}|{classmate}) (carried {book} to {desk}|showed {librarian} {card}) .", clear=True),
    maybe(0.5, event("{librarian} (scanned|checked) ({card}|{book}) .", clear=True)),
    event("({student}|{classmate}) (put {book} into {bag}|took {book} home) .", opener=False),
    maybe(0.5, event("{student} (wrote|finished) {essay} (before {deadline}|) .", opener=False)),
    react(0.3, PEOPLE, THINGS),
    either(
        LATE,
        DAMAGED,
        event("({student}|{classmate}) brought {book} back (before {deadline}|to {librarian}) ."),
    ),
    maybe(
        0.5,
        either(
            event("{teacher} (liked {essay}|gave {student} {grade}) .", opener=False),
            say("teacher", "student", '" {student} did a good job , " {teacher} told {student} .'),
        ),
    ),
)

LIBRARY = Scenario("library", hero="student", roles=ROLES, steps=STEPS)
