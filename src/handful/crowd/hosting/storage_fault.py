"""Why a study's answers cannot be stored, told once."""

from __future__ import annotations

import logging

log = logging.getLogger("handful.crowd")


class StorageFault:
    """The cause, as it was told first; None while all is well."""

    def __init__(self, study: str) -> None:
        self._study = study
        self.cause: str | None = None

    def note(self, cause: str | None) -> bool:
        """Tell in the log that answers cannot be stored, or that they can again; give whether they can."""
        if cause is not None and self.cause is None:
            log.error("answers cannot be stored", extra={"study": self._study, "cause": cause})
            self.cause = cause
        elif cause is None and self.cause is not None:
            log.warning("answers can be stored again", extra={"study": self._study})
            self.cause = None
        return self.cause is None
