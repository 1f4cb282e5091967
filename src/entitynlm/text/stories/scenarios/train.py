"""A journey by train: ticket, platform, a stranger in the compartment, the conductor, someone at the other end."""

from __future__ import annotations

from entitynlm.text.stories.cast import group, person, place, thing, time
from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.staging import detour, either, event, maybe, react, say, seq

ROLES = (
    person("traveler", "woman:f man:m student", adj="young", named=True),
    person("host", "aunt:f uncle:m grandmother:f cousin friend", named=True, owner="traveler"),
    group("family", "traveler", "host"),
    place("city", "Paris Boston Vienna Dublin Chicago", intro="name"),
    time("day", "Friday", "the second Monday of July", "a cold morning in January", "Christmas Eve"),
    place("station", "station", adj="central old", intro="the"),
    person("clerk", "clerk", adj="bored polite;young", mods=("behind {counter}",)),
    thing("counter", "counter", intro="the"),
    thing("ticket", "ticket", adj="cheap"),
    thing("price", "dollars euros", counts="20 35 48", intro="count"),
    thing("suitcase", "suitcase/bag backpack/bag", adj="heavy big;brown green", owner="traveler"),
    place("platform", "platform", adj="crowded windy", intro="the"),
    thing("train", "train", adj="long silver", intro="the"),
    place("car", "car compartment", adj="empty last quiet"),
    thing("seat", "seat", adj="free", mods=("by {window}", "near {door}")),
    thing("window", "window", intro="the"),
    thing("door", "door", intro="the"),
    person(
        "stranger",
        "gentleman:m lady:f soldier nun:f",
        adj="old tall strange",
        mods=("with {hat}", "with {violin}", "in {uniform}"),
    ),
    thing("hat", "hat", adj="black straw", intro="a"),
    thing("violin", "violin", intro="a"),
    thing("uniform", "uniform", intro="a"),
    person("conductor", "conductor", adj="strict kind", intro="the"),
    thing("sandwich", "sandwich", mods=("with {cheese}",)),
    thing("cheese", "cheese", intro="bare"),
    thing("book", "novel newspaper magazine", adj="thick", intro="a"),
    thing("pocket", "pocket", owner="traveler", bound=True),
    thing("story", "story", adj="long funny", mods=("about {war}", "about {sea}"), intro="a"),
    thing("war", "war", intro="the"),
    place("sea", "sea", intro="the"),
    place("fields", "fields mountains", adj="green", intro="the"),
    thing("fine", "fine", intro="a"),
    thing("flowers", "flowers", adj="yellow", intro="a"),
    person("crowd", "crowd", intro="the", gender="n"),
    thing("taxi", "taxi bus", intro="a"),
    place("house", "house apartment", owner="host"),
    thing("tea", "tea soup", adj="hot", intro="a"),
    thing("floor", "floor", intro="the"),
    thing("clock", "clock", adj="big", intro="the"),
)

BUY = seq(
    event(
        "At {station} , {traveler} went to ({counter}|{clerk}) .",
        "{traveler} arrived at {station} too early .",
        opener=False,
    ),
    event(
        "{clerk} sold {traveler} {ticket} (for {price}|) .",
        "{traveler} (bought {ticket} from {clerk}|asked {clerk} for {ticket}) .",
    ),
    maybe(
        0.3,
        either(
            say("traveler", "clerk", '" Is {train} late ? " {traveler} asked {clerk} .'),
            say("clerk", "traveler", '" {train} is late , " {clerk} told {traveler} .'),
        ),
    ),
    event("{traveler} (put {ticket} into {pocket}|carried {suitcase} to {platform}|looked for {platform}) ."),
)

MEET = seq(
    event(
        "{stranger} (sat|was sitting) (across from {traveler}|by {window}) .",
        "{stranger} came in .",
        opener=False,
    ),
    either(
        say("stranger", "traveler", '" Is this seat free ? " {stranger} asked ({traveler}|) .'),
        say("stranger", "traveler", '" Where are {traveler} going ? " {stranger} asked ({traveler}|) .'),
        event("({stranger} nodded at {traveler}|{traveler} nodded at {stranger}) .", clear=True),
        event("{stranger} (helped {traveler} with|looked at|lifted) {suitcase} .", clear=True),
    ),
    maybe(
        0.6,
        either(
            event("{stranger} told {traveler} {story} .", clear=True),
            event("({traveler}|{stranger}) (shared|ate) {sandwich} .", clear=True),
            event("({stranger}|{traveler}) fell asleep and began to snore .", clear=True),
        ),
    ),
)

