"""A night in the woods: tent and fire in any order, supper, a visitor in the dark, the way home."""

from __future__ import annotations

from entitynlm.text.stories.cast import animal, group, person, place, thing, time
from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.staging import any_order, detour, either, event, maybe, react, say, seq, when

ROLES = (
    person("camper", "boy:m girl:f man:m woman:f", named=True),
    person("friend", "friend cousin brother:m sister:f", adj="older", named=True, owner="camper"),
    group("campers", "camper", "friend", noun="campers"),
    person("driver", "father:m mother:f uncle:m", owner="friend"),
    thing("car", "car van", adj="old rusty;white", owner="driver"),
    time("day", "Friday", "the first weekend of June", "a hot day in August"),
    place("forest", "forest", adj="deep", mods=("near {lake}",), intro="a"),
    place("lake", "Silver_Lake Swan_Lake Stone_Lake", intro="name"),
    place("clearing", "clearing meadow", adj="sunny", mods=("between {pines}",)),
    thing("pines", "pines", adj="!tall", intro="bare"),
    thing("tent", "tent", adj="small;orange green"),
    thing("poles", "poles", adj="bent", intro="the"),
    thing("hammer", "hammer", intro="the"),
    thing("stone", "stone", adj="flat", intro="a"),
    thing("wood", "wood/firewood", adj="dry", intro="a"),
    thing("fire", "fire/campfire", adj="small"),
    thing("matches", "matches", intro="the"),
    thing("sausages", "sausages potatoes", counts="six eight", intro="a"),
    thing("stick", "stick", adj="long"),
    thing("pan", "pan", adj="heavy"),
    place("stream", "stream", adj="clear cold", intro="a"),
    thing("bucket", "bucket", intro="a"),
    thing("bag", "sleeping_bag", adj="warm", owner="camper"),
    thing("flashlight", "flashlight", owner="friend"),
    thing("story", "ghost_story", adj="scary", intro="a"),
    thing("noise", "noise", adj="strange", intro="a"),
    animal("visitor", "bear fox raccoon deer badger", adj="young hungry"),
    thing("food", "bread ham cheese", intro="the"),
    thing("stars", "stars", intro="the"),
    thing("storm", "storm", adj="sudden", intro="a"),
    person("ranger", "ranger", adj="old gruff;bearded", intro="a"),
    place("cabin", "cabin", adj="dry wooden", owner="ranger"),
    thing("cocoa", "cocoa tea", adj="hot", intro="a"),
    thing("fish", "trout fish", adj="big", intro="a"),
    thing("shoe", "shoe boot", owner="camper"),
    thing("tree", "tree", adj="old;oak", intro="a"),
    thing("grass", "grass", intro="the"),
    thing("sun", "sun", intro="the"),
)

THINGS = "tent fire sausages wood clearing bag"

SET_UP = either(
    event("({camper}|{friend}|{campers}) (put up|unrolled) {tent} ."),
    seq(
        event(
            "({camper}|{friend}) could not put up {tent} alone .", "{tent} fell down twice .", opener=False
        ),
        event(
            "{friend} (laughed|sighed) and helped {camper} .",
            "{friend} held {poles} for {camper} .",
            clear=True,
        ),
    ),
    seq(
        event("({friend}|{camper}) wanted to put up {tent} , but {hammer} was missing .", opener=False),
        event("{camper} (found|used) {stone} .", "({camper}|{friend}) looked for {hammer} .", clear=True),
    ),
    weights=(2, 1, 1),
)

MAKE_FIRE = seq(
    event("({friend}|{camper}) (looked for|collected|cut) {wood} .", clear=True),
    event("({camper}|{friend}|{campers}) (made|lit) {fire} (with {matches}|) .", clear=True),
)

FETCH_WATER = seq(
    event("({camper}|{friend}) went to {stream} (with {bucket}|) .", clear=True),
    maybe(0.4, event("There ({friend}|{camper}|{campers}) (caught|saw) {fish} .", opener=False)),
)

