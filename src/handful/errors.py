"""Everything that can go wrong, by name.

    HandfulError
    ├── InvalidProblem        (ValueError)  items, k, ε, δ, noise, budget ... make no sense
    ├── InvalidAnswer         (ValueError)  a value told to a preference question, NaN, out of range
    ├── InvalidCollection     (ValueError)  tags, views or a CSV that cannot be read as a collection
    ├── UnknownExplorer       (ValueError)  no explorer of that name, or not for this feedback
    ├── UnknownQuestion       (LookupError) an id that was never asked
    ├── StudyFinished         (RuntimeError) the study takes no more questions or answers
    ├── EvaluationFailed      (RuntimeError) an oracle that ends its process, or fails however often it is tried
    ├── RecruitingFailed      (RuntimeError) a recruiting platform refused something, or cannot be reached
    ├── StudyNotFound         (LookupError) no study of that name in this storage
    ├── StudyExists           (ValueError)  a study of that name is there already
    ├── ItemsChanged          (ValueError)  the items given on open are not those of the study
    ├── StorageError          (OSError)     the storage cannot be read or written
    │   ├── StorageMissing                  there is no file at that path
    │   ├── StorageLocked                   another writer has the study open
    │   ├── StorageCorrupt                  what is there is not a journal
    │   ├── StorageBehind                   it is not the journal that was there before: older, or another
    │   └── JournalTooNew                   written by a newer version of handful
    └── MissingExtra          (ImportError) an optional part is not installed

And warnings (UserWarning): SmallBudget, too few answers to look at every candidate; IdleWorkers, more workers than
questions in flight; BetterTool, something else would need fewer simulations.
Each message says what happened, what was expected, and what to do.
"""

from __future__ import annotations


class HandfulError(Exception):
    """The root of all errors that handful raises on purpose."""


class InvalidProblem(HandfulError, ValueError):
    """Items, k, ε, δ, noise or budget make no sense."""


class InvalidAnswer(HandfulError, ValueError):
    """An answer that does not fit its question."""


class InvalidCollection(HandfulError, ValueError):
    """Tags, views or a file that cannot be read as a collection."""


class UnknownExplorer(HandfulError, ValueError):
    """No explorer of that name, or not one for this kind of feedback."""


class UnknownQuestion(HandfulError, LookupError):
    """An answer to a question that was never asked."""


class StudyFinished(HandfulError, RuntimeError):
    """The study takes no more questions or answers."""


class EvaluationFailed(HandfulError, RuntimeError):
    """An oracle that ends its worker process, or fails however often it is tried."""


class RecruitingFailed(HandfulError, RuntimeError):
    """A recruiting platform refused something, or cannot be reached."""


class StudyNotFound(HandfulError, LookupError):
    """No study of that name in this storage."""


class StudyExists(HandfulError, ValueError):
    """A study of that name is there already."""


class ItemsChanged(HandfulError, ValueError):
    """The items given on open are not those the study was made with."""


class StorageError(HandfulError, OSError):
    """The storage cannot be read or written."""


class StorageMissing(StorageError):
    """There is no file at the path of the storage."""


class StorageLocked(StorageError):
    """Another writer has the study open."""


class StorageCorrupt(StorageError):
    """What is there is not a journal."""


class StorageBehind(StorageError):
    """What is there is a journal, but lacks what was stored before: an older copy, a lost end, another history."""


class JournalTooNew(StorageError):
    """The journal was written by a newer version of handful."""


class MissingExtra(HandfulError, ImportError):
    """An optional part is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs an optional part that is not installed: pip install 'handful[{extra}]' (in a copy of the "
            f"repository: pip install '.[{extra}]')"
        )


class SmallBudget(UserWarning):
    """The budget is below one answer per candidate and round, or with several options below one place for each."""


class IdleWorkers(UserWarning):
    """More workers than questions that may be in flight."""


class NoWorkers(UserWarning):
    """All workers have left the cluster."""


class BetterTool(UserWarning):
    """Something else than a study would need fewer simulations."""
