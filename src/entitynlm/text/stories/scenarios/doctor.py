"""A sick child: waiting room, examination, injection or prescription, bed."""

from __future__ import annotations

from entitynlm.text.stories.cast import animal, group, person, place, thing, time
from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.staging import any_order, detour, either, event, maybe, react, say, seq

ROLES = (
    person("patient", "boy:m girl:f", adj="little", named=True),
    person("parent", "mother:f father:m grandmother:f", owner="patient"),
    group("visitors", "patient", "parent"),
    person("doctor", "doctor", title=True),
    person("nurse", "nurse", adj="young tall;cheerful", intro="the"),
    person("pharmacist", "pharmacist", adj="thin", intro="the"),
    time("day", "Monday morning", "Wednesday", "the day before the exam"),
    thing("pain", "throat ear stomach", owner="patient", bound=True),
    thing("fever", "fever", adj="high"),
    thing("breakfast", "toast cereal", intro="the"),
    thing("phone", "phone", intro="the"),
    place("office", "office clinic", owner="doctor", mods=("on {street}",)),
    place("street", "Church_Street Lake_Road Station_Road", intro="name"),
    place("room", "waiting_room", intro="the"),
    thing("toy", "puzzle teddy_bear toy_car", adj="broken old"),
    person("baby", "baby", adj="crying", mods=("in {stroller}",)),
    thing("stroller", "stroller", intro="a"),
    person("farmer", "farmer sailor", adj="old fat", mods=("with {cough}",)),
    thing("cough", "cough", adj="!bad", intro="a"),
    thing("magazine", "magazine", adj="old", intro="a"),
    thing("thermometer", "thermometer", adj="cold"),
    thing("lamp", "lamp", adj="small bright"),
    thing("mouth", "mouth", owner="patient", bound=True),
    thing("arm", "arm", adj="left right", owner="patient", bound=True),
    thing("needle", "needle", adj="long thin"),
    thing("bandaid", "bandage", adj="colorful", intro="a"),
    thing("candy", "lollipop sticker", adj="red", intro="a"),
    thing("prescription", "prescription", intro="a"),
    thing("medicine", "syrup medicine", adj="bitter;brown", intro="a"),
    place("pharmacy", "pharmacy", mods=("near {bank}", "behind {church}"), intro="the"),
    place("bank", "bank", intro="the"),
    place("church", "church", intro="the"),
    place("school", "school", intro="kind"),
    thing("spoon", "spoon", intro="a"),
    thing("bed", "bed", owner="patient"),
    thing("book", "book fairy_tale", adj="favorite", owner="patient"),
    animal("cat", "cat", adj="lazy", owner="patient", named=True),
    thing("soup", "soup", mods=("with {noodles}",), intro="a"),
    thing("noodles", "noodles", intro="bare"),
    time("later", "three days", "one week", "five days"),
    thing("door", "door", intro="the"),
)

WAIT = seq(
    event("{room} was full , so {visitors} had to wait .", "In {room} , {visitors} sat down .", opener=False),
    maybe(
        0.6,
        either(
            seq(
                event("{patient} played with {toy} .", "({patient}|{parent}) found {toy} ."),
                maybe(
                    0.5,
                    event(
                        "{baby} wanted {toy} too .", "({patient}|{parent}) gave {baby} {toy} .", opener=False
                    ),
                ),
            ),
            event("{baby} was screaming .", "{baby} stared at ({patient}|{parent}) .", opener=False),
            event(
                "{farmer} coughed all the time .", "{farmer} sat next to ({patient}|{parent}) .", opener=False
            ),
            event("({parent}|{patient}) read {magazine} .", "{parent} read , and {patient} fell asleep ."),
        ),
        react(0.4, "patient parent baby farmer", "toy magazine"),
    ),
    event(
        "{nurse} called ({patient}|{visitors}) .",
        "{nurse} opened {door} and called {patient} .",
        opener=False,
    ),
)

