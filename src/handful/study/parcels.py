"""How an oracle, the items and questions travel to other processes.

Oracle and items travel once, whatever they hold: functions of a notebook or of the main script too. In the questions
that follow an item is only named by its position.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cloudpickle

from handful.errors import InvalidProblem
from handful.study.questions import Question
from handful.study.ways import Oracle


@dataclass(frozen=True)
class Parcel:
    """An oracle and the items, packed."""

    content: bytes

    @classmethod
    def of(cls, oracle: Oracle, items: tuple[Any, ...]) -> Parcel:
        """Pack them, or say why they cannot travel."""
        try:
            return cls(pickle.dumps((sys.path, cloudpickle.dumps((oracle, items)))))
        except Exception as error:
            raise InvalidProblem(
                f"the oracle or the items cannot be sent to another process ({type(error).__name__}: {error}): give "
                "ones that can be pickled, and open files and connections within the oracle"
            ) from error

    def opened(self) -> tuple[Oracle, tuple[Any, ...]]:
        """Unpack them in another process."""
        path, content = pickle.loads(self.content)
        sys.path[:] = [*sys.path, *(folder for folder in path if folder not in sys.path)]
        opened: tuple[Oracle, tuple[Any, ...]] = pickle.loads(content)
        return opened


class QuestionsOut:
    """Packs questions for whoever has the items."""

    def __init__(self, items: tuple[Any, ...]) -> None:
        self._items = items  # they must live on: they are known by their addresses
        self._positions = {id(item): position for position, item in enumerate(items)}

    def packed(self, questions: Sequence[Question]) -> bytes:
        """The questions as bytes."""
        buffer = io.BytesIO()
        pickler = _Pickler(buffer, pickle.HIGHEST_PROTOCOL)
        pickler.positions = self._positions
        pickler.dump(list(questions))
        return buffer.getvalue()


def unpacked(content: bytes, items: tuple[Any, ...]) -> list[Question]:
    """The questions, about these items."""
    unpickler = _Unpickler(io.BytesIO(content))
    unpickler.items = items
    questions: list[Question] = unpickler.load()
    return questions


def travelling(error: BaseException) -> BaseException:
    """An error that can be pickled, with what happened where as a note."""
    try:
        pickle.loads(cloudpickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


class _Pickler(pickle.Pickler):
    positions: dict[int, int]

    def persistent_id(self, obj: Any) -> int | None:
        return self.positions.get(id(obj))


class _Unpickler(pickle.Unpickler):
    items: tuple[Any, ...]

    def persistent_load(self, pid: Any) -> Any:
        return self.items[pid]
