"""Short words for writing scripts, so that a scenario reads like the stories that it makes."""

from __future__ import annotations

from entitynlm.text.stories.plot import (
    Again,
    AnyOrder,
    Detour,
    Either,
    Event,
    Maybe,
    Pick,
    Reaction,
    Step,
    Steps,
    When,
)


def event(
    *templates: str,
    opener: bool = True,
    clear: bool = False,
    sets: str = "",
    gains: str = "",
    learns: str = "",
) -> Event:
    """Something happens. ``sets="holder=catcher"`` moves registers, ``gains="vase=broken"`` adds properties."""
    return Event(
        templates,
        opener=opener,
        clear=clear,
        sets=_pair(sets),
        gains=_pair(gains),
        learns=tuple(learns.split()),
    )


def say(speaker: str, hearer: str, *templates: str, clear: bool = True, learns: str = "") -> Event:
    """Someone says something to someone."""
    return Event(
        templates, speaker=speaker, hearer=hearer, opener=False, clear=clear, learns=tuple(learns.split())
    )


def _pair(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (item.split("=") for item in text.split())
    return tuple((left, right) for left, right in pairs)


def seq(*steps: Step) -> Steps:
    """Some steps as one alternative or part."""
    return steps


def maybe(probability: float, *steps: Step) -> Maybe:
    """The steps happen with this probability."""
    return Maybe(probability, steps)


def either(*alternatives: Step | Steps, weights: tuple[float, ...] = ()) -> Either:
    """One of the alternatives happens; without weights they are equally likely."""
    shares = weights or (1.0,) * len(alternatives)
    total = sum(shares)
    return Either(
        tuple((share / total, _wrap(steps)) for share, steps in zip(shares, alternatives, strict=True))
    )


def any_order(*parts: Step | Steps) -> AnyOrder:
    """All parts happen, in any order."""
    return AnyOrder(tuple(_wrap(part) for part in parts))


def again(probability: float, most: int, *steps: Step) -> Again:
    """The steps happen once or, each time with this probability, once more."""
    return Again(probability, most, steps)


def pick(register: str, among: str, but: str = "") -> Pick:
    """A register is pointed to one of some roles."""
    return Pick(register, tuple(among.split()), tuple(but.split()))


def when(fact: str, *steps: Step, otherwise: Steps = ()) -> When:
    """The steps happen if the fact is known."""
    return When(fact, steps, otherwise)


def detour(probability: float, where: str) -> Detour:
    """Something unscripted may happen here."""
    return Detour(probability, where)


def react(probability: float, people: str, things: str = "") -> Reaction:
    """One of these may react to another one of them, or to one of these things, as far as they were mentioned."""
    return Reaction(probability, tuple(people.split()), tuple(things.split()))


def _wrap(part: Step | Steps) -> Steps:
    return part if isinstance(part, tuple) else (part,)
