"""A ring is gone: a clue, suspects who are asked in any order, and the one who had it."""

from __future__ import annotations

from entitynlm.text.stories.cast import animal, person, place, thing, time
from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.staging import any_order, either, event, maybe, pick, react, say, seq

ROLES = (
    person("lady", "", title=True, gender="f"),
    person("detective", "detective inspector", adj="young clever", named=True, intro="name"),
    person("maid", "maid:f butler:m", adj="old", owner="lady", bound=False),
    person("gardener", "gardener", adj="silent", owner="lady", bound=False),
    person("nephew", "nephew:m niece:f", adj="lazy", named=True, owner="lady"),
    time("night", "Monday night", "the night of the party", "the third of October"),
    thing("ring", "ring necklace brooch", adj="precious;golden silver", mods=("with {stone}",), owner="lady"),
    thing("stone", "ruby diamond pearl", intro="a"),
    place("house", "house mansion", adj="big old", mods=("on {hill}",), owner="lady"),
    place("hill", "hill", intro="the"),
    place("bedroom", "bedroom", intro="the"),
    thing("drawer", "drawer jewelry_box", adj="top", intro="the"),
    thing("window", "window", adj="open", intro="the"),
    thing("feather", "feather", adj="!black", intro="a"),
    thing("footprint", "footprint", adj="muddy", intro="a"),
    thing("thread", "thread button", adj="!green", intro="a"),
    thing("carpet", "carpet", adj="thick", intro="the"),
    thing("notebook", "notebook", adj="little", owner="detective"),
    animal("bird", "magpie crow", adj="clever"),
    thing("nest", "nest", mods=("in {tree}",), intro="a"),
    thing("tree", "tree oak", adj="tall", intro="the"),
    thing("ladder", "ladder", adj="long", intro="a"),
    thing("boots", "boots", adj="dirty", owner="gardener"),
    place("shed", "shed greenhouse", intro="the"),
    thing("pot", "flowerpot", adj="empty", intro="a"),
    thing("coat", "coat jacket", adj="!green", owner="nephew"),
    thing("debts", "debts", adj="large", intro="a"),
    place("casino", "casino", intro="a"),
    place("kitchen", "kitchen", intro="the"),
    thing("tea", "tea", mods=("with {lemon}",), intro="a"),
    thing("lemon", "lemon", intro="bare"),
    thing("key", "key", adj="small", intro="the"),
    person("police", "police", intro="the"),
    thing("reward", "check reward", adj="generous", intro="a"),
    thing("cake", "cake", intro="a"),
)

PEOPLE = "detective lady maid gardener nephew"
THINGS = "drawer window carpet footprint feather thread"

CRIME = seq(
    event(
        "On {night} , {ring} disappeared from {house} .",
        "{lady} lost {ring} on {night} .",
        "Someone stole {ring} from {bedroom} on {night} .",
        opener=False,
    ),
    event("{lady} (called {detective}|asked {detective} for help) .", opener=False),
    maybe(0.4, say("lady", "detective", '" {ring} was in {drawer} , " {lady} told {detective} .')),
    event("{detective} (looked at|examined|inspected) ({drawer}|{bedroom}|{window}) .", clear=True),
)

ASK_MAID = seq(
    event("{detective} (asked|questioned) {maid} .", "In {kitchen} , {detective} talked to {maid} ."),
    either(
        event("{maid} (had made {tea} that night|was in {kitchen} all night) .", opener=False, clear=True),
        say(
            "maid",
            "detective",
            '" {maid} only/RB cleaned ({carpet}|{window}) , " {maid} (said|told {detective}) .',
        ),
        event("{maid} (began to cry|gave {detective} {key}|pointed at {nephew}) .", clear=True),
    ),
)

ASK_GARDENER = seq(
    event("{detective} (asked|questioned) {gardener} .", "{detective} found {gardener} in {shed} ."),
    either(
        event("{gardener} was cleaning {boots} .", "{detective} looked at {boots} .", clear=True),
        say("gardener", "detective", '" {gardener} was asleep , " {gardener} (said|told {detective}) .'),
        event("{gardener} (pointed at {tree}|pointed at {maid}|did not say a word) .", clear=True),
    ),
)

