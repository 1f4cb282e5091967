"""A cake for someone's birthday: ingredients in any order, the oven, small disasters, the party."""

from __future__ import annotations

from entitynlm.text.stories.cast import animal, group, person, place, thing, time
from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.staging import any_order, detour, either, event, maybe, react, say, seq, when

ROLES = (
    person("baker", "woman:f man:m", named=True),
    person("helper", "son:m daughter:f niece:f nephew:m", adj="little youngest", named=True, owner="baker"),
    group("cooks", "baker", "helper"),
    person("star", "grandmother:f uncle:m aunt:f teacher:f neighbor", adj="old", owner="baker"),
    time("day", "Saturday", "Sunday afternoon", "the tenth of March", "a rainy Thursday"),
    thing("party", "birthday_party", adj="big", owner="star", type="event"),
    thing("cake", "cake", adj="big huge;round", intro="a"),
    thing("recipe", "recipe", adj="old;secret", mods=("from {book}",)),
    thing("book", "cookbook", adj="thick old", intro="a"),
    place("kitchen", "kitchen", intro="the"),
    thing("bowl", "bowl", adj="large deep;glass blue"),
    thing("flour", "flour"),
    thing("sugar", "sugar", adj="brown white"),
    thing("butter", "butter", adj="soft"),
    thing("eggs", "eggs", counts="three four five six"),
    thing("milk", "milk"),
    thing("egg", "egg", adj="!last", intro="the"),
    thing("spoon", "spoon", adj="long;wooden"),
    thing("dough", "dough batter", intro="the"),
    thing("oven", "oven", intro="the"),
    thing("floor", "floor", intro="the"),
    thing("smoke", "smoke", adj="black thick"),
    thing("icing", "icing", adj="pink white"),
    thing("cherries", "cherries strawberries", adj="red"),
    thing("candles", "candles", counts="40 50 60 seven"),
    animal("pet", "cat dog", adj="fat greedy;gray", owner="baker"),
    thing("nose", "nose", owner="helper", bound=True),
    thing("apron", "apron", adj="clean striped", owner="helper"),
    place("store", "store", mods=("around {corner}",), intro="the"),
    place("corner", "corner", intro="the"),
    thing("song", "song", adj="happy"),
    thing("slice", "slice/piece", adj="large small", mods=("of {cake}",), intro="a"),
    time("time", "40 minutes", "half an hour", "one hour"),
    thing("carton", "milk_carton", intro="the"),
    thing("table", "table", intro="the"),
    thing("knife", "knife", adj="long"),
)

PEOPLE = "baker helper pet"
THINGS = "bowl recipe oven dough eggs"

MISSING = seq(
    event("But {carton} was empty .", "Then ({baker}|{helper}) saw that {carton} was empty .", opener=False),
    event(
        "{baker} sent {helper} to {store} .",
        "({helper}|{baker}) ran to {store} to buy {milk} .",
        opener=False,
    ),
    event(
        "{helper} (came|hurried) back with {milk} .",
        "{helper} returned and gave {baker} {milk} .",
        clear=True,
    ),
)

EGGS = either(
    event(
        "({helper}|{baker}) broke {eggs} (into {bowl}|) .", "{baker} showed {helper} how to break {eggs} ."
    ),
    seq(
        event("({helper}|{baker}) broke {eggs} , but {egg} fell on {floor} .", opener=False),
        either(
            event("{pet} licked {egg} from {floor} .", clear=True),
            event("({baker}|{helper}) (wiped|cleaned) {floor} .", clear=True),
        ),
    ),
    weights=(3, 2),
)

INGREDIENTS = any_order(
    event("({baker}|{helper}) (poured|put|shook) {flour} into {bowl} ."),
    seq(
        maybe(
            0.5, event("({baker}|{helper}) (added|brought|fetched) ({sugar}|{butter}|{sugar} and {butter}) .")
        )
    ),
    seq(maybe(0.6, EGGS)),
    seq(
        maybe(
            0.5,
            either(
                event("({baker}|{helper}) (warmed|heated) {milk} and poured {milk:pro} into {bowl} ."),
                MISSING,
                weights=(3, 2),
            ),
        )
    ),
)

