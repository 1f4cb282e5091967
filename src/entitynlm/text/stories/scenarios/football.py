"""A football match: who has the ball changes from sentence to sentence, and what comes next depends on who has it."""

from __future__ import annotations

from entitynlm.text.stories.cast import group, person, place, thing, time
from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.staging import again, either, event, maybe, pick, react, say, seq

ROLES = (
    person("captain", named=True),
    person("winger", named=True),
    person("striker", named=True),
    group("team", "captain", "winger", "striker", noun="players"),
    person("rival", "defender captain", adj="!other", intro="the"),
    person("keeper", "goalkeeper", adj="huge nervous", intro="the"),
    person("coach", "", title=True),
    person("referee", "referee", adj="strict", intro="the"),
    person("crowd", "spectators fans", intro="the"),
    time("day", "Saturday", "Sunday afternoon", "the last day of school"),
    time("minute", "minute 12", "minute 40", "minute 85"),
    thing("match", "match final", adj="big", intro="the", type="event"),
    thing("ball", "ball", adj="new", intro="the"),
    place("field", "field", intro="the"),
    place("goal", "goal", intro="the"),
    thing("post", "post crossbar", intro="the"),
    thing("whistle", "whistle", owner="referee"),
    thing("knee", "knee ankle", owner="holder", bound=True),
    thing("ice", "ice", mods=("from {box}",), intro="a"),
    thing("box", "box", adj="red", intro="a"),
    thing("card", "card", adj="!yellow"),
    thing("cup", "cup/trophy", adj="golden", intro="the"),
    thing("shoe", "shoe", adj="left right", owner="striker", bound=True),
    thing("rain", "rain", adj="cold", intro="the"),
    person("parents", "parents", owner="captain"),
    thing("flag", "flag", adj="big;blue"),
)

PLAYERS = "captain winger striker"
PEOPLE = "captain winger striker coach rival keeper referee"

PASS = seq(
    pick("catcher", PLAYERS, but="holder"),
    event(
        "{holder} (passed|gave) {ball} to {catcher} .",
        "{holder} (saw|spotted) {catcher} and kicked {ball} across {field} .",
        "{holder} played {ball} (back|forward) to {catcher} .",
        clear=True,
        sets="holder=catcher",
    ),
)

STEAL = seq(
    event(
        "{rival} (took|stole) {ball} from {holder} .", "But {rival} got {ball} .", opener=False, clear=True
    ),
    either(
        event("{rival} shot , but {ball} (hit {post}|flew over {goal}) .", opener=False),
        event("{rival} (lost {ball} again|ran with {ball}) .", opener=False, clear=True),
    ),
    pick("holder", PLAYERS),
    event("{holder} (won|got) {ball} back from {rival} .", "{holder} stopped {rival} and took {ball} ."),
)

FOUL = seq(
    event(
        "{rival} (pushed|kicked) {holder} , and {holder} fell .",
        "{rival} knocked {holder} down .",
        opener=False,
    ),
    event("{referee} (blew {whistle}|stopped the game|ran to {holder}) .", opener=False, clear=True),
    event("{referee} (showed {rival} {card}|warned {rival}) .", clear=True),
    maybe(
        0.5,
        event("{holder} held {knee} and groaned .", opener=False, clear=True),
        event("{coach} (brought {holder} {ice}|put {ice} on {knee}|looked at {knee}) .", clear=True),
        event("After a minute , {holder} could play again .", opener=False),
    ),
)

GOAL = seq(
    event("{keeper} (dived|jumped) , but {ball} went in .", "{ball} flew past {keeper} .", opener=False),
    event("({team}|{crowd}|{coach}) (cheered|danced|screamed) .", opener=False),
    maybe(0.4, event("({coach}|{mate}) hugged {holder} .", "{parents} waved {flag} .", opener=False)),
)

SAVE = seq(
    event("{keeper} (caught|stopped|held) {ball} .", "{ball} hit {post} .", opener=False),
    event("({holder}|{coach}|{mate}) could not believe it .", opener=False, clear=True),
    event("{keeper} threw {ball} to {rival} .", opener=False, clear=True),
    pick("holder", PLAYERS),
    event("But {holder} was faster than {rival} and got {ball} .", opener=False),
    event("This time {holder} made no mistake , and {keeper} was beaten .", opener=False),
)

STEPS = seq(
    event(
        "On {day} , {team} played in {match} .",
        "{team} were ready for {match} .",
        "On {day} , {coach} took {team} to {match} .",
        opener=False,
    ),
    maybe(
        0.4,
        either(
            event("{rain} made {field} wet .", "It was raining , and {field} was wet .", opener=False),
            event("{coach} told ({team}|{captain}|{striker}) to stay calm .", opener=False),
            event("Before {match:full} , {striker} could n't find {shoe} .", opener=False),
        ),
    ),
    event("{referee} (blew {whistle}|threw a coin) , and {match} began .", opener=False),
    pick("holder", PLAYERS),
    event("{holder} (got|took) {ball} first/RB .", "{ball} came to {holder} .", opener=False),
    again(0.5, 2, *PASS),
    either(STEAL, FOUL, seq(*PASS), weights=(2, 2, 1)),
    again(0.4, 2, *PASS),
    react(0.25, PEOPLE),
    pick("mate", PLAYERS, but="holder"),
    maybe(
        0.3,
        either(
            say("coach", "holder", '" (Shoot|Kick {ball}) ! " {coach} (shouted|yelled) .'),
            say("mate", "holder", '" (Here|Pass {ball} to {mate}) ! " {mate} called .'),
            event("{crowd} sang and clapped .", "({parents}|{coach}|{mate}) jumped up .", opener=False),
        ),
    ),
    event(
        "{holder} (beat|passed) {rival} and (shot|fired) at {goal} .",
        "{holder} took a deep breath and kicked {ball} .",
        "In {minute} , {holder} kicked {ball} very hard .",
        opener=False,
        clear=True,
    ),
    either(GOAL, SAVE, weights=(3, 2)),
    react(0.25, PEOPLE),
    event("{referee} (ended {match}|blew {whistle} again) .", "{match} was over .", opener=False),
    maybe(
        0.7,
        either(
            event("({coach}|{referee}) gave ({holder}|{captain}) {cup} .", clear=True),
            event("{rival} shook hands with ({captain}|{holder}|{coach}) .", opener=False, clear=True),
            event("({captain}|{holder}) (lifted {cup}|thanked {coach}) .", opener=False),
            event("{coach} bought pizza for {team} .", "{team} went home tired but happy .", opener=False),
        ),
    ),
)

FOOTBALL = Scenario(
    "football",
    hero="captain",
    roles=ROLES,
    steps=STEPS,
    narrated=0.15,
)
