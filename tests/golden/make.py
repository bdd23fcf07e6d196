"""Write the golden journals anew, on purpose: `python -m tests.golden.make`.

There is one for each kind of study. They change only where events or the rules of an explorer do.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from handful import Preferences, Study, TopX, Values
from handful.export import journal_lines
from handful.oracles import noisy, uniform
from handful.rules import Admission, ChecksBelow, Door, FasterThan, OneSide, Rule
from tests.golden.explorers import EXPLORERS
from tests.study.worlds import Clock, coverage

FOLDER = Path(__file__).parent


def simulated() -> Study:
    """A run of the faithful TopX on values, several questions in flight."""
    study = Study(
        [f"node {i}" for i in range(12)],
        3,
        feedback=Values(noise=0.3),
        explorer=TopX(),
        epsilon=8.0,
        budget=400,
        in_flight=4,
        seed=7,
        clock=Clock(),
    )
    study.run(noisy(coverage(12), uniform(0.3), study.items))
    return study


def crowd() -> Study:
    """People at their worst: every kind of event, on comparisons."""
    clock, rng = Clock(), np.random.default_rng(3)
    study = Study(
        [f"photo {i}.jpg" for i in range(7)],
        3,
        feedback=Preferences(),
        explorer=TopX(),
        budget=75,
        in_flight=5,
        lease_s=10,
        seed=2**63 + 5,
        chosen=["photo 6.jpg"],
        clock=clock,
    )
    study.note("consent", {"worker": "ann"})
    people = ["ann", "bob", "cid", None]
    for n in range(120):
        clock.now += 1 + 12 * (n % 17 == 0)
        who = people[n % 4]
        for q in study.ask(1 + n % 2, who):
            if n % 9 == 4:
                study.skip(q.id, "too dark", who)
            elif n % 7 != 3:
                study.tell(q.id, bool(rng.random() < 0.6), who, {"ms": n}, undo_s=5 * (n % 3 == 0))
        if n % 11 == 0:
            for question, held in list(study.state.provisional.items()):
                study.revise(f"q{question}", True, held.worker)
        if n == 20:
            study.exclude("bob", "one side always", by_rule=True)
            study.pause()
        if n == 22:
            study.resume()
            study.extend(10)
        if n == 30:
            study.restore("bob")
            study.withdraw("photo 5.jpg", "copyright")
        if n == 45:
            study.exclude("cid", "too fast")
        if len(study.result().chosen) == 3:
            break
        if n == 70:
            study.finish("enough")
            break
    return study


def moderated() -> Study:
    """A rule and a door: people are checked, admitted and excluded, and some hold questions for long."""
    clock, rng = Clock(), np.random.default_rng(5)
    study = Study(
        [f"photo {i}.jpg" for i in range(6)],
        3,
        feedback=Preferences(),
        explorer="duels",
        budget=90,
        in_flight=4,
        lease_s=30,
        seed=11,
        rule=Rule(Admission(1, 1, 1), exclude_if=(ChecksBelow(), FasterThan(after=4), OneSide(0.9, 6))),
        door=Door(),
        clock=clock,
    )
    people = ["ann", "bob", "cid", "dot", "eve", "fay"]
    for n, who in enumerate(people):
        study.check(who, "practice", n % 2 == 0, 900)
        study.check(who, "gold", who != "fay", 700 + n)
    for n in range(400):
        clock.now += 1
        who = people[int(rng.integers(5))]
        for q in study.ask(1, who):
            if who == "eve" and n % 3:
                continue
            right = who == "cid" or bool(rng.random() < 0.7) == (q.item < q.rival)
            side = "left" if who == "cid" else ["left", "right"][n % 2]
            took = 100 if who == "bob" else 1500 + n
            study.tell(q.id, right, who, {"side": side}, undo_s=2 * (n % 4 == 0), duration=took)
        if n == 60:
            study.leave("ann")
            study.change_door(Door("room"), "all are here")
        if study.finished:
            break
    return study


def widened() -> Study:
    """A study made without `in_flight`, whose first run in a process says how many."""
    nodes, wanted = [f"node {i}" for i in range(8)], Values(noise=0.3)
    study = Study(nodes, 2, feedback=wanted, explorer=TopX(), epsilon=8.0, budget=200, seed=4, clock=Clock())
    study.withdraw("node 3", "a copy of node 4")
    study.extend(20)
    study.run(noisy(coverage(8), uniform(0.3), study.items), n_jobs=1)
    return study


STUDIES = {"simulated": simulated, "crowd": crowd, "moderated": moderated, "widened": widened, **EXPLORERS}


CERTIFIED = ("bound", "epsilon", "delta", "in_expectation", "ratio", "value", "optimum", "shown")


def summary(study: Study) -> dict[str, object]:
    """What must stay the same whoever reads the journal, and whenever."""
    result = study.result().to_dict()
    return {
        "chosen": result["chosen"],
        "answers": result["answers"],
        "finished": study.finished,
        "rounds": [
            {key: r[key] for key in ("pick", "candidates", "ended", "answers", "late", "affected_by_exclusion")}
            for r in result["rounds"]
        ],
        "standing": study.state.questions.standing.tolist(),
        "certificate": {key: value for key, value in study.result().certificate.to_dict().items() if key in CERTIFIED},
    }


def main() -> None:
    for name, make in STUDIES.items():
        study = make()
        (FOLDER / f"{name}.jsonl").write_text("".join(journal_lines(study.records())))
        (FOLDER / f"{name}.json").write_text(json.dumps(summary(study), indent=1) + "\n")


if __name__ == "__main__":
    main()