BURNED = seq(
    event("(Suddenly|Soon) {smoke} came out of {oven} .", opener=False),
    event("({baker}|{helper}) (ran|rushed) to {oven} .", "{baker} pulled {cake} out of {oven} .", clear=True),
    event("{cake} was black (on top|on one side) .", opener=False, gains="cake=burned"),
    either(
        event("{helper} began to cry , but {baker} hugged {helper} .", opener=False),
        say("baker", "helper", '" It does n\'t matter , " {baker} told {helper} .'),
    ),
    event(
        "({baker}|{helper}|{cooks}) hid the black part under {icing} .",
        clear=True,
        learns="iced",
        gains="cake=-",
    ),
)

WELL_BAKED = seq(
    maybe(
        0.5,
        either(
            event("({helper}|{pet}) sat in front of {oven} .", "{helper} pressed {nose} against {oven} ."),
            event("({baker}|{helper}) washed ({bowl}|{spoon}) .", "{baker} told {helper} to wash {bowl} ."),
            event("{pet} slept under {table} .", "{pet} begged for ({dough}|{cake}) .", opener=False),
        ),
        detour(0.25, "home"),
    ),
    event(
        "After {time} , {baker} took {cake} out of {oven} .",
        "({baker}|{helper}) opened {oven} and took out {cake} .",
    ),
    maybe(
        0.4,
        event(
            "{cake} smelled (wonderful|sweet) .", "{helper} wanted to taste {cake} at once .", opener=False
        ),
    ),
)

STEPS = seq(
    event(
        "On {day} , {baker} wanted to bake {cake} for {star} .",
        "{baker} promised {star} to bake {cake} for {party} .",
        "It was {day} , and {baker} needed {cake} for {party} .",
        opener=False,
    ),
    event(
        "{helper} (wanted|was allowed) to help .", "{baker} called {helper} into {kitchen} .", opener=False
    ),
    maybe(0.3, event("{baker} (found|looked for) {recipe} .", "{helper} put on {apron} .")),
    detour(0.15, "home"),
    INGREDIENTS,
    react(0.35, PEOPLE, THINGS),
    event("({helper}|{baker}) (stirred|mixed) {dough} (with {spoon}|) .", clear=True),
    maybe(0.3, event("({helper}|{baker}) (tasted|tried) ({dough}|{sugar}) .", clear=True)),
    event(
        "({baker}|{helper}) (put|pushed|slid) {cake} into {oven} .",
        "{helper} opened {oven} for {baker} .",
        clear=True,
    ),
    react(0.35, PEOPLE, THINGS),
    either(BURNED, WELL_BAKED, weights=(1, 2)),
    when(
        "iced",
        otherwise=seq(
            event("({cooks}|{baker}|{helper}) (covered {cake} with {icing}|put {cherries} on {cake}) .")
        ),
    ),
    maybe(
        0.3,
        event("{pet} jumped on {table} and sniffed at {cake} .", opener=False),
        event("({helper}|{baker}) (chased|carried) {pet} out of {kitchen} .", clear=True),
    ),
    either(
        event(
            "({baker}|{helper}) lit {candles} .", "({baker}|{helper}) put {candles} on {cake} .", clear=True
        ),
        event("{star} came in and saw ({cake}|{helper}) .", "{cooks} sang {song} for {star} .", opener=False),
    ),
    react(0.4, "baker helper star pet", "cake candles"),
    either(
        event(
            "{star} blew out {candles} .",
            "({star}|{baker}) cut {cake} (with {knife}|) .",
            opener=False,
            clear=True,
        ),
        event(
            "{star} gave ({helper}|{baker}) {slice} .",
            "{star} (kissed|thanked) ({helper}|{baker}) .",
            clear=True,
        ),
        event("{baker} gave ({star}|{helper}) {slice} .", "{baker} was proud of {helper} .", opener=False),
    ),
)

BAKING = Scenario("baking", hero="baker", roles=ROLES, steps=STEPS)
