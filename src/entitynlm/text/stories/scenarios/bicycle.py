"""A flat tyre on the way: found, mended at home, by a neighbour or in a shop."""

from __future__ import annotations

from entitynlm.text.stories.cast import group, person, place, thing, time
from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.staging import detour, either, event, maybe, react, say, seq

ROLES = (
    person("rider", "boy:m girl:f", adj="young", named=True),
    person("sibling", "brother:m sister:f cousin", adj="little older", named=True, owner="rider"),
    group("both", "rider", "sibling"),
    time("day", "Monday morning", "Sunday", "a sunny day in April", "the first day of the holidays"),
    thing(
        "bike", "bike/bicycle", adj="old new;red blue green yellow", owner="rider", mods=("with {basket}",)
    ),
    thing("basket", "basket", adj="brown", intro="a"),
    place("goal", "lake beach swimming_pool football_field", intro="the"),
    place("road", "road path", adj="narrow dusty bumpy"),
    place("hill", "hill", adj="steep", intro="a"),
    thing("tire", "tire", adj="front back", intro="the"),
    thing("nail", "nail thorn", adj="long;rusty sharp", mods=("from {fence}",)),
    thing("fence", "fence", adj="old", intro="a"),
    thing("glass", "piece", adj="sharp", mods=("!of {bottle}",), intro="a"),
    thing("bottle", "bottle", adj="broken", intro="a"),
    person("neighbor", "", title=True),
    place("garage", "garage shed", intro="the"),
    thing("tools", "toolbox", adj="heavy;gray", owner="neighbor"),
    thing("pump", "pump", adj="small", intro="a"),
    thing("wheel", "wheel", intro="the"),
    thing("patch", "patch", adj="small;rubber"),
    thing("glue", "glue", intro="a"),
    thing("hole", "hole", adj="tiny", intro="the"),
    place("shop", "bike_shop repair_shop", adj="little", mods=("on {square}", "behind {church}")),
    place("square", "market_square", intro="the"),
    place("church", "church", adj="old", intro="the"),
    person("mechanic", "mechanic", adj="young bald", intro="the"),
    thing("price", "dollars", counts="eight ten 12 15", intro="count"),
    thing("apron", "apron", adj="dirty", owner="mechanic"),
    thing("juice", "juice lemonade", intro="a"),
    thing("helmet", "helmet", adj="white black", owner="rider"),
    person("mother", "mother:f father:m grandfather:m", owner="rider"),
    thing("spare", "tire", adj="!new", intro="a"),
    thing("snack", "apple pretzel", intro="a"),
    thing("gate", "garden_gate", intro="the"),
    place("house", "house", intro="the"),
)

PEOPLE = "rider sibling mother neighbor mechanic"
THINGS = "bike tire nail patch pump wheel helmet"

FIND = seq(
    either(
        event("({rider}|{sibling}) (rode|went) down {hill} .", "{both} pedaled along {road} ."),
        event("At first everything went well .", opener=False),
        event("{sibling} was faster than {rider} .", opener=False),
        detour(0.9, "street"),
    ),
    event(
        "Suddenly there was a loud bang .",
        "After a while/NN , ({rider}|{sibling}) heard a strange hiss .",
        "On {road} , {bike} began to wobble .",
        opener=False,
    ),
    event(
        "{tire} was flat .",
        "{rider} got off {bike} and looked at {tire} .",
        "({rider}|{sibling}) stopped and saw that {tire} was flat .",
        opener=False,
        gains="tire=flat",
    ),
    maybe(
        0.6,
        either(
            event(
                "{nail} was stuck in {tire} .", "({rider}|{sibling}) found {nail} in {tire} .", opener=False
            ),
            event("{rider} had ridden over {glass} .", opener=False),
            weights=(3, 1),
        ),
    ),
)

PUSH = seq(
    maybe(
        0.5,
        either(
            say(
                "rider",
                "sibling",
                '" {rider} ca n\'t ride {bike} home , " {rider} told {sibling} .',
                clear=False,
            ),
            event("{sibling} laughed , but {rider} was (angry|close to tears) .", opener=False),
            event("{sibling} (offered|promised) to help ."),
        ),
    ),
    react(0.2, PEOPLE, THINGS),
    event(
        "({rider}|{sibling}|{both}) had to push {bike} home .",
        "Slowly {rider} pushed {bike} home .",
        opener=False,
    ),
)