VISITOR = seq(
    event(
        "In the middle of the night , ({camper}|{friend}) heard {noise} .",
        "{noise} woke ({friend}|{camper}) up .",
    ),
    either(
        say("camper", "friend", '" Did {friend} hear that ? " {camper} whispered .', clear=False),
        event("({friend}|{camper}) (reached for|turned on) {flashlight} .", clear=True),
        event("{camper} hid in {bag} .", clear=True),
    ),
    event(
        "Next to ({fire}|{tent}) stood {visitor} .",
        "Outside , {visitor} was eating ({food}|{sausages}) .",
        opener=False,
        learns="visited",
    ),
    either(
        seq(
            event(
                "({friend}|{camper}) screamed .",
                "({camper}|{friend}) threw ({shoe}|{stick}) at {visitor} .",
                clear=True,
            ),
            event("{visitor} (turned around|was frightened) and ran into {forest} .", opener=False),
        ),
        seq(
            event("{visitor} looked at ({campers}|{camper}|{friend}) for a long time .", opener=False),
            event(
                "{visitor} took {food} and disappeared .",
                "{visitor} sniffed at ({bag}|{tent}) and left/VBD .",
                clear=True,
            ),
        ),
    ),
)

STORM = seq(
    event("At night {storm} came up .", "{storm} broke out over ({forest}|{lake}) .", opener=False),
    event("{storm} (tore {tent}|blew {tent} away) .", opener=False),
    either(
        say("friend", "camper", '" {campers} must leave ! " {friend} shouted .', clear=False),
        event("({campers}|{camper}) packed everything and ran .", opener=False),
    ),
    event("In {forest} , {campers} met {ranger} .", "{ranger} found {campers} under {tree} .", opener=False),
    event("{ranger} (took|led) {campers} to {cabin} .", clear=True),
    event("{ranger} (gave|made) ({campers}|{camper}) {cocoa} .", clear=True),
)

STEPS = seq(
    event(
        "On {day} , {campers} went camping in {forest} .",
        "{camper} spent {day} with {friend} in {forest} .",
        "{campers} wanted to spend {day} in {forest} .",
        opener=False,
    ),
    either(
        event(
            "{driver} stopped {car} at {lake} .",
            "{driver} wished {campers} luck and drove away .",
            opener=False,
        ),
        event(
            "{campers} walked until ({camper}|{friend}) found {clearing} .",
            "{friend} chose {clearing} .",
            opener=False,
        ),
    ),
    any_order(SET_UP, MAKE_FIRE, seq(maybe(0.4, *FETCH_WATER))),
    detour(0.25, "nature"),
    react(0.35, "camper friend", THINGS),
    event(
        "({camper}|{friend}) (put {sausages} on {stick}|fried {sausages} in {pan}|fried {sausages}) .",
        clear=True,
    ),
    maybe(
        0.3,
        event(
            "{sausages} (tasted|smelled) (good|wonderful) .", "{sausages} fell into {fire} .", opener=False
        ),
    ),
    maybe(
        0.4,
        either(
            event("{friend} told {camper} {story} .", "{camper} told {story} , and {friend} laughed ."),
            event("{campers} lay on {grass} and looked at {stars} ."),
        ),
    ),
    event(
        "When it got cold , ({campers}|{camper}) crawled into {tent} .",
        "({camper}|{friend}) got into ({bag}|{tent}) .",
    ),
    either(VISITOR, STORM, weights=(3, 2)),
    react(0.35, "camper friend ranger", THINGS),
    event(
        "In the morning , {driver} came with {car} .", "The next morning {sun} was shining .", opener=False
    ),
    either(
        when(
            "visited",
            event("({camper}|{friend}) (told {driver}|talked) about {visitor} .", opener=False),
            otherwise=seq(
                event("({camper}|{friend}) told {driver} about ({ranger}|{storm}) .", opener=False)
            ),
        ),
        event("({camper}|{friend}|{campers}) packed ({tent}|{bag}) and went home ."),
        event("({campers}|{camper}) promised to come back soon .", opener=False),
    ),
)

CAMPING = Scenario("camping", hero="camper", roles=ROLES, steps=STEPS)
