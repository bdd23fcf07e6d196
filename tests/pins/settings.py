"""The settings that are pinned: each a small study, played to its end or to a state worth keeping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handful import PerItem, Preferences, Values
from handful.rules import Admission, ChecksBelow, FasterThan, OneSide, Rule
from tests.pins.play import Play
from tests.pins.world import World

PEOPLE = ("ann", "bob", "cid", "dot", "eve", "fay")
NARROW: dict[str, Any] = {"feedback": Values(noise=0.1), "delta": 0.1}
WIDE: dict[str, Any] = {"feedback": Values(noise=0.3), "delta": 0.1}


def values(size: int, k: int, explorer: str | None, noise: float = 0.1, **settings: Any) -> Play:
    """A study of numbers."""
    world = World(size)
    within = getattr(settings["feedback"], "range", None) or (-1e9, 1e9)
    return Play(world.items, k, world.value(noise, within=within), explorer=explorer, **settings)


def pairs(size: int, k: int, explorer: str | None, options: int = 2, **settings: Any) -> Play:
    """A study of comparisons, or of choices among several."""
    world = World(size)
    settings = {"feedback": Preferences(options=options)} | settings
    return Play(world.items, k, world.choice(), explorer=explorer, **settings)


def withdraw_item(play: Play) -> Play:
    """One item leaves after the first round."""
    play.until(1)
    play.study.withdraw(next(item for item in play.study.items if item not in play.study.result().chosen), "copyright")
    return play


def exclude_and_restore(play: Play) -> Play:
    """Somebody is excluded by hand and counts again later; somebody else stays out."""
    play.scrambled(50, 1, ahead=5, workers=PEOPLE)
    play.study.exclude("bob", "always one side")
    play.study.exclude("cid", "too fast", by_rule=True)
    play.scrambled(30, 2, ahead=5, workers=PEOPLE)
    play.study.restore("bob")
    return play.scrambled(2_000, 3, ahead=5, workers=PEOPLE)


def leave(play: Play) -> Play:
    """Somebody takes all their answers back, in the middle of a round."""
    play.scrambled(60, 4, ahead=4, workers=PEOPLE)
    play.study.leave("ann")
    return play.scrambled(2_000, 5, ahead=4, workers=PEOPLE)


def exclude_at_the_end(play: Play) -> Play:
    """Somebody is excluded when all is picked."""
    play.scrambled(3_000, 6, ahead=4, workers=PEOPLE)
    play.study.exclude("dot", "gave the same answer in another study")
    return play


def late(play: Play) -> Play:
    """Every fourth question is answered after its round, and some time runs out."""
    held: list[Any] = []
    picked = 0
    for n in range(2_000):
        if play.study.finished:
            break
        play.clock.now += 1
        worker = PEOPLE[n % 5]
        for question in play.ask(1, worker):
            if n % 4 == 3 and len(held) < 3:
                held.append((question, worker))
            else:
                play.tell(question, worker)
        if len(play.study.result().chosen) > picked:
            picked = len(play.study.result().chosen)
            for question, who in held:
                play.tell(question, who)
            held.clear()
    return play


def expired(play: Play) -> Play:
    """Many hold a question for longer than they may; some answer all the same."""
    for n in range(600):
        if play.study.finished:
            break
        play.clock.now += 2
        worker = PEOPLE[n % 6]
        for question in play.ask(1, worker):
            if n % 3:
                play.tell(question, worker)
        if n % 10 == 9 and play.open:
            question, who = play.open[0]
            play.tell(question, who)
    return play


def skips(play: Play) -> Play:
    """Questions go from one to the other, and some are void in the end."""
    for n in range(600):
        if play.study.finished:
            break
        play.clock.now += 1
        worker = PEOPLE[n % 6]
        for question in play.ask(1, worker):
            if int(question.id[1:]) % 5 == 2 or n % 7 == 3:
                play.skip(question, worker)
            else:
                play.tell(question, worker)
    return play


def undone(play: Play) -> Play:
    """Answers are provisional for a while; some are revised, some settled."""
    for n in range(600):
        if play.study.finished:
            break
        play.clock.now += 1
        worker = PEOPLE[n % 4]
        for question in play.ask(1, worker):
            receipt = play.tell(question, worker, undo_s=4.0 * (n % 3))
            if n % 4 == 1 and receipt.standing == "provisional":
                play.revise(question, _otherwise(question, receipt.answer), worker)
        if n % 9 == 8:
            play.said.append(["settle", play.study.settle(worker)])
    return play


def _otherwise(question: Any, answer: Any) -> Any:
    if isinstance(answer, bool):
        return not answer
    if isinstance(answer, float):
        return answer + 0.05
    return next(option for option in question.options if option != answer)


def ruled(play: Play) -> Play:
    """A rule of who counts: practice, checks, one who fails them, one who is too fast, one who takes one side."""
    for worker in PEOPLE:
        play.study.check(worker, "practice", True, 900)
        play.study.check(worker, "gold", worker != "fay", 700)
    for n in range(1_500):
        if play.study.finished:
            break
        play.clock.now += 1
        worker = PEOPLE[n % 6]
        for question in play.ask(1, worker):
            left = worker == "cid" or (n // 6) % 2 == 0
            answer = n % 4 < 2 if worker == "cid" else None
            side = {"side": "left" if left else "right"}
            play.tell(question, worker, answer, meta=side, duration=100 if worker == "bob" else 1_500 + n)
        if n % 37 == 5 and worker == "eve":
            play.study.check("eve", "gold", n % 2 == 0, 800)
    return play


def finish_early(play: Play) -> Play:
    """The study is finished in its second round: that is decided, and the rest filled in."""
    play.until(1)
    for question in play.ask(6):
        play.tell(question)
    play.study.finish("enough")
    return play


def extend_and_pause(play: Play) -> Play:
    """The budget grows twice; nothing is asked in between."""
    play.until(1)
    play.study.extend(10)
    play.study.pause()
    play.ask(3)
    play.study.resume()
    play.scrambled(20, 7, ahead=3)
    play.study.extend(PerItem(2))
    return play.run()


def ask_and_tell(play: Play) -> Play:
    """Eight are out, and answered in any order."""
    return play.scrambled(5_000, 8, ahead=8)


def run(play: Play) -> Play:
    """All by `run`."""
    return play.run()


RULE = Rule(Admission(1, 1, 1), exclude_if=(ChecksBelow(), FasterThan(after=4), OneSide(0.9, 6)), share=1.0)
CROWD: dict[str, Any] = {"lease_s": 10, "in_flight": 6}

Setting = tuple[Callable[[], Play], Callable[[Play], Play]]
SETTINGS: dict[str, Setting] = {
    # numbers
    "topx values": (lambda: values(8, 3, "topx", epsilon=0.9, seed=1, **NARROW), run),
    "topx values, 8 in flight": (lambda: values(8, 3, "topx", epsilon=0.9, seed=1, in_flight=8, **NARROW), run),
    "topx values, 8 in any order": (
        lambda: values(8, 3, "topx", epsilon=0.9, seed=2, in_flight=8, **NARROW),
        ask_and_tell,
    ),
    "topx O": (lambda: values(7, 2, "topx:variant=O", epsilon=0.6, seed=3, **NARROW), run),
    "topx G": (lambda: values(6, 2, "topx:variant=G", epsilon=2.5, budget=400, seed=4, **NARROW), run),
    "topx l=1": (lambda: values(6, 2, "topx:l=1", epsilon=0.9, budget=400, seed=5, **NARROW), run),
    "topx range": (
        lambda: values(6, 2, "topx", feedback=Values(range=(-0.2, 6.0)), epsilon=6.0, budget=500, seed=6),
        run,
    ),
    "uniform values": (lambda: values(6, 2, "uniform", epsilon=0.9, seed=7, **NARROW), run),
    "uniform fixed": (
        lambda: values(6, 2, "uniform:stop=fixed", epsilon=0.9, budget=200, seed=8, in_flight=8, **NARROW),
        run,
    ),
    "sharp values": (lambda: values(6, 2, "sharp", epsilon=0.9, seed=9, **NARROW), run),
    "sharp range": (lambda: values(6, 2, "sharp", feedback=Values(range=(-0.2, 6.0)), epsilon=3.0, seed=10), run),
    "sharp values, 8 in any order": (
        lambda: values(6, 2, "sharp", epsilon=0.9, seed=11, in_flight=8, **NARROW),
        ask_and_tell,
    ),
    "certified ratio": (lambda: values(12, 3, "certified", ratio=0.8, seed=12, **NARROW), run),
    "certified epsilon": (lambda: values(10, 3, "certified", epsilon=0.2, seed=13, **NARROW), run),
    "certified range": (lambda: values(6, 2, None, feedback=Values(range=(-0.2, 6.0)), ratio=0.4, seed=14), run),
    "certified budget": (lambda: values(8, 3, "certified", epsilon=0.01, budget=90, seed=15, noise=0.3, **WIDE), run),
    "certified chosen": (
        lambda: values(8, 3, "certified", epsilon=0.3, chosen=["item 2"], in_flight=3, seed=16, **NARROW),
        run,
    ),
    "certified, 8 in any order": (
        lambda: values(10, 3, "certified", epsilon=0.2, seed=17, in_flight=8, **NARROW),
        ask_and_tell,
    ),
    "certified, item withdrawn": (
        lambda: values(8, 3, "certified", epsilon=0.3, seed=18, **NARROW),
        lambda play: withdraw_item(play).run(),
    ),
    "worth, paired scenarios": (
        lambda: values(8, 2, "worth", 0.5, feedback=Values(), budget=60, seed=19, scenarios="paired", in_flight=3),
        run,
    ),
    "certified, late": (
        lambda: values(8, 3, "certified", epsilon=0.3, seed=20, in_flight=6, budget=400, **NARROW),
        late,
    ),
    "certified, excluded and restored": (
        lambda: values(8, 3, "certified", epsilon=0.3, seed=21, budget=500, **NARROW, **CROWD),
        exclude_and_restore,
    ),
    "certified, finished early": (lambda: values(8, 3, "certified", epsilon=0.3, seed=22, **NARROW), finish_early),
    "worth": (lambda: values(10, 3, None, 0.5, feedback=Values(), budget=120, seed=23), run),
    "worth, noise known, 8 in flight": (
        lambda: values(10, 3, "worth", 0.5, feedback=Values(noise=0.5), budget=PerItem(12), in_flight=8, seed=24),
        run,
    ),
    "worth, 8 in any order": (
        lambda: values(12, 3, "worth", 0.5, feedback=Values(), budget=100, in_flight=8, seed=25),
        ask_and_tell,
    ),
    "worth, many": (lambda: values(64, 2, "worth", 0.5, feedback=Values(), budget=192, seed=26), run),
    "worth, item withdrawn": (
        lambda: values(10, 3, "worth", 0.5, feedback=Values(), budget=90, seed=27),
        lambda play: withdraw_item(play).run(),
    ),
    "worth, undone": (lambda: values(8, 2, "worth", 0.5, feedback=Values(), budget=60, seed=28, **CROWD), undone),
    "worth, extended": (
        lambda: values(8, 3, "worth", 0.5, feedback=Values(), budget=40, in_flight=3, seed=29),
        extend_and_pause,
    ),
    # comparisons
    "topx pairs": (lambda: pairs(6, 2, "topx", budget=80, seed=30), run),
    "topx pairs, tau 3": (lambda: pairs(6, 2, "topx", feedback=Preferences(tau=3), budget=120, seed=31), run),
    "topx pairs, epsilon": (
        lambda: pairs(5, 2, "topx", feedback=Preferences(beta=4.0), epsilon=4.0, budget=600, in_flight=8, seed=32),
        ask_and_tell,
    ),
    "uniform pairs": (lambda: pairs(6, 2, "uniform", budget=80, seed=33), run),
    "sharp pairs": (lambda: pairs(6, 2, "sharp", budget=120, seed=34), run),
    "pivot": (lambda: pairs(6, 2, None, feedback=Preferences(beta=4.0), epsilon=1.5, seed=35), run),
    "pivot, 8 in any order": (
        lambda: pairs(6, 2, "pivot", feedback=Preferences(beta=4.0), epsilon=1.5, in_flight=8, seed=36),
        ask_and_tell,
    ),
    "pivot, budget": (
        lambda: pairs(6, 2, "pivot", feedback=Preferences(beta=4.0), epsilon=0.1, budget=80, seed=37),
        run,
    ),
    "duels": (lambda: pairs(10, 3, None, budget=150, seed=38), run),
    "duels, 8 in flight": (lambda: pairs(10, 3, "duels", budget=150, in_flight=8, seed=39), run),
    "duels, 8 in any order": (lambda: pairs(10, 3, "duels", budget=120, in_flight=8, seed=40), ask_and_tell),
    "duels of 3": (lambda: pairs(9, 3, "duels", 3, budget=60, seed=41), run),
    "duels of 4": (lambda: pairs(9, 3, "duels", 4, budget=60, seed=42), run),
    "duels of 4, 8 in any order": (lambda: pairs(9, 3, "duels", 4, budget=60, in_flight=8, seed=43), ask_and_tell),
    "duels, sure": (lambda: pairs(8, 3, "duels:sure=0.9", budget=120, seed=44), run),
    "duels, prior": (
        lambda: pairs(8, 3, "duels", budget=60, in_flight=3, prior=[8, 7, 6, 5, 4, 3, 2, 1], seed=45),
        run,
    ),
    "duels, item withdrawn": (
        lambda: pairs(9, 3, "duels", 4, budget=50, chosen=["item 4"], seed=46),
        lambda play: withdraw_item(play).run(),
    ),
    # people
    "topx pairs, excluded and restored": (
        lambda: pairs(6, 3, "topx", budget=150, seed=47, **CROWD),
        exclude_and_restore,
    ),
    "duels, excluded and restored": (lambda: pairs(8, 3, "duels", budget=150, seed=48, **CROWD), exclude_and_restore),
    "duels of 4, somebody leaves": (lambda: pairs(8, 3, "duels", 4, budget=90, seed=49, **CROWD), leave),
    "pivot, somebody leaves": (
        lambda: pairs(6, 2, "pivot", feedback=Preferences(beta=4.0), epsilon=1.5, seed=50, **CROWD),
        leave,
    ),
    "duels, excluded at the end": (lambda: pairs(8, 3, "duels", budget=90, seed=51, **CROWD), exclude_at_the_end),
    "duels, late": (lambda: pairs(8, 3, "duels:sure=0.8", budget=150, seed=52, **CROWD), late),
    "topx pairs, late": (lambda: pairs(6, 3, "topx", budget=120, seed=53, **CROWD), late),
    "duels, leases run out": (lambda: pairs(8, 3, "duels", budget=90, seed=54, **CROWD), expired),
    "topx pairs, skips": (lambda: pairs(6, 3, "topx", budget=120, seed=55, **CROWD), skips),
    "duels of 4, skips": (lambda: pairs(8, 3, "duels", 4, budget=60, seed=56, **CROWD), skips),
    "duels, undone": (lambda: pairs(8, 3, "duels", budget=80, seed=57, **CROWD), undone),
    "duels, ruled": (lambda: pairs(8, 3, "duels", budget=150, rule=RULE, seed=58, **CROWD), ruled),
    "topx pairs, ruled": (lambda: pairs(6, 2, "topx", budget=150, rule=RULE, seed=59, **CROWD), ruled),
    "duels, finished early": (lambda: pairs(8, 4, "duels", budget=120, seed=60, in_flight=3), finish_early),
    "duels, extended": (lambda: pairs(8, 3, "duels", budget=50, seed=61, in_flight=3), extend_and_pause),
    "duels, one person": (lambda: pairs(8, 3, "duels", budget=60, seed=62, solo=True), run),
}


def pin_of_study(name: str) -> dict[str, Any]:
    """Play one setting, and tell what there is to see."""
    make, then = SETTINGS[name]
    return then(make()).pin()