NEIGHBOR_HELPS = seq(
    event(
        "{neighbor} was (working in {garage}|standing at {gate}) .",
        "In front of {house} , ({rider}|{sibling}|{both}) met {neighbor} .",
        opener=False,
    ),
    either(
        say("neighbor", "rider", '" What happened to {bike} ? " {neighbor} asked .'),
        say("rider", "neighbor", '" Can {neighbor} help {rider} ? " {rider} asked {neighbor} .'),
        event("({rider}|{sibling}) showed {neighbor} ({tire}|{bike}) ."),
    ),
    event("{neighbor} (opened|fetched) {tools} .", "{neighbor} turned {bike} over .", clear=True),
    event("{neighbor} (took off|removed) {wheel} .", "{neighbor} found {hole} in {tire} .", clear=True),
    either(
        event(
            "({rider}|{sibling}) put {glue} on {patch} .", "{neighbor} asked ({rider}|{sibling}) for {glue} ."
        ),
        event("({rider}|{sibling}) watched {neighbor} closely ."),
    ),
    event(
        "{neighbor} (pressed|put) {patch} over {hole} .", "{rider} handed {neighbor} {patch} .", clear=True
    ),
    event("({rider}|{neighbor}) (filled {tire} with air|pumped up {tire}) .", gains="tire=-"),
    maybe(0.3, event("{neighbor} gave ({rider}|{sibling}|{both}) {juice} .")),
)

SHOP_HELPS = seq(
    event("({rider}|{both}) took {bike} to {shop} .", clear=True),
    event("{mechanic} came out in {apron} .", "{mechanic} looked at {tire} and nodded .", opener=False),
    maybe(
        0.6,
        either(
            say(
                "rider",
                "mechanic",
                '" Can {mechanic} repair {bike} ? " ({rider} asked|{rider} asked {mechanic}) .',
            ),
            say("mechanic", "rider", '" {rider} need {spare} , " {mechanic} (said|told {rider}) .'),
        ),
    ),
    event("{mechanic} (took off|removed) {wheel} .", "{mechanic} turned {bike} over .", clear=True),
    react(0.25, PEOPLE, THINGS),
    either(
        event("{mechanic} (pressed|glued) {patch} over {hole} .", clear=True, gains="tire=-"),
        event("{mechanic} threw away {tire} and put on {spare} .", clear=True),
    ),
    maybe(0.3, event("({rider}|{sibling}) waited outside and ate {snack} ."), detour(0.3, "street")),
    event("({rider}|{sibling}) (paid|gave) {mechanic} {price} .", clear=True),
)

ALONE = seq(
    event("({rider}|{sibling}) (looked|searched) in {garage} for ({pump}|{patch}) ."),
    event("{rider} needed help , and {sibling} had an idea .", opener=False),
    event(
        "({sibling}|{rider}) (took off|removed) {wheel} .",
        "({sibling}|{rider}) found {hole} in {tire} .",
        clear=True,
    ),
    event(
        "{rider} gave {sibling} ({glue}|{patch}) .",
        "{sibling} stuck {patch} on {hole} with {glue} .",
        clear=True,
    ),
    maybe(
        0.4,
        event("But {patch} came off again .", opener=False),
        event("({sibling}|{rider}) (cursed|sighed) and tried again .", clear=True),
    ),
    react(0.25, PEOPLE, THINGS),
    event(
        "({rider}|{sibling}) pumped up {tire} (with {pump}|) .",
        "{rider} held {wheel} while {sibling} pumped up {tire} .",
        gains="tire=-",
    ),
)

STEPS = seq(
    event(
        "On {day} , {rider} wanted to ride {bike} to {goal} .",
        "{rider} took {bike} and set off for {goal} on {day} .",
        "On {day} , {both} wanted to go to {goal} .",
        opener=False,
    ),
    either(
        event(
            "{sibling} rode (behind|in front of) {rider} .", "{sibling} wanted to try {bike} .", opener=False
        ),
        event("{rider} put on {helmet} and waved to ({mother}|{sibling}) .", opener=False),
        event("{mother} told {both} to be careful .", opener=False),
        weights=(3, 1, 1),
    ),
    *FIND,
    *PUSH,
    either(NEIGHBOR_HELPS, SHOP_HELPS, ALONE, weights=(3, 3, 2)),
    event(
        "(Now|Finally) {bike} was fine again .",
        "({rider}|{sibling}) took {bike} for a short ride and was happy .",
        "({rider}|{sibling}) tested {bike} in front of {house} .",
        opener=False,
    ),
    maybe(
        0.4,
        either(
            event("{both} rode to {goal} at last .", "{rider} (thanked|hugged) {sibling} .", opener=False),
            event("{mother} was (glad|proud) when {rider} (came|got) home .", opener=False),
        ),
    ),
)

BICYCLE = Scenario("bicycle", hero="rider", roles=ROLES, steps=STEPS)
