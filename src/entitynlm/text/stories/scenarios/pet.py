"""A dog runs away: search, posters, false hopes, the one who found it, the reward."""

from __future__ import annotations

from entitynlm.text.stories.cast import animal, group, person, place, thing, time
from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.staging import again, detour, either, event, maybe, react, say, seq, when

ROLES = (
    person("owner", "woman:f man:m", named=True),
    animal("pet", "dog puppy terrier beagle", adj="little big;brown white black", named=True, owner="owner"),
    person("partner", "wife:f husband:m mother:f father:m roommate", named=True, owner="owner"),
    group("both", "owner", "partner"),
    time("day", "Thursday morning", "a foggy morning", "the day of the storm", "Sunday"),
    thing("gate", "gate", adj="wooden iron", mods=("of {garden}",), intro="the"),
    place("garden", "garden yard", adj="small", intro="the"),
    thing("noise", "thunder fireworks", adj="loud", intro="the"),
    thing("leash", "leash", adj="red blue leather", owner="pet"),
    place("park", "park", mods=("by {river}",), intro="the"),
    place("river", "river canal", intro="the"),
    place("street", "street", intro="the"),
    place("woods", "woods", adj="dark", intro="the"),
    person("neighbor", "", title=True),
    person("mailman", "mailman:m policewoman:f jogger", adj="young", intro="a"),
    person("vet", "vet", intro="the"),
    thing("posters", "posters", counts="20 thirty", mods=("with {photo}",), intro="a"),
    thing("photo", "photo", adj="old", mods=("of {pet}",), intro="a"),
    thing("trees", "trees lampposts", intro="the"),
    thing("flashlight", "flashlight", adj="strong"),
    thing("bushes", "bushes", adj="thick", intro="a"),
    animal("other", "squirrel hedgehog goat", adj="fat frightened"),
    thing("trash", "garbage_can hedge", intro="a"),
    person("finder", "boy:m girl:f", adj="small freckled", mods=("on {scooter}", "with {braces}")),
    thing("scooter", "scooter", intro="a"),
    thing("braces", "braces", intro="kind"),
    thing("phone", "phone", intro="the"),
    place("cellar", "cellar shed barn", adj="empty dusty", mods=("behind {school}", "behind {bakery}")),
    place("school", "school", intro="the"),
    place("bakery", "bakery", intro="the"),
    thing("paw", "paw", adj="left right", owner="pet", bound=True),
    thing("bandage", "bandage", adj="white", intro="a"),
    thing("reward", "reward", adj="big", intro="a"),
    thing("money", "dollars", counts="50 80 100", intro="count"),
    thing("bowl", "bowl", mods=("of {food}",)),
    thing("food", "food water", intro="bare"),
    thing("tail", "tail", owner="pet", bound=True),
    thing("bed", "bed sofa", intro="the"),
    thing("collar", "collar", adj="new", intro="a"),
    time("night", "night", "midnight", "ten o'clock"),
    thing("mud", "mud", adj="wet", intro="the"),
    thing("door", "door", intro="the"),
    thing("arms", "arms", owner="finder", bound=True),
)

PEOPLE = "owner partner pet finder neighbor vet"
THINGS = "leash gate posters photo cellar door"

ESCAPE = seq(
    event(
        "({owner}|{partner}) left/VBD {gate} open .",
        "Someone had forgotten to close {gate} .",
        "{noise} frightened ({pet}|{owner}) .",
        opener=False,
    ),
    event(
        "{pet} (ran|slipped) out of {garden} .",
        "{pet} jumped over {gate} and was gone .",
        opener=False,
        clear=True,
    ),
)

SEARCH = either(
    event("({owner}|{partner}|{both}) (ran|hurried) through {street} and called {pet} .", clear=True),
    event("({owner}|{partner}|{both}) (looked in|searched) ({park}|{woods}) .", clear=True),
    event(
        "({owner}|{partner}) (asked|stopped) {mailman} , but {mailman:pro} had not seen {pet} .", opener=False
    ),
    event("({owner}|{partner}) (phoned|asked) ({vet}|{neighbor}) ."),
    seq(
        event(
            "Something moved behind {trash} .", "({owner}|{partner}) heard a noise in {trash} .", opener=False
        ),
        event(
            "But it was only/RB {other} .",
            "{other} came out and looked at ({owner}|{partner}) .",
            opener=False,
        ),
    ),
    detour(1.0, "street"),
)

