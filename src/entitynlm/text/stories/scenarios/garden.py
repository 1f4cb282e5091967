"""A vegetable bed from seed to soup, and the thief who comes at night."""

from __future__ import annotations

from entitynlm.text.stories.cast import animal, person, place, thing, time
from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.staging import detour, either, event, maybe, react, say, seq

ROLES = (
    person("gardener", "woman:f man:m", adj="old", named=True),
    person("child", "grandson:m granddaughter:f", adj="little", named=True, owner="gardener"),
    person("neighbor", "", title=True),
    time("spring", "the first warm day of spring", "a Saturday in April", "a Sunday in May"),
    place("garden", "garden", adj="small", mods=("behind {house}",), owner="gardener"),
    place("house", "house", intro="the"),
    place("bed", "flower_bed patch", adj="sunny", mods=("by {fence}",), intro="a"),
    thing("fence", "fence", adj="low;wooden", intro="the"),
    thing("shovel", "shovel/spade", adj="rusty"),
    thing("soil", "soil earth", adj="hard black", intro="the"),
    thing("weeds", "weeds", intro="the"),
    animal("worm", "worm beetle frog", adj="fat"),
    thing("rake", "rake", adj="heavy"),
    thing("seeds", "seeds", mods=("from {packet}",), intro="a"),
    thing("packet", "packet", adj="paper", intro="a"),
    thing("can", "watering_can", adj="green heavy"),
    thing("plants", "carrots beans lettuces cabbages", adj="young tender", intro="bare"),
    thing("sun", "sun", adj="hot", intro="the"),
    animal("thief", "rabbit hare goose deer", adj="big cheeky;gray white"),
    thing("leaves", "leaves", adj="green", intro="the"),
    thing("tracks", "tracks", adj="small", intro="a"),
    thing("hole", "hole", mods=("in {fence}",), intro="a"),
    thing("scarecrow", "scarecrow", adj="funny"),
    thing("hat", "hat", adj="straw", owner="gardener"),
    thing("boards", "boards", counts="two three", intro="a"),
    thing("trap", "cage trap", adj="wire", intro="a"),
    thing("bait", "apple cookie", adj="sweet", intro="a"),
    thing("bench", "bench", adj="wooden", intro="a"),
    thing("basket", "basket", adj="large"),
    thing("meal", "soup salad stew", intro="a"),
    thing("knees", "knees back", owner="gardener", bound=True),
    place("field", "field", adj="distant", intro="a"),
    time("weeks", "two weeks", "ten days", "a month"),
    time("summer", "July", "summer", "the end of August"),
)

PEOPLE = "gardener child neighbor"
THINGS = "bed fence scarecrow trap plants shovel hole garden"

DIG = seq(
    event(
        "({gardener}|{child}) (took|fetched) {shovel} and dug ({bed}|{soil}) .",
        "{gardener} dug up {soil} .",
        opener=False,
    ),
    maybe(
        0.4,
        either(
            seq(
                event("({child}|{gardener}) (found|discovered) {worm} (in {soil}|) .", opener=False),
                event(
                    "{child} (showed|brought) {gardener} {worm} .",
                    "{child} put {worm} into {can} .",
                    clear=True,
                ),
            ),
            event(
                "({child}|{gardener}) pulled out {weeds} .",
                "{child} threw {weeds} over {fence} .",
                clear=True,
            ),
        ),
    ),
    maybe(
        0.5,
        either(
            event(
                "({gardener}|{child}) borrowed {rake} from {neighbor} .",
                "{neighbor} lent {gardener} {rake} .",
            ),
            say(
                "neighbor",
                "gardener",
                '" Do/VBP {gardener} need help ? " {neighbor} asked ({gardener}|over {fence}) .',
            ),
            event("{gardener} rubbed {knees} and rested on {bench} .", opener=False),
        ),
    ),
)

SOW = seq(
    event(
        "{gardener} showed {child} {seeds} .",
        "({child}|{gardener}) (put|dropped) {seeds} into ({soil}|{bed}) .",
    ),
    event("({child}|{gardener}) (filled {can} and|) watered ({bed}|{seeds}) .", clear=True),
)

EATEN = seq(
    event(
        "But one morning {leaves} were gone .",
        "One morning ({gardener}|{child}) saw that ({leaves}|{plants}) were eaten .",
        opener=False,
    ),
    either(
        event("({child}|{gardener}|{neighbor}) (found|saw|noticed) ({tracks}|{hole}) .", opener=False),
        say(
            "gardener", "child", '" Who ate {plants} ? " {gardener} asked ({child}|{neighbor}) .', clear=False
        ),
    ),
    maybe(
        0.5, event("({neighbor}|{child}) had seen {thief} (at night|) .", "It was {thief} .", opener=False)
    ),
)

SCARECROW = seq(
    event("({gardener}|{child}) built {scarecrow} ."),
    event(
        "({child}|{gardener}) put {hat} on {scarecrow} .", "{neighbor} brought an old coat for {scarecrow} ."
    ),
    event("But {thief} was not afraid of {scarecrow} .", "{thief} slept under {scarecrow} .", opener=False),
)

FENCE = seq(
    event("({neighbor}|{gardener}) (brought|bought|found) {boards} ."),
    event("({gardener}|{neighbor}) (closed|mended) ({hole}|{fence}) (with {boards}|) .", clear=True),
    maybe(
        0.5, event("{thief} came back , but ({hole} was closed|{child} chased {thief} away) .", opener=False)
    ),
)

TRAP = seq(
    event("({gardener}|{neighbor}) (set up|brought) {trap} ."),
    event("({child}|{gardener}|{neighbor}) put {bait} into {trap} .", "In {trap} lay {bait} .", opener=False),
    event(
        "The next day {thief} sat in {trap} .", "{trap} snapped shut , and {thief} was caught .", opener=False
    ),
    maybe(
        0.6,
        either(
            event(
                "({child}|{gardener}) felt sorry for {thief} .",
                "{child} wanted to keep {thief} .",
                opener=False,
            ),
            event("({gardener}|{neighbor}) was angry at {thief} .", opener=False),
        ),
    ),
    event(
        "({gardener}|{neighbor}) carried {thief} to {field} .",
        "{child} opened {trap} , and {thief} hopped away .",
        clear=True,
    ),
)

STEPS = seq(
    event(
        "On {spring} , {gardener} went into {garden} with {child} .",
        "{gardener} wanted to grow {plants} in {garden} .",
        "Every spring {child} visited {gardener} and helped in {garden} .",
        opener=False,
    ),
    *DIG,
    *SOW,
    detour(0.15, "nature"),
    react(0.3, PEOPLE, THINGS),
    event("After {weeks} , {plants} came up .", "{sun} shone , and {plants} grew .", opener=False),
    *EATEN,
    either(seq(*SCARECROW, *FENCE), FENCE, TRAP, weights=(1, 1, 2)),
    react(0.4, PEOPLE, THINGS),
    event(
        "In {summer} , {plants} were ripe .",
        "({child}|{gardener}|{neighbor}) picked {plants} .",
        opener=False,
    ),
    maybe(
        0.4, event("({gardener}|{child}) (put {plants} into {basket}|gave {neighbor} {basket}) .", clear=True)
    ),
    event("({gardener}|{neighbor}|{child}) made {meal} from {plants} .", opener=False),
    maybe(0.3, event("({child}|{neighbor}) (loved {meal}|ate three plates of {meal}) .", opener=False)),
)

GARDEN = Scenario("garden", hero="gardener", roles=ROLES, steps=STEPS)
