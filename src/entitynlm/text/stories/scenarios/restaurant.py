"""Dinner out: table, menu, order, the right or the wrong dish, the bill."""

from __future__ import annotations

from entitynlm.text.stories.cast import group, person, place, thing, time
from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.staging import detour, either, event, maybe, react, say, seq, when

ROLES = (
    person("guest", "man:m woman:f", adj="young old", named=True),
    person("friend", "friend brother:m sister:f cousin colleague", adj="younger", named=True, owner="guest"),
    group("pair", "guest", "friend"),
    time("evening", "Friday evening", "Saturday evening", "a warm evening", "the last day of May"),
    time("breakfast", "breakfast", "noon"),
    place(
        "restaurant",
        "restaurant café bistro",
        adj="small new famous;Italian Greek Indian",
        mods=("on {street}", "near {river}"),
    ),
    place("street", "Mill_Street Oak_Street Harbor_Street King_Street", intro="name"),
    place("river", "river", intro="the"),
    person("waiter", "waiter:m waitress:f", adj="young tall;friendly tired"),
    person("cook", "cook chef", intro="the"),
    thing("table", "table", adj="small large;round", mods=("by {window}", "in {corner}")),
    thing("window", "window", intro="the"),
    place("corner", "corner", intro="the"),
    thing("coat", "coat jacket scarf", adj="long heavy;gray brown", owner="friend"),
    thing("chair", "chair", intro="the"),
    thing("menu", "menu", intro="the"),
    thing("dish", "fish steak pasta lamb chicken", adj="grilled spicy", intro="the"),
    thing("second", "pizza risotto salad", adj="big", intro="the"),
    thing("wrong", "burger omelet sandwich", intro="a"),
    thing("dessert", "ice_cream apple_pie chocolate_cake", intro="the"),
    thing("glasses", "glasses", counts="two", mods=("of {water}",)),
    thing("water", "water lemonade", adj="cold", intro="bare"),
    place("kitchen", "kitchen", intro="the"),
    thing("topic", "film vacation wedding", intro="the"),
    thing("bill", "bill/check", intro="the"),
    thing("card", "credit_card", owner="guest"),
    thing("wallet", "wallet", adj="leather", owner="guest"),
    thing("tip", "tip", adj="small generous"),
    thing("cloth", "tablecloth", adj="clean;white", intro="the"),
    person("pianist", "pianist", adj="old", intro="a"),
    thing("tune", "song tune", adj="slow sad", intro="a"),
    thing("door", "door", intro="the"),
)

PEOPLE = "guest friend waiter pianist"
THINGS = "dish second menu table wrong bill"

WRONG_DISH = seq(
    event(
        "(A few minutes|Half an hour) later , {waiter} (brought|served) {wrong} .", opener=False, clear=True
    ),
    either(
        say("guest", "waiter", '" {guest} did n\'t order {wrong} , " {guest} (said|told {waiter}) .'),
        event("({guest}|{friend}) (looked|stared) at {wrong} and called {waiter} back ."),
    ),
    event(
        "{waiter} (apologized|blushed|said sorry) and took {wrong} back to {kitchen} .",
        "{waiter} took {wrong} away at once .",
        clear=True,
    ),
    maybe(0.3, event("In {kitchen:full} , {cook} (shouted|yelled) at {waiter} .", opener=False)),
    event("{waiter} returned with {dish} .", "{cook} brought {dish} to {table} .", clear=True),
)

RIGHT_DISH = seq(
    event(
        "(A few minutes|Half an hour) later , {waiter} (brought|served) ({dish}|{second}) .",
        "{waiter} came back with ({dish}|{dish} and {second}) .",
        opener=False,
        clear=True,
    ),
)

BAD_MEAL = seq(
    event("{dish} was (cold|burned|too salty) .", opener=False, gains="dish=cold"),
    say(
        "guest",
        "waiter",
        '" {guest} ca n\'t eat ({dish}|this) , " {guest} complained to {waiter} .',
    ),
    event("{waiter} (fetched|called) {cook} .", "{waiter} carried {dish} back to {kitchen} .", clear=True),
    event("{cook} came to {table} and apologized to ({guest}|{pair}) .", clear=True),
    event("{cook} gave ({pair}|{guest}) {dessert} for free .", clear=True, learns="sweet"),
)

