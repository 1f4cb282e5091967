"""Detours: small unscripted scenes that can happen to anyone, so that not everything in a story was to be expected."""

from __future__ import annotations

from entitynlm.text.stories.cast import animal, person, place, thing, time
from entitynlm.text.stories.plot import Scene
from entitynlm.text.stories.staging import either, event, maybe, say, seq

STREET, INSIDE, HOME, NATURE = "street", "inside", "home", "nature"

DETOURS: tuple[Scene, ...] = (
    Scene(
        "musician",
        (STREET,),
        (
            person("musician", "musician street_singer", adj="young blind;thin"),
            thing("instrument", "guitar accordion flute trumpet", adj="old"),
            thing("coin", "coin", adj="silver"),
            place("bridge", "bridge fountain", intro="the"),
        ),
        seq(
            event("Near {bridge} , {musician} was playing {instrument} .", opener=False),
            maybe(
                0.5,
                event(
                    "{hero} (gave|threw) {musician} {coin} .", "{hero} listened to {musician} .", clear=True
                ),
            ),
        ),
    ),
    Scene(
        "kitten",
        (STREET, HOME),
        (
            animal("kitten", "kitten", adj="thin tiny;black orange"),
            thing("windowsill", "windowsill step", intro="the"),
        ),
        seq(
            event("{kitten} sat on {windowsill} .", "{kitten} crossed {hero's} path .", opener=False),
            maybe(
                0.6,
                event("{hero} stroked {kitten} , and {kitten:pro} purred .", "{kitten} followed {hero} ."),
            ),
        ),
    ),
    Scene(
        "tourist",
        (STREET,),
        (
            person("tourist", "tourist", adj="lost friendly", mods=("with {camera}",)),
            thing("camera", "camera", intro="a"),
            place("museum", "museum cathedral zoo castle", intro="the"),
        ),
        seq(
            either(
                say("tourist", "hero", '" Where is {museum} ? " {tourist} asked {hero} .'),
                event("{tourist} asked {hero} the way to {museum} .", opener=False),
            ),
            maybe(0.6, event("{hero} pointed to the left .", "{hero} did n't know {museum} .", clear=True)),
        ),
    ),
    Scene(
        "glove",
        (STREET, NATURE),
        (
            thing("glove", "glove mitten", adj="lost;woolen purple"),
            thing("ground", "ground", intro="the"),
            thing("branch", "branch", intro="a"),
        ),
        seq(
            event("{hero} found {glove} on {ground} .", "{glove} lay on {ground} .", opener=False),
            maybe(0.5, event("{hero} hung {glove} on {branch} .", clear=True)),
        ),
    ),
    Scene(
        "rain",
        (STREET,),
        (
            thing("shower", "rain_shower", adj="short", intro="a"),
            thing("umbrella", "umbrella raincoat", adj="red", owner="hero"),
            place("bus_stop", "bus_stop", intro="a"),
        ),
        seq(
            either(
                event("It began to rain , and {hero} waited at {bus_stop} .", opener=False),
                event("{shower} came down , but {hero} had {umbrella} .", opener=False),
            ),
        ),
    ),
    Scene(
        "parade",
        (STREET,),
        (
            person("band", "soldiers clowns acrobats", counts="five seven", intro="count"),
            thing("drum", "drum", adj="big", intro="a"),
            animal("elephant", "elephant pony", adj="huge"),
        ),
        seq(
            event("{band} marched by with {drum} .", opener=False),
            maybe(0.6, event("Behind {band} walked {elephant} .", opener=False)),
        ),
    ),
    Scene(
        "acquaintance",
        (STREET, INSIDE),
        (
            person("classmate", "classmate boss dentist", adj="former", owner="hero"),
            thing("greeting", "news", adj="good", intro="a"),
        ),
        seq(
            event("By chance , {hero} met {classmate} .", "{classmate} came by and waved .", opener=False),
            maybe(0.6, event("{classmate} had {greeting} .", "{classmate} was in a hurry .", opener=False)),
        ),
    ),
    Scene(
        "truck",
        (STREET,),
        (
            thing("truck", "truck ambulance fire_engine tractor", adj="loud yellow"),
            thing("siren", "siren horn", intro="the"),
        ),
        seq(
            event("{truck} drove past .", "{truck} came around the corner .", opener=False),
            maybe(0.4, event("{hero} jumped aside .", "{siren} was very loud .", opener=False)),
        ),
    ),
    Scene(
        "toddler",
        (INSIDE,),
        (
            person("toddler", "toddler", adj="curious", mods=("with {balloon2}",)),
            thing("balloon2", "balloon", adj="green", intro="a"),
        ),
        seq(
            event("{toddler} ran past {hero} .", "{toddler} stared at {hero} .", opener=False),
            maybe(
                0.5,
                event("{hero} made a funny face , and {toddler} laughed .", "{toddler} waved .", clear=True),
            ),
        ),
    ),
    Scene(
        "fly",
        (INSIDE, HOME),
        (
            animal("fly", "fly wasp moth", adj="fat"),
            thing("ceiling", "ceiling", intro="the"),
        ),
        seq(
            event("{fly} buzzed around {hero's} head .", "{fly} was sitting on {ceiling} .", opener=False),
            maybe(0.5, event("{hero} tried to catch {fly} .", "{hero} waved {fly} away .", clear=True)),
        ),
    ),
    Scene(
        "call",
        (INSIDE, HOME),
        (
            thing("telephone", "telephone cell_phone", owner="hero"),
            person("caller", "boss dentist landlord godmother:f", owner="hero"),
            time("hour", "four o'clock", "half past six", "five o'clock"),
            thing("meeting", "meeting appointment", intro="a", type="event"),
        ),
        seq(
            event("At {hour} , {telephone} rang .", "{hero} got a call from {caller} .", opener=False),
            maybe(0.6, event("{caller} wanted to talk about {meeting} .", "It was {caller} .", opener=False)),
        ),
    ),
    Scene(
        "lights",
        (INSIDE,),
        (
            thing("lights", "lights", intro="the"),
            person("somebody", "man:m woman:f", adj="fat bald", mods=("with {beard}",)),
            thing("beard", "tattoo earring cigar", intro="a"),
        ),
        seq(
            event(
                "For a moment {lights} went out .",
                "{somebody} turned off {lights} by mistake .",
                opener=False,
            ),
            maybe(
                0.5,
                event("{somebody} cried out in the dark .", "{somebody} dropped something .", opener=False),
            ),
        ),
    ),
    Scene(
        "parcel",
        (HOME,),
        (
            person("courier", "courier", adj="sweaty", intro="a"),
            thing("parcel", "parcel postcard", adj="heavy", mods=("from {abroad}",)),
            place("abroad", "Brazil Japan Canada Norway", intro="name"),
            thing("doorbell", "doorbell", intro="the"),
        ),
        seq(
            event("{doorbell} rang , and {courier} brought {parcel} .", opener=False),
            maybe(0.5, event("{hero} signed for {parcel} .", "{hero} put {parcel} aside .", clear=True)),
        ),
    ),
    Scene(
        "radio",
        (HOME,),
        (
            thing("radio", "radio", intro="the"),
            thing("weather", "weather_report concert", intro="a"),
        ),
        seq(event("{radio} was playing {weather} .", "{hero} turned on {radio} .", opener=False)),
    ),
    Scene(
        "owl",
        (NATURE,),
        (
            animal("owl", "owl woodpecker cuckoo", adj="old brown"),
            thing("trunk2", "stump nest_box", intro="a"),
        ),
        seq(
            event("{owl} called from a distance .", "{owl} sat on {trunk2} .", opener=False),
            maybe(0.4, event("{hero} tried to see {owl} .", "{hero} called back .", clear=True)),
        ),
    ),
    Scene(
        "hikers",
        (NATURE,),
        (
            person("hikers", "hikers monks scouts", counts="three four", intro="count"),
            thing("donkey", "donkey mule", adj="stubborn", type="animal"),
        ),
        seq(
            event("{hikers} came by with {donkey} .", "{hikers} greeted {hero} .", opener=False),
            maybe(0.5, event("{hikers} were singing .", "{donkey} did n't want to walk .", opener=False)),
        ),
    ),
    Scene(
        "butterfly",
        (NATURE, STREET),
        (
            animal("butterfly", "butterfly dragonfly", adj="blue yellow"),
            thing("sleeve", "sleeve", owner="hero", bound=True),
        ),
        seq(event("{butterfly} landed on {sleeve} .", "{hero} watched {butterfly} .", opener=False)),
    ),
    Scene(
        "plane",
        (NATURE, STREET),
        (
            thing("plane", "airplane helicopter hot-air_balloon", adj="tiny"),
            place("sky", "sky", intro="the"),
        ),
        seq(event("High in {sky} , {hero} saw {plane} .", "{plane} crossed {sky} .", opener=False)),
    ),
)