POSTERS = seq(
    event("({partner}|{owner}|{both}) (made|printed|drew) {posters} .", clear=True),
    event("({owner}|{partner}|{neighbor}) (hung|glued) {posters} on {trees} .", clear=True),
    maybe(0.4, event("On {posters} , ({owner}|{both}) promised {reward} .", opener=False)),
    event(
        "The next day , {phone} rang .",
        "(That evening|Two days later) ({owner}|{partner}) got a call .",
        opener=False,
    ),
    event(
        "{finder} had (found|seen) {pet} in {cellar} .",
        "{finder} told ({owner}|{partner}) about {cellar} .",
        opener=False,
        learns="found",
    ),
    event(
        "({owner}|{both}) (drove|ran) to {cellar} at once .",
        "{finder} took ({owner}|{both}) to {cellar} .",
        clear=True,
    ),
)

AT_DOOR = seq(
    event("At {night} , someone knocked at {door} .", opener=False),
    event("({partner}|{owner}) (opened|ran to) {door} .", clear=True),
    event("{finder} was standing there with {pet} in {arms} .", opener=False, learns="found"),
    either(
        say(
            "finder", "owner", '" Does {pet:full} belong to {owner} ? " {finder} asked ({owner}|{partner}) .'
        ),
        say(
            "finder",
            "owner",
            '" {finder} found {pet:full} in {cellar} , " {finder} told ({owner}|{partner}) .',
        ),
    ),
)

IN_WOODS = seq(
    event("At {night} , ({owner}|{both}) took {flashlight} and went into {woods} .", opener=False),
    event(
        "{neighbor} (came along|followed {owner}) .",
        "({owner}|{partner}) was afraid , but {neighbor} came too .",
        opener=False,
    ),
    event(
        "({neighbor}|{owner}) heard {pet} first/RB .",
        "Behind {bushes} , ({neighbor}|{owner}) found {leash} .",
        opener=False,
    ),
    event("{pet} (was sitting|lay) in {mud} .", opener=False),
    event("({owner}|{neighbor}) (lifted|pulled) {pet} out of {mud} .", clear=True),
)

STEPS = seq(
    event(
        "On {day} , {owner} was in {garden} with {pet} .",
        "{owner} loved {pet} .",
        "{owner} had bought {collar} for {pet} .",
        opener=False,
    ),
    maybe(
        0.5,
        event("{partner} was (still asleep|playing with {pet}) .", "{pet} chewed on {leash} .", opener=False),
    ),
    *ESCAPE,
    event("({owner}|{partner}) noticed it too late .", "({owner}|{partner}) saw that {pet} was gone ."),
    maybe(0.4, say("owner", "partner", '" {pet:full} is gone ! " {owner} told {partner} .', clear=False)),
    again(0.5, 3, SEARCH),
    react(0.3, "owner partner neighbor", THINGS),
    either(POSTERS, AT_DOOR, IN_WOODS, weights=(2, 1, 1)),
    event(
        "({owner}|{partner}|{both}) (hugged|kissed|held) {pet} .",
        "{pet} licked ({owner's}|{partner's}) face .",
        opener=False,
    ),
    maybe(
        0.35,
        event("But {paw} was (bleeding|hurt) .", opener=False),
        event("({owner}|{partner}) carried {pet} to {vet} .", "{vet} looked at {paw} .", clear=True),
        event(
            "{vet} (put|wrapped) {bandage} around {paw} .",
            "{vet} (cleaned {paw}|calmed {owner}) .",
            clear=True,
        ),
    ),
    react(0.3, PEOPLE, THINGS),
    maybe(
        0.6,
        either(
            when(
                "found",
                event(
                    "({owner}|{partner}) gave {finder} {money} .",
                    "{finder} did n't want {reward} .",
                    clear=True,
                ),
                otherwise=seq(event("({owner}|{partner}) thanked {neighbor} twice .", clear=True)),
            ),
            event(
                "At home , ({partner}|{owner}) gave {pet} {bowl} .",
                "{pet} emptied {bowl} in one minute .",
                opener=False,
            ),
        ),
    ),
    event(
        "That night {pet} slept on {bed} .",
        "({partner}|{owner}|{neighbor}) repaired {gate} the next morning .",
        "{pet} wagged {tail} and fell asleep on {bed} .",
        opener=False,
    ),
)

PET = Scenario("pet", hero="owner", roles=ROLES, steps=STEPS)