GOOD_MEAL = seq(
    event(
        "({dish}|{second}) (tasted|was|smelled) (wonderful|delicious|excellent) .",
        "({guest}|{friend}) loved ({dish}|{second}) .",
        opener=False,
    ),
    maybe(0.3, event("{friend} (finished|ate) {second} too .", "{friend} did n't like {second} at all .")),
)

STEPS = seq(
    event(
        "On {evening} , {guest} (took|invited) {friend} to {restaurant} .",
        "{guest} met {friend} at {restaurant} on {evening} .",
        "On {evening} , {pair} went to {restaurant} for dinner .",
        opener=False,
    ),
    maybe(
        0.4,
        either(
            event("{restaurant} was (full|crowded|noisy) .", opener=False),
            event("({pair}|{guest}) had eaten nothing since {breakfast} .", opener=False),
            event("It was ({guest's}|{friend's}) birthday .", opener=False),
        ),
    ),
    event(
        "{waiter} (led|brought|showed) {pair} to {table} .",
        "{waiter} found {table} for ({pair}|{guest}) .",
        "{pair} sat down at {table} .",
        opener=False,
    ),
    maybe(0.2, event("{friend} hung {coat} over {chair} .", "{friend} took off {coat} .")),
    react(0.25, PEOPLE, THINGS),
    either(
        event("{waiter} (handed|gave) ({guest}|{friend}) {menu} ."),
        event("({guest}|{friend}) (opened|studied) {menu} (carefully|) ."),
    ),
    either(
        event("{guest} (ordered|wanted) {dish} .", "{guest} asked {waiter} for {dish} ."),
        say("guest", "waiter", '" {guest} would like {dish} , please , " {guest} told {waiter} .'),
        weights=(2, 1),
    ),
    either(
        event("{friend} (chose|ordered) ({second}|{dish} too) .", "{friend} asked {waiter} for {second} ."),
        say("friend", "waiter", '" What is good here ? " {friend} asked {waiter} .'),
        detour(0.6, "inside"),
        weights=(3, 1, 1),
    ),
    maybe(
        0.4,
        either(
            event("{waiter} nodded and (went|hurried) to {kitchen} .", clear=True),
            event("{waiter} (brought|poured) {glasses} .", clear=True),
        ),
    ),
    maybe(
        0.35,
        either(
            event("While {cook} (cooked|prepared) {dish} , {pair} talked about {topic} .", opener=False),
            event("{pair} (talked|chatted) about {topic} for a while/NN ."),
            event("{pianist} played {tune} in {corner} .", opener=False),
        ),
    ),
    either(WRONG_DISH, RIGHT_DISH, weights=(2, 3)),
    either(BAD_MEAL, GOOD_MEAL, weights=(1, 3)),
    react(0.3, PEOPLE, THINGS),
    maybe(
        0.2,
        event("({friend}|{guest}) (spilled|dropped) {water} on {cloth} .", opener=False),
        event("{waiter} (cleaned|wiped) {cloth} .", clear=True),
    ),
    when("sweet", otherwise=seq(maybe(0.3, event("({pair} shared|{friend} ordered) {dessert} .")))),
    event("({guest}|{friend}) asked (for|{waiter} for) {bill} .", "{waiter} brought {bill} ."),
    either(
        event("({guest}|{friend}) paid {bill} .", "{guest} paid {bill} with {card} .", clear=True),
        seq(
            event("{guest} reached for {wallet} , but {wallet:pro} was not there .", opener=False),
            event(
                "{friend} laughed and paid {bill} .", "So {friend} paid {bill} with a smile .", opener=False
            ),
        ),
        weights=(3, 2),
    ),
    maybe(0.3, event("({guest}|{friend}) left/VBD {tip} (on {table}|for {waiter}) .")),
    event(
        "({pair}|{guest}) (thanked|said goodbye to) {waiter} and went home .",
        "{waiter} held {door} open for {pair} .",
        "{pair} walked home along {river} .",
    ),
)

RESTAURANT = Scenario("restaurant", hero="guest", roles=ROLES, steps=STEPS)
