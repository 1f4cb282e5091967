"""Shopping with a list: things into the cart in any order, the queue, the purse left at home, a bag that tears."""

from __future__ import annotations

from entitynlm.text.stories.cast import animal, group, person, place, thing, time
from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.staging import any_order, detour, either, event, maybe, pick, react, say, seq

ROLES = (
    person("shopper", "woman:f man:m", named=True),
    person("child", "son:m daughter:f", adj="little", named=True, owner="shopper"),
    group("both", "shopper", "child"),
    person("partner", "wife:f husband:m grandmother:f", owner="shopper"),
    time("day", "Saturday morning", "Thursday", "the day before Easter"),
    place("store", "supermarket grocery_store", adj="big new", intro="the"),
    thing("list", "shopping_list/list", adj="long", intro="a"),
    thing("cart", "shopping_cart/cart", adj="squeaky empty"),
    thing("apples", "apples pears oranges", counts="six ten", adj="red", intro="a"),
    thing("bread", "bread", adj="fresh", mods=("from {bakery}",), intro="a"),
    place("bakery", "bakery", intro="the"),
    thing("milk", "milk juice", intro="a"),
    place("shelf", "shelf", adj="top", intro="the"),
    person("worker", "worker", adj="young;helpful", mods=("with {ladder}", "in {vest}")),
    thing("ladder", "ladder", intro="a"),
    thing("vest", "vest", adj="green", intro="a"),
    thing("sweets", "candy chocolate", intro="the"),
    thing("toy", "balloon robot doll", adj="pink silver", intro="a"),
    thing("tower", "tower", adj="tall", mods=("of {cans}",), intro="a"),
    thing("cans", "cans", intro="bare"),
    person("manager", "manager", adj="angry", intro="the"),
    place("entrance", "entrance", intro="the"),
    place("line", "line", adj="long", intro="the"),
    person("lady", "lady:f gentleman:m", adj="old;elegant", mods=("with {dog}",)),
    animal("dog", "poodle dachshund", adj="tiny", intro="a"),
    person("cashier", "cashier", adj="tired friendly", intro="the"),
    thing("total", "dollars", counts="12 15 18", intro="count"),
    thing("purse", "purse/wallet", adj="black", owner="shopper"),
    thing("bag", "paper_bag/bag", adj="thin"),
    place("lot", "parking_lot", intro="the"),
    thing("car", "car", adj="blue old", owner="shopper"),
    thing("note", "bill", adj="!20-dollar", intro="a"),
    thing("hand", "hand", owner="child", bound=True),
)

THINGS = "cart apples milk bread bag list toy"

OUT_OF_REACH = seq(
    event("{milk} stood on {shelf} , and {shopper} could not reach {milk:pro} .", opener=False),
    event("{shopper} (called|asked) {worker} .", "{worker} (helped|came) .", opener=False),
    event("{worker} handed ({shopper}|{child}) {milk} .", "{worker} climbed up and got {milk} .", clear=True),
)

FIND_ITEMS = any_order(
    event(
        "({shopper}|{child}) (put|placed) {apples} into {cart} .",
        "({shopper}|{child}) chose {apples} .",
    ),
    seq(
        maybe(
            0.5,
            event(
                "({shopper}|{child}) (took|found) {bread} .",
                "({shopper}|{child}) (put|placed) {bread} into {cart} .",
            ),
        )
    ),
    either(
        event(
            "({child}|{shopper}) (fetched|found) {milk} .", "{shopper} sent {child} for {milk} .", clear=True
        ),
        OUT_OF_REACH,
        weights=(2, 1),
    ),
)

