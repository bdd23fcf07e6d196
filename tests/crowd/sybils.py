"""One stranger on an open link, with a hundred cookies: `python -m tests.crowd.sybils 20` prints what comes of it.

Thirty honest people, each from a network of their own, answer every four seconds on average; every cookie of the
attacker five times as often, and always for one of the six worst of sixty items.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from handful import Preferences, Study
from handful.crowd.caps import Caps
from handful.crowd.identity import network_of
from handful.questions import ANSWERED
from handful.rules import Door, Rule

ITEMS, K, HONEST, PER_ITEM = 60, 6, 30, 4
WORST = frozenset(range(K))
QUALITY = np.linspace(0.0, 1.0, ITEMS)
STEEPNESS = 6.0
THINK_S, FASTER = 4.0, 5.0


@dataclass(frozen=True)
class Outcome:
    """What came of a study: worst items chosen, the attacker's share of the answers that count, and f of the picks."""

    pushed: int
    share: float
    value: float


def attacked(seed: int, addresses: list[str], *, capped: bool = True) -> Outcome:
    """A whole study while somebody attacks it, with one cookie per address in the list."""
    rng = np.random.default_rng(seed)
    now = [1e9]
    door = Door()
    study: Study[int] = Study(
        range(ITEMS),
        K,
        feedback=Preferences(),
        explorer="duels",
        budget=ITEMS * K * PER_ITEM,
        in_flight=200,
        lease_s=60,
        seed=seed,
        rule=Rule(None, None, ()) if capped else None,
        door=door if capped else None,
        clock=lambda: now[0],
    )
    where = {f"h{i}": f"10.{i}.0.1" for i in range(HONEST)} | {f"a{i}": at for i, at in enumerate(addresses)}
    caps = Caps(200, 0.75, lambda worker: network_of(where[worker], door).encode())
    if capped:
        study.let_in_by(caps)
    people = list(where)
    pause = np.array([THINK_S if name[0] == "h" else THINK_S / FASTER for name in people])
    due = now[0] + rng.exponential(pause)
    for name in people:
        caps.came(name, now[0])
    while not study.finished:
        at = int(np.argmin(due))
        name, now[0] = people[at], float(due[at])
        due[at] += rng.exponential(pause[at])
        caps.came(name, now[0])
        for q in study.ask(1, name):
            fair = rng.random() < 1 / (1 + np.exp(-STEEPNESS * (QUALITY[q.item] - QUALITY[q.rival])))
            pushes = name[0] == "a" and (q.item in WORST) != (q.rival in WORST)
            study.tell(q.id, q.item in WORST if pushes else bool(fair), name)
    state, chosen = study.state, study.result().chosen
    counted = np.asarray(state.questions.worker)[np.asarray(state.questions.standing) == ANSWERED]
    attackers = [number for number, name in enumerate(state.workers.names) if name[0] == "a"]
    return Outcome(
        len(WORST & set(chosen)), float(np.isin(counted, attackers).mean()), float(QUALITY[list(chosen)].sum())
    )


ATTACKS = {
    "100 cookies on one address": ["192.0.2.1"] * 100,
    "100 cookies on 20 addresses in one /24": [f"192.0.2.{n % 20}" for n in range(100)],
}


def main(seeds: int) -> None:
    calm = [attacked(seed, []) for seed in range(seeds)]
    reports = {name: [attacked(seed, where) for seed in range(seeds)] for name, where in ATTACKS.items()}
    reports["10 cookies, without a door"] = [attacked(seed, ["192.0.2.1"] * 10, capped=False) for seed in range(seeds)]
    value = np.mean([one.value for one in calm])
    for name, outcomes in reports.items():
        share, pushed = max(one.share for one in outcomes), max(one.pushed for one in outcomes)
        kept = np.mean([one.value for one in outcomes]) / value
        print(f"{name}: at most {share:.4f} of the answers, {pushed} of the worst chosen; f is {kept:.4f} of calm")


if __name__ == "__main__":
    main(int(sys.argv[1]))
