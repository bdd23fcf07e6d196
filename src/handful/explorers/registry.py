"""The explorers by name: frozen settings that say what they promise and build the compiled state.

An explorer is chosen by name (`explorer="topx"`), by name with options (`explorer="topx:variant=O"`, as on the command
line) or by settings (`explorer=TopX(variant="O")`). A new explorer is a file of its own and
its class in the list below.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from typing import Any

from handful.errors import InvalidProblem, UnknownExplorer
from handful.explorers.certified import Certified as Certified
from handful.explorers.duels import Duels as Duels
from handful.explorers.pivot import Pivot as Pivot
from handful.explorers.protocol import Explorer as Explorer
from handful.explorers.sharp import Sharp as Sharp
from handful.explorers.topx import TopX as TopX
from handful.explorers.uniform import Uniform as Uniform
from handful.explorers.worth import Worth as Worth
from handful.numbers import make_plain
from handful.problem import Problem, Values

EXPLORERS: dict[str, type[Explorer]] = {
    kind.name: kind for kind in (Certified, Duels, Pivot, Sharp, TopX, Uniform, Worth)
}


def explorer_named(name: str, /, **options: object) -> Explorer:
    """Settings by name, with their options."""
    if name not in EXPLORERS:
        raise UnknownExplorer(f"there is no explorer named {name!r}; there are {', '.join(EXPLORERS)}")
    there = [option.name for option in fields(EXPLORERS[name])]  # type: ignore[arg-type]
    for option in options:
        if option not in there:
            raise InvalidProblem(f"explorer {name} has no option {option!r}; it has {', '.join(there) or 'none'}")
    return EXPLORERS[name](**options)


def explorer_of(wished: str | Explorer) -> Explorer:
    """Settings, or what spells them: a name, or a name with options, such as "topx:variant=O,l=1"."""
    if not isinstance(wished, str):
        if not isinstance(wished, Explorer):
            raise InvalidProblem(
                f"explorer must be a name such as 'certified', or settings such as Certified(), got {wished!r}"
            )
        make_plain(wished)
        return wished
    name, _, written = (part.strip() for part in wished.partition(":"))
    explorer_named(name)  # an unknown one is refused before its options are looked at
    options: dict[str, object] = {}
    for option in filter(None, written.split(",")):
        key, given, value = (part.strip() for part in option.partition("="))
        if not given:
            raise InvalidProblem(f"options of an explorer are written as {name}:option=value, got {option!r}")
        if key in options:
            raise InvalidProblem(f"explorer {name}: the option {key!r} is given twice")
        options[key] = _read(value)
    return explorer_named(name, **options)


def _read(value: str) -> object:
    """A number if it looks like one, None if it says so, else the text."""
    if value.lower() in ("none", "null"):
        return None
    for number in (int, float):
        with suppress(ValueError):
            return number(value)
    return value


def spelled(settings: Explorer) -> str:
    """The shortest that `explorer_of` takes for these settings."""
    values = [(option, getattr(settings, option.name)) for option in fields(settings)]  # type: ignore[arg-type]
    options = [f"{option.name}={value}" for option, value in values if value != option.default]
    return settings.name + (f":{','.join(options)}" if options else "")


def describe(settings: Explorer) -> dict[str, object]:
    """Name and options, for the journal."""
    return {"name": settings.name, **asdict(settings)}  # type: ignore[call-overload]


def described(description: Mapping[str, Any]) -> Explorer:
    """The inverse of `describe`."""
    options = dict(description)
    return explorer_named(options.pop("name"), **options)


def default_explorer(problem: Problem) -> Explorer:
    """The best explorer for what is known. For a guarantee: certified (values), pivot (comparisons); else worth and
    duels, which need a budget.
    """
    feedback, guaranteed = problem.feedback, problem.epsilon is not None or problem.ratio is not None
    if isinstance(feedback, Values):
        if guaranteed and feedback.sub_gaussian is not None:
            return Certified()
        needs = "to know the noise: give Values(noise=R) or Values(range=(lo, hi))"
        chosen: Explorer = Worth()
    else:
        if problem.ratio is not None:
            raise InvalidProblem(
                "no comparison shows what anything is worth, so no ratio= of f(OPT) can be certified: "
                "give budget= instead, or epsilon= with Preferences(beta=...)"
            )
        if problem.epsilon is not None and feedback.beta is not None and feedback.options == 2:
            return Pivot()
        needs = "to know how sharp the crowd is at least: give Preferences(beta=...)"
        chosen = Duels()
    if problem.total is None:
        if guaranteed:
            raise InvalidProblem(f"a guarantee needs {needs}; or give budget= instead, the answers you can afford")
        proof = "epsilon= or ratio=" if isinstance(feedback, Values) else "epsilon="
        raise InvalidProblem(f"say when to stop: {proof} for a guarantee, or budget=, the answers you can afford")
    return chosen