LOST_CHILD = seq(
    event("When {shopper} turned around , {child} was gone .", opener=False),
    event("{shopper} (ran through all the aisles|asked {worker} about {child}) .", opener=False),
    either(
        seq(
            event("{child} stood in front of {tower} .", "Then {shopper} heard a crash .", opener=False),
            event("{child} pulled at one can/NN , and {tower} fell down .", opener=False, clear=True),
            event("{manager} (came running|was not happy) .", opener=False),
            event("({shopper}|{child}) apologized to {manager} .", clear=True),
        ),
        seq(
            event("({manager}|{worker}|{shopper}) found {child} near ({sweets}|{entrance}) .", opener=False),
            event("{shopper} (hugged {child}|took {hand}|thanked {manager}) .", clear=True),
        ),
    ),
)

NO_MONEY = seq(
    event("But {shopper} had left/VBN {purse} at home .", "{shopper} could not find {purse} .", opener=False),
    either(
        seq(
            event("{lady} (gave {cashier} {note}|paid for {shopper}) .", opener=False, clear=True),
            event("({shopper}|{child}|{cashier}) (thanked|smiled at) {lady} .", clear=True),
        ),
        seq(
            event("{shopper} (called|phoned) {partner} .", opener=False),
            event(
                "{partner} (came|arrived) with {purse} .",
                "{partner} brought {purse} .",
                opener=False,
                clear=True,
            ),
        ),
        seq(
            event("{child} had saved some money and gave ({shopper}|{cashier}) {note} .", opener=False),
            event("({shopper}|{cashier}|{lady}) was very proud of {child} .", opener=False),
        ),
    ),
)

TORN_BAG = seq(
    event(
        "On {lot} , {bag} tore .",
        "({child}|{shopper}) stumbled and dropped {bag} .",
        opener=False,
        gains="bag=torn",
    ),
    pick("fallen", "apples milk"),
    event("{fallen} fell under {car} .", opener=False),
    event("({both}|{child}|{lady}) picked up {fallen} .", clear=True),
)

STEPS = seq(
    event(
        "On {day} , {shopper} drove to {store} with {child} .",
        "{partner} gave {shopper} {list} on {day} .",
        "{both} went to {store} on {day} .",
        opener=False,
    ),
    event(
        "At {entrance} , ({shopper}|{child}) took {cart} .",
        "{child} pushed {cart} into {store} .",
        opener=False,
    ),
    maybe(
        0.3,
        event("{child} wanted to sit in {cart} .", "({shopper}|{child}) looked at {list} .", opener=False),
    ),
    FIND_ITEMS,
    maybe(
        0.3,
        event(
            "{child} begged for ({sweets}|{toy}) .",
            "{child} hid ({sweets}|{toy}) under {bread} .",
            opener=False,
        ),
    ),
    detour(0.1, "inside"),
    react(0.35, "shopper child worker", THINGS),
    maybe(0.3, *LOST_CHILD),
    event(
        "({both}|{shopper}) went to {line} .", "{lady} stood in front of ({shopper}|{both}) .", opener=False
    ),
    event("{cashier} scanned ({apples}|{bread}|{milk}) .", clear=True),
    maybe(
        0.5,
        either(
            say("cashier", "shopper", '" That makes {total} , " {cashier} (said|told {shopper}) .'),
            event("{cashier} asked ({shopper} for|for) {total} .", clear=True),
        ),
    ),
    either(
        NO_MONEY,
        event("{shopper} (took {purse} and paid|gave {cashier} {note}) .", clear=True),
        weights=(2, 3),
    ),
    react(0.35, "shopper child cashier lady", THINGS),
    event(
        "({shopper}|{child}|{cashier}) packed everything into {bag} .",
        "({child}|{shopper}) carried {bag} .",
        clear=True,
    ),
    maybe(0.3, *TORN_BAG),
    event("({shopper}|{child}) put {bag} into {car} .", "{both} drove home in {car} .", opener=False),
    maybe(
        0.4,
        either(
            event("At home , {partner} (looked for {apples}|asked about {list}) .", opener=False),
            event(
                "({partner}|{child}) unpacked {bag} .",
                "({shopper}|{child}) told {partner} everything .",
                opener=False,
            ),
        ),
    ),
)

SHOPPING = Scenario("shopping", hero="shopper", roles=ROLES, steps=STEPS)