TICKET_LOST = seq(
    event("{traveler} (reached into|searched) {pocket} , but {ticket} was gone .", opener=False),
    maybe(0.5, event("{conductor} (waited|frowned|got impatient) .", clear=True)),
    either(
        seq(
            event("({stranger}|{conductor}) (found {ticket} under {seat}|picked up {ticket} from {floor}) ."),
            event("{traveler} (thanked|smiled at) ({stranger}|{conductor}) .", clear=True),
        ),
        event("{traveler} had to pay {fine} .", "({stranger}|{traveler}) paid {conductor} {fine} ."),
    ),
)

BAG_FORGOTTEN = seq(
    event("On {platform} , {traveler} noticed that {suitcase} was still on {train} .", opener=False),
    event(
        "{traveler} (ran back|called {conductor}|shouted to {stranger}) .",
        "{traveler} banged on {door} , but {train} began to move .",
        clear=True,
    ),
    event(
        "({stranger}|{conductor}) (threw {suitcase} out of {window}|handed {traveler} {suitcase}) .",
        clear=True,
    ),
)

STEPS = seq(
    event(
        "On {day} , {traveler} wanted to visit {host} in {city} .",
        "{host} lived in {city} and had invited {traveler} .",
        "{traveler} was going to {city} to see {host} .",
        opener=False,
    ),
    maybe(0.3, event("{traveler} (packed|filled) {suitcase} .", opener=False), detour(0.4, "street")),
    *BUY,
    maybe(0.2, event("{train} was late , so {traveler} bought ({sandwich}|{book}) .", opener=False)),
    event("{train} (arrived|came in) , and {traveler} got on .", "{traveler} got on {train} .", opener=False),
    event("{traveler} found ({seat}|{seat} in {car}) .", "{traveler} sat down on {seat} .", opener=False),
    *MEET,
    react(0.35, "traveler stranger", "suitcase ticket seat sandwich"),
    maybe(
        0.3,
        either(
            event("{train} passed {fields} .", "Outside {window} , {fields} flew by .", opener=False),
            event("({traveler}|{stranger}) (opened|read) {book} for a while/NN ."),
            detour(0.9, "inside"),
        ),
    ),
    maybe(
        0.6,
        event(
            "{conductor} (came in|appeared) .",
            "{conductor} opened {door} and asked for {ticket} .",
            opener=False,
        ),
        either(
            event("({traveler} showed {conductor}|{conductor} checked) {ticket} .", clear=True),
            TICKET_LOST,
        ),
    ),
    event("{train} (reached|stopped in) {city} .", opener=False),
    maybe(
        0.3,
        event(
            "{traveler} said goodbye to ({stranger}|{conductor}) .",
            "{stranger} got off first/RB .",
            clear=True,
        ),
    ),
    either(
        BAG_FORGOTTEN,
        event("({traveler}|{stranger}) carried {suitcase} (through {crowd}|to {platform}) ."),
        weights=(1, 2),
    ),
    event(
        "{host} was waiting (with {flowers}|on {platform}|under {clock}) .",
        "({host} waved|{traveler} waved) from a distance .",
        "{traveler} saw {host} (under {clock}|at once) .",
        opener=False,
    ),
    react(0.35, "traveler host", "suitcase train"),
    event(
        "{host} (hugged|kissed) {traveler} .",
        "({host}|{traveler}) (took {suitcase}|was very happy) .",
        opener=False,
        clear=True,
    ),
    maybe(
        0.4,
        either(
            event(
                "{family} took {taxi} to {house} .",
                "In {taxi} , {traveler} talked about {stranger} .",
                opener=False,
            ),
            event("At {house} , {host} made {tea} (for {traveler}|) .", opener=False),
        ),
    ),
)

TRAIN = Scenario("train", hero="traveler", roles=ROLES, steps=STEPS)