EXAMINE = seq(
    any_order(
        event(
            "({doctor}|{nurse}) looked into {mouth} (with {lamp}|) .",
            "({doctor}|{nurse}) asked {patient} to open {mouth} .",
            clear=True,
        ),
        seq(
            maybe(
                0.5,
                event(
                    "({nurse}|{doctor}) talked about {fever} .",
                    "({doctor}|{nurse}) put {thermometer} under {arm} .",
                    clear=True,
                ),
            )
        ),
    ),
    maybe(
        0.5,
        either(
            say("doctor", "patient", '" Does it hurt ? " {doctor} asked ({patient}|{parent}) .'),
            say("patient", "doctor", '" {pain} hurts , " {patient} told {doctor} .'),
            say("parent", "doctor", '" Is it serious ? " {parent} asked {doctor} .'),
        ),
    ),
)

INJECTION = seq(
    event("{doctor} took out {needle} .", "{nurse} came back with {needle} .", opener=False, clear=True),
    event(
        "{patient} (turned pale|began to cry) .", "{patient} hid behind ({parent}|{nurse}) .", opener=False
    ),
    maybe(
        0.5,
        event(
            "({parent}|{nurse}) held {patient's} hand .",
            "({nurse}|{parent}) told {patient} a joke .",
            clear=True,
        ),
    ),
    event("{doctor} (pushed|stuck) {needle} into {arm} .", "{nurse} held {arm} for {doctor} .", clear=True),
    either(
        event("{patient} did n't feel anything .", "{patient} screamed , but it was over .", opener=False),
        event("({nurse}|{doctor}) put {bandaid} on {arm} .", clear=True),
        event(
            "({nurse}|{doctor}) gave {patient} {candy} .",
            "({doctor}|{parent}|{nurse}) praised {patient} .",
            clear=True,
        ),
    ),
)

PRESCRIBE = seq(
    event("{doctor} (wrote|gave) {parent} {prescription} .", clear=True),
    event("On the way home , ({visitors}|{parent}) stopped at {pharmacy} .", opener=False),
    detour(0.2, "street"),
    event(
        "({parent}|{patient}) gave {pharmacist} {prescription} .",
        "{pharmacist} read {prescription} slowly .",
        clear=True,
    ),
    event("{pharmacist} (fetched|found) {medicine} .", "{pharmacist} sold {parent} {medicine} .", clear=True),
    event(
        "{parent} gave {patient} {medicine} (with {spoon}|) .",
        "{patient} (took|hated) {medicine} .",
        opener=False,
    ),
    maybe(
        0.5, event("{medicine} tasted (awful|terrible) .", "{patient} spat out {medicine} .", opener=False)
    ),
)

STEPS = seq(
    event(
        "On {day} , {patient} woke up with {fever} .",
        "{patient} felt sick on {day} .",
        "On {day} , {patient} did not touch {breakfast} .",
        opener=False,
    ),
    event(
        "{patient} told {parent} that {pain} hurt .",
        "{parent} (felt|touched) {patient's} forehead and reached for {phone} .",
        "{parent} was worried about {patient} .",
        opener=False,
    ),
    event("{parent} (drove|took) {patient} to ({office}|{doctor}) .", "{visitors} went to {office} ."),
    maybe(0.6, *WAIT),
    maybe(
        0.3,
        event(
            "{patient} was afraid of ({doctor}|{nurse}) .", "{patient} held on to {parent} .", opener=False
        ),
    ),
    event(
        "{doctor} shook hands with ({visitors}|{parent}|{patient}) .",
        "{doctor} (smiled at|greeted) ({patient}|{parent}) .",
        opener=False,
        clear=True,
    ),
    react(0.3, "patient parent doctor nurse"),
    *EXAMINE,
    either(INJECTION, PRESCRIBE),
    react(0.3, "patient parent", "medicine candy bandaid"),
    maybe(
        0.7,
        either(
            event("{parent} put {patient} into {bed} .", "{patient} had to stay in {bed} .", opener=False),
            event(
                "{parent} (cooked|made) {soup} for {patient} .",
                "{parent} read {patient} {book} .",
                clear=True,
            ),
            event("({cat}|{parent}) lay down next to {patient} .", opener=False),
        ),
    ),
    event(
        "After {later} , ({patient} was healthy|{fever} was gone) .",
        "{patient} went back to {school} after {later} .",
        opener=False,
    ),
)

DOCTOR = Scenario("doctor", hero="patient", roles=ROLES, steps=STEPS)
