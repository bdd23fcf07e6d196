"""Stretches of a journal in which questions were asked, answered and settled, and nothing else: applied at once.

Nearly all of a journal is such. What comes out is what `Fold.apply` makes of the events one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from handful.errors import StorageCorrupt
from handful.explorers.board import NOBODY
from handful.study.event_records import VERSION
from handful.study.events import Asked, Settled, Told
from handful.study.fold import Fold
from handful.study.provisionals import Provisional
from handful.study.questions import PROVISIONAL, UNANSWERED

KINDS = frozenset({Asked.kind, Told.kind, Settled.kind})
ASKED_KEYS, TOLD_KEYS = frozenset(Asked.keys) - {"c"}, frozenset(Told.keys)
"""All that a plain record may say; whatever says more is made an event of."""

Held = dict[int, tuple[str | None, float]]
"""Who was asked a question, and when: of most nobody need know, for the answer follows soon."""

_NUMBERS: set[type] = {int, float, bool}
_NAMES: set[type] = {str, type(None)}
_TIMES: set[type] = {int, float, type(None)}
_ASKED, _TOLD, _SETTLED = {"q", "i"}, {"q", "a"}, {"q"}  # what each must say


def apply_stretch(
    fold: Fold,
    versions: Sequence[int],
    kinds: Sequence[str],
    times: Sequence[float],
    decoded: Sequence[Any],
    held: Held,
) -> bool:
    """Apply records by their columns, if all of them are plain; else change nothing and say False.

    Whoever was asked and has not answered yet is added to `held`, for the caller to grant the question to them.
    """
    if not fold.exploration.can_follow or fold.questions.nth is not None:
        return False
    if {*map(type, decoded)} != {dict} or max(versions) > VERSION:
        return False
    found = _Stretch(fold, kinds, times, decoded)
    if not found.is_plain():
        return False
    found.apply(held)
    return True


class _Stretch:
    """Records to be looked through: the columns of what was asked, and everything in order."""

    def __init__(self, fold: Fold, kinds: Sequence[str], times: Sequence[float], decoded: Sequence[Any]) -> None:
        self.fold = fold
        self.rows = list(zip(kinds, decoded, strict=True))
        self.asked = [data for kind, data in self.rows if kind == "asked"]
        self.told = [data for kind, data in self.rows if kind == "told"]
        self.settled = [data for kind, data in self.rows if kind == "settled"]
        self.times = [time for kind, time in zip(kinds, times, strict=True) if kind == "asked"]

    def is_plain(self) -> bool:
        """Whether nothing must be looked at one by one; must be true before `apply`."""
        return self._asks_plainly() and self._tells_plainly() and self._settles_plainly()

    def _asks_plainly(self) -> bool:
        asked, first, size = self.asked, len(self.fold.questions), len(self.fold.setup.ids)
        if not _have_keys(asked, _ASKED, ASKED_KEYS):
            return False
        items, self.rivals = [data["i"] for data in asked], [data.get("j", NOBODY) for data in asked]
        numbers = [data["q"] for data in asked]
        if numbers != list(range(first, first + len(asked))) or not _are({int}, items, self.rivals, numbers):
            return False
        self.items, self.numbers, self.workers = items, numbers, [data.get("w") for data in asked]
        if asked and not (min(items) >= 0 and max(items) < size and min(self.rivals) >= NOBODY):
            return False
        self.more: list[list[int]] = [data["o"] for data in asked if "o" in data]
        if self.more:
            of = self.fold.setup.problem.feedback.options
            if len(self.more) < len(asked) or not of > 2 or not _are({list}, self.more):
                return False
            shown = [item for options in self.more for item in options]
            if max(map(len, self.more)) > of - 2 or not shown or not _are({int}, shown):
                return False
            if not (min(map(len, self.more)) > 0 and min(shown) >= 0 and max(shown) < size):
                return False
        elif asked and self.fold.questions.names_one:
            return False
        return _are(_NAMES, self.workers)

    def _tells_plainly(self) -> bool:
        if not _have_keys(self.told, _TOLD, TOLD_KEYS):
            return False
        numbers, answers = [data["q"] for data in self.told], [data["a"] for data in self.told]
        self.answered_by = [data.get("w") for data in self.told]
        if not (_are({int}, numbers) and _are(_NUMBERS, answers) and _are(_NAMES, self.answered_by)):
            return False
        # Answers to a round that is over are late, and few.
        return not numbers or (min(numbers) >= self.fold.exploration.first and _are(_TIMES, _all_of("u", self.told)))

    def _settles_plainly(self) -> bool:
        if not _have_keys(self.settled, _SETTLED, _SETTLED) or not _are({list}, _all_of("q", self.settled)):
            return False
        numbers = [question for data in self.settled for question in data["q"]]
        return _are({int}, numbers) and (not numbers or min(numbers) >= self.fold.exploration.first)

    def apply(self, held: Held) -> None:
        """Change the fold."""
        fold = self.fold
        asked_from = len(fold.questions)
        fold.questions.add_many(fold.exploration.round, self.items, self.rivals, self.more)
        for question, rival, worker in zip(self.numbers, self.rivals, self.workers, strict=True):
            if rival >= 0 and worker is not None:
                fold.exploration.seen.show(question, worker)
        held.update(zip(self.numbers, zip(self.workers, self.times, strict=True), strict=True))
        by = self._note_answers()
        fold.exploration.follow(self._walk(asked_from, by, held))

    def _note_answers(self) -> list[int]:
        """Count the answers of each worker; gives the numbers of those who answered, in order."""
        fold = self.fold
        number_of = fold.workers.number
        by = [number_of(worker) for worker in self.answered_by]
        for number, times in Counter(by).items():
            if number >= 0:
                fold.workers.answers[number] += times
                fold.shares.note_many(number, times)
        if fold.setup.rule is not None:
            for number, data in zip(by, self.told, strict=True):
                if number >= 0:
                    fold.conducts.change(number).note_answer(data.get("m"), data.get("d"))
        fold.answers += len(by)
        return by

    def _walk(self, asked: int, by: list[int], held: Held) -> list[int]:
        """Go through all of it in order; gives the steps that the exploration is to follow."""
        fold, steps = self.fold, list[int]()
        questions = fold.questions
        standing, answers, workers = questions.standing, questions.answer, questions.worker
        names_one, item = questions.names_one, questions.item
        stands, nobody = set[int](), (None, 0.0)  # the answers that stand by what was said in this stretch
        provisional: dict[int, Provisional] = {}  # those that do not: most are settled soon
        answered_by = iter(by)
        for kind, data in self.rows:
            question = data["q"]
            if kind == "told":
                is_told = question in stands or question in provisional
                if is_told or question >= asked or standing[question] != UNANSWERED:
                    raise _not_open(question)
                answer, until = data["a"], data.get("u")
                if names_one and answer != item[question] and not questions.shows(question, answer):
                    raise _not_shown(question, answer)
                if held.pop(question, nobody) is nobody:
                    fold.leases.drop(question)
                answers[question] = answer
                workers[question] = next(answered_by)
                if until is None:
                    stands.add(question)
                    steps.append(2 * question + 1)
                else:
                    provisional[question] = Provisional(data.get("w"), until)
            elif kind == "asked":
                asked += 1
                steps.append(2 * question)
            else:
                for one in question:
                    if provisional.pop(one, None) is None:
                        if one >= asked or standing[one] != PROVISIONAL or one in stands:
                            raise _not_open(one)
                        del fold.provisional[one]
                    stands.add(one)
                    steps.append(2 * one + 1)
        for question, answer_of in provisional.items():
            standing[question] = PROVISIONAL
            fold.provisional[question] = answer_of
        return steps


def _all_of(key: str, rows: Sequence[dict[str, Any]]) -> list[Any]:
    return [data.get(key) for data in rows]


def _have_keys(rows: Sequence[dict[str, Any]], needed: set[str], known: set[str] | frozenset[str]) -> bool:
    """Whether all have the keys that are needed, and none that is not known; most have the same."""
    return all(needed.issubset(keys) and known.issuperset(keys) for keys in {*map(tuple, rows)})


def _are(types: set[type], *columns: Sequence[object]) -> bool:
    return all(types.issuperset(map(type, column)) for column in columns)


def _not_open(question: int) -> StorageCorrupt:
    return StorageCorrupt(
        f"the journal tells of question q{question}, which was not open then: restore the storage from a backup"
    )


def _not_shown(question: int, answer: object) -> StorageCorrupt:
    return StorageCorrupt(
        f"the journal answers question q{question} with item {answer}, which is none of its options: "
        "restore the storage from a backup"
    )
