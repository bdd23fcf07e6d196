"""What a study is made of before anything happens: items, problem, explorer, leases; and its JSON."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from handful.errors import InvalidProblem, SmallBudget, StorageCorrupt
from handful.explorers.registry import Duels, Explorer, default_explorer, describe, described, explorer_of, spelled
from handful.numbers import is_finite, make_plain
from handful.problem import Feedback, PerItem, Preferences, Problem, Total, Values
from handful.questions import position_of, read_items
from handful.rules import Door, Rule

if TYPE_CHECKING:
    from handful.state import State


VERSION = version("handful")
IN_FLIGHT = {"processes": 64, "cluster": 256}  # by where an oracle will run


@dataclass(frozen=True)
class Setup:
    """The settings of a study, as its journal's first event records them."""

    ids: tuple[str, ...]
    problem: Problem
    explorer: Explorer
    lease_s: float
    solo: bool | None = None  # whether it is for one person; None where nobody said so
    scenarios: str = "fresh"
    handful: str = VERSION  # that the study was made with
    rules: int = 1  # the number of the explorer's rules
    rule: Rule | None = None  # who counts; None where everybody does
    door: Door | None = None  # how people come to it
    continues: str | None = None  # the name of the study it goes on from
    in_flight_left: bool = False  # to the first run, because nobody said how many; until then it is 1

    def __post_init__(self) -> None:
        make_plain(self)
        if not (is_finite(self.lease_s) and self.lease_s > 0):
            raise InvalidProblem(f"lease_s must be a positive number of seconds, got {self.lease_s!r}")
        if self.solo not in (None, True, False):
            raise InvalidProblem(f"solo must be True, False or None, got {self.solo!r}")
        if not (self.continues is None or isinstance(self.continues, str)):
            raise InvalidProblem(f"continues must be the name of a study or None, got {self.continues!r}")
        if self.scenarios not in ("fresh", "paired"):
            raise InvalidProblem(f'scenarios must be "fresh" or "paired", got {self.scenarios!r}')
        if self.scenarios == "paired" and (self.problem.feedback.compares or self.explorer.name == "certified"):
            raise InvalidProblem(
                'scenarios="paired" is for values, and not with the explorer "certified", whose proof needs answers '
                'that are independent of each other: leave it at "fresh", or take another explorer'
            )

    @property
    def is_current(self) -> bool:
        """Whether this handful would decide by the rules that the study was made with, and so may go on with it."""
        return self.handful == VERSION and self.rules == self.explorer.rules

    @property
    def made_by(self) -> str:
        """Which handful made the study, and by which rules, for a message."""
        return f"made by handful {self.handful}, with rules {self.rules} of the explorer {self.explorer.name}"

    @property
    def copies_held(self) -> bool:
        """Whether a question that is held for long is asked of others too: where people come by a door, and may go."""
        return self.door is not None

    @property
    def sure(self) -> float | None:
        """How likely the best a pick must be, by the explorer's belief, for its round to end early; None for never."""
        return self.explorer.sure if isinstance(self.explorer, Duels) else None

    @property
    def explorer_spelled(self) -> str:
        """The explorer by name, with the options that are not as usual."""
        return spelled(self.explorer)

    def explored_by(self, wished: str) -> bool:
        """Whether this spells the explorer, however it is spelled."""
        return explorer_of(wished) == self.explorer

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON, as the journal keeps them."""
        p = self.problem
        solo = {} if self.solo is None else {"solo": self.solo}
        return {
            "handful": self.handful,
            "items": list(self.ids),
            "fingerprint": fingerprint(self.ids),
            "k": p.k,
            "feedback": _feedback_to_dict(p.feedback),
            "explorer": describe(self.explorer),
            "rules": self.rules,
            "epsilon": p.epsilon,
            "delta": p.delta,
            "budget": None if p.total is None else p.total.answers,
            "ratio": p.ratio,
            "in_flight": p.in_flight,
            "lease_s": self.lease_s,
            "prior": None if p.prior is None else list(p.prior),
            "chosen": list(p.chosen),
            "seed": p.seed,
            **solo,
            **({} if self.scenarios == "fresh" else {"scenarios": self.scenarios}),
            **({} if self.rule is None else {"rule": self.rule.to_dict()}),
            **({} if self.door is None else {"door": self.door.to_dict()}),
            **({} if self.continues is None else {"continues": self.continues}),
            **({"in_flight_left": True} if self.in_flight_left else {}),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Setup:
        """The settings that `to_dict` wrote; StorageCorrupt for anything else."""
        try:
            ids = tuple(data["items"])
            if fingerprint(ids) != data["fingerprint"]:
                raise ValueError("the items do not match their fingerprint")
            problem = Problem(
                size=len(ids),
                k=data["k"],
                feedback=_feedback_from_dict(data["feedback"]),
                epsilon=data["epsilon"],
                delta=data["delta"],
                budget=None if data["budget"] is None else Total(data["budget"]),
                ratio=data["ratio"],
                in_flight=data["in_flight"],
                prior=None if data["prior"] is None else tuple(data["prior"]),
                chosen=tuple(data["chosen"]),
                seed=data["seed"],
            )
            return cls(
                ids,
                problem,
                described(data["explorer"]),
                data["lease_s"],
                data.get("solo"),
                data.get("scenarios", "fresh"),
                data["handful"],
                data["rules"],
                Rule.from_dict(data["rule"]) if "rule" in data else None,
                Door.from_dict(data["door"]) if "door" in data else None,
                data.get("continues"),
                data.get("in_flight_left", False),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise StorageCorrupt(
                f"the study's first record does not describe a study ({error}): restore the storage from a backup"
            ) from error


def make_setup(
    items: Sequence[Any],
    ids: tuple[str, ...],
    k: int,
    *,
    feedback: Feedback,
    explorer: str | Explorer | None,
    epsilon: float | None,
    delta: float,
    budget: int | PerItem | None,
    ratio: float | None,
    in_flight: int | str | None,
    lease_s: float,
    prior: Sequence[float] | None,
    chosen: Iterable[Any],
    seed: int,
    scenarios: str,
    solo: bool | None,
    rule: Rule | None,
    door: Door | None,
    continues: str | None,
) -> Setup:
    """The settings a user means, validated; the defaults stand in the signature of `Study`."""
    if not isinstance(feedback, (Values, Preferences)):
        raise InvalidProblem(f"feedback must be Values(...) or Preferences(...), got {feedback!r}")
    if isinstance(feedback, Values):
        feedback.check_unit()
    if epsilon is not None and ratio is not None:
        raise InvalidProblem(
            "one claim is proved: give epsilon= for (1 − 1/e)·f(OPT) − ε, or ratio= for a share of f(OPT)"
        )
    problem = Problem(
        size=len(items),
        k=k,
        feedback=feedback,
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        ratio=ratio,
        in_flight=_in_flight(in_flight),
        prior=None if prior is None else tuple(float(score) for score in prior),
        chosen=tuple(position_of(item, items) for item in read_items(chosen)[0]),
        seed=seed,
    )
    settings = default_explorer(problem) if explorer is None else explorer_of(explorer)
    left = in_flight is None
    return Setup(
        ids,
        problem,
        settings,
        lease_s,
        solo,
        scenarios,
        VERSION,
        settings.rules,
        rule,
        door,
        continues,
        left,
    )


def _in_flight(given: int | str | None) -> int:
    if given is None:
        return 1
    if isinstance(given, str):
        if given not in IN_FLIGHT:
            raise InvalidProblem(f'in_flight must be a number, "processes" or "cluster", got {given!r}')
        return IN_FLIGHT[given]
    return given


def fingerprint(ids: Sequence[str]) -> str:
    """A short digest of the items, in order."""
    return blake2b(json.dumps(list(ids)).encode(), digest_size=16).hexdigest()


def _feedback_to_dict(feedback: Feedback) -> dict[str, Any]:
    if isinstance(feedback, Preferences):
        # JSON has no ∞, which is the β of people who never err.
        beta = "inf" if feedback.beta == math.inf else feedback.beta
        options = {} if feedback.options == 2 else {"options": feedback.options}
        return {"kind": "preferences", "tau": feedback.tau, "beta": beta, **options}
    return {
        "kind": "values",
        "noise": feedback.noise,
        "range": None if feedback.range is None else list(feedback.range),
    }


def _feedback_from_dict(data: dict[str, Any]) -> Feedback:
    if data["kind"] == "preferences":
        return Preferences(
            data["tau"], None if data["beta"] is None else float(data["beta"]), options=data.get("options", 2)
        )
    if data["kind"] == "values":
        return Values(data["noise"], None if data["range"] is None else tuple(data["range"]))
    raise ValueError(f"unknown feedback {data['kind']!r}")


_heard: ContextVar[list[str] | None] = ContextVar("heard", default=None)


@contextmanager
def small_budgets_heard() -> Iterator[list[str]]:
    """What studies that are made in here would warn of. `warnings.catch_warnings` would act on all threads."""
    heard: list[str] = []
    before = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(before)


def warn_of_small_budget(state: State) -> None:
    """With fewer answers than candidates some items are never looked at, and with several options, of which each
    answer tells something, with fewer places than candidates: that may be meant, so it is a warning.
    """
    problem, answers = state.setup.problem, state.exploration.limit
    candidates, options = problem.candidates, problem.feedback.options
    if answers < 0 or candidates < 2 or state.exploration.round > problem.k:
        return
    if answers == 0:
        told = f"no answer, and its pick is drawn by chance; {problem.rounds} answers are one for each round"
    elif options <= 2 and answers < candidates:
        told = (
            f"{answers} answers for {candidates} candidates: some will never be asked about; "
            f"{candidates * problem.rounds} answers are one per candidate and round"
        )
    elif options > 2 and answers * options < candidates:
        told = (
            f"{answers} answers, each to {options} candidates of {candidates}: some will never be shown; "
            f"{-(-candidates // options) * problem.rounds} answers have room for every candidate in each round"
        )
    else:
        return
    told = f"the budget gives the first round {told}"
    heard = _heard.get()
    if heard is None:
        warnings.warn(told, SmallBudget, stacklevel=5)
    else:
        heard.append(told)