ASK_NEPHEW = seq(
    event(
        "{detective} (asked|questioned) {nephew} .",
        "{detective} visited {nephew} in {casino} .",
        opener=False,
    ),
    either(
        event("{nephew} (had {debts}|wore {coat}) .", opener=False, clear=True),
        say("nephew", "detective", '" {nephew} loves {lady} , " {nephew} (said|told {detective}) .'),
        event("{nephew} (could not look|laughed|pointed) at ({detective}|{maid}) .", clear=True),
    ),
)

SUSPECTS = any_order(
    seq(maybe(0.7, *ASK_MAID)),
    seq(maybe(0.7, *ASK_GARDENER)),
    seq(maybe(0.7, *ASK_NEPHEW)),
)

ACCUSE = maybe(
    0.4,
    pick("suspect", "maid gardener nephew"),
    event("{lady} (suspected|accused) {suspect} ."),
    either(
        event("{suspect} was (shocked|angry) .", "{suspect} began to cry .", clear=True),
        event("But {detective} (trusted|believed) {suspect} .", opener=False, clear=True),
    ),
)

BIRD = seq(
    event(
        "On {carpet} lay {feather} .", "({detective}|{maid}) found {feather} near {window} .", opener=False
    ),
    SUSPECTS,
    ACCUSE,
    event(
        "{detective} showed ({gardener}|{lady}|{maid}) {feather} .",
        "{detective} put {feather} into {notebook} .",
        clear=True,
    ),
    event(
        "Then ({detective}|{gardener}) saw {bird} in {tree} .", "{bird} flew past {window} .", opener=False
    ),
    event(
        "({gardener}|{maid}) (brought|fetched) {ladder} .",
        "{detective} asked ({gardener}|{maid}) for {ladder} .",
        clear=True,
    ),
    event("({detective}|{gardener}) climbed up and found {nest} .", clear=True),
    event("In {nest} lay {ring} .", "{bird} had hidden {ring} in {nest} .", opener=False),
)

NEPHEW = seq(
    event("{thread} hung on {window} .", "({detective}|{maid}) found {thread} on {carpet} .", opener=False),
    SUSPECTS,
    ACCUSE,
    event("{detective} compared {thread} with {coat} .", "{thread} came from {coat} .", opener=False),
    either(
        say("detective", "nephew", '" Where is {ring} ? " {detective} asked {nephew} .'),
        event("{detective} told ({nephew}|{lady}) about {thread} .", clear=True),
    ),
    event("{nephew} (turned red|trembled|tried to run) .", clear=True),
    event(
        "{nephew} gave ({detective}|{lady}) {ring} .",
        "({maid}|{detective}) found {ring} in {coat} .",
        opener=False,
        clear=True,
    ),
    either(
        event("{lady} (forgave {nephew}|told {nephew} to leave {house}) .", clear=True),
        event("({lady}|{detective}) called {police} .", "{police} arrested {nephew} .", opener=False),
    ),
)

GARDENER = seq(
    event(
        "There was {footprint} under {window} .",
        "({detective}|{maid}) noticed {footprint} on {carpet} .",
        opener=False,
    ),
    SUSPECTS,
    ACCUSE,
    event("{detective} measured {footprint} .", "{footprint} matched {boots} .", opener=False),
    event("({detective}|{maid}) searched {shed} .", "{detective} followed {gardener} to {shed} ."),
    event("Under {pot} , ({detective}|{maid}) found {ring} .", "{ring} was hidden in {pot} .", opener=False),
    either(
        say("gardener", "lady", '" {gardener} needed the money , " {gardener} told ({lady}|{detective}) .'),
        event("{gardener} (fell to {gardener's} knees|confessed everything) .", clear=True),
    ),
    maybe(
        0.5,
        event("{lady} (was shocked|forgave {gardener}) .", "{police} arrested {gardener} .", opener=False),
    ),
)

STEPS = seq(
    *CRIME,
    react(0.3, PEOPLE, THINGS),
    either(BIRD, NEPHEW, GARDENER),
    react(0.3, PEOPLE, THINGS),
    event(
        "{detective} (gave|brought) {lady} {ring} .",
        "{lady} (put on|kissed) {ring} .",
        opener=False,
        clear=True,
    ),
    maybe(
        0.5,
        either(
            event("{lady} (gave {detective} {reward}|invited {detective} for {cake}) .", clear=True),
            event("{maid} (baked|brought) {cake} for ({detective}|{lady}) .", opener=False, clear=True),
            event("{detective} closed {notebook} and went home .", clear=True),
        ),
    ),
)

MYSTERY = Scenario("mystery", hero="detective", roles=ROLES, steps=STEPS, narrated=0.3)
